"""Tasks for the worker with flights: fly, open, identify, validate, save; what comes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.studio.tasks import Wanted
from freefloat.studio.worker import GRACE, Watch

if TYPE_CHECKING:
    from freefloat.arrays import Array
    from freefloat.excitation.plan import Plan
    from freefloat.identification.fit import Fit
    from freefloat.model.model import Model
    from freefloat.prediction.flight_summary import FlightSummary
    from freefloat.studio.craft import Craft
    from freefloat.studio.flight_motion import FlightMotion
    from freefloat.telemetry.diagnosis import Diagnosis
    from freefloat.telemetry.telemetry import Telemetry
    from freefloat.validation.scores import Trace
    from freefloat.validation.verdict import Verdict


@dataclass(frozen=True, eq=False)
class OpenedFlight:
    """A recording: its channels, what is wrong with it, how the robot moved, and its plan."""

    name: str
    telemetry: Telemetry
    diagnosis: Diagnosis
    motion: FlightMotion
    plan: Plan | None = None
    summary: FlightSummary | None = None


@dataclass(frozen=True, eq=False)
class SimulateFlight:
    """Fly a plan: `freefloat simulate`. truth: the model that really flies, if it is another."""

    model: Model
    plan: Plan
    name: str
    truth: str = ""
    seed: int = 1
    title = "flying"
    grace = GRACE

    def run(self, watch: Watch) -> OpenedFlight:
        """The telemetry, and what happened."""
        from freefloat.model.loading import load_model
        from freefloat.prediction.flight_summary import summarise_flight
        from freefloat.prediction.simulate import simulate

        world = load_model(self.truth) if self.truth else self.model
        flight = simulate(world, self.plan, seed=self.seed, progress=watch)
        summary = summarise_flight(world, self.plan, flight)
        return _flight_record(self.model, self.name, flight, watch, plan=self.plan, summary=summary)


@dataclass(frozen=True, eq=False)
class OpenFlight:
    """Read a recording: `freefloat telemetry`, or `freefloat import` where a map is given."""

    model: Model
    path: str
    map: str = ""
    title = "opening a recording"
    grace = GRACE

    def run(self, watch: Watch) -> OpenedFlight:
        """The recording, with its truth where that is beside it."""
        from freefloat.telemetry.readers import read_telemetry, truth_path
        from freefloat.telemetry.recordings.import_telemetry import import_telemetry

        watch.progress("reading")
        path = Path(self.path)
        if self.map:
            flight = import_telemetry(path, self.map)
        else:
            has_truth = not path.is_dir() and truth_path(path).is_file()
            flight = read_telemetry(path, truth=has_truth)
        return _flight_record(self.model, path.name, flight, watch)


def _flight_record(
    model: Model, name: str, flight: Telemetry, watch: Watch, *, plan: Plan | None = None,
    summary: FlightSummary | None = None,
) -> OpenedFlight:  # fmt: skip
    from freefloat.studio.flight_motion import motion_of_flight
    from freefloat.telemetry.doctor import examine

    watch.progress("looking for faults")
    diagnosis = examine(flight, model)
    # what only shows a mapping cannot be sent; a copy of it can
    diagnosis = replace(diagnosis, channels={**diagnosis.channels})
    watch.progress("how the robot moved")
    motion = motion_of_flight(model, flight)
    return OpenedFlight(name, flight, diagnosis, motion, plan, summary)


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """A fit, from which flights by name, and what the identified robot looks like.

    traces: measured against predicted, of the first of the flights.
    """

    fit: Fit
    flights: tuple[str, ...]
    wanted: Wanted
    craft: Craft
    source: str = ""
    traces: tuple[Trace, ...] = ()


@dataclass(frozen=True, eq=False)
class IdentifyModel:
    """Find the parameters: `freefloat identify`."""

    model: Model
    wanted: Wanted
    flights: tuple[OpenedFlight, ...]
    method: str = "auto"
    assess: bool = True
    source: str = ""
    title = "identifying"
    grace = GRACE

    def run(self, watch: Watch) -> IdentifiedModel:
        """The fit."""
        from freefloat.identification.identify import identify
        from freefloat.studio.craft import craft_of

        recorded = [flight.telemetry.with_truth(None) for flight in self.flights]
        fit = identify(
            self.model, self.wanted.parameters(self.model), recorded, method=self.method,
            assess=self.assess, progress=watch,
        )  # fmt: skip
        names = tuple(flight.name for flight in self.flights)
        craft = craft_of(fit.model, self.source)
        watch.progress("measured against predicted")
        traces = _traces(fit, recorded[0])
        return IdentifiedModel(fit, names, self.wanted, craft, self.source, traces)


def _traces(fit: Fit, flight: Telemetry) -> tuple[Trace, ...]:
    """What the models before and after predict of a flight; nothing where that is not possible."""
    from freefloat.errors import FreefloatError
    from freefloat.validation.flight_prediction import predict_flight
    from freefloat.validation.scores import traces_of

    try:
        after, before = (predict_flight(model, flight) for model in (fit.model, fit.prior_model))
    except FreefloatError:
        return ()
    return traces_of(after, before, flight)


@dataclass(frozen=True, eq=False)
class JudgedFlight:
    """A verdict on a flight, and the motion that the model predicts for it."""

    flight: str
    verdict: Verdict
    predicted: FlightMotion | None


@dataclass(frozen=True, eq=False)
class ValidateModel:
    """Does the model predict a flight: `freefloat validate`."""

    judged: Fit | Model
    flight: OpenedFlight
    title = "predicting a flight"
    grace = GRACE

    def run(self, watch: Watch) -> JudgedFlight:
        """The verdict."""
        from freefloat.errors import FreefloatError
        from freefloat.identification.fit import Fit
        from freefloat.studio.flight_motion import motion_of_states
        from freefloat.validation.flight_prediction import predict_flight
        from freefloat.validation.validate import validate

        verdict = validate(self.judged, self.flight.telemetry, progress=watch)
        model = self.judged.model if isinstance(self.judged, Fit) else self.judged
        watch.progress("the predicted motion")
        try:
            segment = predict_flight(model, telemetry=self.flight.telemetry).segment
            states = _without_drift(segment.times, segment.states, self.flight.motion)
            motion = motion_of_states(model, segment.times, states)
        except FreefloatError:  # the verdict says why it cannot be predicted
            motion = None
        return JudgedFlight(self.flight.name, verdict, motion)


def _without_drift(times: Array, states: Array, shown: FlightMotion) -> Array:
    """The states without the straight drift of the base against the motion that is shown.

    It comes from the initial state that is fitted to noisy fixes, and not from the model.
    """
    import numpy as np

    from freefloat.validation.end_effectors import straight_drift

    states = np.array(states)
    seen = [np.interp(times, shown.times, shown.states[:, k]) for k in range(3)]
    states[:, :3] -= straight_drift(times, states[:, :3] - np.column_stack(seen))
    return states


@dataclass(frozen=True)
class SavedFile:
    """A file that was written."""

    path: Path


@dataclass(frozen=True, eq=False)
class SaveFile:
    """Write a model, plan, flight, fit, verdict or report; all of them know how."""

    noun: Model | Plan | Telemetry | Fit | Verdict
    path: Path
    flights: tuple[Telemetry, ...] = ()
    fit: Fit | None = None
    title = "saving"
    grace = GRACE

    def run(self, watch: Watch) -> SavedFile:
        """The file, written whole or not at all."""
        from freefloat.identification.fit import Fit
        from freefloat.validation.verdict import Verdict

        watch.progress(f"writing {self.path.name}")
        if self.path.suffix == ".html" and isinstance(self.noun, Fit):
            self.noun.save_report(self.path, *self.flights)
        elif self.path.suffix == ".html" and isinstance(self.noun, Verdict):
            self.noun.save_report(self.path, self.fit)
        else:
            self.noun.save(self.path)
        return SavedFile(self.path)
