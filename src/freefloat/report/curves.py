"""The curves of a verdict for a page: grouped by sensor, packed so that a page stays small."""

from __future__ import annotations

from base64 import b64encode

import numpy as np

from freefloat.arrays import Array
from freefloat.digits import printed_unit
from freefloat.report.svg import memory_chart, spectrum_chart
from freefloat.validation.verdict import Trace, Verdict


def curves_of(verdict: Verdict, number: int) -> dict[str, list]:
    """What the template draws: `overlays` and `motions` (places for charts), `residuals` (SVG).

    `data` is what the page's script reads; each chart has an `id` that names its place.
    """
    overlays, motions, data = [], [], []
    for n, trace in enumerate(verdict.traces):
        place = f"v{number}c{n}"
        chart = {"id": place, "channel": trace.channel, "unit": trace.unit}
        (overlays if len(trace.predicted) else motions).append(chart)
        data.append(_packed(place, trace))
    return {
        "overlays": overlays,
        "motions": motions,
        "residuals": _residuals(verdict),
        "data": data,
    }


def _packed(place: str, trace: Trace) -> dict[str, object]:
    """Times from the start of the recording, as 32-bit floats: a page needs no more digits."""
    start = float(trace.time[0]) if len(trace.time) else 0.0
    lines = {"measured": trace.measured, "predicted": trace.predicted, "before": trace.before}
    return {
        "id": place,
        "label": f"[{printed_unit(trace.unit)}]",
        "start": start,
        "time": _text_of(trace.time - start),
        "lines": {name: _text_of(values) for name, values in lines.items() if len(values)},
    }


def _text_of(values: Array) -> str:
    return b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _residuals(verdict: Verdict) -> list[dict[str, str]]:
    """Spectrum and memory of every channel's residuals."""
    spectra = {spectrum.channel: spectrum for spectrum in verdict.spectra}
    found = []
    for memory in verdict.whiteness:
        spectrum = spectra.get(memory.channel)
        if spectrum is None or not len(spectrum.frequency) or not len(memory.correlation):
            continue
        lines = (("before", spectrum.before), ("predicted", spectrum.density))
        found.append(
            {
                "channel": memory.channel,
                "spectrum": spectrum_chart(
                    spectrum.frequency, lines, spectrum.floor, printed_unit(spectrum.unit)
                ),
                "memory": memory_chart(memory.correlation, memory.band, memory.step),
                "outside": f"{100.0 * memory.outside:.0f} %",
            }
        )
    return found
