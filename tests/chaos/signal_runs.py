"""Verbs that write, struck by signals at random moments; what they leave is looked at.

    python tests/chaos/signal_runs.py --signals 1000 --seed 1

Every verb writes its files over those of an earlier run, from other input, so that each file would
differ. After the signal all must be whole, the old ones or all new ones, as the next reader finds
them, and the next run must leave nothing but its files. Half of the signals fall anywhere in a run,
the other half while files are written. Runs are forked, or most of the time would go into imports.
`track`, which is there to go on, is attacked by `signal_tracks.py`, and counts here.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import random
import signal
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import freefloat as ff
from freefloat.cli.run import run
from freefloat.cli.waiting import insist_on_interrupts
from freefloat.files import settle

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
ROBOT = "planar-capture"
SHORT = ("--duration", "3")
MAP = """format = 1
[time]
clock = "t"
[[channel]]
to = "base.rate"
from = ["wx", "wy", "wz"]
"""
# What a verb is given, {} where one of two inputs stands, and the files it writes.
VERBS = {
    "simulate": (
        ("simulate", ROBOT, *SHORT, "--seed", "{}", "--out", "s.csv", "--save-plan", "s.toml"),
        ("s.csv", "s.truth.csv", "s.toml"),
    ),
    "identify": (
        ("identify", ROBOT, "{}.csv", "--method", "momentum", "--no-assess", "--out", "f.json",
         "--save-model", "f.toml", "--report", "f.html"),
        ("f.json", "f.toml", "f.html"),
    ),
    "validate": (
        ("validate", ROBOT, "{}.csv", "--out", "v.json", "--report", "v.html"),
        ("v.json", "v.html"),
    ),
    "design": (
        ("design", ROBOT, *SHORT, "--rounds", "1", "--starts", "1", "--seed", "{}",
         "--out", "d.toml", "--table", "d.csv"),
        ("d.toml", "d.csv"),
    ),
    "telemetry": (("telemetry", "{}.csv", "--repair", "t.csv"), ("t.csv",)),
    "models": (("models", "copy", "servicer{}", "m.toml", "--force"), ("m.toml",)),
    "structure": (
        ("structure", ROBOT, "{}.csv", "--free", "bus.mass", "--save-model", "a.toml"),
        ("a.toml",),
    ),
    "spectrum": (
        ("spectrum", "swing{}.csv", "--model", "servicer-wings", "--save-model", "w.toml"),
        ("w.toml",),
    ),
    "import": (
        ("import", "other{}.csv", "--map", "map.toml", "--out", "i.mcap"), ("i.mcap",)
    ),
    "export": (("export", "fit{}.json", "--to", "toml", "--out", "e.toml"), ("e.toml",)),
    "check": (("check", ROBOT + "{}", "--plot", "k.svg"), ("k.svg",)),
    "bug-report": (("bug-report", "b.zip", "--run", f"check {ROBOT}{{}}"), ("b.zip",)),
    "reproduce": (
        ("reproduce", "003", "--quick", "--workers", "1", "--rows", "r.json", "--report", "r.html"),
        ("r.json", "r.html"),
    ),
}  # fmt: skip
SIZES = ("", "-small")
# Inputs that are not called 1 and 2.
NAMED = {"models": ("", "-wings"), "check": SIZES, "bug-report": SIZES}
SLOW = {"reproduce": 0.1}  # of the signals of the others: a run takes ten seconds
COUNTS = ("signals", "struck", "new", "mixed", "torn", "litter", "bugs")


# -- inputs ----------------------------------------------------------------------------------------


def make_inputs(verbs: list[str]) -> None:
    """Two of each that the verbs need, into this folder."""
    time_ = np.arange(0.0, 40.0, 0.02)
    for k in (1, 2):
        run(["simulate", ROBOT, *SHORT, "--seed", str(k), "--out", f"{k}.csv"])
        swing = np.exp(-0.02 * time_) * np.sin(2 * np.pi * (0.22 + 0.01 * k) * time_)
        noise = np.random.default_rng(k).normal(scale=0.02, size=time_.size)
        ff.Telemetry.from_arrays(
            time_, {"base.rate.x": 0.1 * (swing + noise)}, noise={"base.rate.x": 2e-3}
        ).save(f"swing{k}.csv")
        rows = np.column_stack([time_, *(np.sin(n * time_ + k) for n in (1, 2, 3))]).tolist()
        Path(f"other{k}.csv").write_text(
            "t,wx,wy,wz\n" + "\n".join(",".join(map(repr, row)) for row in rows) + "\n"
        )
        if "export" in verbs:
            how = ("--method", "momentum", "--no-assess")
            run(["identify", ROBOT, f"{k}.csv", *how, "--out", f"fit{k}.json"])
    Path("map.toml").write_text(MAP)


# -- one run ---------------------------------------------------------------------------------------


def fork(arguments: list[str], *, source: int | None = None) -> int:
    """Start the command in a process of its own; its number. source: its standard input."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        if source is not None:
            os.dup2(source, 0)
        insist_on_interrupts()
        code = run(arguments)
    except KeyboardInterrupt:  # before it began or after it ended, as in `freefloat.cli.main`
        code = 130
    finally:
        os._exit(code)


def finish(child: int) -> int:
    """The exit code of a command, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_writing() -> bool:
    """Whether a file is being written: a part that is no longer empty."""
    for name in os.listdir():
        with contextlib.suppress(FileNotFoundError):
            if ".part" in name and os.stat(name).st_size:
                return True
    return False


def strike(arguments: list[str], *, lasts: float, number: int, chance: random.Random) -> int:
    """Run a command and send it a signal: anywhere in its run, or while it writes."""
    begun, child = time.monotonic(), fork(arguments)
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0.0, lasts))
    else:
        while not is_writing() and time.monotonic() - begun < 3.0 * lasts:
            time.sleep(5e-4)
        time.sleep(chance.expovariate(1.0 / 0.01))
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)
    return finish(child)


# -- what is left ----------------------------------------------------------------------------------


def read_table(path: Path) -> None:
    rows = list(csv.reader(line for line in path.open() if not line.startswith("#")))
    assert len({len(row) for row in rows}) == 1 and path.read_bytes().endswith(b"\n")


def read_page(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</html>")


def read_archive(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


WHOLE: dict[str, Callable[[Path], object]] = {
    ".json": lambda path: json.loads(path.read_text()),
    ".toml": lambda path: tomllib.loads(path.read_text()),
    ".csv": read_table,
    ".html": read_page,
    ".mcap": ff.read_telemetry,
    ".svg": lambda path: ElementTree.parse(path),
    ".zip": read_archive,
}


def is_torn(name: str) -> bool:
    """Whether a file is not there to its end."""
    try:
        WHOLE[Path(name).suffix](Path(name))
    except Exception:
        return True
    return False


def contents(names: tuple[str, ...]) -> list[bytes]:
    return [Path(name).read_bytes() for name in names]


def count_litter() -> int:
    return sum(name.startswith(".") for name in os.listdir())


def attack(verb: str, n: int, chance: random.Random) -> dict[str, int]:
    """Strike a verb n times; how often what was found."""
    template, names = VERBS[verb]
    counts = dict.fromkeys(COUNTS, 0)
    inputs = NAMED.get(verb, ("1", "2"))

    def arguments(which: int) -> list[str]:
        return [text.format(inputs[which]) for text in template]

    assert finish(fork(arguments(0))) in (0, 1)
    begun = time.monotonic()
    assert finish(fork(arguments(0))) in (0, 1)
    lasts, current = time.monotonic() - begun, 0
    for k in range(n):
        old = contents(names)
        code = strike(
            arguments(1 - current), lasts=lasts, number=SIGNALS[k % len(SIGNALS)], chance=chance
        )
        settle(names[k % len(names)])  # as the next reader does
        changed = {a != b for a, b in zip(old, contents(names), strict=True)}
        counts["signals"] += 1
        counts["struck"] += code not in (0, 1)
        counts["bugs"] += code == 3
        counts["mixed"] += len(changed) > 1
        counts["new"] += changed == {True}
        counts["torn"] += sum(map(is_torn, names))
        if changed == {True}:
            current = 1 - current
        if k % 5 == 4:  # the next run to its end
            assert finish(fork(arguments(current))) in (0, 1)
            counts["litter"] += count_litter()
    assert finish(fork(arguments(current))) in (0, 1)
    counts["litter"] += count_litter()
    return counts


def shares(verbs: list[str], signals: int) -> dict[str, int]:
    """How many signals each verb gets: at least so many in all."""
    weights = {verb: SLOW.get(verb, 1.0) for verb in verbs}
    each = signals / sum(weights.values())
    return {verb: max(1, int(np.ceil(each * weight))) for verb, weight in weights.items()}


def main() -> None:
    """Strike the verbs that are named, and print what was found."""
    from signal_tracks import attack_track

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signals", type=int, default=100, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbs", nargs="*", default=[*VERBS, "track"])
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.chdir(folder)
        answer = os.dup(1)
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        make_inputs(given.verbs)
        total: dict[str, dict[str, float]] = {}
        for verb, n in shares(given.verbs, given.signals).items():
            os.makedirs(f"of-{verb}")  # what one verb leaves is not the litter of another
            os.chdir(f"of-{verb}")
            for path in Path("..").iterdir():
                if path.is_file():
                    Path(path.name).write_bytes(path.read_bytes())
            if verb == "track":
                total[verb] = attack_track(n, chance)
            else:
                inputs = NAMED.get(verb, ("1", "2"))
                run([text.format(inputs[0]) for text in VERBS[verb][0]])  # compiles, and loads
                total[verb] = {**attack(verb, n, chance)}
            os.chdir("..")
        os.chdir("/")
    os.write(answer, json.dumps(total).encode())


if __name__ == "__main__":
    sys.exit(main())
