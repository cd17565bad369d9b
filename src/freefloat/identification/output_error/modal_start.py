"""Where a search of springs should begin: with the frequencies that the recording itself shows.

Over a whole flight a wrong frequency has many false minima. A free swing tells the frequency
without any model; springs that make the model's modes agree with it are near the lowest one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.modes.modal import ModalFit, identify_modes
from freefloat.identification.modes.modal_match import (
    disagreement,
    match_modes,
    pair_modes,
    posture_of,
)
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.model.model import Model
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.predictor import model_values
from freefloat.telemetry.telemetry import Telemetry

SWUNG = ("stiffness", "damping")
# Springs are tried up to so many octaves stiffer or softer, all together, half an octave apart.
OCTAVES = np.arange(-5.0, 5.01, 0.5)
PERIODS = 2.0  # that a swing must be watched for
SURE = 0.03  # relative deviation of a frequency
FAR_OFF = 0.15  # of the logarithm of a stiffness: nearer, the search needs no help


def modal_start(problem: OutputErrorProblem, theta: Array) -> Array | None:
    """Theta with the springs and dampers of the modes seen; None where there is nothing to gain.

    That is where no spring is unknown, no stretch of a recording shows a free swing, or the model
    swings as the recording does already.
    """
    items = problem.unknowns.items
    springs = {
        u.name: k
        for k, u in enumerate(items)
        if u.recording is None and u.name.rpartition(".")[2] in SWUNG
    }
    if not any(name.endswith(".stiffness") for name in springs):
        return None
    for r, recording in enumerate(problem.recordings):
        try:
            values = model_values(problem.unknowns.values(theta, r))
            model = with_parameters(recording.model, values)
            seen = _sure(identify_modes(recording.telemetry, model))
            if not seen.modes:
                continue
            better = _tuned(model, seen, recording.telemetry, set(springs))
        except (FreefloatError, np.linalg.LinAlgError):
            continue
        new = theta.copy()
        for spring in better.assembly.springs:
            for field in SWUNG:
                if f"{spring.owner}.{field}" in springs:
                    new[springs[f"{spring.owner}.{field}"]] = getattr(spring, field)
        stiff = [k for name, k in springs.items() if name.endswith(".stiffness") and theta[k] > 0.0]
        if np.any(np.abs(np.log(new[stiff] / theta[stiff])) > FAR_OFF):
            return np.clip(new, problem.unknowns.lower, problem.unknowns.upper)
    return None


def _sure(found: ModalFit) -> ModalFit:
    """Only modes that were watched for long enough to be sure of their frequency."""
    seconds = found.end - found.start
    modes = (m for m in found.modes if m.frequency * seconds > PERIODS)
    return replace(found, modes=tuple(m for m in modes if m.frequency_std < SURE * m.frequency))


def _tuned(model: Model, seen: ModalFit, telemetry: Telemetry, free: set[str]) -> Model:
    """The model with springs whose modes are those seen: all scaled alike first, then each."""
    posture = posture_of(model, telemetry.between(seen.start, seen.end))
    now = {
        f"{s.owner}.stiffness": s.stiffness
        for s in model.assembly.springs
        if f"{s.owner}.stiffness" in free
    }
    scaled = [
        with_parameters(model, {n: v * 2.0**octave for n, v in now.items()}) for octave in OCTAVES
    ]
    fits = [disagreement(pair_modes(one, posture, seen)) for one in scaled]
    return match_modes(scaled[int(np.argmin(fits))], seen, telemetry).model
