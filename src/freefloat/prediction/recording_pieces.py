"""A recording cut where the motion that drives its simulation is not known: pieces to simulate.

A piece has an initial state of its own, so that nothing need be known of what happened between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.prediction.inputs import drive_by_recording
from freefloat.prediction.joint_motion import bridging_rates
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.smoothing import long_gaps
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun, listing

# theory: a piece tells nothing of anything else before it has told its own initial state, position,
# attitude and their rates
SHORTEST = 12  # samples of every driven joint


def cut_at_gaps(
    model: Model, recorded: Sequence[Telemetry]
) -> tuple[tuple[Telemetry, ...], tuple[Note, ...]]:
    """The recordings in pieces that can be simulated, and what was cut.

    A recording without a long gap is left as it is; so is one of which no piece would be left.
    """
    pieces, notes = list[Telemetry](), list[Note]()
    for k, telemetry in enumerate(recorded, start=1):
        own, gaps = _pieces(model, telemetry)
        if not gaps or not own:
            pieces.append(telemetry)
            continue
        pieces += own
        place = f"recording {k}: " if len(recorded) > 1 else ""
        spans = listing([f"{a:.6g} to {b:.6g} s" for a, b in gaps], most=4)
        text = (
            f"{place}the motion of a joint or wheel is not recorded from {spans}: simulated in"
            f" {count_noun(len(own), 'piece')}, recordings of their own, each with its own start"
        )
        notes.append(Note("recording.pieces", text))
    return tuple(pieces), tuple(notes)


def _pieces(
    model: Model, telemetry: Telemetry
) -> tuple[list[Telemetry], list[tuple[float, float]]]:
    """What lies between the gaps [s] of the channels that drive a recording, and the gaps."""
    told = list(_driving_times(model, telemetry))
    gaps = _union([gap for times in told for gap in long_gaps(times)])
    if not gaps:
        return [], []
    firsts = [telemetry.start, *(end for _, end in gaps)]
    lasts = [*(begin for begin, _ in gaps), telemetry.end]
    kept = [
        telemetry.between(first, last)
        for first, last in zip(firsts, lasts, strict=True)
        if all(np.sum((t >= first) & (t <= last)) >= SHORTEST for t in told)
    ]
    return kept, gaps


def _driving_times(model: Model, telemetry: Telemetry) -> Iterator[Array]:
    """The instants [s] at which the motion of every driven coordinate is recorded."""
    system = flatten(drive_by_recording(model, telemetry))
    for i in system.tree.given:
        names = channel_names(system.model.assembly.coordinates[i])
        name = next((name for name in names if name in telemetry), None)
        if name is None:
            continue  # a wheel at its nominal speed
        time, _ = telemetry[name].usable()
        rates = bridging_rates(telemetry, *names)
        yield time if rates is None else np.union1d(time, rates.time)


def _union(gaps: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The gaps in order, those that touch as one.

    >>> _union([(5.0, 7.0), (1.0, 2.0), (6.0, 9.0)])
    [(1.0, 2.0), (5.0, 9.0)]
    """
    found: list[tuple[float, float]] = []
    for begin, end in sorted(gaps):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found
