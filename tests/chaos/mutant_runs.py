"""Damaged files of every format, each given to the command that reads it.

    python tests/chaos/mutant_runs.py --mutants 20000 [--kinds csv state ...] [--first 0]

Formats of ours (models, plans, telemetry, fits, verdicts, states, lines of a live run) and of
others (with their maps). Prints as JSON, for every kind: how many mutants were read and refused,
which ended as bugs of ours (exit code 3, or a process that died), which took more than five seconds
of the processor, the longest time [s], and by how much the memory grew beyond that of the sound
file [B].

A kind has a process of its own, in which the command is called again and again; one that hangs is
ended by the system after its five seconds, and the next mutant has a new process.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from foreign_recordings import FORMATS, write_recording
from live_flights import noisy
from model_samples import MJCF, XACRO
from mutated_bytes import csv_mutant, parquet_mutant
from sound_files import sound_file
from validation_flights import planar_flight

import freefloat as ff
from freefloat.cli.run import run

ROBOT = "planar-capture"
MOST_SECONDS = 5.0  # of the processor, for one file
GOOD_LINES = 4  # before and after a broken one
# The verb that reads a kind of file, FILE where it stands.
COMMANDS = {
    **dict.fromkeys(("csv", "tsv", "parquet", "mcap", "mat"), ("telemetry", "FILE")),
    **dict.fromkeys(("toml", "urdf", "mjcf", "xacro"), ("check", "FILE")),
    "plan": ("simulate", ROBOT, "--plan", "FILE"),
    "fit": ("export", "FILE", "--to", "toml", "--out", "out.toml"),
    "verdict": ("export", "FILE", "--to", "csv", "--out", "out.csv"),
    "state": ("track", ROBOT, "few.ndjson", "--state", "FILE", "--free", "bus.mass", "--free",
              "target.mass"),
    "lines": ("track", ROBOT, "FILE", "--free", "bus.mass"),
    "map": ("import", "recorded.csv", "--map", "FILE", "--out", "out.csv"),
    # others' recordings; the folder of a ROS 2 bag has its file among them, db3
    **{f"import-{kind}": ("import", "FILE", "--map", "map.toml", "--out", "out.csv")
       for kind in FORMATS if kind != "ros2"},
}  # fmt: skip
ROBOTS = {"mjcf": ("model.xml", MJCF), "xacro": ("model.urdf.xacro", XACRO)}
TEXTS = ("csv", "tsv", "toml", "urdf", "mjcf", "xacro", "plan", "fit", "verdict", "lines", "map",
         "import-csv", "import-tsv", "import-blanks")  # fmt: skip
ARCHIVES = ("state", "import-npz")


# -- mutants ---------------------------------------------------------------------------------------


def make_sound(kind: str) -> Path:
    """A sound file of a kind, and what is beside it, in this folder."""
    here = Path()
    if kind.startswith("import-"):
        return write_recording(kind.removeprefix("import-"), here)[0]
    if kind == "map":
        write_recording("csv", here)[0].rename("recorded.csv")
        return Path("map.toml")
    if kind in ("tsv", "mcap", "mat"):
        path = Path(f"f.{kind}")
        planar_flight(1, 10.0).with_truth(None).save(path)
        return path
    if kind in ROBOTS:
        name, text = ROBOTS[kind]
        Path(name).write_text(text)
        return Path(name)
    if kind == "lines":
        Path("f.ndjson").write_text(_lines(2 * GOOD_LINES + 1))
        return Path("f.ndjson")
    if kind == "plan":
        model = ff.load_model(ROBOT)
        ff.default_plan(model, duration=3.0, seed=1).save("plan.toml")
        return Path("plan.toml")
    if kind == "state":
        Path("few.ndjson").write_text(_lines(3, since=5.0))
    return sound_file(kind, here)


def _lines(n: int, *, since: float = 0.0) -> str:
    samples = list(noisy(ROBOT, 0).between(since, since + 10.0))[:n]
    return "".join(json.dumps({"time": s.time, **s.values}) + "\n" for s in samples)


def spoil(kind: str, whole: bytes, chance: random.Random) -> bytes:
    """A mutant of a file: of its text or its bytes, and of what is packed in it."""
    if kind == "lines":
        lines = whole.split(b"\n")
        lines[GOOD_LINES] = csv_mutant(lines[GOOD_LINES], chance)
        return b"\n".join(lines)
    if kind in TEXTS:
        return csv_mutant(whole, chance)
    if kind in ARCHIVES and chance.random() < 0.5:
        return _spoil_member(whole, chance)
    return parquet_mutant(whole, chance)


def _spoil_member(whole: bytes, chance: random.Random) -> bytes:
    """One of the files in an archive, whose checksum would stop what is inside."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(members))
    members[name] = csv_mutant(members[name], chance)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


# -- runs ------------------------------------------------------------------------------------------


def grown() -> int:
    """The largest memory of this process so far [B]."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def read_all(kind: str, path: Path, seeds: range, tell: Callable[[dict], None]) -> None:
    """Call the command on one mutant after the other, and tell of each."""
    whole = path.read_bytes()
    arguments = [str(path) if word == "FILE" else word for word in COMMANDS[kind]]
    code = run(arguments)
    assert code in (0, 1), (kind, code)
    at_first = grown()
    for seed in seeds:
        path.write_bytes(spoil(kind, whole, random.Random(seed)))
        tell({"seed": seed})
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # ends this process when it rings
        begun = time.process_time()
        code = run(arguments)
        taken = time.process_time() - begun
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        tell({"seed": seed, "code": code, "seconds": taken, "grown": grown() - at_first})
    path.write_bytes(whole)


def fork_and_read(kind: str, path: Path, seeds: range) -> tuple[list[dict], int]:
    """What a process of its own tells, and the signal that ended it, if any."""
    source, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(source)
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        code = 1
        try:
            read_all(kind, path, seeds, lambda x: _write(into, json.dumps(x).encode() + b"\n"))
            code = 0
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(source) as told:
        found = [json.loads(line) for line in told]
    return found, -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _write(handle: int, data: bytes) -> None:
    assert os.write(handle, data) == len(data)  # less than a pipe holds at once


def attack(kind: str, n: int, first: int) -> dict[str, object]:
    """What became of n mutants of a kind."""
    path = make_sound(kind)
    whole = path.read_bytes()
    found: dict[str, list] = {"read": [], "refused": [], "bugs": [], "hangs": []}
    slowest, most, next_one, until = 0.0, 0, first, first + n
    while next_one < until:
        path.write_bytes(whole)
        told, number = fork_and_read(kind, path, range(next_one, until))
        ended = [one for one in told if "code" in one]
        for one in ended:
            words = {0: "read", 1: "read", 2: "refused"}
            found[words.get(one["code"], "bugs")].append(one["seed"])
            slowest, most = max(slowest, one["seconds"]), max(most, one["grown"])
        if len(ended) == until - next_one:
            break
        assert told, f"{kind}: the sound file was not read"
        next_one = told[-1]["seed"] + 1
        found["hangs" if number == signal.SIGPROF else "bugs"].append(told[-1]["seed"])
    return {
        "mutants": n, "read": len(found["read"]), "refused": len(found["refused"]),
        "bugs": found["bugs"], "hangs": found["hangs"], "slowest": round(slowest, 3),
        "grown": most, "size": len(whole),
    }  # fmt: skip


def main() -> None:
    """Attack the kinds that are named, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=2000, help="in all")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of a kind")
    parser.add_argument("--kinds", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument(
        "--keep",
        type=lambda text: Path(text).absolute(),
        help="a folder for mutants that end badly",
    )
    given = parser.parse_args()
    each = -(-given.mutants // len(given.kinds))
    total: dict[str, dict[str, object]] = {}
    for kind in given.kinds:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            total[kind] = attack(kind, each, given.first)
            if given.keep is not None:
                _keep(kind, total[kind], given.keep)
            os.chdir("/")
        print(json.dumps({kind: total[kind]}), flush=True)


def _keep(kind: str, found: dict, folder: Path) -> None:
    """Write mutants that ended badly where they can be looked at."""
    if not found["bugs"] and not found["hangs"]:
        return
    with tempfile.TemporaryDirectory() as fresh:
        os.chdir(fresh)
        path = make_sound(kind)
        whole = path.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    for seed in [*found["bugs"], *found["hangs"]]:
        (folder / f"{kind}-{seed}-{path.name}").write_bytes(spoil(kind, whole, random.Random(seed)))


if __name__ == "__main__":
    sys.exit(main())
