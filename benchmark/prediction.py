"""How well an answer predicts the second recording, against how well the truth does.

Whoever answers, freefloat simulates: the believed robot with the estimates of the answer follows
the recorded joints, wheels and thrust, and all other sensors are compared with it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from forms import read_task

import freefloat as ff
from freefloat.parameters.write_back import with_any_values
from freefloat.validation.flight_prediction import predict_flight


def prediction_ratio(folder: Path, answer: dict) -> float:
    """Errors of prediction over those of the true parameters; infinite where nothing comes out."""
    values = answer.get("model") or {n: e[0] for n, e in answer["estimates"].items()}
    place = folder.parent / "truth" / f"{folder.name}.json"
    truth = json.loads(place.read_text())
    if "prediction" not in truth:
        truth["prediction"] = _errors(folder, truth["values"])
        place.write_text(json.dumps(truth, indent=1) + "\n")
    return _errors(folder, values) / truth["prediction"]


def _errors(folder: Path, values: dict[str, float]) -> float:
    """Root mean square of what is left of the second recording, in units of each one's noise."""
    model, _, _, second = read_task(folder)
    try:
        found = predict_flight(with_any_values(model, values), second)
    except ff.FreefloatError:
        return math.inf
    shares = [np.ravel(s.residual / np.asarray(s.measurement.noise)) for s in found.sensors]
    return float(np.sqrt(np.mean(np.concatenate(shares) ** 2)))
