"""Every paper rebuilt in full, as far as time allows: one line a paper, rows in build/papers.

    python tools/full_papers.py --seconds 1200

The exit code is 1 where a row is missed or a paper could not be rebuilt. A paper that time did not
allow is named as such, and is no failure.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
DAY = 86_400.0  # [s]
LEAST = 30.0  # [s]: with less left no paper is begun
PATIENCE = 20.0  # [s] for a paper that is told to stop

Ended = tuple[int | None, str]  # exit code, None where time ran out; what there is to say
Rebuild = Callable[[str, float], Ended]


def main(arguments: list[str] | None = None, rebuild: Rebuild | None = None) -> int:
    """Rebuild the papers one after the other, each on all cores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=DAY, help="all the time there is")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "papers")
    parser.add_argument("papers", nargs="*", help="all unless named")
    chosen = parser.parse_args(arguments)
    papers = chosen.papers or known_papers()
    rebuild = rebuild or (lambda paper, seconds: run(paper, seconds, chosen.folder))
    until, codes = time.monotonic() + chosen.seconds, {}
    for paper in papers:
        left = until - time.monotonic()
        code, words = rebuild(paper, left) if left >= LEAST else (None, "not begun, no time left")
        codes[paper] = code
        print(f"paper {paper} in full: {words}", flush=True)
    unfinished = [paper for paper, code in codes.items() if code is None]
    failed = [paper for paper, code in codes.items() if code]
    parts = [f"{len(papers) - len(unfinished)} rebuilt"]
    parts += [f"not rebuilt for want of time: {', '.join(unfinished)}"] if unfinished else []
    if len(unfinished) < len(papers):
        parts += [f"missed or failed: {', '.join(failed)}" if failed else "no row missed"]
    print(f"papers in full: {'; '.join(parts)}")
    return 1 if failed else 0


def known_papers() -> list[str]:
    """Every paper there is."""
    from freefloat.papers import PAPERS

    return sorted(PAPERS)


def run(paper: str, seconds: float, folder: Path) -> Ended:
    """One paper by the command itself, stopped when time is up."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = folder / f"{paper}.json"
    rows.unlink(missing_ok=True)
    command = [sys.executable, "-m", "freefloat", "reproduce", paper, "--rows", str(rows)]
    with (folder / f"{paper}.txt").open("w", encoding="utf-8") as shown:
        # A session of its own, so that its workers can be ended with it.
        process = subprocess.Popen(
            command, stdout=shown, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            _stop(process)
            return None, f"stopped after {seconds:.0f} s, no time left"
        except BaseException:
            _stop(process)
            raise
    if not rows.exists():
        return code or 3, f"failed with exit code {code}; see {folder.name}/{paper}.txt"
    return code, told(json.loads(rows.read_text(encoding="utf-8"))["papers"][0])


def told(paper: dict) -> str:
    """How many rows say what, and every missed one by name."""
    counts = ", ".join(f"{n} {status}" for status, n in sorted(paper["tally"].items()))
    lines = [f"{counts}; {paper['wall_seconds']:.0f} s, {paper['cpu_seconds']:.0f} s of processor"]
    lines += [
        f"  missed: {row['table']}: {row['quantity']}: {row['ours']}"
        for row in paper["rows"]
        if row["status"] == "missed"
    ]
    return "\n".join(lines)


def _stop(process: subprocess.Popen) -> None:
    """As Ctrl-C does, which ends its own processes as well; by force if that does not help."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
