"""The Model: what the space robot is, as one frozen noun.

A Model holds what its file says. `Model.assembly` spells out what that means mechanically: tanks
become pendulums, targets become fixed bodies, drives and wheels become rotors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from freefloat.errors import Fault, ModelError
from freefloat.model.assembly import Assembly, assemble
from freefloat.model.checks import sensor_targets, target_faults
from freefloat.model.model_write import save_model
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
from freefloat.model.uncertainty import rename_owner, without_idle_uncertainty
from freefloat.notebook import html_list, html_table, html_view
from freefloat.notes import Note
from freefloat.text import did_you_mean, listing

# format: of the heaviest body on it; files give a root that stands for nothing a gram or less
DUMMY = 1e-3
ON_BODY = ("tanks", "wheels", "thrusters", "frames", "capsules")  # parts that a body carries


@dataclass(frozen=True)
class Model:
    """A free-floating robot: bus, arms, target, wings, fuel, wheels, thrusters, sensors, orbit.

    uncertainty: standard deviations of what is taken as exact, by name or glob, in its unit
    (docs/assumptions.md); the last that matches counts, before what the parts say themselves.

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
    uncertainty: Mapping[str, float] = field(default_factory=dict, hash=False)
    description: str = ""
    extras: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def assembly(self) -> Assembly:
        """The model with tanks, targets, drives and wheels spelt out as bodies and coordinates."""
        return assemble(self)

    def __str__(self) -> str:
        """One line: name, root, how many parts, mass."""
        counts = ", ".join(
            f"{len(parts)} {kind if len(parts) > 1 else one}"
            for one, kind, parts in (
                ("body", "bodies", self.bodies),
                ("joint", "joints", self.joints),
                ("tank", "tanks", self.tanks),
                ("wheel", "wheels", self.wheels),
                ("thruster", "thrusters", self.thrusters),
                ("target", "targets", self.targets),
                ("sensor", "sensors", self.sensors),
            )
            if parts
        )
        return f"{self.name}: {self.root.type} root {self.root.body}, {counts}, {self.mass:.6g} kg"

    def _repr_html_(self) -> str:
        carried = {joint.child: joint for joint in self.joints}
        rows = [
            (body.name, f"{body.mass:.6g}", joint.name, joint.parent, joint.type, joint.role)
            if (joint := carried.get(body.name))
            else (body.name, f"{body.mass:.6g}", "", "", self.root.type, "")
            for body in self.bodies
        ]
        head = ("body", "mass [kg]", "joint", "parent", "type", "role")
        return html_view(str(self), html_table(head, rows), html_list(self.notes))

    @property
    def bus(self) -> str:
        """The body that everything hangs on: the root, or what is firmly on a root without mass.

        Files often begin with an empty link (`world`, `base_link`), or one of a gram at most.
        """
        mass = {body.name: body.mass for body in self.bodies}
        firm = [self.root.body]
        for name in firm:  # grows while it is walked through
            firm += [j.child for j in self.joints if j.type == "fixed" and j.parent == name]
        heaviest = max(firm, key=lambda name: mass.get(name, 0.0))
        is_dummy = mass.get(self.root.body, 0.0) < DUMMY * mass.get(heaviest, 0.0)
        return heaviest if is_dummy else self.root.body

    @property
    def mass(self) -> float:
        """The mass of everything, fuel and targets included [kg]."""
        masses = [part.mass for part in (*self.bodies, *self.tanks)]
        return float(sum(masses) + sum(target.body.mass for target in self.targets))

    def body(self, name: str) -> Body:
        """The body of that name, grasped targets included."""
        return _find_part((*self.bodies, *(target.body for target in self.targets)), name, "body")

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return _find_part(self.joints, name, "joint")

    def with_body(self, body: Body | str, **changes: object) -> Model:
        """The model with one body (or target) changed: a whole new one of its name, or some fields.

        >>> from freefloat.model import load_model
        >>> load_model("planar-capture").with_body("target", mass=300.0).body("target").mass
        300.0
        """
        old = self.body(body if isinstance(body, str) else body.name)
        new = replace(old if isinstance(body, str) else body, **changes)  # type: ignore[arg-type]
        swap = [new if one.name == old.name else one for one in self.bodies]
        held = [replace(t, body=new) if t.name == old.name else t for t in self.targets]
        return replace(self, bodies=tuple(swap), targets=tuple(held))

    def with_joint(self, joint: Joint | str, **changes: object) -> Model:
        """The model with one joint changed: a whole new one of its name, or some fields.

        >>> from freefloat.model import load_model
        >>> load_model("cepheus").with_joint("arm_1", role="locked").joint("arm_1").role
        'locked'
        """
        old = self.joint(joint if isinstance(joint, str) else joint.name)
        new = replace(old if isinstance(joint, str) else joint, **changes)  # type: ignore[arg-type]
        joints = (new if one.name == old.name else one for one in self.joints)
        return replace(self, joints=tuple(joints))

    def grasp(self, body: Body, *, on: str, placement: Placement = Placement()) -> Model:  # noqa: B008
        """The model holding `body` rigidly on the body or frame called `on`.

        Args:
            body: What is grasped; its name becomes that of a target.
            on: Name of the body or frame that holds it.
            placement: Where the frame of `body` sits there: xyz [m], rpy [rad].

        Returns:
            The model with the target.

        Raises:
            ModelError: The body cannot be real (such as one of negative mass), its name is taken,
                or there is nothing called `on`.
        """
        self._refuse_taken(body.name)
        self._refuse_unreal(body)
        for frame in self.frames:
            if frame.name == on:
                if placement != Placement():
                    expected = f"none: the frame {on!r} supplies it"
                    remedy = f"name the body {frame.body!r} to give your own"
                    fault = Fault("placement", str(placement), expected, remedy, "value.conflict")
                    raise ModelError(f"{self.name}: cannot grasp {body.name!r}", [fault])
                on, placement = frame.body, frame.placement
                break
        _find_part((*self.bodies, *self.frames), on, "body or frame")
        return replace(self, targets=(*self.targets, Target(body, on, placement)))

    def release(self, name: str) -> Model:
        """The model without the grasped target of that name, and without what sits on it.

        Tanks, wheels, thrusters, frames, capsules and sensors on the target leave with it: kept,
        they would sit on nothing. The last of `notes` of the new model names them.
        """
        _find_part(self.targets, name, "target")
        kept = {
            kind: tuple(part for part in getattr(self, kind) if part.body != name)
            for kind in ON_BODY
        }
        targets = tuple(target for target in self.targets if target.name != name)
        left = replace(self, targets=targets, **kept)
        blind = _sensors_without_target(self, left)
        gone = [
            *(_part_text(kind, part) for kind in ON_BODY for part in getattr(self, kind)
              if part.body == name),
            *(f"sensor {sensor.kind} on {sensor.on}" for sensor in blind),
        ]  # fmt: skip
        text = f"released {name}, and with it: {', '.join(gone)}"
        notes = (Note("target.released", text),) if gone else ()
        sensors = tuple(sensor for sensor in self.sensors if sensor not in blind)
        left = replace(left, sensors=sensors, notes=(*self.notes, *notes))
        return without_idle_uncertainty(left)

    def swap(self, name: str, body: Body) -> Model:
        """The model with the grasped target `name` replaced by `body`, held at the same place.

        What sits on the old target (sensors, frames, tanks, wheels, thrusters, capsules) sits on
        the new one at the same place in its frame; channels of its sensors bear the new name. To
        be rid of it, `release` the old target and `grasp` the new one.
        """
        held = _find_part(self.targets, name, "target")
        if body.name != name:
            self._refuse_taken(body.name)
        self._refuse_unreal(body)
        new = replace(held, body=body)
        order = tuple(new if target.name == name else target for target in self.targets)
        moved = {
            kind: tuple(
                replace(part, body=body.name) if part.body == name else part
                for part in getattr(self, kind)
            )
            for kind in ON_BODY
        }
        swapped = replace(self, targets=order, **moved)
        # They named the old target, or had a glob that fits it.
        blind = _sensors_without_target(self, swapped)
        sensors = (replace(s, on=body.name) if s in blind else s for s in self.sensors)
        stated = rename_owner(self.uncertainty, name, body.name)
        return replace(swapped, sensors=tuple(sensors), uncertainty=stated)

    def save(self, path: str | Path, *, like: str | Path | None = None) -> None:
        """Write the model as .toml (complete), .urdf (bodies and joints) or .xml (MJCF).

        like: the URDF or MJCF that the model was read from, to be kept but for the numbers.
        """
        save_model(self, path, like=like)

    def _refuse_unreal(self, body: Body) -> None:
        faults = target_faults(body)
        if faults:
            raise ModelError(f"{self.name}: cannot grasp {body.name!r}", faults)

    def _refuse_taken(self, name: str) -> None:
        if any(part.name == name for part in self._named_parts()):
            expected = "a name no other part of the model has"
            remedy = "release that part first, or give the target another name"
            fault = Fault("target name", repr(name), expected, remedy, "name.duplicate")
            raise ModelError(f"{self.name}: cannot grasp {name!r}", [fault])

    def _named_parts(self) -> Iterator[Body | Joint | Tank | Wheel | Thruster | Target | Frame]:
        yield from (*self.bodies, *self.joints, *self.tanks, *self.wheels)
        yield from (*self.thrusters, *self.targets, *self.frames)


def _sensors_without_target(before: Model, after: Model) -> list[Sensor]:
    """The sensors that read something in one model and nothing in the other."""
    return [s for s in before.sensors if sensor_targets(before, s) and not sensor_targets(after, s)]


def _part_text(kind: str, part: Tank | Wheel | Thruster | Frame | Capsule) -> str:
    return "a capsule" if isinstance(part, Capsule) else f"{kind[:-1]} {part.name}"


def _find_part(parts: Sequence[Any], name: str, kind: str) -> Any:
    """The part of that name; raises ModelError naming those there are."""
    for part in parts:
        if part.name == name:
            return part
    names = [part.name for part in parts]
    expected = f"one of {listing(names)}" if names else f"no {kind}: the model has none"
    remedy = did_you_mean(name, names, otherwise=f"name a {kind} the model has")
    fault = Fault(f"{kind} name", repr(name), expected, remedy, "name.unknown")
    raise ModelError(f"there is no {kind} called {name!r}", [fault])
