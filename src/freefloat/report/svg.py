"""Small drawings in a page: whiskers, correlations, spectra, memory of residuals.

They are SVG in the text of the page: sharp on paper, in the page's own colours, and everything
from a file is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from freefloat.arrays import Array

WIDE, HIGH = 300, 170  # of a small chart, in pixels
LEFT, RIGHT, TOP, BOTTOM = 56, 10, 8, 34  # its margins
EXPONENTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def whisker(
    value: float, interval: tuple[float, float] | None, prior: float, *, width: int = 170
) -> str:
    """A value with its interval, and where it was before, on an axis of their own."""
    ends = [x for x in (*(interval or ()), value, prior) if math.isfinite(x)]
    if not ends:
        return ""
    low, high = min(ends), max(ends)
    room = 0.08 * (high - low) or max(abs(high), 1.0)
    low, high = low - room, high + room

    def x(v: float) -> float:
        return 4 + (width - 8) * (min(max(v, low), high) - low) / (high - low)

    parts = [f'<line class="axis" x1="0" x2="{width}" y1="9" y2="9"/>']
    if interval is not None:
        a, b = x(interval[0]), x(interval[1])
        parts.append(f'<line class="bar" x1="{a:.1f}" x2="{b:.1f}" y1="9" y2="9"/>')
        parts += [f'<line class="end" x1="{e:.1f}" x2="{e:.1f}" y1="5" y2="13"/>' for e in (a, b)]
    if math.isfinite(prior):
        p = x(prior)
        parts.append(f'<path class="prior" d="M{p:.1f} 3.5l4 5.5l-4 5.5l-4-5.5z"/>')
    if math.isfinite(value):
        parts.append(f'<circle class="dot" cx="{x(value):.1f}" cy="9" r="3.2"/>')
    words = f"estimate {value:.6g}, before {prior:.6g}"
    return _svg(width, 18, parts, "whisker", words)


def correlation(names: Sequence[str], covariance: Array) -> str:
    """The correlation of every pair of estimates: blue together, orange against each other."""
    std = np.sqrt(np.diag(covariance))
    r = covariance / np.outer(std, std)
    n, cell = len(names), 18 if len(names) <= 26 else 12
    left = 8 + int(6.3 * max((len(name) for name in names), default=1))
    parts = []
    for i in range(n):
        y = 4 + i * cell
        parts.append(
            f'<text x="{left - 6}" y="{y + cell - 5}" text-anchor="end">{escape(names[i])}</text>'
        )
        for j in range(i + 1):
            value = float(r[i, j])
            kind = "plus" if value >= 0.0 else "minus"
            parts.append(
                f'<rect class="{kind}" x="{left + j * cell}" y="{y}" width="{cell - 1}" '
                f'height="{cell - 1}" fill-opacity="{min(abs(value), 1.0):.2f}">'
                f"<title>{escape(names[i])} and {escape(names[j])}: {value:+.2f}</title></rect>"
            )
    return _svg(left + n * cell + 8, n * cell + 10, parts, "correlation", "correlations")


def memory_chart(correlation: Array, band: float, step: float) -> str:
    """The autocorrelation of residuals at each lag [s], with the band of white noise."""
    n = len(correlation)
    end = (n + 1) * step
    frame = PlotFrame((0.0, end), (-1.0, 1.0))
    parts = [frame.band(-band, band)]
    parts += [
        f'<line class="stem" x1="{frame.x(k * step):.1f}" x2="{frame.x(k * step):.1f}" '
        f'y1="{frame.y(0.0):.1f}" y2="{frame.y(float(value)):.1f}"/>'
        for k, value in enumerate(correlation, start=1)
    ]
    ticks = [(v, f"{v:g}") for v in (-1.0, 0.0, 1.0)]
    parts += frame.axes(nice_ticks(0.0, end), ticks, "lag [s]", "correlation")
    return _svg(WIDE, HIGH, parts, "chart", "autocorrelation of residuals")


def spectrum_chart(
    frequency: Array, lines: Iterable[tuple[str, Array]], floor: float, unit: str
) -> str:
    """Power densities over frequency, both logarithmic, with the floor of the sensor's noise."""
    kept = [(name, np.maximum(values, 1e-300)) for name, values in lines if len(values)]
    every = np.concatenate([values for _, values in kept] + [np.array([max(floor, 1e-300)])])
    low, high = math.floor(math.log10(every.min())), math.ceil(math.log10(every.max()))
    low = max(low, high - 12)
    across = (math.log10(frequency[0]), math.log10(frequency[-1]))
    frame = PlotFrame(across, (low, max(high, low + 1)))
    parts = []
    if floor > 0.0:
        y = frame.y(math.log10(floor))
        parts.append(
            f'<line class="floor" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    for name, values in kept:
        points = " ".join(
            f"{frame.x(math.log10(f)):.1f},{frame.y(max(math.log10(v), low)):.1f}"
            for f, v in zip(frequency[: len(values)], values, strict=True)
        )
        parts.append(f'<polyline class="{name}" points="{points}"/>')
    steps = max(1, (high - low + 3) // 4)
    y_ticks = [(float(k), _ten(k)) for k in range(low, high + 1, steps)]
    x_ticks = _frequencies(*across)
    unit = f"({unit})²/Hz" if "/" in unit or " " in unit else f"{unit}²/Hz"
    parts += frame.axes(x_ticks, y_ticks, "frequency [Hz]", f"density [{unit}]")
    return _svg(WIDE, HIGH, parts, "chart", "spectrum of residuals")


def line_chart(
    lines: Sequence[tuple[str, Array, Array]], x_title: str, y_title: str, *, is_log: bool = False
) -> str:
    """Curves of (name, x, y) in one chart, each named at its side; y logarithmic if asked."""
    drawn = [
        (name, np.asarray(x, float), np.log10(np.maximum(y, 1e-300)) if is_log else np.asarray(y))
        for name, x, y in lines
    ]
    every_x = np.concatenate([x for _, x, _ in drawn])
    every_y = np.concatenate([y for _, _, y in drawn])
    room = 0.05 * float(np.ptp(every_y)) or 1.0
    low, high = float(every_y.min()) - room, float(every_y.max()) + room
    frame = PlotFrame((float(every_x.min()), float(every_x.max())), (low, high))
    parts = []
    for n, (name, x, y) in enumerate(drawn):
        points = " ".join(
            f"{frame.x(float(a)):.1f},{frame.y(float(b)):.1f}" for a, b in zip(x, y, strict=True)
        )
        parts.append(f'<polyline class="line{n % 4}" points="{points}"/>')
        place = f'x="{WIDE + 4}" y="{TOP + 12 + 14 * n}"'
        parts.append(f'<text class="line{n % 4}" {place}>{escape(name)}</text>')
    powers = range(math.ceil(low), math.floor(high) + 1)
    y_ticks = [(float(k), _ten(k)) for k in powers] if is_log else nice_ticks(low, high)
    parts += frame.axes(nice_ticks(*frame.across), y_ticks, x_title, y_title)
    longest = max(len(name) for name, _, _ in drawn)
    return _svg(WIDE + 12 + 7 * longest, HIGH, parts, "chart lines", f"{y_title} over {x_title}")


def ratio_chart(names: Sequence[str], ratios: Sequence[float]) -> str:
    """Ours divided by the paper's, one dot a row, on a logarithmic axis around one."""
    logs = [math.log10(r) for r in ratios]
    reach = max([abs(v) for v in logs] + [0.02])
    row, left = 16, 8 + int(6.0 * min(max(map(len, names)), 40))
    width, high = left + 350, row * len(names) + 36
    x_of = lambda v: left + 165 + 150 * v / reach  # noqa: E731
    parts = [f'<line class="axis" x1="{x_of(0):.1f}" x2="{x_of(0):.1f}" y1="2" y2="{high - 32}"/>']
    for n, (name, value) in enumerate(zip(names, logs, strict=True)):
        y = 12 + n * row
        short = name if len(name) <= 40 else name[:39] + "…"
        parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{escape(short)}</text>')
        parts.append(
            f'<line class="stem" x1="{x_of(0):.1f}" x2="{x_of(value):.1f}" y1="{y}" y2="{y}"/>'
        )
        parts.append(f'<circle class="dot" cx="{x_of(value):.1f}" cy="{y}" r="3"/>')
    for v in (-reach, 0.0, reach):
        parts.append(
            f'<text x="{x_of(v):.1f}" y="{high - 18}" text-anchor="middle">{10**v:.3g}</text>'
        )
    parts.append(f'<text x="{x_of(0):.1f}" y="{high - 4}" text-anchor="middle">ours / paper</text>')
    return _svg(width, high, parts, "ratios", "ours divided by the paper's numbers")


class PlotFrame:
    """The coordinates of a small chart and its axes."""

    def __init__(self, across: tuple[float, float], upward: tuple[float, float]) -> None:
        self.across, self.upward = across, upward

    def x(self, value: float) -> float:
        """Pixels from the left."""
        low, high = self.across
        return LEFT + (WIDE - LEFT - RIGHT) * (value - low) / ((high - low) or 1.0)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        low, high = self.upward
        return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * (value - low) / ((high - low) or 1.0)

    def band(self, low: float, high: float) -> str:
        """A band across the chart."""
        top, height = self.y(high), self.y(low) - self.y(high)
        return (
            f'<rect class="band" x="{LEFT}" y="{top:.1f}" width="{WIDE - LEFT - RIGHT}" '
            f'height="{height:.1f}"/>'
        )

    def axes(
        self,
        x_ticks: Iterable[tuple[float, str]],
        y_ticks: Iterable[tuple[float, str]],
        x_title: str,
        y_title: str,
    ) -> list[str]:
        """Axes with ticks, numbers and titles."""
        bottom, middle = HIGH - BOTTOM, (TOP + HIGH - BOTTOM) / 2
        parts = [f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{WIDE - RIGHT}"/>']
        for value, words in x_ticks:
            x = self.x(value)
            parts.append(
                f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>'
            )
            parts.append(f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{words}</text>')
        for value, words in y_ticks:
            y = self.y(value)
            parts.append(
                f'<line class="axis" x1="{LEFT - 4}" x2="{LEFT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            parts.append(f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{words}</text>')
        parts.append(
            f'<text x="{(LEFT + WIDE - RIGHT) / 2}" y="{HIGH - 4}" text-anchor="middle">'
            f"{escape(x_title)}</text>"
        )
        parts.append(
            f'<text transform="translate(11 {middle}) rotate(-90)" text-anchor="middle">'
            f"{escape(y_title)}</text>"
        )
        return parts


def nice_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Three to six round numbers between two, with their words.

    >>> nice_ticks(0.0, 1.9)
    [(0.0, '0'), (0.5, '0.5'), (1.0, '1'), (1.5, '1.5')]
    """
    rough = (high - low) / 4.0
    if rough <= 0.0:
        return [(low, f"{low:g}")]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * 0.99)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [(round(k * step, 12), f"{round(k * step, 12):g}") for k in range(first, last + 1)]


def _frequencies(low: float, high: float) -> list[tuple[float, str]]:
    """Round frequencies between two powers of ten, at most six, with their words."""
    round_ones = [1.0, 2.0, 5.0] if high - low < 2.0 else [1.0]
    found = [
        math.log10(m) + k for k in range(math.floor(low), math.ceil(high) + 1) for m in round_ones
    ]
    return [(v, f"{10**v:.3g}") for v in found if low - 1e-9 <= v <= high + 1e-9]


def _ten(power: int) -> str:
    return "10" + str(power).translate(EXPONENTS)


def _svg(width: float, height: float, parts: Iterable[str], kind: str, words: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
