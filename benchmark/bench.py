"""The benchmark's command: list, make, run, score, table.

python benchmark/bench.py make --tasks 'tug,capture*' --seeds 1
python benchmark/bench.py run --entrants 'freefloat auto,textbook*'
python benchmark/bench.py table
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]
FOLDER = HERE.parent / "build" / "benchmark"
RESULTS = HERE.parent / "docs" / "benchmark_results.csv"
FIRST_SEED = 7000  # of seeds that nothing was chosen by


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verb", choices=["list", "make", "run", "one", "score", "table"])
    parser.add_argument("--tasks", default="*", help="names or globs, apart by commas")
    parser.add_argument("--entrants", default="*", help="names or globs, apart by commas")
    parser.add_argument("--seeds", type=int, default=1, help="recordings of every task")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--bounds", action="store_true", help="with unknown motion too: slow")
    parser.add_argument("--time", type=float, default=900.0, help="limit of an answer [s]")
    args = parser.parse_args()
    return VERBS[args.verb](args)


def chosen(names, globs: str) -> list[str]:
    return [n for n in names if any(fnmatchcase(n, glob) for glob in globs.split(","))]


def list_all(args) -> int:
    from entrants import ENTRANTS, version_of
    from tasks import TASKS

    for task in TASKS.values():
        print(f"{task.name:<18} {task.about}")
    print()
    for name, (package, _) in ENTRANTS.items():
        print(f"{name:<24} {package} {version_of(package)}")
    return 0


def make(args) -> int:
    from forms import write_task
    from tasks import TASKS

    for name in chosen(TASKS, args.tasks):
        for k in range(args.seeds):
            begun, seed = time.process_time(), FIRST_SEED + k
            made = TASKS[name].make(seed)
            write_task(TASKS[name], made, args.folder / str(seed), is_whole=args.bounds)
            print(f"{name}, seed {seed}: {time.process_time() - begun:.0f} s", flush=True)
    return 0


def recorded(args) -> list[Path]:
    """Every task that was made, by seed."""
    found = sorted(args.folder.glob("[0-9]*/*/task.json"))
    return [p.parent for p in found if chosen([p.parent.name], args.tasks)]


def run(args) -> int:
    """Every entrant on every task, each in a process of its own with limits of time."""
    from entrants import ENTRANTS

    for task in recorded(args):
        for name in chosen(ENTRANTS, args.entrants):
            out = task / f"answer of {name}.json"
            command = [sys.executable, str(HERE / "bench.py"), "one", "--folder", str(task)]
            try:
                ended = subprocess.run(
                    [*command, "--entrants", name], capture_output=True, text=True,
                    timeout=args.time, check=False,
                )  # fmt: skip
                words = ended.stdout.strip().splitlines()
                last = (ended.stderr.strip().splitlines() or ["it died"])[-1]
                has_answer = ended.returncode == 0 and words
                text = words[-1] if has_answer else json.dumps({"declined": last})
            except subprocess.TimeoutExpired:
                text = json.dumps({"declined": f"no answer in {args.time:g} s"})
            out.write_text(text + "\n")
            said = json.loads(text)
            words = said.get("declined", said.get("grade", "answered"))[:60]
            print(f"{task.parent.name} {task.name:<18}{name:<24}{words}", flush=True)
    return 0


def one(args) -> int:
    """One entrant on one task, the answer as JSON on the last line."""
    from entrants import ENTRANTS, DeclinedError

    begun = time.process_time()
    try:
        answer = ENTRANTS[args.entrants][1](args.folder)
    except DeclinedError as error:
        answer = {"declined": str(error)}
    answer["cpu"] = time.process_time() - begun
    print(json.dumps(answer))
    return 0


def rows(args):
    """Task, entrant, what it answered, its score."""
    from scoring import score

    for task in recorded(args):
        truth = json.loads((task.parent / "truth" / f"{task.name}.json").read_text())
        for path in sorted(task.glob("answer of *.json")):
            answer = json.loads(path.read_text())
            name = path.stem.removeprefix("answer of ")
            found = score(answer, truth) if answer.get("estimates") else None
            yield task.name, name, answer, found


HEAD = ("task", "entrant", "error/bound", "known", "answered", "covers", "wrong", "CPU [s]", "says")


def lines(args) -> list[tuple[str, ...]]:
    table = []
    for task, entrant, answer, found in rows(args):
        said = answer.get("declined") or answer.get("refusal") or answer.get("grade", "")
        figures = ["–"] * 5
        if found is not None:
            figures = [_text(found.over_bound), _text(found.over_known),
                       f"{100 * found.answered:.0f} %", f"{100 * found.coverage:.0f} %",
                       str(found.overconfident)]  # fmt: skip
        prefix = (
            "declines: " if answer.get("declined") else "refuses: " if answer.get("refusal") else ""
        )
        cpu = f"{answer['cpu']:.1f}" if "cpu" in answer else "–"
        table.append((task, entrant, *figures, cpu, prefix + str(said)[:110]))
    return table


def _text(value: float) -> str:
    return f"{value:.2f}" if value == value else "–"


def show_scores(args) -> int:
    for line in [HEAD, *lines(args)]:
        print(
            f"{line[0]:<18}{line[1]:<24}"
            + "".join(f"{c:>12}" for c in line[2:8])
            + f"  {line[8][:60]}"
        )
    return 0


def write_page(args) -> int:
    """The table of results for the documents, with versions and machine."""
    from entrants import ENTRANTS, version_of

    packages = dict.fromkeys(package for package, _ in ENTRANTS.values())
    versions = ", ".join(f"{p} {version_of(p)}" for p in packages)
    made = f"Python {platform.python_version()}, {platform.machine()}; {versions}"
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([HEAD, *lines(args), ("made with", *[""] * 7, made)])
    print(f"wrote {RESULTS}")
    return 0


VERBS = {"list": list_all, "make": make, "run": run, "one": one, "score": show_scores,
         "table": write_page}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
