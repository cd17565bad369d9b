"""The first seconds, solved all at once: where the Kalman filter starts from.

With stiffness and swing both unknown their product bends so much that a filter which linearises
sample by sample becomes sure of wrong values. Output error on the first seconds does not: it gives
parameters, the state at their end, and how the errors of both go together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import no_inputs
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.identification.output_error.covariance import estimate_covariance, information_root
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.search import SearchResult, search
from freefloat.model.model import Model
from freefloat.model.parameter_name import is_of_sensor
from freefloat.online.error_state import ORDERS, Layout, state_rates
from freefloat.online.filter_options import KalmanOptions
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.sample import is_number
from freefloat.online.sensing import joint_response
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.measurements import Measurement
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import unit_of
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry


class StartWindow:
    """Samples of the first seconds, until they have been solved."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds, self.most = seconds, most
        self.samples: list[Sample] | None = [] if seconds > 0.0 else None

    def is_full(self) -> bool:
        """Whether it is time to solve."""
        kept = self.samples or []
        long = bool(kept) and kept[-1].time - kept[0].time >= self.seconds
        return long or len(kept) >= self.most

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, for a file."""
        kept = None if self.samples is None else [[s.time, dict(s.values)] for s in self.samples]
        text = json.dumps([self.seconds, kept])
        return {"kept": np.frombuffer(text.encode(), dtype=np.uint8)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Everything, from a file."""
        self.seconds, kept = json.loads(arrays["kept"].tobytes())
        self.samples = None if kept is None else [Sample(t, values) for t, values in kept]


@dataclass(frozen=True)
class WindowEnd:
    """Where the first seconds end: time [s], state, joints (4, n), parameters, covariance root."""

    time: float
    x: Array
    joints: Array
    values: Array
    root: Array


def recording_of_samples(
    samples: Sequence[Sample], streams: Sequence[Measurement], pushes: Sequence[str]
) -> Telemetry:
    """The samples as a recording, without what is not finite."""
    noise = {c: float(s.noise[min(k, 2)]) for s in streams for k, c in enumerate(s.channels)}
    channels = []
    for name in (*noise, *pushes):
        pairs = [(s.time, s.values[name]) for s in samples if is_number(s.values.get(name))]
        if pairs:
            time, values = np.array(pairs, dtype=float).T
            channels.append(Channel(name, unit_of(name)[0], time, values, noise=noise.get(name)))
    return Telemetry.of(channels)


def solve_window(
    model: Model,
    parameters: Parameters,
    flight: Telemetry,
    *,
    unknowns: FilterUnknowns,
    layout: Layout,
    options: KalmanOptions,
) -> WindowEnd | None:
    """What output error finds of a recording's first seconds; None where it finds nothing."""
    try:
        for p, (_, spread), size in zip(unknowns.free, unknowns.prior, unknowns.sizes, strict=True):
            if p.prior is None:
                parameters = parameters.prior(p.name, std=float(spread * size))
        recording = recording_of(model, flight, step=options.start_step, trims=(True, False))
        found = search(parameters, [recording], robust="huber")
        if found.descent.ending != "converged":
            return None
        result = _end_of(found, unknowns, layout, flight, options.end_spread)
    except (FreefloatError, np.linalg.LinAlgError):
        return None
    return result if np.all(np.isfinite(result.root)) else None


def _end_of(
    found: SearchResult,
    unknowns: FilterUnknowns,
    layout: Layout,
    flight: Telemetry,
    end_spread: Sequence[float],
) -> WindowEnd:
    """State, parameters and covariance at the end of the window."""
    problem, theta = found.problem, found.theta
    recording = problem.recordings[0]
    known = problem.unknowns.values(theta, 0)
    places, names, mix = problem.unknowns.columns(0)
    inner = [k for k, name in enumerate(names) if not is_of_sensor(name)]
    path = recording.fly(known, names, grid=recording.grid.ends())
    slopes = np.zeros((len(layout.rows), len(theta)))
    slopes[:, places] = path.tangent.tangents[-1][layout.rows] @ mix[inner]
    items = [u.name for u in problem.unknowns.items]
    own = [items.index(p.name) for p in unknowns.free]
    slopes = np.vstack([slopes, np.eye(len(theta))[own] / unknowns.sizes[:, None]])
    P = estimate_covariance(found, information_root(found), np.zeros(len(theta), dtype=bool))
    w, V = np.linalg.eigh(P)
    part = slopes @ (V * np.sqrt(np.maximum(w, 0.0)))
    time = float(recording.times[-1])
    given = recording.record_inputs.given
    joints = np.zeros((ORDERS, layout.n_joints))
    joints[:3] = (given[-1, 0] if len(given) > 1 else given[0, 0]).T
    quiet = [c.noise for c in flight.channels.values() if c.name.endswith("position") and c.noise]
    spread = np.repeat([max(quiet, default=1e-4), *end_spread], layout.n_joints)
    system = recording.system_at(known)
    root = _with_joints(system, layout, part, path.states[-1], time, joints, spread)
    return WindowEnd(time, path.states[-1], joints, theta[own], root)


def _with_joints(
    system: System,
    layout: Layout,
    part: Array,
    x: Array,
    time: float,
    joints: Array,
    spread: Array,
) -> Array:
    """The whole root: what a joint's rate is off moves the free states against it."""
    g, n = layout.n_joints, layout.n_states + layout.n_parameters
    inputs = no_inputs(system)
    inputs.given[0, :] = joints[:3].T
    against = state_rates(x, joint_response(system, time, x, inputs=inputs), system.tree.free)[:, 2]
    react = np.zeros((system.layout.tangent_width, 2, g))
    react[system.layout.placements, 0] = against
    react[system.layout.motions, 1] = against
    whole = np.zeros((layout.n_all, part.shape[1] + ORDERS * g))
    whole[:n, : part.shape[1]] = part
    whole[layout.joints, part.shape[1] :] = np.diag(spread)
    whole[: layout.n_states, part.shape[1] : part.shape[1] + 2 * g] = (
        react.reshape(-1, 2 * g)[layout.rows] * spread[: 2 * g]
    )
    return np.asarray(np.linalg.qr(whole.T, mode="r")).T
