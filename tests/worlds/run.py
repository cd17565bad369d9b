"""The proving ground: worlds with something wrong, and right ones, and what identify says of them.

    python tests/worlds/run.py [--kinds GLOB] [--robots tug,puck] [--seeds N] [--right N]
                               [--method auto] [--json OUT] [--prove] [--turns] [--sizes 1,2]

Seeds from 0 on are for choosing anything; `--prove` takes those from 1000 on, which nothing may be
chosen by, and with them other spacecraft, flights and noises. The robots are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

from worlds.kinds import Kind, all_kinds
from worlds.outcome import Outcome, try_kind
from worlds.right import right_outcomes
from worlds.robots import ROBOTS

PROVE = 1000  # the first seed that nothing is chosen by


def main() -> None:
    """Run what is asked for, and print rows as they come, then the summary."""
    args = _arguments()
    first = PROVE if args.prove else 0
    seeds = range(first + args.first, first + args.first + args.seeds)
    robots = args.robots.split(",") if args.robots else list(ROBOTS)
    kinds = [kind for kind in all_kinds() if fnmatchcase(kind.name, args.kinds)]
    out: list[Outcome] = []
    print(HEAD)
    sizes = [int(k) for k in args.sizes.split(",")] if args.sizes else None
    for outcome in wrong_outcomes(
        kinds, robots, seeds, sizes=sizes, by_turns=args.turns, method=args.method
    ):
        out.append(outcome)
        print(row(outcome), flush=True)
        _save(args.json, out)
    for outcome in right_outcomes(
        args.right, first=first + args.first, method=args.method, robots=robots
    ):
        out.append(outcome)
        print(row(outcome), flush=True)
        _save(args.json, out)
    print("\n".join(summary(out)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kinds", default="*", help="glob of names of kinds")
    parser.add_argument("--robots", default="", help="names with commas; all unless given")
    parser.add_argument("--seeds", type=int, default=1, help="of every kind, size and robot")
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--sizes", default="", help="which of a kind's sizes, such as 0,2")
    parser.add_argument("--turns", action="store_true", help="one robot each, by turns; not all")
    parser.add_argument("--right", type=int, default=0, help="number of right worlds")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--prove", action="store_true", help="seeds that nothing was chosen by")
    return parser.parse_args()


def wrong_outcomes(
    kinds: Sequence[Kind],
    robots: Sequence[str],
    seeds: Iterable[int],
    *,
    sizes: Sequence[int] | None = None,
    by_turns: bool = False,
    method: str = "auto",
) -> Iterator[Outcome]:
    """Every kind, or some of its sizes, with every seed on all robots, or on one each by turns."""
    seeds = list(seeds)
    for n, kind in enumerate(kinds):
        for k, size in enumerate(kind.sizes):
            if sizes is not None and k not in sizes:
                continue
            able = [robot for robot in robots if kind.suites(robot)]
            for seed in seeds:
                some = able[(n + k + seed) % len(able) :][:1] if by_turns and able else able
                for robot in some:
                    yield try_kind(kind, robot, seed, size, method=method)


HEAD = (
    f"{'kind':<32}{'size':>8}  {'robot':<21}{'sensors':<22}{'seed':>4}  {'method':<13}"
    f"{'grade':<18}{'sigma':>8}{'total':>8}{'error':>9}  worst; reasons; cause's rank"
)


def row(o: Outcome) -> str:
    """One line about an outcome; a confident error is marked."""
    mark = " <== TRUSTED AND WRONG" if o.is_confident_error else ""
    rank = f"; {o.rank} of {','.join(o.named[:3])}" if o.named else ""
    return (
        f"{o.kind:<32}{o.size:>8.3g}  {o.robot:<21}{o.suite:<22}{o.seed:>4}  {o.method:<13}"
        f"{o.grade:<18}{o.sigma:>8.3g}{o.total_sigma:>8.3g}{o.share:>8.2%}  {o.worst}; "
        f"{','.join(o.codes)}{rank} ({o.seconds:.1f} s){mark}"
    )


def summary(outcomes: Iterable[Outcome]) -> list[str]:
    """The figures that are promised."""
    outcomes = list(outcomes)
    right = [o for o in outcomes if o.kind.startswith("right")]
    stated = [o for o in outcomes if o.kind.startswith("stated")]
    wrong = [o for o in outcomes if not o.kind.startswith(("right", "stated"))]
    lines = [""]
    if wrong:
        lines += _wrong_summary(wrong)
    if stated:
        lines += _stated_summary(stated)
    if right:
        lines += _right_summary(right)
    return lines


def _stated_summary(stated: list[Outcome]) -> list[str]:
    lines = [
        f"T5, carriers off by what is stated: {len(stated)},"
        f" {sum(o.is_confident_error for o in stated)} trusted and wrong"
    ]
    for kind in dict.fromkeys(o.kind for o in stated):
        lines.append(f"    {kind}:{_coverage([o for o in stated if o.kind == kind])}")
    return lines


def _wrong_summary(wrong: list[Outcome]) -> list[str]:
    off = [o for o in wrong if o.is_wrong]
    bad = [o for o in wrong if o.is_confident_error]
    lines = [
        f"wrong worlds: {len(wrong)} of {len({o.kind for o in wrong})} kinds;"
        f" {len(off)} answers are off by > 4 total sigma and > 2 %",
        f"T1: {len(bad)} of these are called trusted (must be 0)",
    ]
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for o in bad:
        by_kind[o.kind].append(o)
    for kind, some in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        sizes = ", ".join(f"{s:g}" for s in sorted({o.size for o in some}))
        methods = ", ".join(sorted({o.method for o in some}))
        worst = max(o.share for o in some)
        lines.append(f"    {kind}: {len(some)} (sizes {sizes}; {methods}; up to {worst:.1%})")
    single = [o for o in wrong if not o.kind.endswith("all slightly")]
    many = [o for o in wrong if o.kind.endswith("all slightly")]
    lines += _causes("T2, one cause wrong", [o for o in single if o.catalogued])
    lines += _causes("T2, all slightly and one grossly", [o for o in many if o.catalogued])
    unlisted = [o for o in single if not o.catalogued]
    healed = [o for o in unlisted if o.healing]
    lines.append(f"T2: of {len(unlisted)} causes no catalogue has, {len(healed)} are said to heal")
    lines += [f"    {o.kind}, {o.size:g}, {o.robot}: {','.join(o.healing)}" for o in healed]
    lines += ["one cause wrong:", _coverage(single)] if single else []
    lines += ["all slightly wrong (>= 93 %):", _coverage(many)] if many else []
    return lines


def _causes(what: str, some: list[Outcome]) -> list[str]:
    """Where a cause is named at all or trust withheld: how often the true one is named.

    Not where all that is said is that nothing could show it (`scale.assumed`).
    """
    told = [o for o in some if o.named or {*o.codes} - {"scale.assumed", "total.too_large"}]
    if not told:
        return []
    first, three, anywhere = (
        sum(1 <= o.rank <= most for o in told) / len(told) for most in (1, 3, 10**6)
    )
    return [
        f"{what}: {len(told)} of {len(some)} noticed; the true one is first in {first:.1%},"
        f" in the first three in {three:.1%}, named in {anywhere:.1%}"
    ]


def _right_summary(right: list[Outcome]) -> list[str]:
    trusted = sum(o.grade == "trusted" for o in right)
    lines = [
        f"right worlds: {len(right)}, trusted {trusted / len(right):.1%} (must be >= 98 %);"
        f" {sum(o.is_wrong for o in right)} off by > 4 total sigma and > 2 %",
    ]
    lines += [f"    {row(o)}" for o in right if o.grade != "trusted"]
    lines.append(_coverage(right))
    return lines


def _coverage(some: list[Outcome]) -> str:
    seen = sum(o.seen for o in some)
    share = sum(o.covered for o in some) / max(seen, 1)
    return f"    total 95 % intervals hold {share:.1%} of {seen} parameters"


def _save(path: Path | None, outcomes: list[Outcome]) -> None:
    if path is not None:
        path.write_text(json.dumps([o.as_dict() for o in outcomes], indent=1) + "\n")


if __name__ == "__main__":
    main()
