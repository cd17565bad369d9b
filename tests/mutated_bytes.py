"""Files with accidents: of bytes, of lines and cells, and mostly near the end where that counts."""

from __future__ import annotations

import random
import re

TOKENS = (
    *(b"nan", b"NaN", b"inf", b"-inf", b"1e400", b"-1e400", b"1e-400", b"1,5", b"1;5", b"", b" "),
    *(b"9" * 400, b"0x1p3", b"1_000", b"NULL", b"#", b'"', b'""', b"\xff\xfe", b"\0", b"--1"),
    *(b"time", b"time [s]", b"[", b"]", b"[deg]", b"base.rate.x [rad/s]", b"1e", b"\xc2\xb5m"),
    *(b"999999999999999999999", b"\xd9\xa1", b"True", b"2024-01-01T00:00:00Z", b"=1+1", b"\r"),
)


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
