"""How a page writes numbers and units."""

from __future__ import annotations

from math import isnan


def in_print(unit: str) -> str:
    """A unit as it is printed.

    >>> in_print("kg m^2"), in_print("-")
    ('kg m²', '')
    """
    return "" if unit == "-" else unit.replace("^2", "²").replace("^3", "³")


def short(value: float) -> str:
    """Three digits; a dash where there is no number."""
    return "–" if isnan(value) else f"{value:.3g}"


def error(value: float, *, beside: float = 0.0) -> str:
    """Two digits and an exponent; 0 where it is nothing beside another error.

    >>> error(1.234e-5), error(-1e-12, beside=1.0)
    ('1.2e-05', '0')
    """
    return "0" if abs(value) <= 1e-3 * abs(beside) else f"{value:.1e}"


def percent(share: float) -> str:
    """A change with its sign, two digits or whole per cents.

    >>> percent(1.261), percent(-0.00223)
    ('+126', '-0.22')
    """
    value = 100.0 * share
    return f"{value:+.0f}" if 10.0 <= abs(value) < 1e5 else f"{value:+.2g}"
