"""freefloat: models, dynamics, simulated flights and telemetry of free-floating space robots.

It is for identifying their dynamic parameters, whose first pieces are in `identification`.
Public names are imported when first used, so that `import freefloat` costs almost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from freefloat import errors as errors
from freefloat.wiring import provide

__version__ = "0.2.0"

if TYPE_CHECKING:
    from freefloat.design.excitation import design_excitation as design_excitation
    from freefloat.dynamics.modes import modes as modes
    from freefloat.dynamics.state import Start as Start
    from freefloat.errors import FreefloatError as FreefloatError
    from freefloat.excitation.default import default_plan as default_plan
    from freefloat.excitation.plan import Plan as Plan
    from freefloat.excitation.plan_file import load_plan as load_plan
    from freefloat.identification.fit import Fit as Fit
    from freefloat.identification.fit import load_fit as load_fit
    from freefloat.identification.identify import identify as identify
    from freefloat.identification.trust.assess import assess_fit as assess_fit
    from freefloat.model import Model as Model
    from freefloat.model import builtin_models as builtin_models
    from freefloat.model import load_model as load_model
    from freefloat.observability.cramer_rao import cramer_rao as cramer_rao
    from freefloat.observability.identifiability import identifiability as identifiability
    from freefloat.online.estimator import OnlineEstimator as OnlineEstimator
    from freefloat.parameters.parameters import Parameters as Parameters
    from freefloat.prediction.simulate import simulate as simulate
    from freefloat.telemetry import QualityLimits as QualityLimits
    from freefloat.telemetry import Telemetry as Telemetry
    from freefloat.telemetry import quality as quality
    from freefloat.telemetry import read_telemetry as read_telemetry
    from freefloat.telemetry.recordings.import_telemetry import (
        import_telemetry as import_telemetry,
    )
    from freefloat.validation.validate import validate as validate
    from freefloat.validation.verdict import Verdict as Verdict
    from freefloat.validation.verdict import load_verdict as load_verdict

_HOME_OF = {
    "Fit": "freefloat.identification.fit",
    "FreefloatError": "freefloat.errors",
    "Model": "freefloat.model",
    "OnlineEstimator": "freefloat.online.estimator",
    "Parameters": "freefloat.parameters.parameters",
    "Plan": "freefloat.excitation.plan",
    "QualityLimits": "freefloat.telemetry",
    "Start": "freefloat.dynamics.state",
    "Telemetry": "freefloat.telemetry",
    "Verdict": "freefloat.validation.verdict",
    "assess_fit": "freefloat.identification.trust.assess",
    "builtin_models": "freefloat.model",
    "cramer_rao": "freefloat.observability.cramer_rao",
    "default_plan": "freefloat.excitation.default",
    "design_excitation": "freefloat.design.excitation",
    "identifiability": "freefloat.observability.identifiability",
    "identify": "freefloat.identification.identify",
    "import_telemetry": "freefloat.telemetry.recordings.import_telemetry",
    "load_fit": "freefloat.identification.fit",
    "load_model": "freefloat.model",
    "load_plan": "freefloat.excitation.plan_file",
    "load_verdict": "freefloat.validation.verdict",
    "modes": "freefloat.dynamics.modes",
    "quality": "freefloat.telemetry",
    "read_telemetry": "freefloat.telemetry",
    "simulate": "freefloat.prediction.simulate",
    "validate": "freefloat.validation.validate",
}


def _page_writer(name: str) -> Callable[[], Callable[..., None]]:
    return lambda: getattr(import_module("freefloat.report.pages"), name)


# A Fit and a Verdict write pages, whose folder stands above theirs.
for _name in ("save_fit_report", "save_verdict_report"):
    provide(_name, _page_writer(_name))


def _assumption_names() -> Callable[..., list[str]]:
    return import_module("freefloat.prediction.assumption_names").assumption_names


# A model file says by name how well is known what a simulation takes as exact.
provide("assumption_names", _assumption_names)


def _mjcf_writer() -> Callable[..., str]:
    return import_module("freefloat.model.mujoco_write").write_mjcf


def _urdf_editor() -> Callable[..., str]:
    return import_module("freefloat.model.urdf_edit").edit_urdf


# A Model writes itself into the file it was read from, which has to be read for it once more.
provide("write_mjcf", _mjcf_writer)
provide("edit_urdf", _urdf_editor)


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'freefloat' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value  # the next access finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", "errors", *_HOME_OF})
