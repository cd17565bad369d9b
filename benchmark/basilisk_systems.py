"""Systems that Basilisk flies: wings of rigid panels on hinges, and a slow tug in a real orbit.

Basilisk lives in the neighbours' interpreter (`make bench-peers`); without it these tasks cannot be
made.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import peers
from scipy.spatial.transform import Rotation
from worlds import robots
from worlds.mechanism import FINE, Readings
from worlds.world import VOUCHED, World

import freefloat as ff
from freefloat.model.parts import Body, Joint, Orbit, Placement

INSIDE = 5  # Runge-Kutta steps of Basilisk from one clean reading to the next
PATIENCE = 300.0  # [s] for a flight


@dataclass(frozen=True)
class Panel:
    """A wing: a plate on a hinge about the y axis of `placement`, its centre at -distance in x."""

    name: str
    placement: Placement
    mass: float
    distance: float
    inertia: tuple[float, float, float]
    stiffness: float
    damping: float

    def body(self) -> Body:
        xx, yy, zz = self.inertia
        com = (-self.distance, 0.0, 0.0)
        six = (xx, 0.0, 0.0, yy, 0.0, zz)
        return Body(self.name, self.mass, com, six, uncertainty=VOUCHED["body"])

    def joint(self, softness: float) -> Joint:
        """Its hinge, with `softness` times its stiffness."""
        return Joint(f"{self.name}_hinge", "revolute", "bus", self.name, self.placement,
                     (0.0, 1.0, 0.0), role="passive", stiffness=softness * self.stiffness,
                     damping=self.damping)  # fmt: skip


PANELS = (
    Panel("left", Placement((0.1, 0.7, 0.0), (0.0, 0.0, -0.5 * np.pi)), 9.0, 1.1,
          (2.4, 3.6, 6.0), 30.0, 0.12),
    Panel("right", Placement((0.1, -0.7, 0.0), (0.0, 0.0, 0.5 * np.pi)), 9.0, 1.1,
          (2.4, 3.6, 6.0), 42.0, 0.15),
)  # fmt: skip


def with_panels(model: ff.Model, softness: float) -> ff.Model:
    """The model with two wings; `softness` is the believed stiffness over the true one."""
    bodies = (*model.bodies, *(p.body() for p in PANELS))
    return replace(model, bodies=bodies, joints=tuple(p.joint(softness) for p in PANELS))


def fly(
    world: World, *, panels: tuple[Panel, ...] = (), orbit: Orbit | None = None, rate: float = FINE
) -> Readings:
    """Fly a tug by Basilisk: what ideal sensors at the origin of its bus read, `rate` [Hz] times.

    Thrust is made to switch on the grid of the readings, as Basilisk holds it in between. In
    orbit, position and velocity are told from a point that falls freely on the circle.
    """
    for name, course in world.thrusts.items():
        world.thrusts[name] = lambda t, course=course: course(np.floor(t * rate + 1e-6) / rate)
    times = np.arange(round(world.duration * rate) + 1) / rate
    states = _states(world, times, panels, orbit)
    place, velocity = states[:, :3], states[:, 3:6]
    if orbit is not None:
        there, speed = on_circle(orbit, times)
        place, velocity = place - there, velocity - speed
    attitude = Rotation.from_mrp(states[:, 6:9])  # from body axes into inertial ones
    groups = {"base.position": place, "base.velocity": velocity, "base.rate": states[:, 9:],
              "base.attitude": _continuous(attitude.as_quat())}  # fmt: skip
    return Readings(times, groups)


def _continuous(q: np.ndarray) -> np.ndarray:
    """Quaternions that do not jump between q and -q."""
    q = q.copy()
    q[1:] *= np.cumprod(np.sign(np.sum(q[1:] * q[:-1], axis=1)))[:, None]
    return q


def _states(world: World, times: np.ndarray, panels, orbit: Orbit | None) -> np.ndarray:
    wrench = np.zeros((len(times) - 1, 6))
    for thruster in world.model.thrusters:
        force = np.outer(world.thrusts[thruster.name](times[:-1]), thruster.direction)
        wrench += np.hstack([force, np.cross(thruster.position, force)])
    with tempfile.TemporaryDirectory() as name:
        pushes, out = Path(name, "wrench.npz"), Path(name, "states.npz")
        np.savez(pushes, wrench=wrench)
        steps = {"step": times[1], "fine": times[1] / INSIDE}
        problem = json.dumps(_problem(world, panels, orbit) | steps)
        with peers.Peer("peer_basilisk.py") as basilisk:
            basilisk.ask("fly", limit=PATIENCE, problem=problem, wrench=str(pushes), out=str(out))
        with np.load(out) as found:
            return found["states"]


def _problem(world: World, panels: tuple[Panel, ...], orbit: Orbit | None) -> dict:
    """The flight in numbers, as benchmarks/peer_basilisk.py reads it; it starts at the centre."""
    bus = world.model.body("bus")
    place, velocity = (0.0, 0.0, 0.0), tuple(world.velocity)
    if orbit is not None:
        there, speed = on_circle(orbit, np.zeros(1))
        place, velocity = there[0].tolist(), (speed[0] + world.velocity).tolist()
    return {
        "hub": {"mass": bus.mass, "com": bus.com, "inertia": robots.tensor(bus.inertia).tolist()},
        "panels": [
            {"mass": p.mass, "distance": p.distance, "inertia": np.diag(p.inertia).tolist(),
             "stiffness": p.stiffness, "damping": p.damping, "place": p.placement.xyz,
             "axes": p.placement.rotation.T.tolist()} for p in panels
        ],
        "orbit": None if orbit is None else {"mu": orbit.mu},
        "start": {"position": place, "velocity": velocity, "rate": tuple(world.rate)},
    }  # fmt: skip


def on_circle(orbit: Orbit, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity of the point that falls freely on the orbit."""
    out = np.array(orbit.radial) / np.linalg.norm(orbit.radial)
    normal = np.array(orbit.normal) / np.linalg.norm(orbit.normal)
    ahead, angle = np.cross(normal, out), orbit.rate * times
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return orbit.radius * (c * out + s * ahead), orbit.radius * orbit.rate * (c * ahead - s * out)
