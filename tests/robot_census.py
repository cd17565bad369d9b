"""How many of many robots load, and whether those that do have the dynamics of other readers.

    python tests/robot_census.py FOLDER... [--json census.json] [--seconds 120]

Every `.urdf` below the folders is read and compared with Pinocchio where no body was substituted,
every MJCF that MuJoCo compiles with MuJoCo. Files of equal content count once. What is refused is
listed by its code, with the file. Without folders: the URDFs of `example-robot-data`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path
from typing import Any

from robot_comparison import mujoco_difference, pinocchio_difference

from freefloat.errors import FreefloatError
from freefloat.model import load_model
from freefloat.model.mujoco_ import compile_mjcf, is_mjcf
from freefloat.notes import codes_of

BODIES = {"substituted.inertia", "substituted.no_mass"}  # what makes it another robot


def robots_below(folders: list[Path]) -> Iterator[Path]:
    """Every URDF and MJCF, each content once: many collections are copies of one another."""
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() not in (".urdf", ".xml", ".mjcf") or not path.is_file():
                continue
            if path.suffix.lower() == ".xml" and not is_mjcf(path):
                continue
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest not in seen or path.suffix.lower() == ".xml":  # MJCF are parts of others too
                seen.add(digest)
                yield path


def try_robot(path: Path) -> dict[str, Any] | None:
    """What became of one file; None for MJCF that is no robot by itself."""
    row: dict[str, Any] = {"file": str(path), "kind": "urdf"}
    compiled = None
    if path.suffix.lower() != ".urdf":
        row["kind"] = "mjcf"
        try:
            compiled = compile_mjcf(path)
        except FreefloatError:
            return None  # a part of another file, or its meshes are not here
        if not compiled.njnt:
            return None
    try:
        model = load_model(path)
    except FreefloatError as error:
        first = error.faults[0] if error.faults else error
        return row | {"refused": sorted(set(error.codes)), "says": str(first)[:300]}
    codes = codes_of(model.notes)
    row |= {"notes": sorted(c for c in codes if c.startswith("substituted.")),
            "bodies": len(model.bodies), "mass": model.mass}  # fmt: skip
    if BODIES & set(codes):
        return row | {"compared": "bodies substituted"}
    try:
        if compiled is not None:
            row["difference"] = mujoco_difference(path, model, compiled=compiled)
        else:
            row["difference"] = pinocchio_difference(path, model)
    except Exception as error:  # of the other engine: told as it is, and counted
        row["compared"] = f"{type(error).__name__}: {error}"[:200]
    return row


def summarise(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The figures in lines."""
    for kind, other in (("urdf", "Pinocchio"), ("mjcf", "MuJoCo")):
        of_kind = [row for row in rows if row["kind"] == kind]
        if not of_kind:
            continue
        refused = [row for row in of_kind if "refused" in row]
        noted = [row for row in of_kind if row.get("notes")]
        compared = [row["difference"] for row in of_kind if "difference" in row]
        different = [row for row in of_kind if row.get("difference", 0.0) > 1e-9]
        yield f"{kind}: {len(of_kind) - len(refused)} of {len(of_kind)} load, {len(noted)} with"
        yield f"  substitutes noted; {len(compared)} compared with {other}, largest difference"
        yield f"  {max(compared, default=0.0):.2g}, {len(different)} above 1e-9"
        reasons = Counter(row["compared"][:60] for row in of_kind if "compared" in row)
        yield from (f"  not compared: {count} {reason}" for reason, count in reasons.most_common(9))
        codes = Counter(code for row in refused for code in row["refused"])
        yield f"  refused by code: {dict(codes.most_common())}"
        for row in different:
            yield f"  DIFFERENT {row['difference']:.2g} {row['file']}"
        for row in refused:
            yield f"  refused {row['file']}: {row['says']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    folders = given.folders
    if not folders:
        first = next(f for f in files("example-robot-data") or () if f.suffix == ".urdf")
        folders = [Path(str(first.locate())).parents[3]]
    rows = []
    for k, path in enumerate(robots_below(folders)):
        row = try_robot(path)
        rows += [row] if row is not None else []
        if k % 50 == 0:
            print(k, path, file=sys.stderr, flush=True)
    print("\n".join(summarise(rows)))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
