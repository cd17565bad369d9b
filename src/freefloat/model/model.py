"""The Model: what the space robot is, as one frozen noun.

A Model holds what its file says. `Model.assembly` spells out what that means mechanically: tanks
become pendulums, targets become fixed bodies, drives and wheels become rotors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.errors import ModelError
from freefloat.model.parts import (
    Body,
    Capsule,
    Frame,
    Joint,
    Limits,
    Orbit,
    Placement,
    Root,
    Sensor,
    Tank,
    Target,
    Thruster,
    Vector,
    Wheel,
)

if TYPE_CHECKING:
    from freefloat.model.assembly import Assembly


@dataclass(frozen=True)
class Model:
    """A free-floating robot: bus, arms, target, wings, fuel, wheels, thrusters, sensors, orbit.

    >>> from freefloat.model import load_model
    >>> load_model("cepheus").mass  # [kg]
    10.221
    """

    name: str
    root: Root
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...] = ()
    tanks: tuple[Tank, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    thrusters: tuple[Thruster, ...] = ()
    targets: tuple[Target, ...] = ()
    frames: tuple[Frame, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    orbit: Orbit | None = None
    gravity: Vector = (0.0, 0.0, 0.0)
    limits: Limits = Limits()
    description: str = ""
    extras: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def assembly(self) -> Assembly:
        """The model with tanks, targets, drives and wheels spelt out as bodies and coordinates."""
        from freefloat.model.assembly import assemble

        return assemble(self)

    def __str__(self) -> str:
        """One line: name, root, how many parts, mass."""
        counts = ", ".join(
            f"{len(parts)} {kind}"
            for kind, parts in (
                ("bodies", self.bodies),
                ("joints", self.joints),
                ("tanks", self.tanks),
                ("wheels", self.wheels),
                ("thrusters", self.thrusters),
                ("targets", self.targets),
                ("sensors", self.sensors),
            )
            if parts
        )
        return f"{self.name}: {self.root.type} root {self.root.body}, {counts}, {self.mass:.6g} kg"

    @property
    def mass(self) -> float:
        """The mass of everything, fuel and targets included [kg]."""
        masses = [part.mass for part in (*self.bodies, *self.tanks)]
        return float(sum(masses) + sum(target.body.mass for target in self.targets))

    def body(self, name: str) -> Body:
        """The body of that name, grasped targets included."""
        return _named((*self.bodies, *(target.body for target in self.targets)), name, "body")

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return _named(self.joints, name, "joint")

    def with_body(self, body: Body) -> Model:
        """The model with the body (or target) of the same name replaced."""
        self.body(body.name)
        swap = [body if old.name == body.name else old for old in self.bodies]
        held = [replace(t, body=body) if t.name == body.name else t for t in self.targets]
        return replace(self, bodies=tuple(swap), targets=tuple(held))

    def with_joint(self, name: str, **changes: object) -> Model:
        """The model with some fields of one joint changed, e.g. role="locked"."""
        new = replace(self.joint(name), **changes)  # type: ignore[arg-type]
        joints = (new if old.name == name else old for old in self.joints)
        return replace(self, joints=tuple(joints))

    def grasp(self, body: Body, *, on: str, placement: Placement = Placement()) -> Model:  # noqa: B008
        """The model holding `body` rigidly on the body or frame called `on`."""
        self._refuse_taken(body.name)
        for frame in self.frames:
            if frame.name == on:
                if placement != Placement():
                    raise ModelError(
                        f"{self.name}: grasping on the frame {on!r} takes the frame's placement;"
                        f" name the body {frame.body!r} to give your own"
                    )
                on, placement = frame.body, frame.placement
                break
        _named((*self.bodies, *self.frames), on, "body or frame")
        return replace(self, targets=(*self.targets, Target(body, on, placement)))

    def release(self, name: str) -> Model:
        """The model without the grasped target of that name, and without what sits on it."""
        _named(self.targets, name, "target")
        gone = {name, *(frame.name for frame in self.frames if frame.body == name)}
        # A sensor, tank or wheel on a target leaves with it; kept, it would sit on nothing.
        kept = {
            kind: tuple(part for part in getattr(self, kind) if part.body != name)
            for kind in ("tanks", "wheels", "thrusters", "frames", "capsules")
        }
        sensors = tuple(sensor for sensor in self.sensors if sensor.on not in gone)
        targets = tuple(target for target in self.targets if target.name != name)
        return replace(self, targets=targets, sensors=sensors, **kept)

    def swap(self, name: str, body: Body) -> Model:
        """The model with the grasped target `name` replaced by `body`, held at the same place."""
        held = _named(self.targets, name, "target")
        if body.name == name:
            return self.with_body(body)
        self._refuse_taken(body.name)
        new = replace(held, body=body)
        order = tuple(new if target.name == name else target for target in self.targets)
        return replace(self.release(name), targets=order)

    def save(self, path: str | Path) -> None:
        """Write the model as .toml (complete) or .urdf (bodies and joints)."""
        from freefloat.model.loading import save_model

        save_model(self, path)

    def _refuse_taken(self, name: str) -> None:
        if any(part.name == name for part in self._named_parts()):
            raise ModelError(
                f"{self.name}: cannot grasp {name!r}: the model already has a part of that"
                " name; release it first or give the target another name"
            )

    def _named_parts(self) -> Iterator[Body | Joint | Tank | Wheel | Thruster | Target | Frame]:
        yield from (*self.bodies, *self.joints, *self.tanks, *self.wheels)
        yield from (*self.thrusters, *self.targets, *self.frames)


def _named(parts, name: str, kind: str):  # any tuple of named parts
    for part in parts:
        if part.name == name:
            return part
    known = ", ".join(part.name for part in parts) or "none"
    raise ModelError(f"there is no {kind} called {name!r}; known: {known}")
