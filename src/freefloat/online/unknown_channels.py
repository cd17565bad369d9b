"""Channels that arrive and that nobody knows: a thrust that is misspelt must not go unnoticed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from freefloat.errors import Fault, IdentificationError
from freefloat.model.model import Model
from freefloat.online.live_channels import told_by_model
from freefloat.prediction.measurements import sensor_channels
from freefloat.telemetry.names import XYZ, channel_names

MOST = 100  # names that are remembered: a stream of ever new ones must not fill the memory
ALIKE = 0.8  # how alike (difflib's ratio) a name must be to be taken for a slip of the pen


def usual_channels(model: Model) -> frozenset[str]:
    """The names of everything that the model could report or be told."""
    found = {"time", "values", *told_by_model(model), *sensor_channels(model)}
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
    >>> strangers = Strangers(ff.load_model("planar-capture"))
    >>> strangers.look(["base.rate.z", "battery.voltage", "thr_1.forse"])
    >>> strangers.concerns
    ("thr_1.forse is no channel of planar-capture: did you mean 'thr_1.force'?",)
    >>> strangers.names
    ('battery.voltage', 'thr_1.forse')
    """

    def __init__(self, model: Model) -> None:
        self.model = model.name
        self.usual = usual_channels(model)
        self.parts = {name.split(".")[0] for name in self.usual} | {f.name for f in model.frames}
        self.familiar = set(self.usual)
        self.told: dict[str, str] = {}
        self.concerns: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order they came."""
        return tuple(self.told)

    def look(self, names: Iterable[str]) -> None:
        """Take note of those that are new."""
        present = dict.fromkeys(names)
        for name in present:
            if name not in self.familiar and len(self.told) < MOST:
                self.add(name, present)

    def add(self, name: str, present: Collection[str] = ()) -> None:
        """A new one: it may be a slip of the pen, or a push that the model knows nothing of."""
        self.familiar.add(name)
        close = likeliest(name, self.usual)
        told = f"{name} is no channel of {self.model}: "
        if close and close not in present:
            told += f"did you mean {close!r}?"
        elif name.endswith(".on_time"):
            told += f"give {name.removesuffix('.on_time')}.force, the mean over the step"
        elif name.endswith(".force") and name.split(".")[0] not in self.parts:
            told += "it has no such thruster, and what pushes unseen spoils the masses"
        else:
            told = ""
        self.told[name] = told
        self.concerns = tuple(filter(None, self.told.values()))


def likeliest(name: str, known: Iterable[str]) -> str:
    """The known name that was meant, or nothing.

    >>> likeliest("base.rates.x", ["base.rate.x", "base.rate.y"])
    'base.rate.x'
    >>> likeliest("arm_7.position", ["arm_1.position"])
    ''
    """
    digits = [c for c in name if c.isdigit()]  # another number is another part, not a slip
    alike = [other for other in known if [c for c in other if c.isdigit()] == digits]
    return next(iter(get_close_matches(name[:100], alike, n=1, cutoff=ALIKE)), "")


def require_known(names: Sequence[str], present: Iterable[str], model: Model) -> None:
    """IdentificationError for names in `noise=` that are neither channels nor of the model."""
    known = usual_channels(model) | set(present) | {"base.attitude"}
    faults = []
    for name in names:
        if name not in known:
            close = likeliest(name, known)
            remedy = f"did you mean {close!r}?" if close else "leave it out"
            place, expected = f"noise[{name!r}]", "one of the model"
            faults.append(Fault(place, "no such channel", expected, remedy, "channel.unknown"))
    if faults:
        raise IdentificationError("noise is given for channels that nobody knows:", faults)
