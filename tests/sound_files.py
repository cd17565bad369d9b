"""A sound file of each kind that freefloat reads back, to be spoiled."""

from __future__ import annotations

from pathlib import Path

from fit_samples import sample_fit
from model_samples import TOML, URDF
from plan_samples import TOML as PLAN
from read_mutants import estimator
from validation_flights import planar, planar_flight

import freefloat as ff

NAMES = {
    "csv": "f.csv", "parquet": "f.parquet", "toml": "model.toml", "urdf": "model.urdf",
    "plan": "plan.toml", "fit": "fit.json", "verdict": "verdict.json", "state": "state.npz",
}  # fmt: skip
_TEXTS = {"toml": TOML, "urdf": URDF, "plan": PLAN}


def sound_file(kind: str, folder: Path) -> Path:
    """Write a sound file of a kind; where it is."""
    path = folder / NAMES[kind]
    if kind in _TEXTS:
        path.write_text(_TEXTS[kind])
    elif kind == "fit":
        sample_fit().save(path)
    elif kind == "verdict":
        ff.validate(planar(), planar_flight(2, 20.0)).save(path)
    elif kind == "state":
        made = estimator()
        made.run(planar_flight(1, 5.0))
        made.save(path)
    else:
        planar_flight(1, 10.0).with_truth(None).save(path)
    return path
