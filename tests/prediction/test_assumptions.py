"""What a model takes as exact: values act as said, columns agree with coarser differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from doubtful_flights import chaser, flight, shake

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.model.parameter_name import ParameterName
from freefloat.model.rotations import matrix_from_rotation_vector
from freefloat.prediction.assumptions import list_assumptions
from freefloat.prediction.predictor import Predictor, plan_predictor, predictor_of
from freefloat.prediction.sensor_errors import reading_change
from freefloat.telemetry.channel import Channel

JUMPS = ("jet_1.delay", "jet_2.delay", "base.torque.delay", "base.force.delay")


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return predictor_of(chaser(), flight(duration=6.0), step=1e-2, has_delays=True)


@pytest.fixture(scope="module")
def assumptions():
    return {a.name: a for a in list_assumptions(chaser(), flight())}


def one_of_each(names: Sequence[str]) -> list[str]:
    """One name of every kind of parameter, and of every kind of sensor."""
    found = {}
    for name in names:
        parsed = ParameterName.parse(name)
        word = parsed.owner.rpartition(".")[0][-8:] if parsed.is_of_sensor else ""
        found.setdefault((parsed.kind, parsed.field.partition(".")[0], word), name)
    return list(found.values())


def errors_of(
    predictor: Predictor, values: dict[str, float], steps: dict[str, float]
) -> dict[str, float]:
    """Of columns against central differences of readings, relative to a column's largest."""
    middle = predictor.at(values, list(steps))
    assert middle is not None
    found = {}
    for p, (name, step) in enumerate(steps.items()):
        below, above = (predictor.at({**values, name: values[name] + s}) for s in (-step, step))
        assert below is not None and above is not None
        error, size = 0.0, 0.0
        for k, m in enumerate(predictor.measurements):
            if name in JUMPS and m.needs_forces:
                continue  # a force read at an edge is there or not
            change = reading_change(m, below.values[k], above.values[k], middle.residuals[k])
            expected = change / (2.0 * step)
            error = max(error, float(np.max(np.abs(middle.jacobian[k][:, :, p] - expected))))
            size = max(size, float(np.max(np.abs(expected))))
        assert size > 0.0, f"{name} does nothing"
        found[name] = error / size
    return found


def test_the_catalogue_covers_every_kind(assumptions):
    kinds = {(ParameterName.parse(n).kind, ParameterName.parse(n).field) for n in assumptions}
    for kind in ("bias", "gain", "delay", "drift"):
        assert (kind, "") in kinds
    for field in ("gain", "bias", "delay", "zero", "gear"):
        assert ("input", field) in kinds
    for name in (
        "jet_1.tilt.y", "jet_2.offset.z", "elbow.offset.x", "elbow.tilt.z", "rw.tilt.x",
        "gravity.z", "drag.linear", "drag.angular", "bus.scale", "base.force.gain",
        "base.torque.delay", "mast.torque.bias", "tilt.imu.acceleration.x", "offset.tip.position.y",
        "delay.base.attitude", "rw.inertia", "hinge.stiffness", "hinge.friction",
    ):  # fmt: skip
        assert name in assumptions
    assert "shoulder.tilt.z" not in assumptions, "along the axis: told by its zero"
    assert all(a.size > 0.0 and a.std > 0.0 and a.reason for a in assumptions.values())


def test_columns_agree_with_coarser_differences(predictor, assumptions):
    # at no delay at all the first sample is on the edge of the flight
    names = [n for n in assumptions if n not in JUMPS and not n.startswith("delay.")]
    values = {name: a.value for name, a in assumptions.items()}
    errors = errors_of(predictor, values, {n: 3e-4 * assumptions[n].size for n in names})
    # the square of the step, times how much a natural size bends the flight
    assert {name: error for name, error in errors.items() if error > 1e-5} == {}


def test_columns_agree_where_everything_is_a_little_off(predictor, assumptions):
    rng = np.random.default_rng(3)
    values = {n: a.value + 0.03 * a.size * rng.uniform(0.5, 1.5) for n, a in assumptions.items()}
    # friction holds and lets go, and forces at edges come and go: neither is smooth
    values |= {name: 0.0 for name in assumptions if name in JUMPS or name.endswith(".friction")}
    values |= {n: 3e-4 for n in values if n.endswith(".delay") and n not in JUMPS}
    names = [n for n in one_of_each(list(values)) if n not in JUMPS]
    errors = errors_of(predictor, values, {n: 3e-4 * assumptions[n].size for n in names})
    assert {name: error for name, error in errors.items() if error > 1e-5} == {}


def test_columns_of_delayed_jumps_agree_with_coarser_differences(assumptions):
    predictor = predictor_of(chaser(), flight(), step=1e-2)
    values = {n: a.value for n, a in assumptions.items()}
    values |= dict.fromkeys(JUMPS, 3.3e-3)  # edges inside steps
    errors = errors_of(predictor, values, dict.fromkeys(JUMPS, 1e-4))
    assert max(errors.values()) < 3e-4  # a mean over a step of 10 ms turns with the bus


# ---- Values: a recording made wrong by hand is put right ----


def put_right(telemetry, values: dict[str, float], model=None) -> float:
    """Largest change of any prediction, over its noise, from the true recording's."""
    right = predictor_of(chaser(), flight(), step=1e-2)
    wrong = predictor_of(model or chaser(), telemetry, step=1e-2)
    wrong = replace(wrong, start=right.start, grid=right.grid, measurements=right.measurements)
    a, b = right.at(), wrong.at(values)
    assert a is not None and b is not None
    return max(
        float(np.max(np.abs(x - y) / m.noise))
        for x, y, m in zip(a.residuals, b.residuals, right.measurements, strict=True)
    )


def changed(name: str, change):
    """The flight with one channel changed."""
    old = flight()[name]
    new = change(old)
    return flight().with_channels(Channel(name, old.unit, *new, noise=old.noise))


def test_a_thruster_gain_and_a_wrench_gain_undo_a_wrong_recording():
    jet = changed("jet_1.force", lambda c: (c.time, c.values / 0.9))
    assert put_right(jet, {}) > 1e3
    assert put_right(jet, {"jet_1.gain": 0.9}) < 1e-6  # rounding
    wrench = changed("base.force.y", lambda c: (c.time, c.values / 1.1))
    assert put_right(wrench, {"base.force.gain": 1.1}) < 1e-6


def test_a_valve_delay_undoes_a_recording_that_was_early():
    early = changed("jet_2.force", lambda c: (c.time - 0.05, c.values))
    assert put_right(early, {}) > 1e2
    assert put_right(early, {"jet_2.delay": 0.05}) < 1e-6


def test_a_torque_gain_bias_and_delay_undo_a_wrong_recording():
    wrong = changed("mast.torque", lambda c: (c.time - 0.05, (c.values - 0.01) / 1.2))
    values = {"mast.torque.gain": 1.2, "mast.torque.bias": 0.01, "mast.torque.delay": 0.05}
    assert put_right(wrong, {}) > 1e2
    assert put_right(wrong, values) < 1e-6


def test_a_held_torque_acts_in_steps(tmp_path):
    held = flight().with_metadata(hold="mast.*, elbow.torque")
    held.save(tmp_path / "flight.csv")
    held = ff.read_telemetry(tmp_path / "flight.csv")
    predictor = predictor_of(chaser(), held, step=1e-2)
    torque = predictor.system.coordinates.index("mast")
    steps = predictor.inputs.effort[:, :, torque, 0]
    time, level = held["mast.torque"].usable()
    middles = predictor.grid.stages[:, 1]
    assert np.all(steps == steps[:, :1])  # the same at the start, middle and end of a step
    expected = level[np.searchsorted(time, middles) - 1]
    np.testing.assert_allclose(steps[:, 0], expected, atol=1e-12)  # steps begin at rounded times
    smooth = predictor_of(chaser(), flight(), step=1e-2)
    assert np.ptp(smooth.inputs.effort[:, :, torque, 0], axis=1).max() > 0.0
    early = held["mast.torque"].with_time(time - 0.05)
    wrong = predictor_of(chaser(), held.with_channels(early), step=1e-2)
    wrong = replace(wrong, grid=predictor.grid, start=predictor.start)
    late = wrong.setup_at({"mast.torque.delay": 0.05}).inputs.effort[:, :, torque, 0]
    np.testing.assert_allclose(late, steps, atol=1e-9)


def test_an_encoder_zero_and_gear_undo_a_wrong_recording():
    wrong = changed("elbow.position", lambda c: (c.time, 1.02 * c.values + 0.03))
    assert put_right(wrong, {}) > 1e2
    # smoothing chooses its strength by the data, alike up to rounding that it searches with
    assert put_right(wrong, {"elbow.gear": 1.02, "elbow.zero": 0.03}) < 1e-2


def test_an_encoder_delay_undoes_a_late_recording():
    late = changed("shoulder.position", lambda c: (c.time + 0.05, c.values))
    assert put_right(late, {}) > 1e2
    # but for the ends, which the late one does not have
    assert put_right(late, {"shoulder.delay": 0.05}) < 1e-2


def test_geometry_gravity_and_drag_are_those_of_a_model_that_has_them():
    model = chaser()
    R = matrix_from_rotation_vector([0.0, 0.01, 0.02])
    jets = list(model.thrusters)
    jets[0] = replace(jets[0], direction=tuple(R @ jets[0].direction), position=(-0.5, 0.21, 0.1))
    place = replace(model.joint("elbow").placement, xyz=(0.61, 0.0, 0.005))
    wrong = replace(model, thrusters=tuple(jets), gravity=(0.0, 1e-3, 0.0))
    wrong = wrong.with_joint("elbow", placement=place)
    wrong = replace(wrong, root=replace(wrong.root, linear_drag=0.2, angular_drag=0.1))
    values = {
        "jet_1.tilt.y": 0.01, "jet_1.tilt.z": 0.02, "jet_1.offset.y": 0.01,
        "elbow.offset.x": 0.01, "elbow.offset.z": 0.005, "gravity.y": 1e-3,
        "drag.linear": 0.2, "drag.angular": 0.1,
    }  # fmt: skip
    start = predictor_of(model, flight(), step=1e-2).start
    mine = replace(predictor_of(model, flight(), step=1e-2), start=start).at(values)
    theirs = replace(predictor_of(wrong, flight(), step=1e-2), start=start).at()
    assert mine is not None and theirs is not None
    for a, b in zip(mine.values, theirs.values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_scale_is_a_factor_of_all_ten():
    values = {"upper.mass": 9.0, "upper.scale": 1.1}
    system = predictor_of(chaser(), flight(), step=1e-2).system_at(values)
    phi = chaser().body("upper").phi
    phi[0] = 9.0
    link = system.body_link["upper"]
    np.testing.assert_allclose(
        system.parameters.phi[link], system.phi_map["upper"] @ (1.1 * phi), rtol=1e-14
    )


def test_columns_of_a_plan_are_those_of_readings():
    predictor = plan_predictor(chaser(), shake(4.0), step=1e-2)
    names = ["jet_1.gain", "bus.mass", "gravity.x", "tilt.base.rate.x"]
    found = predictor.at({}, names)
    assert found is not None
    assert all(len(residual) == 0 for residual in found.residuals)
    whole = np.concatenate([part.reshape(-1, len(names)) for part in found.jacobian])
    assert np.all(np.any(whole, axis=0))


def test_a_name_nobody_has_is_refused():
    predictor = predictor_of(chaser(), flight(), step=1e-2)
    with pytest.raises(IdentificationError) as error:
        predictor.at({"jet_7.gain": 1.0})
    assert [fault.code for fault in error.value.faults] == ["name.unknown"]


def test_parameters_take_what_is_named():
    wanted = ff.Parameters(chaser()).free("jet_?.gain", "bus.mass", "delay.base.attitude")
    assert wanted.names == ("bus.mass", "delay.base.attitude", "jet_1.gain", "jet_2.gain")
    assert wanted["jet_1.gain"].value == 1.0 and wanted["jet_1.gain"].unit == "1"
    assert len(ff.Parameters(chaser()).free("jet_1.*").names) == 10
    assert "bus.scale" not in ff.Parameters(chaser()).free("bus.*").names
    assert ff.Parameters(chaser()).free("mast.torque.bias")["mast.torque.bias"].unit == "N m"


SPREAD = ("body.com", "body.moment", "body.inertia")


def test_stated_uncertainties_count_and_say_so(tmp_path):
    model = chaser()
    model = replace(
        model,
        bodies=(replace(model.bodies[0], uncertainty=0.03), *model.bodies[1:]),
        wheels=(replace(model.wheels[0], uncertainty=0.002),),
        thrusters=(replace(model.thrusters[0], uncertainty=0.05), *model.thrusters[1:]),
        sensors=tuple(
            replace(s, gain_uncertainty=0.004) if s.kind in ("accelerometer", "joint_torque") else s
            for s in model.sensors
        ),
    )
    model.save(tmp_path / "chaser.toml")
    assert ff.load_model(tmp_path / "chaser.toml") == model
    found = {a.name: a for a in list_assumptions(model, flight())}
    stated = {name: a.std / (a.value or 1.0) for name, a in found.items() if a.is_stated}
    channels = ["imu.acceleration.x", "imu.acceleration.y", "imu.acceleration.z",
                "shoulder.torque", "elbow.torque"]  # fmt: skip
    spread = {name for name in stated if found[name].key in SPREAD}
    assert spread == {
        f"bus.{f}" for f in (["mx", "my", "mz", "ixx", "iyy", "izz", "com.x", "com.y", "com.z"])
    }
    radius = np.sqrt(0.5 * sum(model.bodies[0].phi[[4, 7, 9]]) / model.bodies[0].mass)
    assert found["bus.com.x"].std == pytest.approx(0.03 * radius)
    assert {n: s for n, s in stated.items() if n not in spread} == pytest.approx(
        {"bus.scale": 0.03, "rw.inertia": 0.002, "jet_1.gain": 0.05, "mast.torque.gain": 0.004}
        | {f"gain.{channel}": 0.004 for channel in channels}
    )
