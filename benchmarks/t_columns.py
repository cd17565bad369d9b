"""T: Jacobian columns of everything a fit takes as exact, on robots of `tests/worlds`.

Beside us: the same columns by differences, one or two more flights for each that belongs to the
inputs, the geometry or the surroundings.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import common

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from setup_differences import column_errors, difference_columns
from worlds.recorder import record
from worlds.world import right_world

from freefloat.model.parameter_name import is_of_setup
from freefloat.prediction.assumptions import list_assumptions
from freefloat.prediction.predictor import Predictor, predictor_of

STEP = 1e-2  # [s]
CASES = (("tug", "accelerometer"), ("grappler", "gyro"), ("grappler", "slow"))


def fly(robot: str, suite: str, seconds: float) -> tuple[Predictor, list[str]]:
    """A flight of a robot in MuJoCo, and everything that is taken as exact."""
    world = right_world(robot, 1, suite)
    flight = record(world)
    names = [assumption.name for assumption in list_assumptions(world.believed, flight)]
    return predictor_of(world.believed, flight, step=STEP).until(seconds), names


def by_differences(predictor: Predictor, names: list[str]) -> Callable[[], object]:
    """The tangent for what always had one, flights for the rest."""

    def job() -> object:
        middle = predictor.at({}, [name for name in names if not is_of_setup(name)])
        assert middle is not None
        rest = [name for name in names if is_of_setup(name)]
        return [difference_columns(predictor, {}, name, middle) for name in rest]

    return job


def main() -> None:
    """Compare, time and print."""
    options = common.arguments(__doc__)
    table = common.Table("T", "columns of all assumptions")
    for robot, suite in CASES:
        predictor, names = fly(robot, suite, 10.0 if options.quick else 40.0)
        case = f"{robot}, {suite}"
        setup = [name for name in names if is_of_setup(name)]
        errors = column_errors(predictor, {}, setup)
        table.add_check(f"{case}: columns differ by", max(errors.values()), 1e-6)
        jobs = {"ours": lambda p=predictor, n=names: p.at({}, n),
                "differences": by_differences(predictor, names)}  # fmt: skip
        times = common.race(jobs, rounds=3)
        told = f"{len(names)} names, {len(setup)} of a setup"
        table.add_time(f"{case}: ours, along one flight", times["ours"], times["ours"], told)
        table.add_time(f"{case}: differences", times["differences"], times["ours"])
        table.add_promise(
            f"{case}: faster than differences", times["differences"] / times["ours"], least=3.0
        )
    table.show(options)


if __name__ == "__main__":
    main()
