"""Torque and force families: accelerations from windows, rows with honest noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from torque_flights import MODELS, Flight, flown, plan_of

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Plan, Wave, default_plan
from freefloat.identification.linear.force import FORCE
from freefloat.identification.linear.newton_euler_rows import joint_rows
from freefloat.identification.linear.torque import TORQUE
from freefloat.identification.linear.windows import fit_windows
from freefloat.model import Body, Joint, Model, Root
from freefloat.model.parts import Drive, Placement

FAMILIES = {"torque": TORQUE.equations, "force": FORCE.equations}
EXACT = 1e-8  # relative to natural size; measured: 4e-11 or better everywhere


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", MODELS)
def test_noise_free_flights_give_back_the_truth(name: str, family: str) -> None:
    flight = flown(name)
    assert flight.error(flight.solved(FAMILIES[family])) < EXACT


@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture"])
def test_unmeasured_rates_come_from_the_encoders(name: str) -> None:
    """Second derivatives of rounded angles: 1e-9 rad at 100 Hz are 1e-4 rad/s^2 a window."""
    flight = flown(name, without=("joint_rate",))
    assert flight.samples.derived
    assert flight.error(flight.solved(TORQUE.equations)) < 1e-6


def test_a_gap_costs_samples_and_nothing_else() -> None:
    flight = flown("planar-capture")
    kept = np.r_[0:310, 377:640, 641:1001]
    cut = replace(flight, samples=flight.samples.select(kept))
    assert cut.error(cut.solved(TORQUE.equations)) < EXACT


def test_gravity_and_drag_are_accounted_for() -> None:
    model = ff.load_model("dual-arm")
    root = replace(model.root, linear_drag=2.0, angular_drag=0.7)
    model = replace(model, root=root, gravity=(0.01, -0.02, 0.005))
    flight = flown(model)
    for make in FAMILIES.values():
        assert flight.error(flight.solved(make)) < EXACT


def test_a_commanded_wrench_is_accounted_for() -> None:
    model = ff.load_model("spatial-capture")
    wave = {"force.x": Wave(4.0, period=5.0), "torque.y": Wave(3.0, period=7.0)}
    flight = flown(model, plan=replace(plan_of(model, 10.0), thrusts={}, wrench=wave))
    assert flight.samples.wrench.any()
    for make in FAMILIES.values():
        assert flight.error(flight.solved(make)) < EXACT


def test_springs_of_passive_joints_are_found() -> None:
    free = ("bus.*", "hinge_*.stiffness", "hinge_*.damping")
    flight = winged(free)
    found = flight.solved(TORQUE.equations)
    assert flight.error(found) < EXACT
    labels = TORQUE.equations(flight.system, flight.samples, flight.values).labels
    assert any(label.startswith("hinge_") for label in labels)


def winged(free: tuple[str, ...]) -> Flight:
    """A servicer whose wings swing, without a torque sensor on their hinges."""
    model = ff.load_model("servicer-wings")
    hinges = [j.name for j in model.joints if j.role == "passive"]
    start = ff.Start(rate=(0.02, 0.01, 0.03), speeds={name: 0.05 for name in hinges})
    plan = replace(default_plan(model, duration=10.0), start=start)
    flight = flown(model, free=free, plan=plan)
    torque = flight.samples.torque
    assert torque is not None
    torque = torque.copy()
    torque[:, [flight.system.coordinates.index(name) for name in hinges]] = np.nan
    sources = tuple(
        s for s in flight.samples.sources if s.parts[0][0] != "torque" or
        not np.isnan(torque[0, s.parts[0][1]])
    )  # fmt: skip
    return replace(flight, samples=replace(flight.samples, torque=torque, sources=sources))


def test_a_fixed_root_needs_no_root_sensors() -> None:
    flight = flown(bench(), free=("upper.*", "lower.*"), plan=bench_plan())
    found = flight.solved(TORQUE.equations)
    # of a chain of two about one axis, hanging: seven combinations at most
    assert found.rank < len(flight.values)
    rows = TORQUE.equations(flight.system, flight.samples, flight.values)
    assert rows.labels == ("shoulder.torque", "elbow.torque")
    left = rows.Y @ flight.truth - rows.y
    assert np.max(np.abs(left)) < 1e-7 * np.max(np.abs(rows.y))


def bench(drive: Drive | None = None) -> Model:
    """A pendulum arm of two links on a bench, in gravity."""
    ball = (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)
    bodies = (
        Body("bench", 1.0),
        Body("upper", 2.0, (0.2, 0.0, 0.0), ball),
        Body("lower", 1.0, (0.1, 0.0, 0.1), ball),
    )
    role = "passive" if drive else "motion"
    joints = (
        Joint("shoulder", "revolute", "bench", "upper", Placement(), (0.0, 1.0, 0.0)),
        Joint("elbow", "revolute", "upper", "lower", Placement((0.4, 0.0, 0.0)), (0.0, 1.0, 0.0),
              role=role, drive=drive),
    )  # fmt: skip
    return Model("bench", Root("bench", "fixed"), bodies, joints, gravity=(0.0, 0.0, -9.81))


def bench_plan() -> Plan:
    return default_plan(bench(), duration=5.0)


def test_a_spring_to_a_motor_that_is_not_recorded_is_not_known() -> None:
    flight = flown(bench(Drive(0.02, 500.0, 1.0)), free=("lower.mass",), plan=bench_plan_of_motor())
    samples = replace(flight.samples, torque=None)
    assert joint_rows(flight.system, samples) == []


def bench_plan_of_motor() -> Plan:
    return default_plan(bench(Drive(0.02, 500.0, 1.0)), duration=2.0)


def test_windowed_samples_are_taken_as_they_are() -> None:
    flight = flown("planar-capture", duration=4.0)
    at = fit_windows(flight.samples, flight.system)
    a, b = (TORQUE.equations(flight.system, s, flight.values) for s in (flight.samples, at))
    np.testing.assert_array_equal(a.Y, b.Y)


def test_units_of_sliding_joints_are_newtons() -> None:
    arm = replace(bench().joints[1], type="prismatic")
    model = replace(bench(), joints=(bench().joints[0], arm))
    flight = flown(model, free=("lower.mass",), plan=default_plan(model, duration=3.0))
    rows = TORQUE.equations(flight.system, flight.samples, flight.values)
    assert rows.units == ("N m", "N")


@pytest.mark.parametrize(
    ("without", "named"),
    [(("velocity",), "base.velocity"), (("gyro",), "base.rate"), (("attitude",), "base.attitude")],
)
def test_missing_channels_are_named(without: tuple[str, ...], named: str) -> None:
    flight = flown("spatial-capture", duration=3.0, without=without)
    for make in FAMILIES.values():
        with refused(IdentificationError, "channel.missing", naming=named):
            make(flight.system, flight.samples, flight.values)


def test_torques_are_needed_unless_something_swings() -> None:
    flight = flown("spatial-capture", duration=3.0, without=("joint_torque",))
    with refused(IdentificationError, "channel.missing", naming="torque"):
        TORQUE.equations(flight.system, flight.samples, flight.values)
