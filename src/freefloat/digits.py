"""Numbers and units as text, with as many digits as they deserve, for the terminal and for pages.

A value is written to the place of the second digit of its standard deviation; more is noise.

>>> with_uncertainty(1237.4321, 2.14)
('1237.4', '2.1')
"""

from __future__ import annotations

import math
from collections.abc import Iterable

NONE = "-"
DASH = "–"  # on a page
# format: beyond these a number is written with an exponent
SMALL, SMALL_STD, LARGE = 1e-4, 1e-5, 7
NOTHING = -400  # theory: below the power of ten of any float64
MOST_DIGITS = 10  # format: nobody reads more, and a table has only so much room


def with_uncertainty(value: float, std: float) -> tuple[str, str]:
    """A value and its standard deviation: two digits of the latter, the value to the same place.

    Without a standard deviation the value has five digits.

    >>> with_uncertainty(12345.0, 213.0), with_uncertainty(2.0, float("nan"))
    (('12340', '210'), ('2', '-'))
    >>> with_uncertainty(1.2e-7, 3.1e-9)
    ('1.200e-07', '3.1e-09')
    """
    if not (math.isfinite(value) and 0.0 < std < math.inf):
        return number_text(value), NONE if math.isnan(std) else f"{std:g}"
    last = _exponent(std) - 1  # the power of ten of the last digit that means anything
    first = max(_exponent(value), last + 1)
    if first - last >= MOST_DIGITS:
        return f"{value:.{MOST_DIGITS}g}", f"{std:.1e}"
    if max(abs(value), std) < SMALL or first >= LARGE or std < SMALL_STD:
        return _scientific(value, first, first - last), f"{std:.1e}"
    if last >= 0:
        return f"{round(value, -last):.0f}", f"{round(std, -last):.0f}"
    return f"{value:.{-last}f}", f"{std:.{-last}f}"


def interval(bounds: tuple[float, float] | None, std: float) -> str:
    """A confidence interval, with the digits of the standard deviation."""
    if bounds is None:
        return NONE
    return " .. ".join(with_uncertainty(bound, std)[0] for bound in bounds)


def number_text(value: float, *, digits: int = 5, none: str = NONE) -> str:
    """A number of so many digits; `none` for NaN.

    >>> number_text(2.0), number_text(0.123456, digits=3), number_text(float("nan"))
    ('2', '0.123', '-')
    """
    return none if math.isnan(value) else f"{value:.{digits}g}"


def short_number(value: float | None) -> str:
    """A number with four digits; a dash where there is none.

    >>> short_number(0.123456), short_number(None)
    ('0.1235', '–')
    """
    return DASH if value is None or math.isnan(value) else f"{value:.4g}"


def vector_text(values: Iterable[float], digits: int = 4) -> str:
    """Numbers in brackets.

    >>> vector_text([0.5, 2.0])
    '[0.5, 2]'
    """
    return "[" + ", ".join(f"{value:.{digits}g}" for value in values) + "]"


def error_size(value: float, *, beside: float = 0.0) -> str:
    """An error: two digits and an exponent; 0 where it is nothing beside another error.

    >>> error_size(1.234e-5), error_size(-1e-12, beside=1.0)
    ('1.2e-05', '0')
    """
    return "0" if abs(value) <= 1e-3 * abs(beside) else f"{value:.1e}"


def percent_change(share: float) -> str:
    """A change [%] with its sign, two digits or whole per cents.

    >>> percent_change(1.261), percent_change(-0.00223)
    ('+126', '-0.22')
    """
    value = 100.0 * share
    return f"{value:+.0f}" if 10.0 <= abs(value) < 1e5 else f"{value:+.2g}"


def amount_text(value: float, unit: str, std: float | None = None) -> str:
    """A number in its unit, with its deviation if there is one; shares (unit 1) in per cent.

    >>> amount_text(0.01, "1"), amount_text(0.0119, "s", 3e-4)
    ('1 %', '0.0119 ± 0.0003 s')
    """
    factor, unit = (100.0, "%") if unit == "1" else (1.0, unit)
    spread = "" if std is None else f" ± {factor * std:.2g}"
    return f"{factor * value:.3g}{spread} {unit}"


def printed_unit(unit: str) -> str:
    """A unit as it is printed.

    >>> printed_unit("kg m^2"), printed_unit("-")
    ('kg m²', '')
    """
    return "" if unit == "-" else unit.replace("^2", "²").replace("^3", "³")


def _exponent(value: float) -> int:
    """The power of ten of the first digit, rounded to two: that of 9.97 is 1."""
    return int(f"{value:.1e}".partition("e")[2]) if value else NOTHING


def _scientific(value: float, exponent: int, digits: int) -> str:
    # By the text of the number: 10**-320 by itself would be zero.
    mantissa, _, power = f"{value:.17e}".partition("e")
    return f"{float(mantissa) * 10.0 ** (int(power) - exponent):.{digits}f}e{exponent:+03d}"
