"""The Campaign: what varies from run to run, what is done in a run, and what is kept of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, get_args

from freefloat.campaign.fault_injection import FaultOptions
from freefloat.campaign.variations import AnyVariation, InputValue, count_cells
from freefloat.errors import CampaignError
from freefloat.excitation.plan import Plan
from freefloat.identification.method_names import Method
from freefloat.model.model import Model
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Bounds, Natural, Positive

Step = Literal[
    "design", "simulate", "bound", "corrupt", "identify", "track", "validate", "function"
]
STEPS: tuple[Step, ...] = get_args(Step)
# theory: a flight is needed before it can be spoilt, a fit before it can be judged
NEEDS: dict[str, str] = {
    "corrupt": "simulate", "identify": "simulate", "track": "simulate", "validate": "identify"
}  # fmt: skip
MOST_RUNS = 10_000_000  # format: above it a campaign is a mistake

# theory: RK4 has nothing to gain below: its error is rounding there
TimeStep = Annotated[float, Bounds(least=1e-6, unit="s", remedy="1e-2 suits most models")]


@dataclass(frozen=True)
class PlanOptions(CheckedOptions, error=CampaignError):
    """What is flown: a file, or a motion made in every run."""

    file: str | None = None
    """A plan file (.toml) beside the campaign file; it says itself how long it lasts."""

    duration: Positive = 60.0
    """Of the default or designed motion [s]."""

    seed: Natural = 0
    """Of the default or designed motion."""

    thrust: bool = False
    """Whether every thruster pushes once, at a time drawn anew in every draw."""

    rate: Annotated[float, Bounds(least=0.0, unit="rad/s", remedy="give the magnitude")] = 0.0
    """Standard deviation of the rate that the base begins with."""

    criterion: str = "a_optimal"
    """Of a designed motion."""


@dataclass(frozen=True)
class SimulateOptions(CheckedOptions, error=CampaignError):
    """How a flight is simulated."""

    step: TimeStep = 1e-2
    """Of the integrator [s], shortened where samples would fall between steps."""


@dataclass(frozen=True)
class BoundOptions(CheckedOptions, error=CampaignError):
    """The Cramér-Rao bound that errors are compared with."""

    motion: Literal["known", "unknown"] = "known"
    """Whether motion and thrust are known exactly, or as far as their own sensors tell (slow)."""


@dataclass(frozen=True)
class IdentifyOptions(CheckedOptions, error=CampaignError):
    """How parameters are identified, or followed live."""

    method: Method = "auto"
    """As `freefloat identify --method` has it."""

    plan: bool = False
    """Whether commands are known exactly, as `--plan`."""

    known_start: bool = False
    """Whether the initial state is the plan's."""

    raw: bool = False
    """Use recordings as they are; else their faults are repaired first."""

    assess: bool = True
    """Grade every fit."""

    prior: Annotated[float, Bounds(least=0.0, remedy="give a share such as 0.1")] = 0.0
    """Standard deviation of a prior on every free parameter, as a share of its value; 0: none."""


@dataclass(frozen=True)
class ValidateOptions(CheckedOptions, error=CampaignError):
    """How a fit is judged: on a second flight with another motion and other noise."""

    seed: Natural = 1
    """Added to the seed of the motion."""


@dataclass(frozen=True)
class KeepOptions(CheckedOptions, error=CampaignError):
    """What is kept of a run beside its row."""

    fits: Literal["none", "failed", "wrong", "all"] = "none"
    """Fits as files: of no run, of failed ones, of those with an error of more than 4 standard
    deviations as well, or of all."""


@dataclass(frozen=True)
class RunLimits(CheckedOptions, error=CampaignError):
    """What a run may use before it is stopped and written down as such."""

    time: Positive = 600.0
    """By the clock [s]."""

    memory: Annotated[float, Bounds(least=1e7, unit="B", remedy="2e9 suits most runs")] = 4e9
    """Beyond what the worker has when a run begins [B]."""


@dataclass(frozen=True)
class Campaign:
    """What varies, what is done, and what is kept; everything a worker needs to know.

    robot and flown are the model and the plan of the files that `model` and `plan.file` name;
    `set` holds values that differ from these in every run, under the names that may vary; function
    is the text of a Python file with `run(inputs, seed)`, for runs of the user's own.
    """

    name: str
    model: str = ""
    runs: int = 1
    seed: int = 0
    free: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ("simulate", "identify")
    function: str = ""
    set: Mapping[str, InputValue] = field(default_factory=dict)
    vary: tuple[AnyVariation, ...] = ()
    plan: PlanOptions = PlanOptions()
    simulate: SimulateOptions = SimulateOptions()
    bound: BoundOptions = BoundOptions()
    faults: FaultOptions = FaultOptions()
    identify: IdentifyOptions = IdentifyOptions()
    validate: ValidateOptions = ValidateOptions()
    keep: KeepOptions = KeepOptions()
    limits: RunLimits = RunLimits()
    robot: Model | None = None
    flown: Plan | None = None
    code: str = ""

    @property
    def n_cells(self) -> int:
        """Combinations of the grids."""
        return count_cells(self.vary)

    @property
    def n_runs(self) -> int:
        """All runs: every draw in every cell."""
        return self.runs * self.n_cells

    @property
    def digest(self) -> str:
        """Of whatever decides what a run gives; not of how many there are, nor of limits."""
        from freefloat.excitation.plan_write import write_plan
        from freefloat.model.model_write import write_model_text

        apart = ("name", "runs", "keep", "limits", "robot", "flown")
        told: dict[str, Any] = {
            one.name: plain_value(getattr(self, one.name))
            for one in fields(self)
            if one.name not in apart
        }
        told["robot"] = "" if self.robot is None else write_model_text(self.robot)
        told["flown"] = "" if self.flown is None else write_plan(self.flown)
        text = json.dumps(told, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


TABLES: dict[str, type] = {
    "plan": PlanOptions,
    "simulate": SimulateOptions,
    "bound": BoundOptions,
    "faults": FaultOptions,
    "identify": IdentifyOptions,
    "validate": ValidateOptions,
    "keep": KeepOptions,
    "limits": RunLimits,
}
VARIED_TABLES = ("plan", "simulate", "faults", "identify", "validate")


def plain_value(value: Any) -> Any:
    """Dictionaries and lists in place of records and tuples."""
    if hasattr(value, "__dataclass_fields__"):
        return {one.name: plain_value(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    return [plain_value(item) for item in value] if isinstance(value, list | tuple) else value
