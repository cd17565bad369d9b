"""S3: torque regressors at 10 000 samples against a Pinocchio loop."""

from __future__ import annotations

import common
import numpy as np

from freefloat.dynamics import force_regressor, momentum_regressor


def main() -> None:
    """Run both and print ratios."""
    options = common.arguments(__doc__)
    n = 2000 if options.quick else 10_000
    rng = np.random.default_rng(0)
    rate, acceleration = rng.normal(size=(n, 3)), rng.normal(size=(n, 6))
    coordinates = rng.normal(size=(n, common.C, 3))
    velocity = np.zeros((n, 3))
    loop = common.PinocchioLoop()
    pin, robot, data = loop.pin, loop.robot, loop.data
    q = np.tile(pin.neutral(robot), (n, 1))
    v, a = np.zeros((n, robot.nv)), np.zeros((n, robot.nv))
    q[:, loop.iq], v[:, loop.iv] = coordinates[:, :, 0], coordinates[:, :, 1]
    a[:, loop.iv], v[:, 3:6] = coordinates[:, :, 2], rate
    a[:, :3], a[:, 3:6] = acceleration[:, 3:], acceleration[:, :3]
    size = 10 * common.SYSTEM.n_links
    out = np.empty((n, robot.nv, size))
    last = {}

    def peer() -> None:
        for i in range(n):
            out[i] = pin.computeJointTorqueRegressor(robot, data, q[i], v[i], a[i])

    def ours() -> None:
        # both sides write into memory they already own
        Y = last.get("Y")
        last["Y"] = force_regressor(common.SYSTEM, rate, acceleration, coordinates, out=Y)

    def momenta() -> None:
        momentum_regressor(common.SYSTEM, rate, velocity, coordinates)

    ours()
    momenta()
    times = common.best({"ours": ours, "momenta": momenta, "peer": peer}, n=3)
    forces = last["Y"] @ common.SYSTEM.parameters.phi.ravel()
    phi = np.concatenate([inertia.toDynamicParameters() for inertia in robot.inertias[1:]])
    theirs = out @ phi
    difference = float(np.abs(forces[:, 6:] - theirs[:, loop.iv]).max() / np.abs(theirs).max())
    rows: dict[str, float | str] = {
        f"ours, {n} samples, {size} columns [s]": times["ours"],
        "Pinocchio loop / ours (promise >= 10)": times["peer"] / times["ours"],
        "Pinocchio loop / our momentum and energy regressors": times["peer"] / times["momenta"],
        "regressor x parameters, ours against Pinocchio (relative)": difference,
    }
    common.report(options, "S3: regressors", rows)


if __name__ == "__main__":
    main()
