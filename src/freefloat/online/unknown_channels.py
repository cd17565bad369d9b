"""Channels that arrive and that nobody knows: a thrust that is misspelt must not go unnoticed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from freefloat.errors import Fault, IdentificationError
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.online.live_channels import noise_of_sensors
from freefloat.prediction.measurements import sensor_channels
from freefloat.telemetry.names import XYZ, channel_names
from freefloat.text import closest

MOST = 100  # format: names that are remembered; ever new ones must not fill the memory


def usual_channels(model: Model) -> frozenset[str]:
    """The names of everything that the model could report or be told."""
    found = {"time", "values", *noise_of_sensors(model), *sensor_channels(model)}
    found |= {f"base.{kind}.{axis}" for kind in ("force", "torque") for axis in XYZ}
    found |= {f"base.attitude.{axis}" for axis in "xyzw"} | {"base.angle"}
    for coordinate in model.assembly.coordinates:
        name = coordinate.name.removesuffix(".motor")
        found |= {*channel_names(coordinate), f"{name}.torque", f"{name}.motor_torque"}
    for thruster in model.thrusters:
        found.add(f"{thruster.name}.force")
    groups = {name[:-1] for name in found if name.endswith(".attitude.x")}
    return frozenset(found | {f"{group}w" for group in groups})


class UnknownChannels:
    """Names that are no channels of the model, and what is to be said of each, once.

    >>> import freefloat as ff
    >>> unknown = UnknownChannels(ff.load_model("planar-capture"))
    >>> unknown.look(["base.rate.z", "battery.voltage", "thr_1.forse"])
    >>> [note.code for note in unknown.concerns]
    ['channel.misspelt']
    >>> unknown.names
    ('battery.voltage', 'thr_1.forse')
    """

    def __init__(self, model: Model) -> None:
        self.model = model.name
        self.usual = usual_channels(model)
        self.parts = {name.split(".")[0] for name in self.usual} | {f.name for f in model.frames}
        self.restore(())

    def restore(self, names: Iterable[str]) -> None:
        """Know these and no others."""
        self.familiar = set(self.usual)
        self.notes: dict[str, Note | None] = {}
        self.concerns: tuple[Note, ...] = ()
        self.look(names)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order they came."""
        return tuple(self.notes)

    def look(self, names: Iterable[str]) -> None:
        """Take note of those that are new."""
        present = dict.fromkeys(names)
        for name in present:
            if name not in self.familiar and len(self.notes) < MOST:
                self.familiar.add(name)
                self.notes[name] = self._note(name, present)
                self.concerns = tuple(note for note in self.notes.values() if note is not None)

    def _note(self, name: str, present: Collection[str]) -> Note | None:
        """It may be misspelt, or a force that the model knows nothing of; else it is let pass."""
        close = likeliest(name, self.usual)
        start = f"{name} is no channel of {self.model}: "
        if close and close not in present:
            return Note("channel.misspelt", f"{start}did you mean {close!r}?")
        if name.endswith(".on_time"):
            other = f"give {name.removesuffix('.on_time')}.force, the mean over the step"
            return Note("channel.on_time", start + other)
        if name.endswith(".force") and name.split(".")[0] not in self.parts:
            other = "it has no such thruster, and an unmodelled force biases the mass estimates"
            return Note("channel.unknown_force", start + other)
        return None


def likeliest(name: str, known: Iterable[str]) -> str:
    """The known name that was meant, or nothing.

    >>> likeliest("base.rates.x", ["base.rate.x", "base.rate.y"])
    'base.rate.x'
    >>> likeliest("arm_7.position", ["arm_1.position"])
    ''
    """
    digits = [c for c in name if c.isdigit()]  # another number is another part, not a slip
    alike = [other for other in known if [c for c in other if c.isdigit()] == digits]
    return next(iter(closest(name, alike, likeness=0.8)), "")


def require_known(names: Sequence[str], present: Iterable[str], model: Model) -> None:
    """IdentificationError for names in `noise=` that are neither channels nor of the model."""
    known = usual_channels(model) | set(present) | {"base.attitude"}
    faults = []
    for name in names:
        if name not in known:
            close = likeliest(name, known)
            remedy = f"did you mean {close!r}?" if close else "leave it out"
            place, found = f"noise[{name!r}]", "no such channel"
            faults.append(Fault(place, found, "one of the model", remedy, code="channel.unknown"))
    if faults:
        raise IdentificationError("noise is given for unknown channels:", faults)
