"""`freefloat track` struck by signals while lines come, and gone on with; for `signal_runs.py`.

Lines come at the pace of a clock. INT, TERM and HUP must leave the state with every sample that an
estimate was written for; KILL may lose what came since the last checkpoint. The run is then gone on
with from that sample on, and must end exactly as one that was never struck.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chaos.signal_runs import ROBOT, SIGNALS, count_litter, finish, fork
from live_flights import noisy
from mcap.reader import make_reader
from pyarrow.parquet import ParquetFile

import freefloat as ff
from freefloat.cli.run import run

CHECKPOINT = 0.2  # [s]
PACE = 0.002  # [s] between lines
LATE = 0.5  # [s] by which a busy machine may save late
WANTED = ("bus.mass", "target.mass")
FREE = [word for name in WANTED for word in ("--free", name)]
FILES = {"--state": "s", "--out": "o", "--parquet": "p.parquet", "--mcap": "m.mcap"}
OPTIONS = ([], ["--reorder", "3"])


def flight_lines() -> list[bytes]:
    samples = noisy(ROBOT, 0).between(0.0, 30.0)
    return [json.dumps({"time": s.time, **s.values}).encode() + b"\n" for s in samples]


def command(source: str, options: list[str], *, every: float = 5.0) -> list[str]:
    files = [word for pair in FILES.items() for word in pair]
    how = ["--checkpoint", str(CHECKPOINT), "--every", str(every), "--json"]
    return ["track", ROBOT, source, *FREE, *files, *how, *options]


def remove_files() -> None:
    for name in FILES.values():
        Path(name).unlink(missing_ok=True)


def n_saved(options: list[str]) -> int:
    """How many samples the state has seen; 0 without one."""
    if not Path("s").exists():
        return 0
    model = ff.load_model(ROBOT)
    reorder = int(options[-1]) if options else 0
    parameters = ff.Parameters(model).free(*WANTED)
    tracker = ff.OnlineEstimator(model, parameters, reorder=reorder)
    tracker.restore("s")
    return sum(tracker.counts.values()) + len(tracker.intake.buffer.held)


def estimates() -> list[dict]:
    """Those of the file of lines; a last one that is torn is left out."""
    if not Path("o").exists():
        return []
    lines = Path("o").read_bytes().split(b"\n")
    found = [json.loads(line) for line in lines[:-1]]
    with contextlib.suppress(ValueError):
        found += [json.loads(lines[-1])]
    return found


def table_times() -> list[float]:
    return ParquetFile("p.parquet").read().to_pydict()["time"]


def message_times() -> list[float]:
    with Path("m.mcap").open("rb") as file:
        messages = [m for _, _, m in make_reader(file).iter_messages(topics=["/estimate"])]
    return [json.loads(m.data)["t"] for m in messages]


def feed(lines: list[bytes], into: int, *, until: float) -> list[float]:
    """Write lines at their pace until a moment; when each was written."""
    fed: list[float] = []
    while time.monotonic() < until and len(fed) < len(lines):
        os.write(into, lines[len(fed)])
        fed.append(time.monotonic())
        time.sleep(PACE)
    return fed


def strike_once(
    lines: list[bytes], *, options: list[str], number: int, chance: random.Random
) -> tuple[int, list[float]]:
    """Feed a run and strike it; its exit code, and when each line was fed."""
    source, into = os.pipe()
    child = fork(command("-", options, every=0.01), source=source)  # one for every sample
    os.close(source)
    time.sleep(chance.uniform(0.0, 0.2))
    fed = feed(lines, into, until=time.monotonic() + chance.uniform(0.0, 1.0))
    time.sleep(chance.choice((0.0, 0.0, 0.05)))
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)
    code = finish(child)
    os.close(into)
    return code, fed


def attack_track(n: int, chance: random.Random) -> dict[str, float]:
    """Strike it n times; how often what was found, and the longest time that was lost [s]."""
    names = ("signals", "struck", "new", "mixed", "torn", "litter", "bugs", "lost", "other_end")
    counts: dict[str, float] = {**dict.fromkeys(names, 0), "longest_lost": 0.0}
    lines = flight_lines()
    Path("all.ndjson").write_bytes(b"".join(lines))
    ends = {}
    for k, options in enumerate(OPTIONS):
        assert run(command("all.ndjson", options)) in (0, 1)
        ends[k] = estimates()[-1]["parameters"]
        remove_files()
    for k in range(n):
        number, which = SIGNALS[k % len(SIGNALS)], chance.randrange(len(OPTIONS))
        options = OPTIONS[which]
        try:
            code, fed = strike_once(lines, options=options, number=number, chance=chance)
            counts["signals"] += 1
            counts["struck"] += len(fed) > 0
            counts["bugs"] += code == 3
            look(counts, lines, fed, number=number, options=options)
            go_on(counts, lines, end=ends[which], options=options)
        finally:
            remove_files()
    return counts


def look(
    counts: dict[str, float], lines: list[bytes], fed: list[float], *, number: int,
    options: list[str],
) -> None:  # fmt: skip
    """Hold what a struck run left against what it had taken."""
    saved, written = n_saved(options), estimates()
    instants = [json.loads(line)["time"] for line in lines]
    taken = instants.index(written[-1]["time"]) + 1 if written else 0
    if number == signal.SIGKILL:
        # what was fed before the last checkpoint is due is in the state
        lost = fed[taken - 1] - fed[max(saved - 1, 0)] if taken > saved else 0.0
        counts["longest_lost"] = max(counts["longest_lost"], round(lost, 3))
        counts["lost"] += lost > CHECKPOINT + LATE
        return
    counts["new"] += 1
    counts["lost"] += saved < taken
    if Path("s").exists():  # it had begun: all files are of one run
        times = [estimate["time"] for estimate in written]
        counts["mixed"] += not (table_times() == times == message_times())


def go_on(counts: dict[str, float], lines: list[bytes], *, end: dict, options: list[str]) -> None:
    """Go on from the state to the end, which must be the one of a run that was never struck."""
    saved = n_saved(options)
    Path("rest.ndjson").write_bytes(b"".join(lines[saved:]))
    code = finish(fork(command("rest.ndjson", options)))
    counts["bugs"] += code not in (0, 1)
    counts["litter"] += count_litter()
    whole = Path("o").read_bytes()
    found = [json.loads(line) for line in whole.splitlines()]
    times = [one["time"] for one in found if one["time"] is not None]
    counts["torn"] += not whole.endswith(b"\n") or times != sorted(set(times))
    counts["other_end"] += n_saved(options) != len(lines) or found[-1]["parameters"] != end
