"""Units accepted on reading, and how each becomes SI. In memory and in written files all is SI."""

from __future__ import annotations

import math
import re

_DEGREE = math.pi / 180.0
_STANDARD_GRAVITY = 9.80665  # theory: [m/s^2], by definition

# SI unit -> other spellings of the same unit.
_SPELLINGS: dict[str, tuple[str, ...]] = {
    "1": ("-", "none", "dimensionless"),
    "s": ("sec", "second", "seconds"),
    "rad": ("radian", "radians"),
    "rad/s": ("rad/sec", "rad s^-1"),
    "rad/s^2": ("rad/sec^2", "rad s^-2"),
    "m": ("metre", "metres", "meter", "meters"),
    "m/s": ("m/sec", "m s^-1"),
    "m/s^2": ("m/sec^2", "m s^-2"),
    "N": ("newton",),
    "N m": ("Nm", "N-m", "newton metre"),
    "N m s": ("Nms", "N-m-s", "kg m^2/s", "kg m^2 s^-1"),
    "N s": ("Ns", "kg m/s", "kg m s^-1"),
    "kg": (),
    "kg m^2": ("kgm^2",),
    "Hz": ("1/s", "s^-1"),
    "A": ("amp", "ampere"),
    "V": ("volt",),
    "W": ("watt",),
    "J": (),
    "K": ("kelvin",),
    "Pa": (),
    "T": ("tesla",),
}

# Other unit -> (SI unit, factor): value in SI = factor * value.
_FACTORS: dict[str, tuple[str, float]] = {
    "%": ("1", 1e-2),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "ns": ("s", 1e-9),
    "min": ("s", 60.0),
    "h": ("s", 3600.0),
    "deg": ("rad", _DEGREE),
    "mdeg": ("rad", 1e-3 * _DEGREE),
    "mrad": ("rad", 1e-3),
    "urad": ("rad", 1e-6),
    "arcmin": ("rad", _DEGREE / 60.0),
    "arcsec": ("rad", _DEGREE / 3600.0),
    "rev": ("rad", 2.0 * math.pi),
    "deg/s": ("rad/s", _DEGREE),
    "mdeg/s": ("rad/s", 1e-3 * _DEGREE),
    "mrad/s": ("rad/s", 1e-3),
    "urad/s": ("rad/s", 1e-6),
    "deg/h": ("rad/s", _DEGREE / 3600.0),
    "arcsec/s": ("rad/s", _DEGREE / 3600.0),
    "rpm": ("rad/s", math.pi / 30.0),
    "rev/s": ("rad/s", 2.0 * math.pi),
    "deg/s^2": ("rad/s^2", _DEGREE),
    "mrad/s^2": ("rad/s^2", 1e-3),
    "km": ("m", 1e3),
    "cm": ("m", 1e-2),
    "mm": ("m", 1e-3),
    "um": ("m", 1e-6),
    "km/s": ("m/s", 1e3),
    "cm/s": ("m/s", 1e-2),
    "mm/s": ("m/s", 1e-3),
    "g": ("m/s^2", _STANDARD_GRAVITY),
    "mg": ("m/s^2", 1e-3 * _STANDARD_GRAVITY),
    "ug": ("m/s^2", 1e-6 * _STANDARD_GRAVITY),
    "mm/s^2": ("m/s^2", 1e-3),
    "mN": ("N", 1e-3),
    "kN": ("N", 1e3),
    "mN m": ("N m", 1e-3),
    "uN m": ("N m", 1e-6),
    "kN m": ("N m", 1e3),
    "N mm": ("N m", 1e-3),
    "mA": ("A", 1e-3),
    "mV": ("V", 1e-3),
    "uT": ("T", 1e-6),
    "nT": ("T", 1e-9),
}

# Other unit -> the spelling above.
_OTHER_SPELLINGS = {
    "degree": "deg",
    "degrees": "deg",
    "°": "deg",
    "deg/sec": "deg/s",
    "°/s": "deg/s",
    "dps": "deg/s",
    "deg/hr": "deg/h",
    "°/h": "deg/h",
    "deg/sec^2": "deg/s^2",
    "°/s^2": "deg/s^2",
    "r/min": "rpm",
    "rev/min": "rpm",
    "asec": "arcsec",
    "msec": "ms",
    "usec": "us",
    "nsec": "ns",
    "hr": "h",
    "minute": "min",
    "mNm": "mN m",
    "uNm": "uN m",
    "kNm": "kN m",
    "Nmm": "N mm",
    "g0": "g",
}


def _table() -> dict[str, tuple[str, float]]:
    table = {unit: (unit, 1.0) for unit in _SPELLINGS}
    for unit, spellings in _SPELLINGS.items():
        table |= dict.fromkeys(spellings, (unit, 1.0))
    table |= _FACTORS
    return table | {other: _FACTORS[unit] for other, unit in _OTHER_SPELLINGS.items()}


_TABLE = _table()


def si_unit(unit: str) -> tuple[str, float] | None:
    """Return the SI unit of `unit` and the factor into it, or None when the unit is unknown.

    >>> si_unit("mm")
    ('m', 0.001)
    >>> si_unit("N·m")
    ('N m', 1.0)
    """
    spelled = _normalise(unit)
    # Case matters in units (mN, MN), so words only are tried again in lower case: RPM, Deg.
    return _TABLE.get(spelled) or (_TABLE.get(spelled.lower()) if len(spelled) > 2 else None)


def accepted_units(si: str | None = None) -> tuple[str, ...]:
    """Return the units understood on reading, or those among them that convert to `si`.

    >>> accepted_units("rad")
    ('rad', 'deg', 'mdeg', 'mrad', 'urad', 'arcmin', 'arcsec', 'rev')
    """
    names = [*_SPELLINGS, *_FACTORS]
    return tuple(name for name in names if si is None or _TABLE[name][0] == si)


def _normalise(unit: str) -> str:
    text = unit.strip().replace("²", "^2").replace("⁻", "^-").replace("¹", "1").replace("**", "^")
    text = text.replace("µ", "u").replace("μ", "u")  # micro sign and Greek mu
    text = re.sub(r"[·*⋅\s]+", " ", text)
    text = re.sub(r"\s*/\s*", "/", text)
    return re.sub(r"(?<=[a-z])([23])$", r"^\1", text)  # m/s2 means m/s^2
