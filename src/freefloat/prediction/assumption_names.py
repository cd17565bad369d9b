"""Every name that something taken as exact can have in a model, whatever is recorded of it."""

from __future__ import annotations

from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.prediction.doubts import CLOCK
from freefloat.prediction.inputs import torque_channel
from freefloat.prediction.quantities import sensor_quantities, setup_quantities

SPREAD_FIELDS = ("mx", "my", "mz", "ixx", "iyy", "izz")


def assumption_names(model: Model) -> list[str]:
    """The names that `list_assumptions` may give, for any recording.

    A joint follows its encoder or is driven by its torque as the recording has it, and a spring
    counts where it can move: all of that has a name.

    >>> import freefloat as ff
    >>> names = assumption_names(ff.load_model("planar-capture"))
    >>> [n for n in names if n.startswith("arm_1.")][:3], "gain.base.rate.z" in names
    (['arm_1.zero', 'arm_1.gear', 'arm_1.delay'], True)
    """
    names = [CLOCK, *(quantity.name for quantity in setup_quantities(model))]
    bodies = dict.fromkeys(ParameterName.parse(name).owner for name in names if ".com." in name)
    names += [f"{body}.{field}" for body in bodies for field in SPREAD_FIELDS]
    for coordinate in model.assembly.coordinates:
        names += [f"{coordinate.name}.{field}" for field in ("zero", "gear", "delay")]
        torque = torque_channel(coordinate.name)
        names += [f"{torque}.{field}" for field in ("gain", "bias", "delay")]
    names += [f"{wheel.name}.inertia" for wheel in model.wheels]
    names += [f"{tank.name}.{field}" for tank in model.tanks for field in ("mass", "length")]
    fields = ("stiffness", "rest", "damping", "friction", "armature")
    names += [f"{spring.owner}.{field}" for spring in model.assembly.springs for field in fields]
    names += [quantity.name for quantity in sensor_quantities(model)]
    return list(dict.fromkeys(names))
