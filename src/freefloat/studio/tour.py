"""The tour: a servicer has captured a target that nobody weighed; step by step to the verdict.

Every step says in short words what is done and why; *Next* does it. The story is that of
`make demo` (examples/06_capture.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.model.loading import load_model
from freefloat.model.parts import Body
from freefloat.studio import messages
from freefloat.studio.tasks import OpenedModel, OpenModel
from freefloat.studio.worker import GRACE, Watch

if TYPE_CHECKING:
    from freefloat.studio.studio_state import StudioState

GUESS = "guess.toml"
TRUE = "servicer"
WANTED = messages.ChooseParameters(
    ("bus.*", "target.*", "hinge_*.stiffness", "tank_*.stiffness"), (), {"hinge_*.stiffness": 0.1}
)
DURATION = 30.0  # format: [s] of both flights
SECONDS = 6.0  # format: [s] to look for a motion
FIRST, SECOND = "first flight", "second flight"


@dataclass(frozen=True)
class TourStep:
    """A step: what it says, what Next then asks for, and when that is done."""

    title: str
    text: str
    ask: Callable[[StudioState], tuple[object, ...]]
    is_done: Callable[[StudioState], bool]


@dataclass(frozen=True)
class OpenGuess:
    """Write the model as it is known, its target a guess from photographs, and open it."""

    folder: Path
    title = "opening the model"
    grace = GRACE

    def run(self, watch: Watch) -> OpenedModel:
        """The model whose target is off by a third."""
        guess = load_model(TRUE).swap(
            "target", Body("target", 100.0, (0.0, 0.0, 0.3), (15.0, 0.0, 0.0, 15.0, 0.0, 10.0))
        )
        path = self.folder / GUESS
        guess.save(path)
        return OpenModel(str(path)).run(watch)


STEPS = (
    TourStep(
        "A target that nobody weighed",
        "A servicer holds a captured target. Its mass was guessed from photographs: 100 kg. Next"
        " opens the model with that guess; turn it with the mouse.",
        lambda state: (messages.OpenDemo(),),
        lambda state: state.robot is not None,
    ),
    TourStep(
        "What is to be known?",
        "Base, target, the springs of wings and fuel: 28 numbers or so. Next chooses them and asks"
        " what a flight would show of them (tab Plan).",
        lambda state: (WANTED, messages.Check()),
        lambda state: state.is_checked,
    ),
    TourStep(
        "A motion that shows it",
        "The arm shakes the spacecraft. Next looks for the motion, within every limit, that shows"
        " the parameters best. Stop keeps the best so far.",
        lambda state: (messages.DesignMotion(DURATION, seconds=SECONDS, seed=1),),
        lambda state: state.designed is not None,
    ),
    TourStep(
        "Fly it",
        "Next flies the motion with the true robot, which only the simulation knows, with noisy"
        " sensors. The tab Flight shows what they saw; press Play.",
        lambda state: (messages.Simulate(1, TRUE, FIRST),),
        lambda state: any(flight.name == FIRST for flight in state.flights),
    ),
    TourStep(
        "A second flight, to check on",
        "A model that explains one flight need not predict another. Next takes the default motion"
        " for a second flight.",
        lambda state: (messages.OpenPlanFile("", DURATION, 5),),
        lambda state: state.designed is not None and state.designed.design is None,
    ),
    TourStep(
        "Fly that, too",
        "Next flies it. It takes no part in what follows, until the end.",
        lambda state: (messages.Simulate(2, TRUE, SECOND),),
        lambda state: any(flight.name == SECOND for flight in state.flights),
    ),
    TourStep(
        "Identify",
        "Next finds the parameters from the first flight, and asks how far to believe them"
        " (tab Identify). This takes a minute or so.",
        lambda state: (messages.Identify((FIRST,)),),
        lambda state: state.identified is not None,
    ),
    TourStep(
        "Does it predict the second flight?",
        "Next predicts the second flight with the identified model, and compares (tab Verdict).",
        lambda state: (messages.Validate(SECOND),),
        lambda state: state.judged is not None,
    ),
)
END = (
    "That was the whole job",
    "The true target weighs 150 kg: compare it with target.mass in the tab Identify. Save the fit,"
    " the model and the report there; then open a model of your own.",
)


def step_to_do(state: StudioState) -> tuple[object, ...]:
    """What Next asks for: the step that the tour is at, or nothing while work is under way."""
    number = state.tour
    if number is None or number >= len(STEPS) or state.job is not None:
        return ()
    return STEPS[number].ask(state)


def next_step(state: StudioState) -> int | None:
    """Where the tour is: past every step that is done."""
    number = state.tour
    while number is not None and number < len(STEPS) and STEPS[number].is_done(state):
        number += 1
    return number
