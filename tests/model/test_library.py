"""The built-in models: they load, hold together, and carry the numbers of the papers.

Mechanical figures (modes, effective inertias) come from Pinocchio, fed by a small reader of the
TOML files written here, so that nothing of freefloat stands between the file and the figure.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import freefloat
from freefloat.model import load_model
from freefloat.model.checks import sensor_targets, structure_faults
from freefloat.model.inertia import pseudo_inertia

LIBRARY = Path(freefloat.__file__).parent / "model" / "library"
NAMES = (
    "cepheus", "cbk-arm", "cbk-arm-geared",
    "planar-capture-small", "planar-capture", "planar-capture-large", "spatial-capture",
    "ets7", "ets7-load", "servicer-wings", "servicer-slosh", "servicer", "dual-arm",
)  # fmt: skip

every_model = pytest.mark.parametrize("name", NAMES)


# ---- The second way: TOML -> Pinocchio -----------------------------------------------------------


@cache
def raw(name: str) -> dict:
    return tomllib.loads((LIBRARY / f"{name}.toml").read_text(encoding="utf-8"))


def _inertia(part: dict) -> pin.Inertia:
    numbers = np.atleast_1d(np.array(part.get("inertia", 0.0), dtype=float))
    if len(numbers) == 6:
        xx, xy, xz, yy, yz, zz = numbers
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:  # a diagonal, or the turning inertia of a flat body
        about_com = np.diag(numbers if len(numbers) == 3 else numbers[0] * np.array([0.5, 0.5, 1]))
    return pin.Inertia(float(part["mass"]), np.array(part.get("com", [0, 0, 0]), float), about_com)


def _placement(part: dict) -> pin.SE3:
    roll, pitch, yaw = map(float, part.get("rpy", [0, 0, 0]))
    xyz = np.array(part.get("xyz", [0, 0, 0]), dtype=float)
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), xyz)


def _revolute(axis) -> pin.JointModelRevoluteUnaligned:
    return pin.JointModelRevoluteUnaligned(*map(float, axis))


@cache
def engine(name: str) -> tuple[pin.Model, np.ndarray, dict[str, int]]:
    """The Pinocchio model of a file, its home posture, and which joint carries which body."""
    file, model, nothing = raw(name), pin.Model(), pin.SE3.Identity()
    bodies = {body["name"]: body for body in file["body"]}
    frames = {frame["name"]: frame for frame in file["frame"]}
    root, base = file["root"]["type"], file["root"]["body"]
    free = pin.JointModelFreeFlyer() if root == "floating" else pin.JointModelPlanar()
    carrier = {base: model.addJoint(0, free, nothing, "root")}
    model.appendBodyToJoint(carrier[base], _inertia(bodies[base]), nothing)
    for joint in file["joint"]:
        kind = _revolute(joint.get("axis", [0, 0, 1]))
        i = model.addJoint(carrier[joint["parent"]], kind, _placement(joint), joint["name"])
        model.appendBodyToJoint(i, _inertia(bodies[joint["child"]]), nothing)
        carrier[joint["child"]] = i
    for target in file.get("target", []):
        frame = frames[target["on"]]
        model.appendBodyToJoint(carrier[frame["body"]], _inertia(target), _placement(frame))
    for tank in file.get("tank", []):
        i, place = carrier[tank["body"]], _placement({"xyz": tank["pivot"]})
        for number, axis in enumerate(tank["axes"], start=1):
            i = model.addJoint(i, _revolute(axis), place, f"{tank['name']}_{number}")
            place = nothing
        fuel = {"mass": tank["mass"], "com": tank["length"] * np.array(tank["direction"])}
        model.appendBodyToJoint(i, _inertia(fuel), nothing)
    home = pin.neutral(model)
    for joint in file["joint"]:
        home[model.joints[model.getJointId(joint["name"])].idx_q] = joint.get("home", 0.0)
    return model, home, carrier


def mass_matrix(name: str, coordinates: list[str]) -> np.ndarray:
    """The mass matrix at home of the root and the named coordinates; all others are held."""
    model, home, _ = engine(name)
    H = np.triu(pin.crba(model, model.createData(), home))  # only the upper half is filled
    H = H + np.triu(H, 1).T
    keep = list(range(model.joints[1].nv))
    keep += [model.joints[model.getJointId(c)].idx_v for c in coordinates]
    return H[np.ix_(keep, keep)]


def modes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies [Hz] and damping ratios with the root free and everything driven held at home."""
    springs = [
        (joint["name"], joint["stiffness"], joint["damping"])
        for joint in raw(name)["joint"]
        if joint.get("role") == "passive"
    ]
    for tank in raw(name).get("tank", []):
        k, d = (np.broadcast_to(tank[key], 2) for key in ("stiffness", "damping"))
        springs += [(f"{tank['name']}_{i + 1}", k[i], d[i]) for i in (0, 1)]
    coordinates, stiffness, damping = zip(*springs, strict=True)
    H = mass_matrix(name, list(coordinates))
    K = np.diag([0.0] * (len(H) - len(springs)) + list(stiffness))
    D = np.diag([0.0] * (len(H) - len(springs)) + list(damping))
    zero, one = np.zeros_like(H), np.eye(len(H))
    poles = np.linalg.eigvals(
        np.block([[zero, one], [-np.linalg.solve(H, K), -np.linalg.solve(H, D)]])
    )
    poles = poles[poles.imag > 1e-3]
    poles = poles[np.argsort(np.abs(poles))]
    return np.abs(poles) / (2 * np.pi), -poles.real / np.abs(poles)


# ---- Every model ---------------------------------------------------------------------------------


def test_the_library_holds_these_models_and_no_others():
    assert sorted(path.stem for path in LIBRARY.glob("*.toml")) == sorted(NAMES)


@every_model
def test_loads_and_assembles(name):
    model = load_model(name)
    assert model.name == name
    assert 20 < len(model.description.splitlines()[0]) < 100  # one line, shown in lists
    assert not model.notes
    assert structure_faults(model) == []
    assert len(model.assembly.coordinates) >= 2
    pinocchio_mass = pin.computeTotalMass(engine(name)[0])
    assert model.mass == pytest.approx(pinocchio_mass, rel=1e-14)  # rounding of the sums


@every_model
def test_file_opens_with_what_it_is_and_where_it_comes_from(name):
    text = (LIBRARY / f"{name}.toml").read_text(encoding="utf-8")
    header = text[: text.index("\nformat = 1")]
    assert all(line.startswith("#") or not line for line in header.splitlines())
    assert "Units: SI" in header
    if name in ("servicer", "dual-arm"):
        assert "no real" in header.lower()
    else:
        assert "Source:" in header and "Not published" in header


@every_model
def test_bodies_are_physical(name):
    for body in load_model(name).assembly.bodies:
        eigenvalues = np.linalg.eigvalsh(pseudo_inertia(body.phi))
        # A point mass has three zero eigenvalues; their rounding scales with the largest one.
        assert eigenvalues[0] >= -1e-12 * max(eigenvalues[-1], 1.0), body.name


@every_model
def test_home_is_inside_the_limits(name):
    for joint in load_model(name).joints:
        low, high = joint.limits.lower, joint.limits.upper
        assert low is not None and high is not None, joint.name
        assert low < joint.home < high, joint.name


@every_model
def test_has_a_hand_and_sensors_on_the_base_and_the_arm(name):
    model = load_model(name)
    assert any(frame.name.endswith("hand") for frame in model.frames)
    kinds = {sensor.kind for sensor in model.sensors}
    assert kinds & {"gyro", "attitude"}
    read = {
        part
        for sensor in model.sensors
        if sensor.kind in ("encoder", "motor_encoder")
        for part in sensor_targets(model, sensor)
    }
    driven = {joint.name for joint in model.joints if joint.role == "motion" or joint.drive}
    assert read == driven


# ---- 003: Cepheus --------------------------------------------------------------------------------

TABLE_3 = [0.0074, 0.0046, 0.0039, 0.0024, 0.1314, 0.0048, 0.0075, 0.0046]


def appendix_b(r_0: tuple[float, float]) -> np.ndarray:
    """The eight parameters of equations B1 to B8, from the numbers in the file and r_0 [m]."""
    model = load_model("cepheus")
    m0, m1, m2 = (model.body(name).mass for name in ("bus", "link_1", "link_2"))
    I0, I1, I2 = (model.body(name).inertia[5] for name in ("bus", "link_1", "link_2"))
    l1, l2 = model.body("link_1").com[0], model.body("link_2").com[0]
    r1 = model.joint("arm_2").placement.xyz[0] - l1
    (x, y), M = r_0, m0 + m1 + m2
    return np.array(
        [
            m0 / M * x * (l1 * (m1 + m2) + m2 * r1),
            l2 * m0 * m2 / M * x,
            m0 / M * y * (l1 * (m1 + m2) + m2 * r1),
            l2 * m0 * m2 / M * y,
            I0 + m0 * (m1 + m2) / M * (x**2 + y**2),
            l2 * m2 / M * (l1 * m0 + (m0 + m1) * r1),
            I1 + (l1**2 * m0 * (m1 + m2) + 2 * l1 * m0 * m2 * r1 + (m0 + m1) * m2 * r1**2) / M,
            I2 + l2**2 * (m0 + m1) * m2 / M,
        ]
    )


def test_cepheus_reproduces_all_true_values_of_table_3():
    x, y, _ = load_model("cepheus").joint("arm_1").placement.xyz
    assert np.round(appendix_b((x, y)), 4).tolist() == TABLE_3
    # r_0 as printed, to two digits, gives only the four values that hardly depend on it.
    agree = np.round(appendix_b((0.17, 0.09)), 4) == TABLE_3
    assert (np.flatnonzero(agree) + 1).tolist() == [4, 6, 7, 8]


def test_cepheus_carries_table_1_and_the_wheel():
    model = load_model("cepheus")
    assert model.root.type == "planar"
    assert [body.mass for body in model.bodies] == [9.951, 0.083, 0.187]
    assert [body.inertia[5] for body in model.bodies] == [0.1214, 3.46e-4, 7.17e-4]
    (hand,) = model.frames
    assert hand.placement.xyz[0] - model.body("link_2").com[0] == pytest.approx(0.084)
    assert model.wheels[0].inertia * 250.0 == pytest.approx(0.4934, abs=5e-5)  # printed digits
    assert model.wheels[0].inertia * 170.0 == pytest.approx(0.3355, abs=5e-5)


def test_cepheus_momentum_row_times_the_eight_parameters_is_pinocchios_momentum():
    # Guards the conventions of the file (where l_i, r_i, r_0 are measured), not only its numbers.
    model, _, _ = engine("cepheus")
    data, rng = model.createData(), np.random.default_rng(3)
    x, y, _ = load_model("cepheus").joint("arm_1").placement.xyz
    for _ in range(5):
        q1, q2, w, dq1, dq2 = rng.uniform(-1.0, 1.0, 5)
        q, v = np.array([0, 0, 1, 0, q1, q2]), np.array([0, 0, w, dq1, dq2])
        c1, s1, c2, c12, s12 = *_cos_sin(q1), np.cos(q2), *_cos_sin(q1 + q2)
        a, b = 2 * w + dq1, 2 * w + dq1 + dq2
        row = [c1 * a, c12 * b, s1 * a, s12 * b, w]
        row += [c2 * (2 * w + 2 * dq1 + dq2), w + dq1, w + dq1 + dq2]
        momentum = pin.computeCentroidalMomentum(model, data, q, v).angular[2]
        assert row @ appendix_b((x, y)) == pytest.approx(momentum, rel=1e-12)  # rounding


def _cos_sin(angle: float) -> tuple[float, float]:
    return np.cos(angle), np.sin(angle)


# ---- 004: CBK arm --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cbk-arm", "cbk-arm-geared"])
def test_cbk_arm_carries_table_1(name):
    model = load_model(name)
    assert [body.mass for body in model.bodies] == [58.69, 2.81, 2.82, 4.64]
    assert [body.inertia[5] for body in model.bodies] == [2.42, 0.0637, 0.0635, 0.0515]
    assert [body.com[:2] for body in model.bodies[1:]] == [
        (0.1362, -0.0017),
        (0.1340, -0.0005),
        (0.1511, 0.0004),
    ]
    places = [joint.placement.xyz[:2] for joint in model.joints]
    assert places == [(0.337, -0.001), (0.449, 0.0), (0.449, 0.0)]
    assert model.frames[0].placement.xyz == (0.310, 0.0, 0.0)
    assert np.rad2deg([joint.home for joint in model.joints]) == pytest.approx([7.5, -15, -22.5])
    drive = model.joint("arm_1").drive
    assert drive is not None
    assert drive.stiffness == 5.47
    ratio = drive.ratio if drive.form == "geared" else 1.0
    assert ratio**2 * drive.inertia == pytest.approx(5.6)  # I_m at the joint, both forms alike


def effective_inertia(rotor: float) -> float:
    """What joint 1 of the CBK arm moves [kg m^2], with a rotor held still on a free base."""
    H = mass_matrix("cbk-arm-geared", ["arm_1"])
    H[2, 2] += rotor  # a rotor that does not turn relative to the base is part of the base
    return float(1.0 / np.linalg.inv(H)[3, 3])


def test_cbk_arm_with_the_motor_held_has_the_known_inertia_and_mode():
    drive = load_model("cbk-arm-geared").joint("arm_1").drive
    assert drive is not None and drive.role == "motion"
    assert effective_inertia(0.0) == pytest.approx(1.1544, abs=5e-5)  # digits known
    # The geared rotor itself adds 5.6e-4 kg m^2 to the base: 0.02 % more inertia, the same mode.
    inertia = effective_inertia(drive.inertia)
    assert inertia == pytest.approx(1.1544, rel=2e-4)
    assert np.sqrt(drive.stiffness / inertia) == pytest.approx(2.177, abs=5e-4)  # digits known


def disc_mode(inertia: float, stiffness: float) -> float:
    """The frequency [rad/s] of the disc model: motor and base free, joints 2 and 3 held."""
    H = np.zeros((5, 5))
    H[:4, :4] = mass_matrix("cbk-arm", ["arm_1"])
    H[np.ix_([2, 4], [2, 4])] += inertia  # kinetic energy I_m (w_0 + dq_m)^2 / 2
    K = np.zeros((5, 5))
    K[3:, 3:] = stiffness * np.array([[1, -1], [-1, 1]])
    return float(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(H, K)))).max())


def test_a_wrong_disc_rings_like_the_held_geared_motor():
    drive = load_model("cbk-arm").joint("arm_1").drive
    assert drive is not None and drive.role == "torque"
    assert disc_mode(drive.inertia, drive.stiffness) == pytest.approx(1.501, abs=5e-4)
    # I_m = 7.55 and k = 12.96, known to three digits, imitate the geared drive.
    assert disc_mode(7.55, 12.96) == pytest.approx(2.177, rel=1e-3)


# ---- 001: capture --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, mass, inertia",
    [
        ("planar-capture-small", 125.0, 5.2),
        ("planar-capture", 250.0, 10.41),
        ("planar-capture-large", 500.0, 20.83),
    ],
)
def test_planar_capture_carries_table_2(name, mass, inertia):
    model = load_model(name)
    assert [body.mass for body in model.bodies] == [500.0, 10.0, 10.0, 10.0]
    assert [body.inertia[5] for body in model.bodies] == [83.61, 1.05, 1.05, 1.05]
    assert model.body("bus").com == (0.10, -0.10, 0.0)
    target = model.body("target")
    assert (target.mass, target.inertia[5], target.com) == (mass, inertia, (0.25, 0.10, 0.0))
    assert model.targets[0].on == "link_3"
    assert model.targets[0].placement.xyz == (1.118, 0.0, 0.0)  # the hand
    assert np.rad2deg([joint.home for joint in model.joints]) == pytest.approx([60, -90, 45])
    # F_max = 10 N from two thrusters, M_max = 10 N m from four.
    wrench = _wrenches(model)
    assert sum(w for w in wrench if w[0] > 0) == pytest.approx([10, 0, 0, 0, 0, 0])
    assert sum(w for w in wrench if w[5] > 0) == pytest.approx([0, 0, 0, 0, 0, 10])


def _wrenches(model) -> list[np.ndarray]:
    return [
        thruster.max_force
        * np.concatenate([thruster.direction, np.cross(thruster.position, thruster.direction)])
        for thruster in model.thrusters
    ]


def test_spatial_capture_carries_table_3_and_rod_lengths():
    model = load_model("spatial-capture")
    assert [b.mass for b in model.bodies] == [500.0, 22.7, 45.3, 61.1, 14.0, 14.0, 10.1]
    diagonals = {b.name: (b.inertia[0], b.inertia[3], b.inertia[5]) for b in model.bodies}
    assert diagonals["bus"] == (83.33, 83.33, 83.33)
    assert diagonals["link_3"] == (2.67, 5.77e-2, 2.71)
    assert diagonals["link_5"] == (4.40e-3, 5.00e-2, 4.96e-2)
    assert model.body("bus").com == (0.05, 0.05, 0.05)
    target = model.body("target")
    assert (target.mass, target.com) == (503.76, (-0.20886, 0.00049, 0.0))
    assert target.inertia == (20.83, 0.0, 0.0, 20.83, 0.0, 20.83)
    ends = [joint.placement.xyz for joint in model.joints[1:]] + [model.frames[0].placement.xyz]
    for body, end in zip(model.bodies[1:], ends, strict=True):
        along = int(np.argmax(np.abs(end)))
        transverse = next(value for i, value in enumerate(diagonals[body.name]) if i != along)
        rod = np.sqrt(12.0 * transverse / body.mass)
        assert end[along] == pytest.approx(rod, abs=5e-4), body.name  # given to the millimetre
        assert np.array(body.com) == pytest.approx(np.array(end) / 2)


# ---- 002: ETS-VII --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ets7", "ets7-load"])
def test_ets7_carries_the_printed_satellite(name):
    model = load_model(name)
    bus = model.body("bus")
    assert (bus.mass, bus.com) == (2645.9, (-0.532, -0.281, 1.499))
    assert bus.inertia == (5665.5, 54.2, 145.1, 3033.0, -123.2, 7067.2)
    arm = sum(body.mass for body in model.bodies[1:])
    assert bus.mass / arm == pytest.approx(25.0, rel=0.01)  # "1/25"
    mount = np.array(model.joint("arm_1").placement.xyz) - bus.com
    assert mount == pytest.approx([-0.79, -0.29, 1.0])
    assert model.orbit is not None
    assert model.orbit.radius == 6916e3
    assert model.orbit.rate == pytest.approx(1.09771e-3, abs=5e-9)  # digits known


def test_ets7_load_is_ets7_holding_the_printed_load():
    model = load_model("ets7-load")
    load = model.body("target")
    assert (load.mass, load.com) == (370.0, (0.33, 0.50, 1.04))
    assert load.inertia == (700.0, 0.0, 0.0, 700.0, 0.0, 700.0)
    empty, without = load_model("ets7"), model.release("target")
    for part in ("bodies", "joints", "wheels", "frames", "sensors", "orbit"):
        assert getattr(without, part) == getattr(empty, part), part


# ---- 000: wings and slosh ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["servicer-wings", "servicer-slosh"])
def test_servicer_carries_table_i(name):
    model = load_model(name)
    bus = model.body("bus")
    assert (bus.mass, bus.com) == (600.0, (0.9, 0.0, 0.6))
    assert bus.inertia == (150.0, 0.0, 0.0, 150.0, 0.0, 150.0)
    links = [body for body in model.bodies if body.name.startswith("link_")]
    assert sum(link.mass for link in links) == pytest.approx(60.0)
    assert all(sorted(link.inertia) == [0, 0, 0, 0.04, 0.4, 0.4] for link in links)
    ends = [joint.placement.xyz[2] for joint in model.joints if joint.parent in map_names(links)]
    ends.append(model.frames[0].placement.xyz[2])
    assert sum(ends) == pytest.approx(3.0)  # l_m


def map_names(parts) -> set[str]:
    return {part.name for part in parts}


def test_wings_carry_table_i_and_have_the_known_modes():
    model = load_model("servicer-wings")
    panels = [body for body in model.bodies if body.name.startswith("panel_")]
    assert len(panels) == 4 and not model.tanks
    assert {(panel.mass, panel.inertia) for panel in panels} == {
        (33.0, (15.0, 0.0, 0.0, 11.0, 0.0, 15.0))
    }
    hinges = [joint for joint in model.joints if joint.role == "passive"]
    assert {(hinge.stiffness, hinge.damping) for hinge in hinges} == {(200.0, 2.0)}
    frequencies, damping = modes("servicer-wings")
    # The digits known; the paper's spectrum shows 0.23 and 0.68 Hz.
    assert frequencies == pytest.approx([0.140, 0.230, 0.664, 0.680], abs=5e-4)
    # Half a digit, and a little for the geometry given to the millimetre: the third is 0.02085.
    assert damping == pytest.approx([0.0044, 0.0072, 0.0209, 0.0214], abs=6e-5)


def test_slosh_carries_table_i_and_has_the_known_modes():
    model = load_model("servicer-slosh")
    (tank,) = model.tanks
    assert (tank.mass, tank.length) == (100.0, 0.8)
    assert (tank.stiffness, tank.damping) == ((20.0, 20.0), (5.0, 5.0))
    assert not [joint for joint in model.joints if joint.role == "passive"]
    # Half a digit, and a little: the second, 0.09885, sits on the edge between 0.0988 and 0.0989.
    assert modes("servicer-slosh")[0] == pytest.approx([0.0985, 0.0989], abs=6e-5)
    fixed = np.sqrt(tank.stiffness[0] / (tank.mass * tank.length**2)) / (2 * np.pi)
    assert fixed == pytest.approx(0.0890, abs=5e-5)  # eq. 16: not the paper's 0.06 Hz either


# ---- Our own models ------------------------------------------------------------------------------


def test_servicer_has_every_kind_of_part():
    model = load_model("servicer")
    for part in ("tanks", "wheels", "thrusters", "targets", "frames", "sensors", "capsules"):
        assert getattr(model, part), part
    assert model.orbit is not None and model.limits.base_attitude is not None
    arm = [joint for joint in model.joints if joint.role == "motion"]
    assert [joint.name for joint in arm] == [f"arm_{i}" for i in range(1, 8)]
    assert all(None not in vars(joint.limits).values() for joint in arm)
    kinds = {sensor.kind for sensor in model.sensors}
    assert kinds >= {"gyro", "attitude", "accelerometer", "position", "velocity", "encoder"}
    assert kinds >= {"joint_rate", "joint_torque", "wheel_speed", "thruster"}


def test_servicer_modes_are_those_its_file_states():
    frequencies, damping = modes("servicer")
    # As written in the header: three digits of frequency, rough damping ratios.
    assert frequencies == pytest.approx([0.086, 0.091, 0.214, 0.237, 1.264, 1.281], abs=1e-3)
    assert damping[:2] == pytest.approx([0.05, 0.05], abs=5e-3)
    assert damping[2:].min() > 0.0035 and damping[2:].max() < 0.0225


def test_servicer_thrusters_push_and_turn_every_way():
    wrenches = np.array(_wrenches(load_model("servicer")))
    # Full rank and a strictly positive combination that cancels: they span every direction.
    assert np.linalg.matrix_rank(wrenches) == 6
    assert wrenches.sum(axis=0) == pytest.approx(np.zeros(6), abs=1e-12)


def test_servicer_wheels_span_space_and_start_without_momentum():
    wheels = load_model("servicer").wheels
    axes = np.array([wheel.axis for wheel in wheels])
    assert np.linalg.matrix_rank(axes) == 3
    momentum = np.array([wheel.inertia * wheel.speed for wheel in wheels]) @ axes
    assert momentum == pytest.approx(np.zeros(3), abs=1e-12)


def test_dual_arm_is_two_different_arms_on_one_bus():
    model = load_model("dual-arm")
    left, right = (
        [joint for joint in model.joints if joint.name.startswith(side)]
        for side in ("left_", "right_")
    )
    assert (len(left), len(right)) == (6, 4)
    assert left[0].parent == right[0].parent == "bus"
    assert model.targets[0].on == left[-1].child


@pytest.mark.parametrize("name", ["servicer", "dual-arm"])
def test_keep_out_shapes_are_apart_at_home(name):
    model, home, carrier = engine(name)
    data = model.createData()
    pin.forwardKinematics(model, data, home)
    frames = {frame["name"]: frame for frame in raw(name)["frame"]}
    place = {body: data.oMi[i] for body, i in carrier.items()}
    neighbours = {frozenset((j["parent"], j["child"])) for j in raw(name)["joint"]}
    for target in raw(name)["target"]:
        frame = frames[target["on"]]
        place[target["name"]] = place[frame["body"]] * _placement(frame)
        neighbours.add(frozenset((frame["body"], target["name"])))
    shapes = [
        (shape["body"], shape["radius"], _points(place[shape["body"]], shape))
        for shape in raw(name)["capsule"]
    ]
    for i, (first, r1, p1) in enumerate(shapes):
        for second, r2, p2 in shapes[:i]:
            if frozenset((first, second)) not in neighbours:
                gap = np.linalg.norm(p1[:, None] - p2[None], axis=2).min() - r1 - r2
                assert gap > 0.05, (first, second)  # twice the spacing of the points


def _points(place: pin.SE3, shape: dict) -> np.ndarray:
    """Points along the axis of a capsule, at most 25 mm apart, in the world."""
    start, end = np.array(shape["start"], dtype=float), np.array(shape["end"], dtype=float)
    steps = np.linspace(0.0, 1.0, 2 + int(np.linalg.norm(end - start) / 0.025))
    return np.array([place.act(start + s * (end - start)) for s in steps])
