"""S3: from 5000 samples to the minimal set, three and seven joints, beside FIGAROH's route.

Ours reduces the regressor to a triangle while it is made, a block of samples at a time.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import peers  # first: it asks for one thread of linear algebra, here as there

# isort: split
import arms
import common
import numpy as np
from common import Array

from freefloat.dynamics import System, flatten, force_regressor
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.observability.minimal_set import MinimalSet, minimal_set

N, BLOCK = 5000, 250
JOBS = [(name, rows) for rows in ("root", "all") for name in ("ours", "FIGAROH")]
LIMIT = 60.0  # [s] for any answer


def samples(n_joints: int) -> tuple[Array, Array, Array]:
    """Random rates and accelerations (angular, linear) of the root, and q, dq, ddq."""
    rng = np.random.default_rng(0)
    sizes = (N, 3), (N, 6), (N, n_joints, 3)
    rate, acceleration, coordinates = (rng.normal(size=size) for size in sizes)
    return rate, acceleration, coordinates


def ours(system: System, table: tuple[Array, Array, Array], rows: str) -> MinimalSet:
    """The minimal set that the root's six rows show, or all rows."""
    Y = triangle = None
    for first in range(0, N, BLOCK):
        block = (part[first : first + BLOCK] for part in table)
        Y = force_regressor(system, *block, out=Y)
        own = Y if rows == "all" else Y[:, :6]
        triangle = triangle_of(own.reshape(-1, Y.shape[2]), triangle)
    assert triangle is not None
    names = [f"{k // 10}.{k % 10}" for k in range(triangle.shape[1])]
    return minimal_set(triangle, names)


def write_for_peers(path: Path, rate: Array, acceleration: Array, coordinates: Array) -> None:
    """The same samples as Pinocchio's q, v, a: the root at the origin, its velocity zero."""
    n = coordinates.shape[1]
    q, v, a = np.zeros((N, 7 + n)), np.zeros((N, 6 + n)), np.zeros((N, 6 + n))
    q[:, 6] = 1.0
    q[:, 7:], v[:, 6:], a[:, 6:] = np.moveaxis(coordinates, 2, 0)
    v[:, 3:6] = rate
    a[:, :3], a[:, 3:6] = acceleration[:, 3:], acceleration[:, :3]
    np.savez(path, q=q, v=v, a=a)


def span_difference(system: System, found: MinimalSet, M: Array) -> float:
    """The sine of the largest angle between the two sets of combinations, in bodies' axes."""
    mine = found.regroup.copy()
    for name, i in system.body_link.items():
        block = slice(10 * i, 10 * i + 10)
        mine[:, block] = found.regroup[:, block] @ system.phi_map[name]
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # Pinocchio has xx xy yy xz yz zz
    theirs = M.reshape(len(M), -1, 10)[:, :, order].reshape(M.shape)
    A, B = (np.linalg.qr(table.T)[0] for table in (mine, theirs))
    return float(np.linalg.norm(A - B @ (B.T @ A), 2))


def compare(result: common.Table, n: int, rounds: int, folder: Path) -> None:
    """One arm: compare what is found, then the times, taken in turn."""
    model = arms.arm(n)
    system, table = flatten(model), samples(n)
    model.save(folder / f"arm_{n}.urdf")
    write_for_peers(folder / f"arm_{n}.npz", *table)
    times = dict.fromkeys(JOBS, np.inf)
    with peers.Peer("peer_figaroh.py") as figaroh:
        names = {"urdf": str(folder / f"arm_{n}.urdf"), "data": str(folder / f"arm_{n}.npz")}
        told = figaroh.ask("load", limit=LIMIT, **names)
        try:
            figaroh.ask("whole", limit=LIMIT)
        except peers.PeerError as error:
            version = told["version"]
            result.notes.append(f"FIGAROH {version}, all {6 + n} rows of a free flyer: {error}")
        for rows in ("root", "all"):
            found = ours(system, table, rows)
            answer = figaroh.ask("minimal", limit=LIMIT, rows=rows, out=str(folder / "M.npz"))
            counts = np.array([found.count, answer["count"]])
            off = float(np.max(np.abs(counts - 10 - 7 * n)))
            result.add_check(f"{n} joints, {rows} rows: counts {counts}, off", off, 0.0)
            angle = span_difference(system, found, np.load(folder / "M.npz")["M"])
            result.add_check(f"{n} joints, {rows} rows: combinations, sine", angle, 1e-6)
        for _ in range(rounds):
            for name, rows in JOBS:
                if name == "FIGAROH":
                    seconds = figaroh.ask("minimal", limit=LIMIT, rows=rows)["seconds"]
                else:
                    begin = time.process_time()
                    ours(system, table, rows)
                    seconds = time.process_time() - begin
                times[name, rows] = min(times[name, rows], seconds)
    for (name, rows), seconds in times.items():
        own, count = times["ours", rows], 6 if rows == "root" else 6 + n
        note = "its loop written by us" if (name, rows) == ("FIGAROH", "all") else ""
        result.add_time(f"{name}, {n} joints, {count} rows a sample", seconds, own, note)
        if n == 7 and name == "FIGAROH":
            ratio = seconds / own
            result.add_promise(f"FIGAROH / ours, 7 joints, {count} rows", ratio, least=5.0)


def main() -> None:
    """Time, compare, report."""
    options = common.arguments(__doc__)
    result = common.Table("S3", f"regressor and minimal set, {N} samples")
    with tempfile.TemporaryDirectory() as folder:
        for n in (3, 7):
            try:
                compare(result, n, 3 if options.quick else 7, Path(folder))
            except peers.PeerError as error:
                result.notes.append(f"FIGAROH, {n} joints: left out, {error}")
    result.show(options)


if __name__ == "__main__":
    main()
