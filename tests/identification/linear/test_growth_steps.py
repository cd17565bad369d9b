"""What ever more of a recording says of the parameters, told to whoever watches."""

from __future__ import annotations

import numpy as np

import freefloat as ff
from freefloat.identification.linear.growth_steps import PARTS
from freefloat.progress import DataStep


class Watcher:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.steps: list[DataStep] = []

    def __call__(self, stage: str, fraction: float | None) -> None:
        pass

    def data_step(self, step: DataStep) -> None:
        self.steps.append(step)


def test_bands_shrink_and_end_at_the_fit():
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=20.0), seed=1)
    wanted, watcher = ff.Parameters(model).free("target.mass", "bus.izz"), Watcher()
    fit = ff.identify(
        model, wanted, flight, method="momentum", assess=False, physical=False, progress=watcher
    )
    last = watcher.steps[-1]
    assert last.share == 1.0 and 1 < len(watcher.steps) <= PARTS
    assert last.names == ("bus.izz", "target.mass") and last.units == ("kg m^2", "kg")
    for k, name in enumerate(last.names):
        deviations = np.array([step.deviations[k] for step in watcher.steps])
        known = deviations[np.isfinite(deviations)]
        assert np.all(known > 0.0) and known[-1] < 0.5 * known[0]
        # the same rows solved in another order, and the fit may widen its deviations
        assert abs(last.values[k] - fit[name].value) < 1e-6 * abs(fit[name].value)
        assert last.deviations[k] <= 1.001 * fit[name].std


def test_nobody_watches_and_nothing_else_changes():
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    wanted = ff.Parameters(model).free("target.mass")
    how = {"method": "momentum", "assess": False}
    watched = ff.identify(model, wanted, flight, progress=Watcher(), **how)
    alone = ff.identify(model, wanted, flight, **how)
    assert watched["target.mass"].value == alone["target.mass"].value
