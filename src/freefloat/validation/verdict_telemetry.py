"""The curves of a verdict as telemetry, to be looked at with other programs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.errors import Fault, IdentificationError
from freefloat.telemetry.channel import Array, Channel
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.scores import Trace
from freefloat.validation.verdict import Verdict


def verdict_telemetry(verdict: Verdict) -> Telemetry:
    """Measured channels, and beside each `predicted.`, `residual.` and `before.` of it.

    A saved verdict has curves that are thinned for a page; so has what is made of it. `before` is
    the prediction with the model as it was before the fit.
    """
    channels = [channel for trace in verdict.traces for channel in _channels(trace)]
    if not channels:
        expected, remedy = "a verdict with curves", "validate again"
        fault = Fault("traces", "none", expected, remedy, "verdict.no_curves")
        raise IdentificationError("the verdict has no curves", [fault])
    metadata = {"model": verdict.model, "verdict": verdict.status}
    return Telemetry.of(channels, {key: value for key, value in metadata.items() if value})


def _channels(trace: Trace) -> Iterator[Channel]:
    def channel(prefix: str, values: Array) -> Channel:
        return Channel(f"{prefix}{trace.channel}", trace.unit, trace.time, values)

    yield channel("", trace.measured)
    if len(trace.predicted):
        yield channel("predicted.", trace.predicted)
        with np.errstate(invalid="ignore"):
            yield channel("residual.", trace.measured - trace.predicted)
    if len(trace.before):
        yield channel("before.", trace.before)
