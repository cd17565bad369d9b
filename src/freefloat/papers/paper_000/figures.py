"""Figures 4 to 7 of paper 000, redrawn: free responses, their spectra, and what motions excite."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.modes.power_spectrum import spectrum
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.papers.paper_000.model import kick, slow_motion
from freefloat.prediction.simulate import simulate
from freefloat.report.paper_pages import PaperFigure
from freefloat.telemetry.telemetry import Telemetry

HIGHEST = 1.2  # format: [Hz] that is drawn
REST = 3.0  # format: [s]: when the kick has ended
Line = tuple[str, Array, Array]
SEEN = ("arm_2.torque", "arm_4.torque", "base.rate.x")  # about the hinges' axis


def _answer(model: Model) -> Telemetry:
    return simulate(model, kick(model), seed=1).between(REST, 45.0)


def _lines(flight: Telemetry, names: tuple[str, ...], factor: float = 1.0) -> list[Line]:
    return [(name, flight[name].usable()[0], factor * flight[name].usable()[1]) for name in names]


def _density(model: Model, title: str) -> PaperFigure:
    """Densities over those of the noise, so that torques and rates share an axis."""
    found = spectrum(_answer(model), SEEN, segment=38.0)
    inside = (found.frequency > 0.0) & (found.frequency < HIGHEST)
    lines = [
        (name, found.frequency[inside], (density / floor)[inside])
        for name, density, floor in zip(found.channels, found.density, found.floor, strict=True)
    ]
    return PaperFigure(title, "frequency [Hz]", "density over that of the noise", lines, True)


def figure_4() -> PaperFigure:
    """The wings swing on after a kick."""
    lines = _lines(_answer(load_model("servicer-wings")), SEEN[:2])
    return PaperFigure("Fig. 4: torques after a kick, wings", "time [s]", "torque [N m]", lines)


def figure_5() -> PaperFigure:
    """Spectra of that answer."""
    return _density(load_model("servicer-wings"), "Fig. 5 A: spectra of the answer, wings")


def figure_5_motions() -> PaperFigure:
    """Spectra of the rate of a rigid base in the exciting and in the slow motion."""
    wings, lines = load_model("servicer-wings"), []
    for name, plan in (("kick", kick(wings)), ("slow motion", slow_motion(wings))):
        truth = simulate(rigid(wings), plan, seed=1).truth
        assert truth is not None
        found = spectrum(truth, "base.rate.*", segment=0.9 * plan.duration)
        inside = (found.frequency > 0.0) & (found.frequency < HIGHEST)
        power = found.density.sum(axis=0)[inside]
        lines.append((name, found.frequency[inside], np.maximum(power / power.max(), 1e-12)))
    title = "Fig. 5 B, C: spectra of motions, rate of a rigid base"
    return PaperFigure(title, "frequency [Hz]", "density over the highest", lines, True)


def figure_6() -> PaperFigure:
    """The fuel swings on after a kick, and dies out soon; torques hardly show it."""
    lines = _lines(_answer(load_model("servicer-slosh")), ("base.rate.x", "base.rate.y"), 1e3)
    return PaperFigure("Fig. 6: rates after a kick, fuel", "time [s]", "rate [mrad/s]", lines)


def figure_7() -> PaperFigure:
    """Spectra of that answer: one broad peak at 0.1 Hz, none at 0.06."""
    return _density(load_model("servicer-slosh"), "Fig. 7: spectra of the answer, fuel")


FIGURES = (figure_4, figure_5, figure_5_motions, figure_6, figure_7)
