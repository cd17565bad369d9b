"""The Model: what the space robot is made of, read from model files (TOML) and URDF.

Readers are imported when first used: `import freefloat.model` loads NumPy and nothing slower.
"""

from __future__ import annotations

from freefloat.model.loading import (
    BuiltinModel,
    builtin_models,
    copy_model,
    load_model,
)
from freefloat.model.model import Model
from freefloat.model.model_write import save_model
from freefloat.model.parts import (
    Body,
    Capsule,
    Coloured,
    Drive,
    Frame,
    Joint,
    JointLimits,
    Limits,
    Orbit,
    Placement,
    Root,
    Sensor,
    Tank,
    Target,
    Thruster,
    Wheel,
)

__all__ = [
    "Model",
    "load_model",
    "save_model",
    "builtin_models",
    "copy_model",
    "BuiltinModel",
    "Body",
    "Capsule",
    "Coloured",
    "Drive",
    "Frame",
    "Joint",
    "JointLimits",
    "Limits",
    "Orbit",
    "Placement",
    "Root",
    "Sensor",
    "Tank",
    "Target",
    "Thruster",
    "Wheel",
]
