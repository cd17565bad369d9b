"""Long work says what it is doing, and ends at once where whoever waits does not want to wait."""

from __future__ import annotations

import pytest

import freefloat as ff
from freefloat.identification.structure.structure_search import find_structure
from freefloat.progress import CancelledError

MODEL = ff.load_model("planar-capture")
FLIGHT = ff.simulate(MODEL, ff.default_plan(MODEL, duration=4.0), seed=1)
WANTED = ff.Parameters(MODEL).free("target.mass")


class Waiting:
    """Hears what is told, and cancels after so many calls."""

    def __init__(self, patience: int = 10**9) -> None:
        self.told: list[tuple[str, float | None]] = []
        self.patience = patience

    def __call__(self, stage: str, fraction: float | None) -> None:
        self.told.append((stage, fraction))
        if len(self.told) >= self.patience:
            raise CancelledError


def identify(progress):
    ff.identify(MODEL, WANTED, FLIGHT, method="output_error", progress=progress)


def validate(progress):
    ff.validate(MODEL, FLIGHT, progress=progress)


def simulate(progress):
    ff.simulate(MODEL, ff.default_plan(MODEL, duration=2.0), progress=progress)


def design(progress):
    effort = {"starts": 1, "rounds": 2}
    from freefloat.design import Effort

    ff.design_excitation(MODEL, WANTED, duration=5.0, effort=Effort(**effort), progress=progress)


def structure(progress):
    model = ff.load_model("servicer-slosh")
    flight = ff.simulate(model, ff.default_plan(model, duration=3.0), seed=0)
    find_structure(model, ff.Parameters(model).free("bus.mass"), flight, progress=progress)


def test_identify_says_which_simulation_of_what():
    waiting = Waiting()
    identify(waiting)
    stages = [stage for stage, _ in waiting.told]
    assert stages[0] == "examining the recordings"
    assert "fitting, simulation 1" in stages
    assert "assessing, simulation 1" in stages
    assert all(fraction is None for _, fraction in waiting.told)


def test_validate_says_how_far_it_is():
    waiting = Waiting()
    validate(waiting)
    fractions = [fraction for _, fraction in waiting.told]
    assert fractions == sorted(fractions)
    assert 0.0 <= fractions[0] < fractions[-1] <= 1.0
    assert any(stage.startswith("finding the initial state") for stage, _ in waiting.told)


@pytest.mark.parametrize("work", [identify, validate, simulate, design, structure])
def test_work_can_be_cancelled(work):
    waiting = Waiting(patience=1)
    with pytest.raises(CancelledError):
        work(waiting)
    assert len(waiting.told) == 1  # nobody went on


@pytest.mark.parametrize("work", [identify, validate, structure])
def test_a_search_can_be_cancelled_between_its_simulations(work):
    waiting = Waiting(patience=5)
    with pytest.raises(CancelledError):
        work(waiting)
    assert len(waiting.told) == 5
