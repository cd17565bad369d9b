"""Before data: known ranks, known blindness, counts of the equation families, promise I5."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from systems import random_model
from unobservable import cases

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.errors import IdentificationError
from freefloat.excitation import Pulses, Speeds
from freefloat.model import Body, Joint, Model, Placement
from freefloat.notes import codes_of
from freefloat.observability.identifiability import identifiability
from freefloat.observability.information import choose_sensors, expected_rows
from freefloat.observability.minimal_set import EquationFamily, minimal_count
from freefloat.observability.scale import is_scaled
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters

SPRINGS = ("hinge_*.stiffness", "hinge_*.damping")
PLANAR = ("*.mz", "*.ixx", "*.ix[yz]", "*.iy[yz]")


def free(model: Model, *globs: str) -> Parameters:
    return Parameters.of(model).free(*globs)


def moving(model: Model, n: int, *, with_thrust: bool, duration: float = 20.0) -> ff.Plan:
    """The first n joints on their default motion, every thruster fired once, if asked."""
    plan = ff.default_plan(model, duration=duration)
    names = list(plan.motions)[:n]
    pulses = {t.name: Pulses(((1 + 2 * k, 2, 5),)) for k, t in enumerate(model.thrusters)}
    motions = {name: plan.motions[name] for name in names}
    return replace(plan, motions=motions, thrusts=pulses if with_thrust else {})


# ---- Facts about the built-in models -------------------------------------------------------------


@pytest.mark.parametrize("sensors", [None, "gyro"])
def test_wings_have_46_of_58(sensors: str | None) -> None:
    """Three of ten go to the carrier at every hinge, whatever the sensors."""
    model = ff.load_model("servicer-wings")
    found = identifiability(
        model, free(model, "bus.*", "panel_*", *SPRINGS), sensors=sensors,
        plan=ff.default_plan(model, duration=10.0),
    )  # fmt: skip
    assert len(found.parameters) == 58 and found.rank == 46
    (trade,) = [line for line in found.trades if line.startswith("panel_l1.mass ")]
    assert " bus.mass (-1)" in trade
    assert found.scale is not None and found.scale.is_fixed
    source = "measured joint torques" if sensors is None else "known bodies"
    assert any(name.startswith(source) for name in found.scale.sources)


@pytest.mark.parametrize(("more", "rank"), [((), 28), (("panel_*.izz",), 30)])
def test_hinged_panels_lose_their_masses(more: tuple[str, ...], rank: int) -> None:
    """Bus, and of every panel mass, first moment and hinge inertia; springs and dampers.

    The mass of an outer panel merges into the inner one at 1.358 m along y, which changes ixx and
    izz there: with izz held it is seen in principle, so two of four masses are null; with izz free
    all four are.
    """
    model = ff.load_model("servicer-wings")
    asked = free(model, "bus.*", "panel_*.mass", "panel_*.my", "panel_*.ixx", *SPRINGS, *more)
    found = identifiability(model, asked, plan=ff.default_plan(model, duration=20.0))
    assert len(found.parameters) == 30 + 4 * len(more)
    assert found.rank == rank
    masses = [s.status for s in found.parameters if s.name.endswith(".mass")]
    assert masses == ["only in combination"] * 5


def test_fuel_merges_into_the_bus_unless_it_is_a_point() -> None:
    model = ff.load_model("servicer-slosh")
    tank, plan = model.tanks[0], ff.default_plan(model, duration=20.0)
    springs = [f"{tank.name}_?.{field}" for field in ("stiffness", "damping")]
    point = identifiability(model, free(model, "bus.*", "tank.*", *springs), plan=plan)
    assert len(point.parameters) == point.rank == 16
    assert point["tank.mass"].status == "seen"
    whole = spelt_out(model)
    asked = free(whole, "bus.*", "fuel.*", "slosh_?.stiffness", "slosh_?.damping")
    found = identifiability(whole, asked, plan=plan)
    assert len(found.parameters) == 24 and found.rank == 23
    assert found.trades[0].startswith("fuel.mass ") and " bus.mass (-1)" in found.trades[0]
    assert found["fuel.mz"].status == "seen"


def spelt_out(model: Model) -> Model:
    """The tank as two joints and a body of which all ten parameters can be asked."""
    tank = model.tanks[0]
    x, y, z = (tank.length * np.array(tank.direction)).tolist()
    joints = [
        Joint(
            f"slosh_{i + 1}", "revolute", parent, child, place, tank.axes[i], role="passive",
            stiffness=tank.stiffness[i], damping=tank.damping[i],
        )
        for i, (parent, child, place) in enumerate(
            [("bus", "cross", Placement(tank.pivot)), ("cross", "fuel", Placement())]
        )
    ]  # fmt: skip
    bodies = (*model.bodies, Body("cross"), Body("fuel", tank.mass, (x, y, z)))
    return replace(model, tanks=(), bodies=bodies, joints=(*model.joints, *joints))


@pytest.mark.parametrize(("n", "rank"), [(0, 4), (1, 7), (2, 8), (3, 8)])
def test_planar_base_and_target_need_two_joints(n: int, rank: int) -> None:
    model = ff.load_model("planar-capture")
    asked = free(model, "bus.*", "target.*").fix(*PLANAR)
    found = identifiability(model, asked, plan=moving(model, n, with_thrust=True))
    assert len(found.parameters) == 8 and found.rank == rank


@pytest.mark.parametrize(("n", "rank"), [(0, 10), (1, 17), (2, 19), (3, 20)])
def test_spatial_base_and_target_need_three_joints(n: int, rank: int) -> None:
    model = ff.load_model("spatial-capture")
    asked = free(model, "bus.*", "target.*")
    found = identifiability(model, asked, plan=moving(model, n, with_thrust=True))
    assert found.rank == rank
    assert found.scale is not None and found.scale.sources[0] == "thrust"
    if n == 3:
        assert len(found.names("seen")) == 20
    without = identifiability(model, asked, plan=moving(model, n, with_thrust=False))
    assert without.rank <= rank and without.scale is not None
    assert "thrust" not in without.scale.sources


def test_the_accelerometer_makes_the_mass_of_ets7_visible() -> None:
    model = ff.load_model("ets7")
    asked = free(model, "bus.*")
    gyro = identifiability(model, asked, sensors="gyro encoders")["bus.mass"]
    assert gyro.status == "weak" and 0.3 < gyro.std / gyro.value < 1.0  # 67 % on this motion
    both = identifiability(model, asked, sensors="gyro accelerometer")["bus.mass"]
    assert both.status == "seen" and both.std / both.value < 0.01


def test_what_fixes_the_scale_is_named() -> None:
    """Every body free: only a wheel of known inertia says how heavy anything is."""
    model = ff.load_model("ets7")
    bodies = [f"{body.name}.*" for body in model.bodies]
    plan = ff.default_plan(model, duration=20.0)
    spin = Speeds((0.0, 8.0, 16.0), (0.0, 500.0, 0.0))
    plan = replace(plan, motions={**plan.motions, "rw_x": spin})
    spun = identifiability(model, free(model, *bodies), plan=plan)
    assert spun.scale is not None
    assert len(spun.scale.sources) == 1 and "(rw_x)" in spun.scale.sources[0]
    nothing = identifiability(model, free(model, *bodies, "rw_x.inertia"), plan=plan)
    assert nothing.scale is not None and not nothing.scale.is_fixed
    hidden = [s for s in nothing.parameters if s.value != 0.0]  # what is zero has no scale
    assert {s.status for s in hidden} <= {"only in combination", "invisible"}


@pytest.mark.parametrize("name", ["servicer-wings", "servicer-slosh", "cbk-arm-geared", "ets7"])
def test_all_that_grows_with_the_scale_adds_up(name: str) -> None:
    """J theta over everything there is equals what torque sensors read, and no more."""
    model = ff.load_model(name)
    grown = [p for p in Parameters.of(model) if is_scaled(p.name) and p.value != 0.0]
    rows = expected_rows(
        flatten(model), ff.default_plan(model, duration=2.0), model.sensors,
        [p.name for p in grown], np.array([[p.value] for p in grown]),
    )  # fmt: skip
    rest = np.linalg.norm(rows.columns[:, 0] - rows.torques)  # in units of the noise
    assert rest < 1e-6 + 1e-11 * np.linalg.norm(rows.torques)


# ---- How it is asked -----------------------------------------------------------------------------


def test_unknown_starts_and_biases_cost_information() -> None:
    model = ff.load_model("cepheus")
    asked = free(model, "bus.izz", "link_?.izz")
    plan = ff.default_plan(model, duration=10.0)
    known = identifiability(model, asked, plan=plan, unknown_start=False)
    start = identifiability(model, asked, plan=plan)
    bias = identifiability(model, asked, plan=plan, biases=["base.rate*"])
    deviations = [[s.std for s in found.parameters] for found in (known, start, bias)]
    assert np.all(np.array(deviations[0]) < deviations[1])
    assert np.all(np.array(deviations[1]) <= np.array(deviations[2]) * (1 + 1e-9))
    assert all(not s.name.startswith(("start", "bias")) for s in bias.parameters)
    with pytest.raises(IdentificationError) as caught:
        identifiability(model, asked, plan=plan, biases=["nothing"])
    assert caught.value.codes == ("name.unknown",) and caught.value.faults[0].place == "nothing"


def test_tied_parameters_count_as_one() -> None:
    model = ff.load_model("cepheus")
    plan = ff.default_plan(model, duration=10.0)
    tied = free(model, "link_1.izz").tie("link_2.izz", to="link_1.izz", factor=0.5)
    found = identifiability(model, tied, plan=plan)
    alone = identifiability(model, free(model, "link_1.izz"), plan=plan)
    assert [s.name for s in found.parameters] == ["link_1.izz"]
    assert found["link_1.izz"].std != pytest.approx(alone["link_1.izz"].std)


def test_a_prior_on_one_makes_the_other_known() -> None:
    """A target and the link that holds it are one body; who weighs the target knows the link."""
    model = ff.load_model("spatial-capture")
    plan = moving(model, 3, with_thrust=True)
    asked = free(model, "target.mass", "link_6.mass", "target.m[xyz]", "link_6.m[xyz]")
    asked = asked.free("target.i*", "link_6.i*")
    blurred = identifiability(model, asked, plan=plan)
    assert blurred["link_6.mass"].status == "only in combination"
    weighed = identifiability(model, asked.prior("target.*", std=0.01), plan=plan)
    assert weighed["link_6.mass"].status == "seen" and weighed["link_6.mass"].std < 1.5
    assert weighed["target.mass"].status == "only in combination"  # the prior's word, not ours


def test_a_perfect_sensor_is_not_believed_and_noted() -> None:
    model = ff.load_model("cepheus")
    quiet = [replace(s, noise=0.0, quantisation=0.0) for s in model.sensors if s.kind == "gyro"]
    plan = ff.default_plan(model, duration=5.0)
    found = identifiability(model, free(model, "bus.izz"), plan=plan, sensors=quiet)
    assert "noise.missing" in codes_of(found.notes)
    assert found["bus.izz"].std > 0.0


def _nothing_moves(model):
    root = replace(model.root, type="fixed")
    gone = dict.fromkeys(("joints", "wheels", "thrusters", "sensors"), ())
    return replace(model, root=root, bodies=model.bodies[:1], **gone)


def test_sensors_are_chosen_by_words() -> None:
    model = ff.load_model("spatial-capture")
    kinds = [s.kind for s in choose_sensors(model, "gyro, encoders arm_1")]
    assert kinds == ["gyro", "encoder", "joint_rate"]
    mistakes = {
        "name.unknown": lambda: choose_sensors(model, "laser"),
        "sensors.none": lambda: choose_sensors(_nothing_moves(model), None),
        "parameters.none": lambda: identifiability(model, Parameters.of(model)),
    }
    for code, ask in mistakes.items():
        with refused(IdentificationError, code):
            ask()
    with refused(IdentificationError, "name.unknown"):
        choose_sensors(model, "")
    with pytest.raises(IdentificationError) as caught:
        identifiability(model, free(ff.load_model("cepheus"), "bus.*"))
    assert set(caught.value.codes) == {"name.unknown"}


def test_natural_sizes_are_positive_for_everything() -> None:
    for name in ("servicer", "cbk-arm-geared", "cepheus"):
        system = flatten(ff.load_model(name))
        names = [p.name for p in Parameters.of(system.model)]
        assert np.all(natural_sizes(system, names) > 0.0)
    massless = flatten(random_model(3, n_joints=3))
    assert np.all(natural_sizes(massless, ["link_1.mass", "link_1.ixx", "joint_1.rest"]) > 0.0)


# ---- Counts of the families ----------------------------------------------------------------------

TREES = [(n, seed) for n in (1, 2, 3, 6) for seed in (0, 1)]


def revolute(n: int, seed: int) -> Model:
    return random_model(40 * seed + n, n_joints=n, prismatic=0.0, massless=False)


@pytest.mark.parametrize(("n", "seed"), TREES)
def test_linear_families_see_the_known_counts(n: int, seed: int) -> None:
    """A momentum that is only conserved shows one fewer than these: the scale is lost."""
    model, full = revolute(n, seed), 10 * (n + 1) - 3 * n
    assert minimal_count(model, "force") == full
    assert minimal_count(model, "joint") == 7 * n
    assert minimal_count(model, "momentum") == full
    assert minimal_count(model, "sensor point") == full - 1  # the total mass does not act
    assert minimal_count(model, "linear") == 2 * n + 4


@pytest.mark.parametrize("family", ["angular", "reduced"])
@pytest.mark.parametrize(("n", "seed"), TREES)
def test_what_is_left_without_translation(n: int, seed: int, family: EquationFamily) -> None:
    """Both see the same: 14, 23, and from three joints on everything that the forces see."""
    expected = {1: 14, 2: 23, 3: 31, 6: 52}[n]
    assert minimal_count(revolute(n, seed), family) == expected


@pytest.mark.parametrize("seed", range(6))
def test_a_sliding_joint_costs_six(seed: int) -> None:
    model = random_model(200 + seed, n_joints=3, prismatic=0.5, massless=False)
    lost = sum({"revolute": 3, "prismatic": 6}[joint.type] for joint in model.joints)
    assert minimal_count(model, "force") == minimal_count(model, "momentum") == 40 - lost
    sliding = sum(joint.type == "prismatic" for joint in model.joints)
    assert minimal_count(model, "joint") == 7 * 3 - 3 * sliding
    assert minimal_count(model, "linear") == 2 * 3 + 4 - sliding


def test_a_locked_joint_counts_as_none() -> None:
    model = revolute(2, 0)
    assert minimal_count(model.with_joint("joint_2", role="locked", home=0.7), "force") == 17
    with refused(IdentificationError, "value.choice"):
        minimal_count(model, "energy")  # type: ignore[arg-type]


# ---- What cannot be seen is never called seen ----------------------------------------------------


@pytest.mark.promise("I5")
def test_nothing_unobservable_is_called_identified(figure) -> None:
    n_cases = n_hidden = 0
    false = []
    for case in cases(500):
        found = identifiability(case.model, case.parameters, plan=case.plan)
        told = [found[name] for name in case.hidden]
        false += [(n_cases, s.name) for s in told if s.status in ("seen", "weak")]
        assert not any(np.isfinite(s.std) and s.std < s.size for s in told)
        assert case.has_scale or found.scale is None or not found.scale.is_fixed
        n_cases, n_hidden = n_cases + 1, n_hidden + len(told)
    figure("I5", f"{len(false)} false in {n_cases} cases, {n_hidden} parameters")
    assert not false
