"""Numbers with as many digits as they deserve: two of the uncertainty, the value to the same place.

>>> with_uncertainty(1237.4321, 2.14)
('1237.4', '2.1')
"""

from __future__ import annotations

import math

NONE = "-"
SMALL, SMALL_STD, LARGE = 1e-4, 1e-5, 7  # beyond these a number is written with an exponent
NOTHING = -400  # below the power of ten of any number
MOST_DIGITS = 10  # nobody reads more, and a table has only so much room


def with_uncertainty(value: float, std: float) -> tuple[str, str]:
    """A value and its standard deviation: two digits of the latter, the value to the same place.

    Without a standard deviation the value has five digits.

    >>> with_uncertainty(12345.0, 213.0), with_uncertainty(2.0, float("nan"))
    (('12340', '210'), ('2', '-'))
    >>> with_uncertainty(1.2e-7, 3.1e-9)
    ('1.200e-07', '3.1e-09')
    """
    if not (math.isfinite(value) and 0.0 < std < math.inf):
        return rounded(value), NONE if math.isnan(std) else f"{std:g}"
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


def rounded(value: float) -> str:
    """A number of five digits; a dash for NaN."""
    return NONE if math.isnan(value) else f"{value:.5g}"


def _exponent(value: float) -> int:
    """The power of ten of the first digit, rounded to two: that of 9.97 is 1."""
    return int(f"{value:.1e}".partition("e")[2]) if value else NOTHING


def _scientific(value: float, exponent: int, digits: int) -> str:
    # By the text of the number: 10**-320 by itself would be zero.
    mantissa, _, power = f"{value:.17e}".partition("e")
    return f"{float(mantissa) * 10.0 ** (int(power) - exponent):.{digits}f}e{exponent:+03d}"
