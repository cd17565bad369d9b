"""Results as data: make them anew, write them into the documents, say what is stale.

- `python tools/results.py run` makes what is missing or older than the code, piece by piece
- `python tools/results.py run --only 'campaigns/T3' --runs 5` carries out a part of a campaign
- `python tools/results.py run --list` shows what there is, when it was made and what it took
- `python tools/results.py render` writes the stored numbers into the documents
- `python tools/results.py check` says which documents and results are stale
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))  # the tree that is fingerprinted is the one that runs

import credibility  # noqa: E402
import results_documents  # noqa: E402
import results_stated as stated  # noqa: E402
import results_store as store  # noqa: E402
from fingerprints import Tree  # noqa: E402
from results_campaigns import is_partial  # noqa: E402
from results_pieces import CAMPAIGNS, Piece, find_pieces, find_states  # noqa: E402

PATIENCE = 60.0  # [s] between signs of life
TAIL = 15  # lines of a failed command that are shown


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Do what the command line says; 1 where a piece failed or a document is stale."""
    chosen = _options(arguments)
    if chosen.verb == "render":
        return _render(root)
    if chosen.verb == "check":
        return _check(root)
    wanted = _wanted(chosen, root)
    if not wanted:
        print(f"no piece is called {chosen.only!r}; run --list shows all", file=sys.stderr)
        return 2
    states = find_states(root, wanted)
    if chosen.list:
        print(_table(wanted, states, root))
        return 0
    if not chosen.all:
        kept = store.load_all(root / "results")
        wanted = [
            piece
            for piece in wanted
            if is_due(piece, states[piece.name], kept.get(piece.name), is_quick=chosen.quick)
        ]
    return run(wanted, root, is_quick=chosen.quick)


def _wanted(chosen: argparse.Namespace, root: Path) -> list[Piece]:
    """The pieces that are asked for; campaigns take days, and are not meant by a mere *."""
    found = [piece for piece in find_pieces(root) if fnmatchcase(piece.name, chosen.only)]
    if chosen.runs is not None:
        chosen.quick, quick = True, ("--runs", str(chosen.runs))
        return [replace(one, quick=quick) for one in found if one.name.startswith(CAMPAIGNS)]
    is_named = chosen.list or chosen.only.startswith(CAMPAIGNS)
    return [one for one in found if is_named or not one.name.startswith(CAMPAIGNS)]


def is_due(piece: Piece, state: str, kept: store.Result | None, *, is_quick: bool) -> bool:
    """Whether a piece is to be made: a short version never takes the place of a whole one."""
    if kept is None:
        return True
    if is_quick:  # another short version is another number of runs
        is_other = kept.command != piece.line(is_quick=True)
        return kept.is_quick and (is_other or state == "older than the code")
    return state != "fresh"


def run(pieces: Sequence[Piece], root: Path, *, is_quick: bool = False) -> int:
    """Make pieces one after the other; what is done is kept, whatever becomes of the rest."""
    failed = []
    if _is_busy():
        _say("this machine is busy: times will be too long, and promises about them may be missed")
    for n, piece in enumerate(pieces, start=1):
        _say(f"{n} of {len(pieces)}: {piece.line(is_quick=is_quick)}")
        try:
            result, code = make(piece, root, is_quick=is_quick)
        except (OSError, ValueError, LookupError) as error:
            _say(f"{piece.name} failed, what was stored stays: {error}")
            failed.append(piece.name)
            continue
        store.save(result, root / "results")
        took = _duration(result.seconds["wall"])
        _say(f"{piece.name} made in {took}" + (", and it is negative" if code else ""))
        failed += [piece.name] if code else []
    _say(f"{len(pieces) - len(failed)} fine, {len(failed)} not {' '.join(failed)}".rstrip())
    return 1 if failed else 0


def make(piece: Piece, root: Path, *, is_quick: bool = False) -> tuple[store.Result, int]:
    """The result of a piece and the exit code of its command; ValueError where it gives none.

    A row that is missed or a test that fails is a result like any other: keeping the old one
    instead would hide it.
    """
    fingerprint = Tree(root).fingerprint(piece.entries, data=piece.data)
    piece.begin(fingerprint)
    with tempfile.TemporaryDirectory() as name:
        words = [word.replace("OUT", name) for word in piece.words(is_quick=is_quick)]
        if words[0] == "freefloat":
            words[:1] = ["python", "-m", "freefloat"]
        words[0] = sys.executable
        begin, used = time.monotonic(), _processor_time()
        ended, told = _run(words, piece, root, is_quick=is_quick)
        seconds = {"wall": time.monotonic() - begin, "processor": _processor_time() - used}
        try:
            content = piece.take(Path(name))
        except (OSError, ValueError, LookupError) as error:
            raise ValueError(f"exit code {ended}, no result ({error})\n{told}") from error
        if not any(content.values()):
            raise ValueError(f"exit code {ended}, an empty result\n{told}")
    result = store.Result(
        piece=piece.name, command=piece.line(is_quick=is_quick),
        is_quick=is_quick or is_partial(content), seconds=seconds,
        fingerprint=fingerprint, content=content,
    )  # fmt: skip
    return result, ended


def _run(words: list[str], piece: Piece, root: Path, *, is_quick: bool) -> tuple[int, str]:
    """The exit code and the last lines of a command, with a sign of life every minute."""
    environment = os.environ | ({} if is_quick else piece.environment)
    folders = [str(root / name) for name in ("src", *piece.paths)]
    environment["PYTHONPATH"] = os.pathsep.join(folders)
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as told:
        process = subprocess.Popen(
            words, cwd=root, env=environment, stdout=told, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    code = process.wait(PATIENCE)
                    break
                except subprocess.TimeoutExpired:
                    _say(f"{piece.name} runs since {_duration(time.monotonic() - begin)}")
        except BaseException:
            process.kill()
            process.wait()
            raise
        told.seek(0)
        return code, "\n".join(told.read().splitlines()[-TAIL:])


def _render(root: Path) -> int:
    """Write the stored numbers into the documents, and CREDIBILITY.md anew."""
    results = store.load_all(root / "results")
    problems = results_documents.render(root, results)
    states = find_states(root, find_pieces(root))
    credibility.write(root, results, states)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _check(root: Path) -> int:
    """Say which documents differ from the store, and which results are older than the code."""
    results = store.load_all(root / "results")
    states = find_states(root, find_pieces(root))
    problems = [*results_documents.differences(root, results), *stated.find_unaccounted(root)]
    problems += credibility.differences(root, results)
    for problem in problems:
        print(problem)
    print(summary(states))
    return 1 if problems else 0


def summary(states: dict[str, str]) -> str:
    """How many results are fresh, and which are not."""
    lines = [f"{sum(state == 'fresh' for state in states.values())} of {len(states)} results fresh"]
    for state in sorted({*states.values()} - {"fresh"}):
        names = [name for name, found in states.items() if found == state]
        lines.append(f"{len(names)} {state}: {' '.join(names)}")
    return "\n".join(lines)


def _table(pieces: Iterable[Piece], states: dict[str, str], root: Path) -> str:
    lines = [f"{'piece':<48}{'made':<12}{'took':>8}  state"]
    for piece in pieces:
        result = store.load(piece.name, root / "results")
        made = result.made if result else "–"
        took = _duration(result.seconds["wall"]) if result else "–"
        lines.append(f"{piece.name:<48}{made:<12}{took:>8}  {states[piece.name]}")
    return "\n".join(lines)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run", help="make what is missing or older than the code")
    runs.add_argument("--only", default="*", metavar="GLOB", help="pieces, as in 'papers/*'")
    runs.add_argument("--all", action="store_true", help="also what is fresh")
    runs.add_argument("--quick", action="store_true", help="short versions of what is missing")
    runs.add_argument("--runs", type=int, metavar="N", help="campaigns with N runs a cell only")
    runs.add_argument("--list", action="store_true", help="make nothing, show what there is")
    verbs.add_parser("render", help="write the stored numbers into the documents")
    verbs.add_parser("check", help="say what is stale; 1 if a document is")
    return parser.parse_args(arguments)


def _is_busy() -> bool:
    """Whether others use a good part of the processors."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1)


def _processor_time() -> float:
    """Of all processes that this one has started and that have ended [s]."""
    times = os.times()
    return times.children_user + times.children_system


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _say(text: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {text}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever read the list has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _say("stopped: what was made is kept, and the next run goes on from there")
        sys.exit(130)
