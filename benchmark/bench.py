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
import resource
import signal
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
    parser.add_argument("--time", type=float, default=900.0,
                        help="limit of an answer [s], processor time")  # fmt: skip
    parser.add_argument("--missing", action="store_true", help="only answers that are not there")
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
    """Every entrant on every task, each in a process of its own with a limit of time."""
    from entrants import ENTRANTS
    from prediction import prediction_ratio

    for task in recorded(args):
        for name in chosen(ENTRANTS, args.entrants):
            out = task / f"answer of {name}.json"
            if args.missing and out.exists():
                continue
            answer = ask(task, name, args.time)
            if answer.get("estimates"):
                answer["prediction"] = prediction_ratio(task, answer)
            out.write_text(json.dumps(answer) + "\n")
            words = answer.get("declined", answer.get("grade", "answered"))[:60]
            print(f"{task.parent.name} {task.name:<18}{name:<24}{words}", flush=True)
    return 0


def ask(task: Path, name: str, limit: float) -> dict:
    """The answer of one entrant; whoever dies or takes too long has declined."""
    command = [sys.executable, str(HERE / "bench.py"), "one", "--folder", str(task)]
    command += ["--entrants", name, "--time", str(limit)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    words = ended.stdout.strip().splitlines()
    if ended.returncode == 0 and words:
        return json.loads(words[-1])
    if ended.returncode == -signal.SIGXCPU:
        return {"declined": f"no answer in {limit:g} s of processor time", "cpu": limit}
    return {"declined": (ended.stderr.strip().splitlines() or ["it died"])[-1]}


def one(args) -> int:
    """One entrant on one task, the answer as JSON on the last line."""
    from entrants import ENTRANTS, DeclinedError

    seconds = round(args.time)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # a neighbour inherits it
    try:
        answer = ENTRANTS[args.entrants][1](args.folder)
    except DeclinedError as error:
        answer = {"declined": str(error)}
    answer["cpu"] = time.process_time() + answer.pop("seconds", 0.0)
    print(json.dumps(answer))
    return 0


def rows(args):
    """Task, entrant, and its answers with their scores, one a seed."""
    from scoring import score

    found: dict[tuple[str, str], list] = {}
    for task in recorded(args):
        truth = json.loads((task.parent / "truth" / f"{task.name}.json").read_text())
        for path in sorted(task.glob("answer of *.json")):
            answer = json.loads(path.read_text())
            name = path.stem.removeprefix("answer of ")
            if chosen([name], args.entrants):
                scored = score(answer, truth) if answer.get("estimates") else None
                found.setdefault((task.name, name), []).append((answer, scored))
    return found


HEAD = ("task", "entrant", "error/bound", "known", "answered", "covers", "wrong", "predicts",
        "CPU [s]", "says")  # fmt: skip


def lines(args) -> list[tuple[str, ...]]:
    from scoring import mean_score

    table = []
    for (task, entrant), answers in rows(args).items():
        scores = [scored for _, scored in answers if scored is not None]
        figures = ["–"] * 6
        if scores:
            one = mean_score(scores)
            figures = [_text(one.over_bound), _text(one.over_known), f"{100 * one.answered:.0f} %",
                       f"{100 * one.coverage:.0f} %", f"{one.overconfident:g}",
                       _text(one.prediction)]  # fmt: skip
        spent = [answer["cpu"] for answer, _ in answers if "cpu" in answer]
        cpu = f"{sum(spent) / len(spent):.1f}" if spent else "–"
        table.append((task, entrant, *figures, cpu, _says([answer for answer, _ in answers])))
    return table


def _says(answers: list[dict]) -> str:
    """What most of the answers say, and how many they are, if there are several."""
    said = [_one_says(answer) for answer in answers]
    most = max(said, key=said.count)
    return most if len(said) == 1 else f"{most} ({said.count(most)} of {len(said)})"


def _one_says(answer: dict) -> str:
    if answer.get("declined"):
        return f"declines: {answer['declined'][:110]}"
    if answer.get("refusal"):
        return f"refuses: {answer['refusal'][:110]}"
    return answer.get("grade", "")


def _text(value: float) -> str:
    return f"{value:.2f}" if value < 1000.0 else f"{value:.0e}" if value == value else "–"


def show_scores(args) -> int:
    for line in [HEAD, *lines(args)]:
        print(
            f"{line[0]:<18}{line[1]:<24}"
            + "".join(f"{c:>12}" for c in line[2:9])
            + f"  {line[9][:60]}"
        )
    return 0


def write_page(args) -> int:
    """The table of results for the documents, with versions and machine."""
    from entrants import ENTRANTS, version_of

    packages = [*dict.fromkeys(package for package, _ in ENTRANTS.values()), "bsk"]
    versions = ", ".join(f"{p} {version_of(p)}" for p in packages)
    made = f"Python {platform.python_version()}, {_processor()}; {versions}"
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([HEAD, *lines(args), ("made with", *[""] * 8, made)])
    print(f"wrote {RESULTS}")
    return 0


def _processor() -> str:
    """The processor's own name where the system tells it."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in told.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


VERBS = {"list": list_all, "make": make, "run": run, "one": one, "score": show_scores,
         "table": write_page}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
