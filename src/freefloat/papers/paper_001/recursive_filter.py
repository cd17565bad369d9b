"""The recursions of the literature as filters for OnlineEstimator, to compare with.

    tracker = OnlineEstimator(model, parameters, filter=recursive_filter("modified-rls"))

Rows are not weighted by noise, nothing is gated, and there are no standard deviations. Momentum is
taken about the fixed point where the first sample was, reached by integrating the velocity;
thrusters hold the force they were last told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.model.parameter_name import owner_of
from freefloat.online.filter_problem import change_of, unknowns_of, with_fixed_values
from freefloat.online.health import Event, EventKind, SampleOutcome
from freefloat.online.intake import Intake
from freefloat.online.live_channels import Channels, known_channels
from freefloat.online.live_estimate import SampleReport, ValueEstimate
from freefloat.online.live_filter import (
    FilterFactory,
    FilterRequest,
    LiveFilter,
    restore_in_place,
)
from freefloat.online.sample import SampleVector
from freefloat.papers.paper_001.one_step_rows import (
    JointForm,
    PaperForm,
    PaperMotion,
    force_columns,
    momentum_columns,
    one_step_rows,
)
from freefloat.papers.paper_001.rls import ModifiedRls, PlainRls, TwoStepRls
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry

RecursiveMethod = Literal["rls", "two-step", "modified-rls", "modified-rls-force"]
RECURSIVE: tuple[RecursiveMethod, ...] = get_args(RecursiveMethod)


def recursive_filter(method: str, *, prior: float = 1e6) -> FilterFactory:
    """The recursion called `method`, as OnlineEstimator's `filter`.

    prior: the variance that P starts from [SI].

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> params = ff.Parameters(model).free("bus.mass", "target.mass")
    >>> tracker = ff.OnlineEstimator(model, params, filter=recursive_filter("rls"))
    >>> tracker.update({"time": 0.0}).outcome
    'incomplete'
    """
    return lambda request: RecursiveFilter(request, method, prior=prior)


class RecursiveFilter(LiveFilter):
    """Linear parameters by recursive least squares; `prior`: the variance P starts from [SI]."""

    def __init__(self, request: FilterRequest, method: str, *, prior: float) -> None:
        for name, usual in (("random_walk", {}), ("forgetting", 1.0)):
            if getattr(request, name) != usual:
                raise IdentificationError(
                    f"method={method!r} has no {name}; another method has", code="option.conflict"
                )
        self.method, self.request, self.prior = method, request, prior
        system = flatten(with_fixed_values(request.model, request.parameters))
        self.unknowns = unknowns_of(system, request.parameters).without_nuisance
        names, sizes = known_channels(request.model, request.like, request.noise)
        self.layout = Channels.of(system, names, sizes)
        self.channels = self.layout.names
        self.vector = SampleVector(self.layout)
        self.recursion = recursion_of(method, system, request.parameters, prior=prior)

    def warm_up(self) -> None:
        """Load or compile the regressor."""
        vector = self.vector
        self.recursion.warm_up(PaperMotion.of(self.layout.home, vector.levels, vector.wrench))

    @property
    def values(self) -> Array:
        """The estimates."""
        return self.recursion.values

    def estimate(self, report: SampleReport) -> ValueEstimate:
        """The estimate after a sample."""
        values = np.array(self.recursion.values)
        return ValueEstimate(report, np.nan, 0, self.request.parameters, self.unknowns, values)

    def notes(self) -> tuple[str, ...]:
        """What was assumed of the channels."""
        return self.layout.notes

    def samples_of(self, recording: Telemetry) -> Iterable[Sample]:
        """A recording as it is: what thrusters do between samples counts by its mean."""
        return recording

    def read(self, sample: Sample, intake: Intake) -> SampleOutcome | None:
        """Take a sample's numbers over; an outcome if channels are missing or not finite."""
        if not self.vector.read(sample.values):
            intake.note_missing(self.channels, sample.values)
            return "incomplete"
        return None if np.all(np.isfinite(self.vector.vector)) else "unusable"

    def take(self, sample: Sample, intake: Intake) -> SampleOutcome:
        """Use the sample that was read."""
        vector = self.vector
        motion = PaperMotion.of(vector.vector, vector.levels, vector.wrench)
        has_rows = self.recursion.take(sample.time, motion)
        intake.time = sample.time
        return "taken" if has_rows else "begun"

    def restart(self, time: float, kind: EventKind, why: str, intake: Intake) -> None:
        """Momentum counts from the next sample on."""
        self.recursion.restart()
        intake.report(Event(time, kind, f"{why}: momentum counts from here"))

    def settings(self) -> dict[str, Any]:
        """What a saved state must have been made with."""
        return {"noise": self.layout.sigma.tolist(), "prior": self.prior}

    def arrays(self) -> dict[str, Any]:
        """Everything, by name."""
        found = {f"vector.{name}": array for name, array in self.vector.arrays().items()}
        return found | self.recursion.arrays()

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`."""
        restore_in_place(arrays, "vector", self.vector.arrays())
        self.recursion.restore(arrays)


class Recursion:
    """Samples in, values of the parameters out; rows are changes since the first sample.

    Force rows belong to the sample before: its accelerations are differences of its neighbours.
    """

    def __init__(
        self,
        form: JointForm | PaperForm,
        rls: PlainRls | ModifiedRls | TwoStepRls,
        *,
        is_force: bool,
    ) -> None:
        self.form, self.rls, self.is_force = form, rls, is_force
        self.restart()

    @property
    def values(self) -> Array:
        """The parameters, in their order and units."""
        return self.form.values(self.rls.x)

    def restart(self) -> None:
        """Momentum counts from the next sample on."""
        self.last: list[tuple[float, PaperMotion]] = []
        self.first = np.zeros(0)
        self.gained = np.zeros(6)

    def take(self, time: float, motion: PaperMotion) -> bool:
        """One sample; whether it gave rows."""
        return (
            self._take_forces(time, motion) if self.is_force else self._take_momenta(time, motion)
        )

    def warm_up(self, motion: PaperMotion) -> None:
        """Compile what rows are made of."""
        if self.is_force:
            nothing = np.zeros((1, 6)), np.zeros((1, len(motion.state[13:]) // 2))
            force_columns(self.form, motion.state[None], *nothing)
        momentum_columns(self.form, motion.state[None])

    def _take_momenta(self, time: float, motion: PaperMotion) -> bool:
        if not self.last:
            columns, _ = momentum_columns(self.form, motion.state[None])
            self.first, self.last = columns[0], [(time, motion)]
            return False
        then, before = self.last[-1]
        h = time - then
        motion.state[:3] = before.state[:3] + 0.5 * h * (before.state[7:10] + motion.state[7:10])
        columns, _ = momentum_columns(self.form, motion.state[None])
        thrusters = self.form.system.tree.thrusters
        # the same thrust, seen from both ends; a commanded wrench runs straight between them
        for end in (before, motion):
            self.gained += 0.5 * h * end.wrench_at(thrusters, before.levels, end.wrench)
        self.last = [(time, motion)]
        self._update(columns[0] - self.first, self.gained)
        return True

    def _take_forces(self, time: float, motion: PaperMotion) -> bool:
        self.last.append((time, motion))
        if len(self.last) < 3:
            return False
        (t0, old), (t1, mid), (t2, new) = self.last
        del self.last[0]
        # the slope of the parabola through three samples, at the middle one
        a, c = (t1 - t2) / ((t0 - t1) * (t0 - t2)), (t1 - t0) / ((t2 - t1) * (t2 - t0))
        slope = a * (old.state - mid.state) + c * (new.state - mid.state)
        n = (len(slope) - 13) // 2
        accelerations = np.concatenate([slope[10:13], slope[7:10]])[None]
        columns = force_columns(self.form, mid.state[None], accelerations, slope[None, 13 + n :])[0]
        # what the slope means: thrust held from t0 to t1 and from t1 to t2
        early, late = -a * (t1 - t0), c * (t2 - t1)
        levels = early * old.levels + late * mid.levels
        push = mid.wrench_at(self.form.system.tree.thrusters, levels, mid.wrench, about_sensor=True)
        self._update(columns, push)
        return True

    def _update(self, columns: Array, right: Array) -> None:
        if isinstance(self.rls, PlainRls):
            kept = [*self.form.linear, *self.form.angular]
            self.rls.update(columns[:, :-1][kept], right[kept] - columns[kept, -1])
            return
        assert isinstance(self.form, PaperForm)
        for rows in one_step_rows(self.form, columns[None], right[None]):
            self.rls.update(*rows)

    # -- as arrays, for the state file -------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Everything, by name."""
        found = {f"rls.{name}": array for name, array in self.rls.arrays().items()}
        found |= {"rls.first": self.first, "rls.gained": self.gained}
        found["rls.times"] = np.array([time for time, _ in self.last])
        for k, (_, motion) in enumerate(self.last):
            found |= {f"rls.last.{k}.{n}": a for n, a in motion._asdict().items()}
        return found

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from `arrays`."""
        own = {n.removeprefix("rls."): a for n, a in arrays.items() if n.startswith("rls.")}
        self.rls.restore(own)
        self.first, self.gained = own["first"], own["gained"]
        self.last = [
            (float(time), PaperMotion(*(own[f"last.{k}.{n}"] for n in PaperMotion._fields)))
            for k, time in enumerate(own["times"])
        ]


def recursion_of(method: str, system: System, parameters: Parameters, *, prior: float) -> Recursion:
    """The recursion called `method`; IdentificationError for parameters it cannot find."""
    if method not in RECURSIVE:
        raise IdentificationError(
            f"method={method!r}: expected one of {', '.join(RECURSIVE)}", code="option.choice"
        )
    free = [p.name for p in parameters.free_ones]
    values = np.array([p.value for p in parameters.free_ones])
    if method == "rls":
        joint = JointForm(system, change_of(system, parameters), values)
        plain = PlainRls(np.zeros(len(free)), np.full(len(free), prior), symmetric=True)
        return Recursion(joint, plain, is_force=False)
    form = _paper_form(method, system, free)
    phi = np.concatenate([system.model.body(name).phi for name in form.bodies])
    mu, theta = phi[form.mu_places], form.theta(phi)
    kind = TwoStepRls if method == "two-step" else ModifiedRls
    rls = kind(mu, theta, prior, form.quadratic)
    return Recursion(form, rls, is_force=method == "modified-rls-force")


def _paper_form(method: str, system: System, free: list[str]) -> PaperForm:
    """The two bodies whose parameters are free: all of them, as mu and theta need it."""
    bodies = tuple(dict.fromkeys(owner_of(name) for name in free))
    model = system.model
    known = {body.name for body in (*model.bodies, *model.targets)}
    form = PaperForm(system, bodies, tuple(free)) if len(bodies) == 2 else None  # type: ignore[arg-type]
    if form is None or not set(bodies) <= known or set(free) != set(form.sought_names):
        what = "mass, mx, my, izz" if system.model.root.type == "planar" else "all ten parameters"
        raise IdentificationError(
            f"method={method!r} finds {what} of two bodies, no more and no less; free those of"
            " base and target, or use another method",
            code="parameters.kind",
        )
    return form
