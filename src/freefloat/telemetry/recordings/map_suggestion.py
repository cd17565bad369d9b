"""A draft of a map, from types of messages, names of fields and sizes of numbers.

What follows from the type of a message is written down; what was guessed has a comment that says
so. What nothing is known about stands as a comment, to be completed or deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.records.toml_text import value_text
from freefloat.telemetry.channel import noise_floor_of, noise_of
from freefloat.telemetry.recordings.clock_units import unit_by_name, unit_by_size
from freefloat.telemetry.recordings.map_fields import CLOCKS, TIME_NAMES, FieldIndex, FieldPlace
from freefloat.telemetry.recordings.source_recording import (
    PUBLISHED,
    RECEIVED,
    STAMP,
    RecordedStream,
    SourceRecording,
    collect,
    is_missing,
)
from freefloat.telemetry.recordings.suggestion_types import (
    Draft,
    is_not_measured,
    topic_word,
    type_rule,
)
from freefloat.telemetry.recordings.suggestion_words import drafts_by_names
from freefloat.text import listing

_CLOCK_WORD = re.compile(r"time|stamp|epoch|clock|_t$", re.IGNORECASE)  # format: words of clocks
_JOINT = re.compile(r"joint_(\d+)\.(.+)")
_LISTED = 200  # format: fields that were not recognised, listed one by one
_SAMPLES = 2_000_000  # format: numbers that are looked at for their size; a second's work


def suggest_map(recording: SourceRecording, *, max_bytes: int, joints: Sequence[str] = ()) -> str:
    """The text of a draft; it is a map as it stands, unless nothing was recognised.

    joints: names of the robot's joints in order, for those that the recording numbers.
    """
    index = FieldIndex(recording.streams)
    drafts: list[Draft] = []
    for stream in recording.streams:
        rule = type_rule(stream.kind)
        drafts += rule(stream) if rule else drafts_by_names(stream, index)
    _name_joints(drafts, joints)
    _name_places(drafts)
    _look_at_sizes(drafts, recording, index, max_bytes)
    lines = [f"# Drafted from {recording.path.name} ({recording.format}); check every line.",
             "format = 1", ""]  # fmt: skip
    clock, words = _clock(recording.streams, index)
    if clock is not None:
        lines += ["[time]" + words, f"clock = {value_text(clock)}"]
        lines += [*_clock_unit(recording, index.places[clock], max_bytes), ""]
    for draft in drafts:
        lines += draft.lines()
    lines += _rest(drafts, index, clock)
    if not drafts:
        lines += ["# Nothing was recognised. An entry looks like this:", "# [[channel]]",
                  '# to = "base.rate"', '# from = ["GYRO_X", "GYRO_Y", "GYRO_Z"]',
                  '# unit = "deg/s"', ""]  # fmt: skip
    return "\n".join(lines)


def _clock(streams: Sequence[RecordedStream], index: FieldIndex) -> tuple[str | None, str]:
    """What to take for the time, and a comment on it."""
    if any(one.name in (RECEIVED, PUBLISHED) for stream in streams for one in stream.fields):
        return None, ""  # messages have their own: header stamps where there are any
    if len(streams) != 1 or streams[0].name:
        return None, ""
    numbers = [one for one in streams[0].fields if not one.what]
    exact = [f for f in numbers if f.name.rpartition(".")[2].lower() in TIME_NAMES]
    close = [f for f in numbers if _CLOCK_WORD.search(f.name)]
    ends = [f for f in numbers[:1] if unit_by_name(f.name)]
    found = (exact or close or ends or numbers)[:1]
    if not found:
        return None, ""
    why = "by its name" if exact or close or ends else "the first column"
    return streams[0].reference(found[0].name), "" if exact else f"  # guessed: {why}"


def _clock_unit(recording: SourceRecording, clock: FieldPlace, max_bytes: int) -> Iterator[str]:
    """The line with the unit of the clock, where its name ends in one or its size says it."""
    name = clock.field.name
    if clock.field.unit or (name.endswith("stamp") and recording.streams[0].name):
        return
    told = unit_by_name(name)
    found = collect(recording, {clock.stream: [name]}, max_bytes=max_bytes)[clock.stream][name]
    sized = unit_by_size(found[~is_missing(found)])
    unit = sized or told
    if unit is None or (unit == "s" and not name.endswith("stamp")):
        return  # seconds are what is taken without a word
    why = "by its name" if unit == told else "by the size of its numbers"
    if sized and told and sized != told:
        why += f", although its name ends in {told}"
    yield f'unit = "{unit}"  # guessed: {why}'


def _name_joints(drafts: Sequence[Draft], joints: Sequence[str]) -> None:
    """Give numbered joints the names that the robot has for them, counted from 1, or 0 if used."""
    told = [(draft, _JOINT.fullmatch(str(draft.to))) for draft in drafts]
    numbered = [(draft, int(word[1]), word[2]) for draft, word in told if word]
    first = min((1, *(number for _, number, _ in numbered)))
    for draft, number, quantity in numbered:
        if number - first < len(joints):
            draft.to = f"{joints[number - first]}.{quantity}"
            draft.guess += f"; joint {number} is the model's number {number - first + 1}"


def _name_places(drafts: Sequence[Draft]) -> None:
    """Give channels that two streams claim different places: `base` is the first one's."""
    seen: set[str] = set()
    for draft in drafts:
        if not isinstance(draft.to, str):
            continue
        place, _, quantity = draft.to.rpartition(".")
        word = topic_word(draft.source if isinstance(draft.source, str) else draft.source[0])
        number = 1
        while draft.to in seen:
            suffix = f"_{number}" if number > 1 else ""
            name = f"*.{quantity}_{word}" if place == "*" else f"{word}{suffix}.{quantity}"
            draft.to = f"{name}{suffix}" if place == "*" else name
            draft.guess = f"{place}.{quantity} is there already; name the frame this one is on"
            draft.is_offered = True
            number += 1
        seen.add(draft.to)
    for draft in drafts:  # axes can only be turned where an attitude is there
        place = str(draft.to).rpartition(".")[0]
        if "frame" in draft.keys and not seen & {f"{place}.attitude", f"{place}.angle"}:
            frame = draft.keys.pop("frame")
            draft.guess += f'; frame = "{frame}" needs {place}.attitude'


# -- by sizes --------------------------------------------------------------------------------------


def _look_at_sizes(
    drafts: Sequence[Draft], recording: SourceRecording, index: FieldIndex, max_bytes: int
) -> None:
    """Units that sizes betray (angles beyond many turns, positions of thousands), and noise."""
    for draft in drafts:
        names = [draft.source] if isinstance(draft.source, str) else draft.source
        fields = [place for name in names for place in index.find(name)]
        if not fields:
            continue
        places = [index.places[name] for name in fields]
        if places[0].field.unit:
            draft.keys.setdefault("unit", places[0].field.unit)
        if sum(place.field.n_samples for place in places) > _SAMPLES:
            continue
        wanted: dict[str, list[str]] = {}
        for place in places:
            wanted.setdefault(place.stream, []).append(place.field.name)
        columns = collect(recording, wanted, max_bytes=max_bytes)
        numbers = [_usable(c) for s in columns.values() for c in s.values()]
        if "noise" not in draft.keys and "force" not in draft.keys:
            draft.noise = _noise_line(numbers)
        largest = max(float(np.max(np.abs(one), initial=0.0)) for one in numbers)
        unit = _unit_by_size(draft, largest)
        if unit and "unit" not in draft.keys:
            draft.keys["unit"] = unit
            before = f"{draft.guess}; " if draft.guess else ""
            draft.guess = f"{before}unit, numbers to {largest:.3g}"


def _usable(column: np.ndarray) -> Array:
    numbers = column[~is_missing(column)].astype(float)
    return numbers[np.isfinite(numbers)]


def _noise_line(columns: Sequence[Array]) -> str:
    """The noise of the noisiest column, in the unit of its numbers; nothing where none is seen."""
    with np.errstate(all="ignore"):  # of numbers that are no measurements
        sigma = max(noise_of(one) for one in columns)
        is_seen = sigma > max(noise_floor_of(one) for one in columns)
    if not is_seen or not np.isfinite(sigma):
        return ""
    return f"# noise = {sigma:.2g}  # estimated from fourth differences; if you know it no better"


# theory: beyond what a free-floating robot does in the SI unit, within what it does in the other
_SIZES = {
    "angle": (4.0 * np.pi, "deg"), "rate": (10.0, "deg/s"), "speed": (1000.0, "rpm"),
    "position": (500.0, "mm"), "velocity": (50.0, "mm/s"),
}  # fmt: skip


def _unit_by_size(draft: Draft, largest: float) -> str | None:
    to = draft.to if isinstance(draft.to, str) else draft.to[0]
    quantity = to.rpartition(".")[2]
    if quantity == "position" and not to.startswith("base"):
        return "deg" if largest > 4.0 * np.pi else None
    limit, unit = _SIZES.get(quantity, (np.inf, ""))
    return unit if largest > limit else None


def _rest(drafts: Sequence[Draft], index: FieldIndex, clock: str | None) -> list[str]:
    """The fields that were not recognised, as comments."""
    used: set[str] = {clock} if clock else set()
    for draft in drafts:
        for name in [draft.source] if isinstance(draft.source, str) else draft.source:
            hits = [n for n, _ in index.matching(name)] if "*" in name else [name]
            used.update(field for hit in hits for field in index.find(hit))
    left = [
        name
        for name, place in index.places.items()
        if name not in used and not place.field.what and not place.field.name.startswith("@")
        and not name.endswith(STAMP) and name not in CLOCKS.values()
    ]  # fmt: skip
    whole = {name: group for group, names in index.groups.items() for name in names}
    short = list(dict.fromkeys(whole.get(name, name) for name in left))
    shown, others = short[:_LISTED], short[_LISTED:]
    more = [f"# and {len(others)} more: {listing(others, most=4)}"] if others else []
    empty = {
        stream.reference(path)
        for stream in index.streams.values()
        for path in ("angular_velocity", "linear_acceleration", "orientation")
        if is_not_measured(stream, path)
    }
    why = {name: " (not measured: its covariance begins with -1)" for name in empty}
    return [f"# not mapped: {name}{why.get(name, '')}" for name in shown] + more
