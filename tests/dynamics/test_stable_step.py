"""RK4 refuses what it cannot integrate: friction, springs and dampers too stiff for the step."""

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import Start, flatten, integrate
from freefloat.dynamics.equations import no_inputs
from freefloat.dynamics.integrate import longest_stable_step, require_stable_step
from freefloat.errors import FreefloatError
from freefloat.model import Body, Joint, Model, Root


def arm(**spring: float) -> Model:
    """A 100 kg bus with a 4 kg passive arm."""
    bus = Body("bus", 100.0, inertia=(10.0, 0.0, 0.0, 10.0, 0.0, 10.0))
    link = Body("link", 4.0, (0.25, 0.0, 0.0), (0.01, 0.0, 0.0, 0.02, 0.0, 0.02))
    joint = Joint("j", "revolute", "bus", "link", role="passive", **spring)
    return Model("one arm", Root("bus"), (bus, link), (joint,))


def flown(model: Model, method: str) -> float:
    """Where the arm comes to rest [rad] after 2 s from 0.5 rad/s."""
    system = flatten(model)
    start = Start(speeds={"j": 0.5}).vector(system)
    table = no_inputs(system)
    end = integrate(system, start, lambda t: table, duration=2.0, every=1000, method=method)
    return float(end.states[-1, 13])


def test_friction_that_the_step_resolves_agrees_with_the_adaptive_integrator() -> None:
    model = arm(friction=0.5)
    assert flown(model, "rk4") == pytest.approx(flown(model, "dop853"), abs=1e-4)


@pytest.mark.parametrize("spring", [{"friction": 5.0}, {"stiffness": 1e7}, {"damping": 1e3}])
def test_too_stiff_is_refused_with_the_step_that_would_do(spring: dict[str, float]) -> None:
    with refused(FreefloatError, "step.unstable", naming="'j'") as told:
        flown(arm(**spring), "rk4")
    assert "dop853" in str(told.value)


@pytest.mark.parametrize("spring", [{"friction": 5.0}, {"stiffness": 1e6}, {"damping": 1e3}])
def test_the_longest_stable_step_is_allowed_and_twice_it_is_not(spring: dict[str, float]) -> None:
    system = flatten(arm(**spring))
    start = Start().vector(system)
    step = longest_stable_step(system, start, 0.016, shortest=1e-6)
    require_stable_step(system, start, step)
    with pytest.raises(FreefloatError):
        require_stable_step(system, start, 2.0 * step)
    assert longest_stable_step(system, start, 0.016, shortest=0.01) == 0.008


def test_the_proposed_friction_speed_is_enough() -> None:
    with refused(FreefloatError, "step.unstable") as told:
        flown(arm(friction=5.0), "rk4")
    speed = float(str(told.value).split("friction_speed to ")[1].split(",")[0])
    rest = flown(arm(friction=5.0, friction_speed=speed), "rk4")
    assert np.isfinite(rest)
    assert rest == pytest.approx(flown(arm(friction=5.0, friction_speed=speed), "dop853"), abs=1e-3)
