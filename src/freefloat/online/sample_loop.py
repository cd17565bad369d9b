"""Samples into an estimator, one after the other, whatever any of them does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from freefloat.online.health import SampleOutcome
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.sources import SampleSource

if TYPE_CHECKING:
    from freefloat.online.estimator import OnlineEstimator


def follow_samples(
    tracker: OnlineEstimator,
    samples: Iterable[Sample | None],
    *,
    look: Callable[[], None],
    failed: Callable[[Exception], None],
    took: Callable[[SampleOutcome, float], None] | None = None,
) -> None:
    """Let a tracker take every sample, until they end.

    Args:
        tracker: what takes them.
        samples: as they come; None stands for a line that is no sample.
        look: called between samples, and while a source brings none; what it raises ends the run.
        failed: called with what a sample made the tracker raise; the next one may be a good one.
        took: called after each sample with what became of it, and how long that took [s].
    """
    if isinstance(samples, SampleSource):
        samples.on_wait = look
    take = tracker.take
    for sample in samples:
        begun = time.perf_counter()
        outcome: SampleOutcome = "unreadable"
        try:
            outcome = take({} if sample is None else sample)
        except Exception as error:  # whatever it is
            failed(error)
        if took is not None:
            took(outcome, time.perf_counter() - begun)
        look()
