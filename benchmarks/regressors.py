"""What tables cost: force and momentum regressors at 10 000 samples, beside a Pinocchio loop.

No promise: nobody waits for a table of 163 MB. What is made of it, a block of samples at a time, is
in `s3_minimal_sets.py` and `s6_identify.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import common
import numpy as np
from common import SYSTEM, Array, C

from freefloat.dynamics import force_regressor, momentum_regressor

N = 10_000


def samples(n: int) -> tuple[Array, Array, Array]:
    """Random root rates, root accelerations (angular, linear) and coordinates q, dq, ddq."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 6)), rng.normal(size=(n, C, 3))


def peer_jobs(
    rate: Array, acceleration: Array, coordinates: Array
) -> tuple[Callable[[], Array], Callable[[], Array]]:
    """Loops that fill tables (N, 17, 120) and (N, 6, 120) in Pinocchio's order."""
    import pinocchio as pin
    import pinocchio_

    robot = pinocchio_.build()
    data, n = robot.createData(), len(rate)
    q = np.tile(pin.neutral(robot), (n, 1))
    v, a = np.zeros((n, robot.nv)), np.zeros((n, robot.nv))
    q[:, 7:], v[:, 6:], a[:, 6:] = np.moveaxis(coordinates, 2, 0)
    v[:, 3:6] = rate  # the root's own velocity is zero: then both accelerations are the same
    a[:, :3], a[:, 3:6] = acceleration[:, 3:], acceleration[:, :3]
    still, bodies = pin.Motion.Zero(), range(1, robot.njoints)
    Y, M = np.zeros((n, robot.nv, 10 * len(bodies))), np.zeros((n, 6, 10 * len(bodies)))

    def forces() -> Array:
        for s in range(n):
            Y[s] = pin.computeJointTorqueRegressor(robot, data, q[s], v[s], a[s])
        return Y

    def momenta() -> Array:
        # Pinocchio has no momentum regressor; I v is the force of its body regressor for an
        # acceleration v at rest
        for s in range(n):
            pin.forwardKinematics(robot, data, q[s], v[s])
            for i in bodies:
                block = pin.bodyRegressor(still, data.v[i])
                M[s, :, 10 * i - 10 : 10 * i] = data.oMi[i].toDualActionMatrix() @ block
        return M

    return forces, momenta


def in_our_order(table: Array) -> Array:
    """Rows torque before force, columns xx xy xz yy yz zz instead of xx xy yy xz yz zz."""
    rows = [3, 4, 5, 0, 1, 2, *range(6, table.shape[1])]
    columns = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
    blocks = table.reshape(*table.shape[:2], -1, 10)[:, rows][..., columns]
    return blocks.reshape(len(table), len(rows), -1)


def for_bodies(table: Array) -> Array:
    """Our columns for parameters in the bodies' own frames; our links have their joint on z."""
    out = np.empty_like(table)
    for name, i in SYSTEM.body_link.items():
        out[..., 10 * i : 10 * i + 10] = table[..., 10 * i : 10 * i + 10] @ SYSTEM.phi_map[name]
    return out


def main() -> None:
    """Time, compare, report."""
    options = common.arguments(__doc__)
    n, n_slow = (2000, 200) if options.quick else (N, 1000)
    rate, acceleration, coordinates = samples(n)
    still = np.zeros((n, 3))
    table = force_regressor(SYSTEM, rate, acceleration, coordinates)
    jobs: dict[str, Callable[[], object]] = {
        "forces": lambda: force_regressor(SYSTEM, rate, acceleration, coordinates),
        "again": lambda: force_regressor(SYSTEM, rate, acceleration, coordinates, out=table),
        "momenta": lambda: momentum_regressor(SYSTEM, rate, still, coordinates),
    }
    result = common.Table("regressors", f"regressors at {N} samples, {10 * SYSTEM.n_links} columns")
    try:
        few = slice(0, n_slow)
        forces, momenta = peer_jobs(rate[few], acceleration[few], coordinates[few])
        Y = force_regressor(SYSTEM, rate[few], acceleration[few], coordinates[few])
        error = common.difference(for_bodies(Y), in_our_order(forces()))
        result.add_check("force regressor, every entry, ours and Pinocchio", error, 1e-10)
        M, _ = momentum_regressor(SYSTEM, rate[few], still[few], coordinates[few])
        error = common.difference(for_bodies(M), in_our_order(momenta()))
        result.add_check("momentum regressor, every entry, ours and Pinocchio", error, 1e-10)
        jobs["pinocchio forces"], jobs["pinocchio momenta"] = forces, momenta
    except ImportError:
        result.notes.append("Pinocchio is not installed: left out")

    times = common.race(jobs, rounds=5 if options.quick else 9)
    whole, part, note = N / n, N / n_slow, f"{n_slow} samples, scaled"
    force, momentum = whole * times["forces"], whole * times["momenta"]
    result.add_time("ours, force regressor", force, force)
    again = whole * times["again"]
    result.add_time("ours, into a table that is there already", again, force)
    if "pinocchio forces" in times:
        seconds = part * times["pinocchio forces"]
        result.add_time("Pinocchio computeJointTorqueRegressor", seconds, force, note)
    result.add_time("ours, momentum and energy regressors", momentum, momentum)
    if "pinocchio momenta" in times:
        seconds = part * times["pinocchio momenta"]
        result.add_time("Pinocchio bodyRegressor, momentum only", seconds, momentum, note)
    result.show(options)


if __name__ == "__main__":
    main()
