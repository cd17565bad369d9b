"""Names of channels and units: what is known, and what becomes of the rest."""

from __future__ import annotations

import math

import pytest

from freefloat.errors import Fault
from freefloat.telemetry.names import ChannelName, attitude_groups, resolved_unit, suggest, unit_of
from freefloat.telemetry.units import accepted_units, si_unit


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("base.attitude.w", ("1",)),
        ("base.angle", ("rad",)),
        ("base.rate.z", ("rad/s",)),
        ("base.position.x", ("m",)),
        ("base.velocity.y", ("m/s",)),
        ("base.acceleration.z", ("m/s^2",)),
        ("arm_1.position", ("rad", "m")),
        ("arm_1.velocity", ("rad/s", "m/s")),
        ("arm_1.torque", ("N m", "N")),
        ("arm_1.motor_position", ("rad", "m")),
        ("arm_1.motor_velocity", ("rad/s", "m/s")),
        ("arm_1.motor_torque", ("N m", "N")),
        ("rw_x.speed", ("rad/s",)),
        ("rw_x.torque", ("N m", "N")),
        ("thruster_3.force", ("N",)),
        ("tool.position.x", ("m",)),
        ("left.arm/joint 1.position", ("rad", "m")),
        ("position", ()),
        ("base.attitude", ()),
        ("base.rate.w", ()),
    ],
)
def test_units_of_known_quantities(name, units):
    assert unit_of(name) == units


@pytest.mark.parametrize(
    ("unit", "si", "factor"),
    [
        ("deg", "rad", math.pi / 180),
        ("deg/s", "rad/s", math.pi / 180),
        ("°/s", "rad/s", math.pi / 180),
        ("rpm", "rad/s", 2 * math.pi / 60),
        ("RPM", "rad/s", 2 * math.pi / 60),
        ("mm", "m", 1e-3),
        ("ms", "s", 1e-3),
        ("µs", "s", 1e-6),
        ("arcsec", "rad", math.pi / 180 / 3600),
        ("mrad", "rad", 1e-3),
        ("g", "m/s^2", 9.80665),
        ("mNm", "N m", 1e-3),
        ("N·m", "N m", 1.0),
        ("Nm", "N m", 1.0),
        ("m/s²", "m/s^2", 1.0),
        ("m/s2", "m/s^2", 1.0),
        ("rad / s", "rad/s", 1.0),
        ("-", "1", 1.0),
    ],
)
def test_units_become_si(unit, si, factor):
    found = si_unit(unit)
    assert found is not None
    assert found[0] == si and found[1] == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize("unit", ["MN", "parsec", "", "mS", "m/s^3", "deg/deg"])
def test_unknown_units_are_not_guessed(unit):
    assert si_unit(unit) is None


def test_every_accepted_unit_converts():
    for unit in accepted_units():
        found = si_unit(unit)
        assert found is not None and si_unit(found[0]) == (found[0], 1.0)


def test_a_unit_that_contradicts_the_name_is_a_fault():
    fault = resolved_unit("base.rate.x", "m")
    assert isinstance(fault, Fault)
    assert fault.code == "channel.unit" and "rad/s" in fault.expected
    assert resolved_unit("rail.position", "mm") == ("m", 1e-3)
    assert resolved_unit("wing.strain", "1") == ("1", 1.0)
    assert isinstance(resolved_unit("wing.strain", None), Fault)


def test_groups_and_suggestions():
    names = tuple(f"mocap.attitude.{axis}" for axis in "xyzw") + ("base.attitude.w",)
    assert attitude_groups(names) == ("mocap.attitude",)
    assert "'base.attitude.w'" in suggest("base.atitude.w", names)
    assert "'" not in suggest("a", ())  # nothing to propose


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("base.rate.x", ("base", "rate", "x")),
        ("elbow.position", ("elbow", "position", "")),
        ("left.arm/joint 1.motor_position", ("left.arm/joint 1", "motor_position", "")),
        ("mocap.attitude.w", ("mocap", "attitude", "w")),
        ("mystery", ("", "mystery", "")),
        ("x", ("", "x", "")),
    ],
)
def test_a_name_taken_apart_and_put_together(name, parts):
    parsed = ChannelName.parse(name)
    assert (parsed.place, parsed.quantity, parsed.axis) == parts and str(parsed) == name
