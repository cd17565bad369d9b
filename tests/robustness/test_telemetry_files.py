"""Damaged telemetry files: read, or refused with a FreefloatError; never anything else.

FREEFLOAT_MUTANTS sets the number of mutants per format (200 normally, 10000 for the promise).
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from freefloat.errors import FreefloatError
from freefloat.telemetry import Telemetry, read_telemetry

MUTANTS = int(os.environ.get("FREEFLOAT_MUTANTS", "200"))
LIMIT = 5.0  # [s] for one file

TOKENS = (
    *(b"nan", b"NaN", b"inf", b"-inf", b"1e400", b"-1e400", b"1e-400", b"1,5", b"1;5", b"", b" "),
    *(b"9" * 400, b"0x1p3", b"1_000", b"NULL", b"#", b'"', b'""', b"\xff\xfe", b"\0", b"--1"),
    *(b"time", b"time [s]", b"[", b"]", b"[deg]", b"base.rate.x [rad/s]", b"1e", b"\xc2\xb5m"),
    *(b"999999999999999999999", b"\xd9\xa1", b"True", b"2024-01-01T00:00:00Z", b"=1+1", b"\r"),
)


def recording() -> Telemetry:
    """A small recording with everything in it: two rates, invalid samples, noise, metadata."""
    rng = np.random.default_rng(3)
    fast, slow = np.arange(30) * 0.1, np.arange(6) * 0.5
    rates = {f"base.rate.{axis}": rng.normal(size=30) for axis in "xyz"}
    rates["base.rate.y"][7] = np.nan
    flight = Telemetry.from_arrays(
        fast,
        rates | {"elbow.position": np.sin(fast)},
        noise={"base.rate.x": 1e-5},
        metadata={"model": "servicer", "seed": "7", "remark": "two\nlines"},
    )
    tracker = {f"base.attitude.{axis}": rng.normal(size=6) for axis in "xyzw"}
    return flight.with_channels(*Telemetry.from_arrays(slow, tracker).channels.values())


def some(chance: random.Random, size: int, *, near_end: bool = False) -> int:
    """A position in a file; with `near_end`, mostly in its last part."""
    if near_end and chance.random() < 0.6:
        return max(0, size - 1 - int(chance.random() ** 2 * min(size, 4096)))
    return chance.randrange(max(size, 1))


def mutated(data: bytes, chance: random.Random, *, near_end: bool) -> bytes:
    """`data` with one accident of the kind that happens to bytes."""
    here = some(chance, len(data), near_end=near_end)
    there = min(len(data), here + chance.choice((1, 1, 2, 4, 8, 100)))
    accident = chance.randrange(9)
    if accident == 0 and data:
        return data[:here] + bytes([data[here] ^ (1 << chance.randrange(8))]) + data[here + 1 :]
    if accident == 1:
        return data[:here]
    if accident == 2:
        return data[:here] + data[there:]
    if accident == 3:
        return data[:there] + data[here:]
    if accident == 4:
        return data[:here] + data[here:there][::-1] + data[there:]
    if accident == 5:
        return data[:here] + chance.randbytes(there - here) + data[there:]
    if accident == 6:
        return data[:here] + chance.choice((b"\0", b"\xff")) * (there - here) + data[there:]
    if accident == 7:
        return data[:here] + chance.choice(TOKENS) + data[here:]
    other = some(chance, len(data), near_end=near_end)
    return data[:here] + data[other : other + there - here] + data[there:]


def mutated_text(data: bytes, chance: random.Random) -> bytes:
    """`data` with one accident of the kind that happens to lines and cells."""
    lines = data.split(b"\n")
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    accident = chance.randrange(6)
    if accident == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif accident == 1:
        del lines[a]
    elif accident == 2:
        lines.insert(a, lines[b])
    elif accident == 3:
        lines[a] = lines[a].replace(b",", chance.choice((b";", b"\t", b", ", b",,")))
    else:
        cells = re.split(rb"([,\s])", lines[a])
        cells[chance.randrange(len(cells))] = chance.choice(TOKENS)
        lines[a] = b"".join(cells)
    return b"\n".join(lines)


def csv_mutant(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        is_text = chance.random() < 0.6
        data = mutated_text(data, chance) if is_text else mutated(data, chance, near_end=False)
    return data


def parquet_mutant(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = mutated(data, chance, near_end=True)
    return data


def check_read(path: Path) -> str:
    """Read a file as the promise says: a Telemetry without false numbers, or a FreefloatError."""
    start = time.perf_counter()
    try:
        telemetry = read_telemetry(path, truth=True)
    except FreefloatError as error:
        assert str(path) in str(error)
        outcome = "refused"
    else:
        for channel in telemetry.channels.values():
            assert np.isfinite(channel.time).all()
            assert np.isfinite(channel.values[channel.valid]).all()
            assert np.isnan(channel.values[~channel.valid]).all()
        outcome = "read"
    assert time.perf_counter() - start < LIMIT
    return outcome


@pytest.mark.promise("F1")
@pytest.mark.parametrize(
    ("suffix", "mutant"), [(".csv", csv_mutant), (".parquet", parquet_mutant)], ids=["csv", "parquet"]
)
def test_F1_mutants_are_read_or_refused(
    tmp_path: Path,
    figure: Callable[[str, str], None],
    suffix: str,
    mutant: Callable[[bytes, random.Random], bytes],
):
    path = tmp_path / f"flight{suffix}"
    recording().save(path)
    whole = path.read_bytes()
    outcomes = {"read": 0, "refused": 0}
    for seed in range(MUTANTS):
        path.write_bytes(mutant(whole, random.Random(seed)))
        try:
            outcomes[check_read(path)] += 1
        except Exception as error:
            raise AssertionError(f"mutant {seed} of {suffix}: {error!r}") from error
    figure("F1", f"{MUTANTS} {suffix} mutants: {outcomes['read']} read, "
                 f"{outcomes['refused']} refused, 0 other")
    assert min(outcomes.values()) > 0  # otherwise the mutants are too tame or too wild
