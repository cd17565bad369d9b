"""Small drawings in a page: intervals, correlations, ratios. Curves are in charts, by uPlot.

They are SVG in the text of the page: sharp on paper, in the page's own colours, there without a
script, and everything from a file is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from freefloat.arrays import Array

ERROR_EDGES = np.linspace(-4.5, 4.5, 19)  # format: of histograms, half a deviation wide


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


def correlation_matrix(names: Sequence[str], covariance: Array) -> str:
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


def histogram(errors: Array, *, width: int = 150, height: int = 44) -> str:
    """Errors in standard deviations from -4.5 to 4.5, beside the normal distribution's curve."""
    known = np.clip(errors[np.isfinite(errors)], ERROR_EDGES[0], ERROR_EDGES[-1])
    if not len(known):
        return ""
    counts, _ = np.histogram(known, ERROR_EDGES)
    bin_width = ERROR_EDGES[1] - ERROR_EDGES[0]
    x = np.linspace(ERROR_EDGES[0], ERROR_EDGES[-1], 61)
    normal = len(known) * bin_width * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    top = max(float(counts.max()), float(normal.max()))
    step, scale = width / len(counts), (height - 4) / top
    parts = [
        f'<rect class="bin" x="{k * step:.1f}" y="{height - n * scale:.1f}" '
        f'width="{step - 0.5:.1f}" height="{n * scale:.1f}" fill-opacity="0.45"/>'
        for k, n in enumerate(counts)
    ]
    across = (x - ERROR_EDGES[0]) / (ERROR_EDGES[-1] - ERROR_EDGES[0]) * width
    line = zip(across, height - normal * scale, strict=True)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in line)
    parts.append(f'<polyline class="curve" points="{points}"/>')
    words = f"errors over stated deviations of {len(known)} runs, beside the normal distribution"
    return _svg(width, height, parts, "histogram", words)


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


def _svg(width: float, height: float, parts: Iterable[str], kind: str, words: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
