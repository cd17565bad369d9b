"""Verbs that write, struck by signals at random moments; what they leave is looked at.

    python tests/chaos/signal_runs.py --signals 1000 --seed 1

Every verb writes its files over those of an earlier run, from other input, so that each file would
differ. After the signal all must be the old ones or all new ones, as the next reader finds them,
and the next run must leave nothing but its files. Half of the signals fall anywhere in a run, the
other half while files are written. Runs are forked, or most of the time would go into imports.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from freefloat.cli.run import run
from freefloat.cli.waiting import insist_on_interrupts
from freefloat.files import settle

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
ROBOT = "planar-capture"
SHORT = ("--duration", "3")
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
    "models": (("models", "copy", "servicer", "m.toml", "--force"), ("m.toml",)),
}  # fmt: skip


def fork(arguments: list[str]) -> int:
    """Start the command in a process of its own; its number."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
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


def contents(names: tuple[str, ...]) -> list[bytes]:
    return [Path(name).read_bytes() for name in names]


def attack(verb: str, n: int, chance: random.Random) -> dict[str, int]:
    """Strike a verb n times; how often what was found."""
    template, names = VERBS[verb]
    counts = dict.fromkeys(("signals", "struck", "new", "mixed", "litter", "bugs"), 0)
    inputs = ("1", "2")

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
        if changed == {True}:
            current = 1 - current
        if k % 5 == 4:  # the next run to its end
            assert finish(fork(arguments(current))) in (0, 1)
            counts["litter"] += sum(name.startswith(".") for name in os.listdir())
    assert finish(fork(arguments(current))) in (0, 1)
    counts["litter"] += sum(name.startswith(".") for name in os.listdir())
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signals", type=int, default=100, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS))
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.chdir(folder)
        answer = os.dup(1)
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        for seed in ("1", "2"):
            run(["simulate", ROBOT, *SHORT, "--seed", seed, "--out", f"{seed}.csv"])
        total: dict[str, dict[str, int]] = {}
        for verb in given.verbs:
            run([text.format("1") for text in VERBS[verb][0]])  # compiles, and loads
            total[verb] = attack(verb, max(1, given.signals // len(given.verbs)), chance)
        os.chdir("/")
    os.write(answer, json.dumps(total).encode())


if __name__ == "__main__":
    sys.exit(main())
