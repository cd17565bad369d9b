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
    """A step: what it says, what Next then asks for, when that is done, and the tab to look at."""

    title: str
    text: str
    ask: Callable[[StudioState], tuple[object, ...]]
    is_done: Callable[[StudioState], bool]
    tab: str


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
        " opens the model with that guess. Drag the scene to turn it.",
        lambda state: (messages.OpenDemo(),),
        lambda state: state.robot is not None,
        "Model",
    ),
    TourStep(
        "Which parameters?",
        "The masses and inertias of base and target, springs of wings and fuel. Next enters them"
        " under Estimate, and checks which of them a flight would show.",
        lambda state: (WANTED, messages.Check()),
        lambda state: state.is_checked,
        "Plan",
    ),
    TourStep(
        "A motion that shows them",
        "The arm has to move so that the spacecraft reacts. Next designs the motion, within every"
        " limit, that shows the parameters best. Stop keeps the best one so far.",
        lambda state: (messages.DesignMotion(DURATION, seconds=SECONDS, seed=1),),
        lambda state: state.designed is not None,
        "Plan",
    ),
    TourStep(
        "Fly it",
        "Below are the deviations to expect and the limits used; Play moves the robot. Next flies"
        " it: the simulated robot has the true target, the sensors are noisy.",
        lambda state: (messages.Simulate(1, TRUE, FIRST),),
        lambda state: any(flight.name == FIRST for flight in state.flights),
        "Flight",
    ),
    TourStep(
        "A second flight",
        "A model that explains one flight need not predict another. Next takes another motion, for"
        " a second flight that is kept for the verdict.",
        lambda state: (messages.OpenPlanFile("", DURATION, 5),),
        lambda state: state.designed is not None and state.designed.design is None,
        "Plan",
    ),
    TourStep(
        "Fly that as well",
        "Next flies the second motion.",
        lambda state: (messages.Simulate(2, TRUE, SECOND),),
        lambda state: any(flight.name == SECOND for flight in state.flights),
        "Flight",
    ),
    TourStep(
        "Identify",
        "Next estimates the parameters from the first flight, and tests how far the estimates can"
        " be trusted. This takes a minute or two.",
        lambda state: (messages.Identify((FIRST,)),),
        lambda state: state.identified is not None,
        "Identify",
    ),
    TourStep(
        "Does it predict the second flight?",
        "Look at target.mass below: the guess is in the column 'was'. Next predicts the second"
        " flight with the identified model and compares.",
        lambda state: (messages.Validate(SECOND),),
        lambda state: state.judged is not None,
        "Verdict",
    ),
)
END = (
    "That was the whole job",
    "The true target weighs 150 kg; compare target.mass in the tab Identify, where fit, model and"
    " report can be saved. For your own robot, open its file in the tab Model and go through the"
    " tabs from left to right: Plan, Flight, Identify, Verdict.",
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
