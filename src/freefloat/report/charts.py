"""Curves of a page, drawn by uPlot in the browser: what the page's script reads.

A chart says where it goes (`id`), what its axes show, and its lines as 32-bit floats, which is more
than a screen resolves and keeps a page small. `templates/page.js` draws it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.digits import printed_unit
from freefloat.validation.residual_tests import ResidualSpectrum, Whiteness
from freefloat.validation.scores import Trace
from freefloat.validation.verdict import Verdict

N_STYLES = 4  # format: colours of lines that are not named after what they show
MOST_DECADES = 12  # format: of a logarithmic axis; below lies rounding


class ChartLine(NamedTuple):
    """A line: its style (`measured`, `before`, `predicted`, `floor`, `line0`, ...) and points."""

    style: str
    x: Array
    y: Array


def chart(
    place: str,
    axes: tuple[str, str],
    lines: Iterable[ChartLine],
    *,
    log: str = "",
    **options: object,
) -> dict[str, object]:
    """A chart for the page's script.

    Args:
        place: The id of its element in the page.
        axes: What the axes show, with units in brackets.
        lines: Its lines, the last on top; lines with the same x share it.
        log: Which axes are logarithmic: "", "y" or "xy".
        **options: `group` (charts zoomed together), `start` [s] of the time axis, `stems` (bars
            from zero instead of a line), `band` (shaded from -band to band), `span` and `range`
            (of x and y), `height` [pixels].
    """
    xs: dict[bytes, int] = {}
    packed = []
    for line in lines:
        x, y = np.asarray(line.x, float), np.asarray(line.y, float)
        y = _above_rounding(y) if "y" in log else y
        at = xs.setdefault(_floats(x), len(xs))
        packed.append({"style": line.style, "at": at, "y": _text(_floats(y))})
    return {
        "id": place, "x": axes[0], "y": axes[1], "log": log,
        "xs": [_text(x) for x in xs], "lines": packed, **options,
    }  # fmt: skip


def verdict_charts(verdict: Verdict, number: int) -> dict[str, list]:
    """The charts of a verdict, the `number`-th of its page.

    `overlays` and `motions` are places of time series, with and without a prediction; `residuals`
    those of spectra and autocorrelations; `charts` is what the script reads.
    """
    overlays, motions, residuals, charts = [], [], [], []
    for n, trace in enumerate(verdict.traces):
        place = f"v{number}c{n}"
        told = {"id": place, "channel": trace.channel, "unit": trace.unit}
        (overlays if len(trace.predicted) else motions).append(told)
        charts.append(_time_chart(place, trace, f"v{number}"))
    spectra = {spectrum.channel: spectrum for spectrum in verdict.spectra}
    for n, white in enumerate(verdict.whiteness):
        spectrum = spectra.get(white.channel)
        if spectrum is None or not len(spectrum.frequency) or not len(white.correlation):
            continue
        places = {"spectrum": f"v{number}s{n}", "correlation": f"v{number}a{n}"}
        outside = f"{100.0 * white.outside:.0f} %"
        residuals.append({"channel": white.channel, "outside": outside, **places})
        charts.append(_spectrum_chart(places["spectrum"], spectrum))
        charts.append(_correlation_chart(places["correlation"], white))
    return {"overlays": overlays, "motions": motions, "residuals": residuals, "charts": charts}


def named_lines(lines: Sequence[tuple[str, Array, Array]]) -> list[tuple[str, ChartLine]]:
    """Lines of (name, x, y) with a style for each; after the colours come dashes."""
    styles = [f"line{n % N_STYLES}" + " dashed" * (n >= N_STYLES) for n in range(len(lines))]
    return [
        (name, ChartLine(style, x, y)) for style, (name, x, y) in zip(styles, lines, strict=True)
    ]


def _time_chart(place: str, trace: Trace, group: str) -> dict[str, object]:
    start = float(trace.time[0]) if len(trace.time) else 0.0
    values = {"measured": trace.measured, "before": trace.before, "predicted": trace.predicted}
    lines = [ChartLine(name, trace.time - start, y) for name, y in values.items() if len(y)]
    axes = ("time [s]", f"[{printed_unit(trace.unit)}]")
    return chart(place, axes, lines, group=group, start=start)


def _spectrum_chart(place: str, spectrum: ResidualSpectrum) -> dict[str, object]:
    """Power densities over frequency, with the floor of the sensor's noise."""
    floor = np.full(len(spectrum.frequency), spectrum.floor)
    values = {"floor": floor, "before": spectrum.before, "predicted": spectrum.density}
    lines = [ChartLine(n, spectrum.frequency[: len(y)], y) for n, y in values.items() if len(y)]
    unit = printed_unit(spectrum.unit)
    unit = f"({unit})²/Hz" if "/" in unit or " " in unit else f"{unit}²/Hz"
    return chart(place, ("frequency [Hz]", f"density [{unit}]"), lines, log="xy")


def _correlation_chart(place: str, white: Whiteness) -> dict[str, object]:
    """The autocorrelation at each lag, with the band of white noise."""
    lags = white.step * np.arange(1, len(white.correlation) + 1)
    line = ChartLine("predicted", lags, white.correlation)
    return chart(
        place, ("lag [s]", "correlation"), [line], stems=True, band=white.band,
        span=[0.0, float(lags[-1]) + white.step], range=[-1.0, 1.0],
    )  # fmt: skip


def _above_rounding(y: Array) -> Array:
    """Values for a logarithmic axis: not below the decades that are shown, nor below float32."""
    highest = float(np.max(y, initial=0.0))
    return np.maximum(y, max(highest * 10.0**-MOST_DECADES, 1e-30))


def _floats(values: Array) -> bytes:
    return np.ascontiguousarray(values, dtype="<f4").tobytes()


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")
