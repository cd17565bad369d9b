"""Before a run: its request, the model that flies, the one that is believed, and the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, get_args

import numpy as np

from freefloat.campaign.campaign import TABLES, VARIED_TABLES, Campaign
from freefloat.campaign.run_row import RunRequest
from freefloat.campaign.variations import By, InputValue, draw_values, random_stream_of
from freefloat.errors import CampaignError, Fault
from freefloat.excitation.commands import Pulses
from freefloat.excitation.default import default_plan
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.parts import Sensor, SensorKind
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.records.option_record import option_check
from freefloat.records.values import RefusedError
from freefloat.text import did_you_mean, listing

MODELS = ("truth", "belief", "model")
SENSOR_FIELDS = (
    "noise", "rate", "delay", "dropout", "quantisation", "saturation", "bias", "coloured.sigma",
)  # fmt: skip
PULSE = 2.0  # format: [s], how long a thruster pushes where a campaign asks for thrust


def request_of(campaign: Campaign, run: int) -> RunRequest:
    """The request of a run by its number; it never depends on how many runs there are."""
    draw, cell = divmod(run, campaign.n_cells)
    inputs = draw_values(campaign.vary, seed=campaign.seed, draw=draw, cell=cell)
    return RunRequest(run, draw, cell, inputs)


def seed_of(campaign: Campaign, draw: int, purpose: str) -> int:
    """The seed of one purpose in a draw, the same in every cell."""
    return int(random_stream_of(campaign.seed, draw, purpose).integers(2**31))


@dataclass(frozen=True)
class RunSetup:
    """What a run begins with: options as varied, the model that flies, and the believed one."""

    campaign: Campaign
    request: RunRequest
    truth: Model
    belief: Model


def set_up(campaign: Campaign, request: RunRequest) -> RunSetup:
    """The models and options of a run, with everything written in that varies."""
    assert campaign.robot is not None
    models = {"truth": campaign.robot, "belief": campaign.robot}
    way: dict[str, By] = {one.name: one.by for one in campaign.vary}
    tables: dict[str, dict[str, InputValue]] = {}
    for name, value in {**campaign.set, **request.inputs}.items():
        place, _, rest = name.partition(".")
        if place in MODELS:
            for which in ("truth", "belief") if place == "model" else (place,):
                models[which] = with_input(models[which], rest, value, by=way.get(name, "value"))
        else:
            tables.setdefault(place, {})[rest] = value
    varied = {table: replace(getattr(campaign, table), **given) for table, given in tables.items()}
    return RunSetup(replace(campaign, **varied), request, models["truth"], models["belief"])


def with_input(model: Model, name: str, value: InputValue, *, by: By) -> Model:
    """The model with a parameter, or a number of its sensors, set, multiplied or added to."""
    assert not isinstance(value, str)
    if name.startswith("sensor."):
        _, kind, field = name.split(".", 2)
        sensors = tuple(
            _with_field(one, field, float(value), by) if fnmatchcase(one.kind, kind) else one
            for one in model.sensors
        )
        return replace(model, sensors=sensors)
    known = Parameters(model).matching(name)
    changed = {p.name: _combine(p.value, float(value), by) for p in known}
    return with_parameters(model, changed)


def _with_field(sensor: Sensor, field: str, value: float, by: By) -> Sensor:
    if field == "coloured.sigma":
        if sensor.coloured is None:
            return sensor
        sigma = _combine(sensor.coloured.sigma, value, by)
        return replace(sensor, coloured=replace(sensor.coloured, sigma=max(sigma, 0.0)))
    if field == "bias":  # every axis alike
        old = sensor.bias or (0.0, 0.0, 0.0)
        return replace(sensor, bias=tuple(_combine(one, value, by) for one in old))
    old = getattr(sensor, field)
    made = _combine(0.0 if old is None else old, value, by)
    return replace(sensor, **{field: made if field in ("rate", "saturation") else max(made, 0.0)})


def _combine(old: float, value: float, by: By) -> float:
    return value if by == "value" else old * value if by == "factor" else old + value


def wanted_parameters(setup: RunSetup, model: Model) -> Parameters:
    """What is looked for, in one of the models of a run."""
    wanted = Parameters(model).free(*setup.campaign.free)
    share = setup.campaign.identify.prior
    if share:
        names = [p.name for p in wanted.free_ones if p.value != 0.0]
        wanted = wanted.prior(*names, relative=share)
    return wanted


def plan_of_run(setup: RunSetup, *, more_seed: int = 0) -> Plan:
    """What is flown: the plan of a file, or a motion made from what is believed."""
    options, model = setup.campaign.plan, setup.belief
    if setup.campaign.flown is not None:
        plan = setup.campaign.flown
    elif "design" in setup.campaign.steps:
        from freefloat.design.excitation import design_excitation

        plan = design_excitation(
            model, wanted_parameters(setup, model), duration=options.duration,
            criterion=options.criterion, seed=options.seed + more_seed,
        )  # fmt: skip
    else:
        plan = default_plan(model, duration=options.duration, seed=options.seed + more_seed)
    rng = random_stream_of(setup.campaign.seed, setup.request.draw, f"plan {more_seed}")
    if options.thrust:
        last = max(plan.duration - PULSE, 0.0)
        thrusts = {
            one.name: Pulses(
                ((round(float(rng.uniform(0.0, last)), 1), PULSE, one.max_force or 1.0),)
            )
            for one in model.thrusters
        }
        plan = replace(plan, thrusts=thrusts)
    if options.rate:
        flat = (0.0, 0.0, 1.0) if model.root.type == "planar" else (1.0, 1.0, 1.0)
        rate = tuple((options.rate * rng.standard_normal(3) * flat).tolist())
        plan = replace(plan, start=replace(plan.start, rate=rate))
    return plan


# -- names that may be set or varied ---------------------------------------------------------------


def name_fault(model: Model | None, name: str, value: InputValue) -> Fault | None:
    """What is wrong with a name or its value, if anything; its place is the caller's to add."""
    place, _, rest = name.partition(".")
    if place in VARIED_TABLES:
        return _option_fault(place, rest, value)
    if place not in MODELS or not rest:
        known = [f"{one}." for one in (*MODELS, *VARIED_TABLES)]
        remedy = did_you_mean(f"{place}.", known, otherwise="write truth.target.mass, for one")
        return Fault("", repr(name), f"a name that begins with {listing(known)}", remedy,
                     "name.unknown")  # fmt: skip
    if isinstance(value, str | bool):
        return Fault("", repr(value), "a number", "write it without quotes", "value.type")
    if rest.startswith("sensor."):
        return _sensor_fault(model, rest)
    if model is None or Parameters(model).matching(rest):
        return None
    names = [p.name for p in Parameters(model)]
    remedy = did_you_mean(rest, names, otherwise=f"one of {listing(names, most=6)}, or a glob")
    expected = f"a parameter of {model.name!r}"
    return Fault("", repr(rest), expected, remedy, "name.unknown")


def _sensor_fault(model: Model | None, rest: str) -> Fault | None:
    parts = rest.split(".", 2)
    if len(parts) < 3 or parts[2] not in SENSOR_FIELDS:
        remedy = did_you_mean(parts[-1], SENSOR_FIELDS, otherwise="write sensor.gyro.noise, say")
        expected = f"sensor.KIND.FIELD, with a field of {listing(SENSOR_FIELDS)}"
        return Fault("", repr(rest), expected, remedy, "name.unknown")
    own = get_args(SensorKind) if model is None else {one.kind for one in model.sensors}
    if any(fnmatchcase(kind, parts[1]) for kind in own):
        return None
    remedy = did_you_mean(parts[1], own, otherwise="name one that it has")
    return Fault("", repr(parts[1]), f"a kind of sensor: {listing(sorted(own))}", remedy,
                 "name.unknown")  # fmt: skip


def _option_fault(table: str, name: str, value: Any) -> Fault | None:
    record = TABLES[table]
    known = [one for one in record.__dataclass_fields__ if one != "file"]
    if name not in known:
        remedy = did_you_mean(name, known, otherwise=f"one of {listing(known)}")
        return Fault("", repr(f"{table}.{name}"), f"an option of [{table}]", remedy, "name.unknown")
    try:
        option_check(record, name)(value)
    except RefusedError as refused:
        first = refused.faults[0]
        return Fault("", first.value, first.expected, first.remedy, first.code)
    return None


def require_sound(fault: Fault | None, place: str) -> None:
    """Raise a fault of a name that was given in Python."""
    if fault is not None:
        raise CampaignError("this cannot be varied", [replace(fault, place=place)])


def flat_error(error: np.ndarray, covariance: np.ndarray) -> tuple[float, int]:
    """The normalised squared error e' C^-1 e over what has a deviation, and how many those are."""
    has = np.isfinite(np.diag(covariance)) & (np.diag(covariance) > 0.0) & np.isfinite(error)
    if not np.any(has):
        return float("nan"), 0
    e, c = error[has], covariance[np.ix_(has, has)]
    size = np.sqrt(np.diag(c))
    # in deviations: parameters of kilograms and of newton metres stand side by side
    values, vectors = np.linalg.eigh(c / np.outer(size, size))
    seen = values > len(values) * np.finfo(float).eps * values[-1]
    turned = vectors.T @ (e / size)
    return float(np.sum(turned[seen] ** 2 / values[seen])), int(seen.sum())
