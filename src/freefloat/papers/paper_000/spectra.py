"""Paper 000's spectra: the modes read off the free response, and what a motion excites."""

from __future__ import annotations

from freefloat.excitation.motions import Moves
from freefloat.excitation.plan import Plan
from freefloat.identification.modes.modal import SeenMode, identify_modes
from freefloat.identification.modes.spectra import spectrum
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.observability.identifiability import identifiability
from freefloat.papers.paper_000.flights import splines
from freefloat.papers.paper_000.published import EXCITATION, PUBLISHED
from freefloat.papers.paper_rows import Row, Status
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

KICK = 0.1  # [rad] of the joints parallel to the hinges: "close to a dirac impulse"


def kick(model: Model, *, duration: float = 45.0) -> Plan:
    """Joints 2, 4 and 6, parallel to the hinges, jerk and come back home; then rest."""
    home = {name: model.joint(name).home for name in ("arm_2", "arm_4", "arm_6")}
    motions = {
        name: Moves((0.0, 1.5, 3.0), (at, at + (-KICK if name == "arm_6" else KICK), at))
        for name, at in home.items()
    }
    return Plan(duration, motions=motions, name="kick and rest")


def slow_motion(model: Model) -> Plan:
    """A motion for rigid bodies: 45 s with four control points, below the modes."""
    return splines(model, duration=45.0, rest=0.0, reach=0.5, points=4, seed=5)


def spectrum_rows(*, quick: bool = False, model: Model | None = None, seed: int = 1) -> list[Row]:
    """Figs 4 and 5: the free response of the wings with noise, its peaks and modes."""
    wings = load_model("servicer-wings") if model is None else model
    table = "Fig. 5: the free response of the wings"
    flight = simulate(wings, kick(wings), seed=seed)
    found = identify_modes(flight, wings)
    truth = ((0.2298, 0.0072), (0.680, 0.0214))
    rows = []
    for n, ((frequency, damping), paper) in enumerate(
        zip(truth, PUBLISHED["wings"], strict=True), start=1
    ):
        seen = _nearest(found.modes, frequency)
        rows += [
            Row(table, f"frequency {n}", "Hz", paper, seen.frequency,
                _within(seen.frequency, frequency, 0.01),
                "maximum likelihood; 0.05 N m and 1e-4 rad/s of noise"),
            Row(table, f"damping ratio {n}", "-", None, seen.damping,
                "not published" if abs(seen.damping / damping - 1.0) < 0.15 else "missed",
                f"the model's: {damping:g}"),
        ]  # fmt: skip
    peaks = found.spectrum.peaks()
    harmonics = [mode for mode in found.others if mode.kind == "harmonic"]
    rows += [
        Row(table, "highest peak of the spectrum", "Hz", PUBLISHED["wings"][0],
            peaks[0].frequency, _within(peaks[0].frequency, 0.2298, 0.01), "between bins"),
        Row(table, "twice the first frequency, seen and flagged", "Hz", None,
            harmonics[0].frequency if harmonics else float("nan"),
            "not published" if harmonics else "missed",
            "a harmonic of a wide swing: it decays twice as fast, and is no mode"),
    ]  # fmt: skip
    return rows + _motion_rows(wings, seed=seed)


def _nearest(modes: tuple[SeenMode, ...], frequency: float) -> SeenMode:
    return min(modes, key=lambda mode: abs(mode.frequency - frequency))


def _within(value: float, expected: float, part: float) -> Status:
    return "reproduced" if abs(value / expected - 1.0) < part else "missed"


def _motion_rows(wings: Model, *, seed: int) -> list[Row]:
    """Fig. 5 B and C: how much of a motion lies in the flexible bands."""
    table = "Fig. 5: what motions excite"
    rows = []
    for words, plan in (
        ("kick", kick(wings)),
        ("slow motion for rigid bodies", slow_motion(wings)),
    ):
        flight = simulate(rigid(wings), plan, seed=seed).truth
        assert flight is not None
        rows.append(Row(table, f"share of base acceleration in the bands, {words}", "%", None,
                        100.0 * band_share(flight), "not published",
                        "0.1 to 0.8 Hz, of the power of the rigid base's rate"))  # fmt: skip
    return rows


def band_share(flight: Telemetry) -> float:
    """The share of the power of the base's rate between 0.1 and 0.8 Hz."""
    found = spectrum(flight, "base.rate.*", segment=0.9 * flight.duration)
    power = found.density.sum(axis=0)
    inside = (found.frequency > 0.1) & (found.frequency < 0.8)
    return float(power[inside].sum() / power[found.frequency > 0.0].sum())


def rank_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """How many of the parameters can be found at all."""
    wings = load_model("servicer-wings") if model is None else model
    slosh = load_model("servicer-slosh")
    table = "Identifiability"
    springs = ("hinge_*.stiffness", "hinge_*.damping")
    fuel = ("tank_?.stiffness", "tank_?.damping")
    cases = (
        ("wings, all inertial parameters, k and d", wings, ("bus.*", "panel_*", *springs), 46),
        ("wings, bus, m c, hinge inertia, k and d", wings,
         ("bus.*", "panel_*.my", "panel_*.ixx", *springs), 26),
        ("slosh, bus, m, l, k and d", slosh, ("bus.*", "tank.mass", "tank.length", *fuel), 16),
    )  # fmt: skip
    rows = []
    for words, own, names, expected in cases:
        wanted = Parameters(own).free(*names)
        seen = identifiability(own, wanted, plan=splines(own, **EXCITATION))
        n = len(wanted.free_ones)
        status: Status = "not published"
        if seen.rank != expected:
            status = "missed"
        rows.append(Row(table, f"rank: {words}", "-", None, float(seen.rank), status,
                        f"of {n} parameters; gyro, encoders and joint torques"))  # fmt: skip
    return rows
