"""freefloat identifies the dynamic parameters of free-floating space robots.

Public names are imported when first used, so that `import freefloat` costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module

from freefloat import errors as errors

__version__ = "0.1.0"

_HOME_OF = {
    "FreefloatError": "freefloat.errors",
    "load_model": "freefloat.model",
    "Model": "freefloat.model",
    "Body": "freefloat.model",
    "Joint": "freefloat.model",
    "simulate": "freefloat.telemetry",
    "read_telemetry": "freefloat.telemetry",
    "Telemetry": "freefloat.telemetry",
}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'freefloat' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value  # the next access finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", "errors", *_HOME_OF})
