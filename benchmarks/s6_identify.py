"""S6: a whole identification, arms at 0 g with nothing pushing, beside other tools.

Everybody gets the same 50 s at 100 Hz, noise included, and a model whose unknown bodies are 20 %
too heavy, 2 cm off centre and 30 % too hard to turn.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import peers  # first: it asks for one thread of linear algebra, here as there

# isort: split
import arms
import common
import numpy as np
from common import Array

import freefloat as ff
from freefloat.dynamics import flatten, force_regressor
from freefloat.dynamics.equations import system_vector
from freefloat.model.rotations import matrix_from_quaternion

HONEST = 2.0  # rms of errors in their own standard deviations


class Flown:
    """The flight, and how well an answer predicts its forces."""

    def __init__(self, n_joints: int) -> None:
        self.model = arms.arm(n_joints)
        self.bodies = tuple(body.name for body in self.model.bodies)
        bus, last = self.bodies[0], self.bodies[-1]
        self.cases = ((last,), (bus,), (bus, last), self.bodies)
        self.telemetry = arms.flight(self.model)
        truth = self.telemetry.truth
        assert truth is not None
        self.seen, self.true = (
            {name: channel.values for name, channel in told.channels.items()}
            for told in (self.telemetry, truth)
        )
        rate, velocity = (self.stack(self.true, f"base.{x}") for x in ("rate", "velocity"))
        R = matrix_from_quaternion(self.stack(self.true, "base.attitude", "xyzw"))
        pull = np.einsum("nji,nj->ni", R, np.gradient(velocity, 1 / arms.RATE, axis=0))
        self.root = rate, np.hstack([np.gradient(rate, 1 / arms.RATE, axis=0), pull])
        q, dq = (self.joints(self.true, x) for x in ("position", "velocity"))
        self.coordinates = np.stack([q, dq, np.gradient(dq, 1 / arms.RATE, axis=0)], axis=2)

    def stack(self, told: dict[str, Array], name: str, axes: str = "xyz") -> Array:
        """The components of a vector side by side."""
        return np.column_stack([told[f"{name}.{axis}"] for axis in axes])

    def joints(self, told: dict[str, Array], field: str) -> Array:
        """A channel of every joint, side by side."""
        return np.column_stack([told[f"{joint.name}.{field}"] for joint in self.model.joints])

    def force_error(self, model: ff.Model, phi: Array, names: tuple[str, ...]) -> float:
        """How far the forces of this flight are off [%], with these parameters in the model.

        Every row counts by what the links contribute to it: at 0 g the sum on the bus is zero.
        """
        system, true = flatten(model), system_vector(flatten(self.model))
        Y = force_regressor(system, *self.root, self.coordinates)
        off = system_vector(system) - true
        change = phi - arms.truth(model, names)
        for k, name in enumerate(dict.fromkeys(n.rpartition(".")[0] for n in names)):
            i = system.body_link[name]
            off[10 * i : 10 * i + 10] += system.phi_map[name] @ change[10 * k : 10 * k + 10]
        parts = (Y * true).reshape(*Y.shape[:2], -1, 10).sum(axis=3)
        size = np.sqrt(np.mean(np.sum(parts**2, axis=2), axis=0))
        return 100.0 * float(np.sqrt(np.mean((Y @ off / size) ** 2)))

    def write(self, folder: Path) -> None:
        """The noisy channels as others want them."""
        place, turn, velocity, rate = (
            self.stack(self.seen, f"base.{name}", "xyzw" if name == "attitude" else "xyz")
            for name in ("position", "attitude", "velocity", "rate")
        )
        q, dq, tau = (self.joints(self.seen, x) for x in ("position", "velocity", "torque"))
        np.savez(
            folder / "flight.npz", tau=tau, q=np.hstack([place, turn, q]),
            mujoco_q=np.hstack([place, turn[:, [3, 0, 1, 2]], q]),
            mujoco_v=np.hstack([velocity, rate, dq]),
        )  # fmt: skip
        for case in self.cases:
            arms.perturb(self.model, *case).save(folder / f"{'_'.join(case)}.urdf")


def in_words(values: Array, std: Array, true: Array) -> tuple[str, float]:
    """How many have an interval; how far those are off in percent and in their own deviations.

    The second answer is the rms of the latter, NaN where there is nothing to judge.
    """
    known = np.isfinite(std) & (std > 0.0)
    if not known.any():
        return f"0 of {len(values)} intervals", float("nan")
    z = (values - true)[known] / std[known]
    honest = float(np.sqrt(np.mean(z**2)))
    off, spread = (100.0 * np.median(np.abs(x[known] / true[known])) for x in (values - true, std))
    words = f"{known.sum()} of {len(values)} intervals, median off {off:.2g} % with std"
    return f"{words} {spread:.2g} %; {honest:.2g} std rms, {np.max(np.abs(z)):.2g} at most", honest


def identify_timed(
    flown: Flown, case: tuple[str, ...], rounds: int
) -> tuple[float, ff.Fit, ff.Model]:
    """Best processor time [s] of a whole identify, and what it found."""
    prior = arms.perturb(flown.model, *case)
    wanted = ff.Parameters(prior).free(*(f"{name}.*" for name in case))
    best = np.inf
    for _ in range(rounds):
        begin = time.process_time()
        fit = ff.identify(prior, wanted, flown.telemetry, assess=False)
        best = min(best, time.process_time() - begin)
    return best, fit, prior


def run_ours(result: common.Table, flown: Flown, rounds: int) -> dict[tuple[str, ...], float]:
    """Our rows; returns the time [s] of every case."""
    first = flown.cases[0]
    ff.identify(flown.model, ff.Parameters(flown.model).free(f"{first[0]}.*"), flown.telemetry)
    times = {}
    for case in flown.cases:
        times[case], fit, prior = identify_timed(flown, case, rounds)
        names = tuple(e.name for e in fit.estimates)
        values, std = (np.array([getattr(e, x) for e in fit.estimates]) for x in ("value", "std"))
        true = arms.truth(flown.model, names)
        words, _ = in_words(values, std, true)
        seen = np.array([e.status == "seen" for e in fit.estimates])
        _, honest = in_words(values, np.where(seen, std, np.nan), true)
        told = [words, f"forces off {flown.force_error(prior, values, names):.2g} %"]
        clear = sum(np.isfinite(c.std) for c in fit.combinations)
        told += [f"{clear} combinations with intervals"] * bool(clear)
        told += ["NOT TRUSTED BY ITSELF"] * (not fit.is_trustworthy)
        label = "everything" if case == flown.bodies else " + ".join(case)
        name = f"ours ({fit.method}), {label}, {len(names)} free"
        result.add_time(name, times[case], times[first], "; ".join(told))
        if seen.any():  # intervals of hundreds of percent would agree with anything
            result.add_check(f"ours, {label}: rms error of what is seen, in std", honest, HONEST)
        else:
            result.notes.append(f"ours, {label}: nothing is seen on its own, so nothing to check")
        if case != flown.bodies:
            n_seen = int(seen.sum())
            result.add_promise(f"ours, {label}: seen of {len(names)}", n_seen, least=len(names))
    return times


def run_figaroh(result: common.Table, flown: Flown, folder: Path, ours: float) -> None:
    """FIGAROH as it is: all rows, the rows of the bus, and as if the bus stood still."""
    with peers.Peer("peer_figaroh.py") as figaroh:
        urdf, out = str(folder / f"{'_'.join(flown.bodies)}.urdf"), str(folder / "figaroh.npz")
        told = figaroh.ask("load", limit=60.0, urdf=urdf, data=str(folder / "flight.npz"))
        name = f"FIGAROH {told['version']}"
        try:
            figaroh.ask("whole", limit=60.0)
            result.notes.append(f"{name}, bus and joint rows: built")
        except peers.PeerError as error:
            result.notes.append(f"{name}, bus and joint rows: fails, {error}")
        for fixed in (False, True):
            what = "joint rows, bus held still" if fixed else "bus rows"
            answer = figaroh.ask("identify", limit=60.0, urdf=urdf, out=out, fixed=fixed)
            with np.load(out) as found:
                M, values, percent = found["M"], found["values"], found["percent_std"]
            phi = np.concatenate([flown.model.body(b).phi for b in flown.bodies[fixed:]])
            order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # Pinocchio has xx xy yy xz yz zz
            true = M @ phi.reshape(-1, 10)[:, order].ravel()
            if np.all(values == 0.0):
                words = f"all {len(values)} zero"
            else:
                words = in_words(values, np.abs(values) * percent / 100.0, true)[0]
            result.add_time(f"{name}, {what}", answer["seconds"], ours, words)


def run_mujoco(
    result: common.Table, flown: Flown, folder: Path, times: dict[tuple[str, ...], float],
    options: tuple[tuple[tuple[str, ...], int, float], ...],
) -> None:  # fmt: skip
    """mujoco.sysid: cases, iterations at most, and seconds to wait."""
    out, data = str(folder / "mujoco.npz"), str(folder / "flight.npz")
    for case, iterations, limit in options:
        label = "everything" if case == flown.bodies else " + ".join(case)
        with peers.Peer("peer_mujoco_sysid.py") as mujoco:
            words = {"urdf": str(folder / f"{'_'.join(case)}.urdf"), "data": data, "piece": 100}
            name = f"mujoco.sysid {mujoco.ask('load', limit=60.0, **words)['version']}"
            ask = {"bodies": list(case), "out": out, "iterations": iterations}
            if case == flown.cases[0]:
                try:
                    mujoco.ask("identify", limit=limit, as_shipped=True, **ask)
                    result.notes.append(f"{name}, ten numbers a body as shipped: runs")
                except peers.PeerError as error:
                    result.notes.append(
                        f"{name}, ten numbers a body as shipped: fails, {error}; above with our"
                        " setter of the inertia"
                    )
                mujoco.ask("load", limit=60.0, **words)  # it changes what it was given
            try:
                answer = mujoco.ask("identify", limit=limit, as_shipped=False, **ask)
            except peers.PeerError as error:
                result.notes.append(f"{name}, {label}: {error}")
                continue
        with np.load(out) as found:
            values, std = found["values"], found["std"]
        names = tuple(f"{b}.{field}" for b in case for field in arms.NAMES)
        told = in_words(values, std, arms.truth(flown.model, names))[0]
        prior = arms.perturb(flown.model, *case)
        told += f"; forces off {flown.force_error(prior, values, names):.2g} %"
        told += f"; its own intervals finite: {answer['finite']} of {answer['unknowns']}"
        if answer["iterations"] >= iterations:
            told += f"; STOPPED after {iterations} iterations, not converged"
        seconds, own = answer["seconds"], times[case]
        result.add_time(f"{name}, {label}", seconds, own, told)
        result.add_promise(f"mujoco.sysid / ours, {label}", seconds / own, least=10.0)


def main() -> None:
    """Identify, compare, report."""
    options = common.arguments(__doc__)
    for n in (3, 7):
        compare(n, options)


def compare(n_joints: int, options: argparse.Namespace) -> None:
    """The table of one arm."""
    samples = int(arms.RATE * arms.DURATION)
    title = f"identify, {n_joints} joints, {samples} samples, wrong start"
    result = common.Table("S6" if n_joints == 3 else f"S6-{n_joints}", title)
    flown = Flown(n_joints)
    last, _, both, everything = flown.cases
    hard = ((last, 30, 300.0), (both, 20, 400.0), (everything, 10, 600.0))
    easy = ((last, 5, 60.0),)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flown.write(folder)
        times = run_ours(result, flown, 1 if options.quick else 3)
        asked = easy if options.quick or n_joints != 3 else hard
        for run in (
            lambda: run_figaroh(result, flown, folder, times[last]),
            lambda: run_mujoco(result, flown, folder, times, asked),
        ):
            try:
                run()
            except peers.PeerError as error:
                result.notes.append(f"left out: {error}")
    result.notes.append("FloBaRoID: left out, pip finds no package of that name")
    result.notes.append(
        "processor times; ratios are to our row of the same bodies, FIGAROH's to our first row"
    )
    result.show(options)


if __name__ == "__main__":
    main()
