"""`perform`: one run from its request to its row; nothing of it is kept but what it returns."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.fault_injection import spoil
from freefloat.campaign.run_row import RunEstimate, RunRequest, RunRow
from freefloat.campaign.run_setup import (
    RunSetup,
    flat_error,
    plan_of_run,
    random_stream_of,
    seed_of,
    set_up,
    wanted_parameters,
)
from freefloat.errors import FreefloatError, shorten
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.identify import identify
from freefloat.model.model import Model
from freefloat.observability.cramer_rao import cramer_rao
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.validate import validate

# theory: what trust.md calls wrong: more than 4 standard deviations and more than 2 % off
WRONG_SIGMAS, WRONG_SHARE = 4.0, 0.02
MESSAGE_LENGTH = 500  # format: of an error in a row


@dataclass
class RunTrace:
    """A run while it is carried out: its row, and whatever it came across."""

    row: RunRow
    setup: RunSetup | None = None
    plan: Plan | None = None
    flight: Telemetry | None = None
    fit: Fit | None = None
    verdict: Any = None
    traceback: str = ""
    bounds: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_wrong(self) -> bool:
        """Whether an estimate is off by more than its deviation and its size allow."""
        return any(is_wrong(one) for one in self.row.estimates)


def is_wrong(one: RunEstimate) -> bool:
    """Whether an estimate is more than 4 total standard deviations and more than 2 % off."""
    std = one.total_std if math.isfinite(one.total_std) else one.std
    error = abs(one.value - one.true)
    return error > WRONG_SIGMAS * std and error > WRONG_SHARE * abs(one.true)


def perform(campaign: Campaign, request: RunRequest) -> RunRow:
    """The row of a run: always one, whatever happens in the run."""
    return trace_run(campaign, request).row


def trace_run(campaign: Campaign, request: RunRequest) -> RunTrace:
    """The same, with everything the run came across, to look into it."""
    trace = RunTrace(RunRow(**vars(request)))
    try:
        if "function" in campaign.steps:
            trace.row = _call_function(campaign, request)
            return trace
        trace.setup = set_up(campaign, request)
        for step in trace.setup.campaign.steps:
            _STEPS[step](trace)
    except FreefloatError as error:
        code = next(iter(error.codes), "error")
        trace.row = _failed_row(trace, request, code, str(error))
    except MemoryError:
        trace.row = RunRow.of_error(request, "stopped", "limit.memory", "no memory was left")
    except Exception as error:  # a campaign goes on whatever one run does
        message = f"{type(error).__name__}: {error}"
        trace.row = _failed_row(trace, request, "bug", message)
    return trace


def _failed_row(trace: RunTrace, request: RunRequest, code: str, message: str) -> RunRow:
    trace.traceback = traceback.format_exc()
    return RunRow.of_error(request, "failed", code, shorten(message, MESSAGE_LENGTH))


# -- the steps -------------------------------------------------------------------------------------


def _design(trace: RunTrace) -> None:
    trace.plan = plan_of_run(_setup_of(trace))


def _simulate(trace: RunTrace) -> None:
    setup = _setup_of(trace)
    trace.plan = trace.plan or plan_of_run(setup)
    seed = seed_of(setup.campaign, setup.request.draw, "noise")
    flight = simulate(setup.truth, trace.plan, seed=seed, step=setup.campaign.simulate.step)
    trace.flight = flight


def _corrupt(trace: RunTrace) -> None:
    setup = _setup_of(trace)
    assert trace.flight is not None
    rng = random_stream_of(setup.campaign.seed, setup.request.draw, "faults")
    trace.flight = spoil(trace.flight, setup.campaign.faults, rng)


def _bound(trace: RunTrace) -> None:
    setup = _setup_of(trace)
    trace.plan = trace.plan or plan_of_run(setup)
    wanted = wanted_parameters(setup, setup.truth)
    if setup.campaign.bound.motion == "unknown":
        from freefloat.observability.motion_bound import motion_bound

        found = motion_bound(setup.truth, wanted, trace.plan)
    else:
        found = _known_bound(setup.truth, wanted, trace.plan)
    trace.bounds = dict(zip(found.names, found.std.tolist(), strict=True))
    if "identify" not in setup.campaign.steps and "track" not in setup.campaign.steps:
        nan = math.nan
        estimates = [
            RunEstimate(p.name, p.unit, p.value, p.value, nan, nan, bound=trace.bounds[p.name])
            for p in wanted.free_ones
        ]
        trace.row = replace(trace.row, estimates=tuple(estimates))


def _known_bound(model: Model, wanted: Parameters, plan: Plan) -> Any:
    """The bound, computed once where nothing that it depends on varies."""
    return _cached_bound(_ByContent(model), _ByContent(wanted), _ByContent(plan))


class _ByContent:
    """A thing that stands in a cache by what it says."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.text = repr(thing)

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self.thing == other.thing


@lru_cache(maxsize=8)
def _cached_bound(model: _ByContent, wanted: _ByContent, plan: _ByContent) -> Any:
    return cramer_rao(model.thing, wanted.thing, plan.thing)


def _identify(trace: RunTrace) -> None:
    setup = _setup_of(trace)
    options = setup.campaign.identify
    assert trace.flight is not None
    believed = wanted_parameters(setup, setup.belief)
    fit = identify(
        setup.belief, believed, trace.flight, method=options.method,
        plan=trace.plan if options.plan else None, known_start=options.known_start,
        raw=options.raw, assess=options.assess,
    )  # fmt: skip
    trace.fit = fit
    true = _true_values(setup)
    estimates = [
        RunEstimate(
            e.name, e.unit, true.get(e.name, math.nan), e.prior, e.value, e.std, e.total_std,
            *(e.interval95 or (math.nan, math.nan)), e.status, trace.bounds.get(e.name, math.nan),
        )
        for e in fit.estimates
    ]  # fmt: skip
    error = np.array([one.value - one.true for one in estimates])
    measures = _nees("nees", error, fit.covariance)
    if fit.total_covariance.size:
        measures |= _nees("total_nees", error, fit.total_covariance)
    trace.row = replace(
        trace.row, method=fit.method, grade=fit.grade, code=fit.status_code,
        estimates=tuple(estimates), measures=measures,
    )  # fmt: skip


def _track(trace: RunTrace) -> None:
    from freefloat.online.estimator import OnlineEstimator

    setup = _setup_of(trace)
    assert trace.flight is not None
    believed = wanted_parameters(setup, setup.belief)
    follower, last = OnlineEstimator(setup.belief, believed), None
    for sample in trace.flight:
        last = follower.update(sample)
    if last is None:
        raise FreefloatError("the flight has no samples to follow", code="samples.none")
    true, bounds = _true_values(setup), trace.bounds
    values, stds, total = last.values, last.std, last.total_std
    lines = zip(last.names, values, stds, total, last.interval95, last.statuses, strict=True)
    estimates = [
        RunEstimate(
            name, believed[name].unit, true.get(name, math.nan), believed[name].value, float(value),
            float(std), float(whole), float(low), float(high), status, bounds.get(name, math.nan),
        )
        for name, value, std, whole, (low, high), status in lines
    ]  # fmt: skip
    error = np.array([one.value - one.true for one in estimates])
    trace.row = replace(
        trace.row, method="live", grade=last.grade, estimates=tuple(estimates),
        measures=_nees("nees", error, last.covariance),
    )  # fmt: skip


def _validate(trace: RunTrace) -> None:
    setup = _setup_of(trace)
    assert trace.fit is not None
    plan = plan_of_run(setup, more_seed=setup.campaign.validate.seed)
    seed = seed_of(setup.campaign, setup.request.draw, "second noise")
    other = simulate(setup.truth, plan, seed=seed, step=setup.campaign.simulate.step)
    verdict = validate(trace.fit, other)
    trace.verdict = verdict
    measures = {**trace.row.measures, "is_valid": float(verdict.is_positive)}
    trace.row = replace(trace.row, measures=measures)


def _call_function(campaign: Campaign, request: RunRequest) -> RunRow:
    """A run of the user's own: a Python file whose `run(inputs, seed)` gives numbers by name."""
    function = _function_of(campaign.code)
    given = function(
        {**campaign.set, **request.inputs}, seed_of(campaign, request.draw, "function")
    )
    grade, method = str(given.pop("grade", "")), str(given.pop("method", ""))
    estimates = tuple(RunEstimate(**one) for one in given.pop("estimates", ()))
    measures = {str(name): float(value) for name, value in given.items()}
    return RunRow(
        **vars(request), estimates=estimates, measures=measures, grade=grade, method=method
    )


@lru_cache(maxsize=4)
def _function_of(code: str) -> Callable[[dict[str, Any], int], dict[str, Any]]:
    names: dict[str, Any] = {"__name__": "campaign_function"}
    exec(compile(code, "<function of the campaign>", "exec"), names)
    return names["run"]


_STEPS: dict[str, Callable[[RunTrace], None]] = {
    "design": _design,
    "simulate": _simulate,
    "bound": _bound,
    "corrupt": _corrupt,
    "identify": _identify,
    "track": _track,
    "validate": _validate,
}


def _setup_of(trace: RunTrace) -> RunSetup:
    assert trace.setup is not None
    return trace.setup


def _true_values(setup: RunSetup) -> dict[str, float]:
    wanted = Parameters(setup.truth).free(*setup.campaign.free)
    return {p.name: p.value for p in wanted.free_ones}


def _nees(name: str, error: np.ndarray, covariance: np.ndarray) -> dict[str, float]:
    value, dof = flat_error(error, covariance)
    return {name: value, f"{name}_dof": float(dof)}
