"""Paper 000's model, checked: modes, slosh frequency, printed equations, spectra, and ranks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.modes import modes
from freefloat.dynamics.tree import flatten
from freefloat.excitation.motions import Moves
from freefloat.excitation.plan import Plan
from freefloat.identification.modes.modal import SeenMode, identify_modes
from freefloat.identification.modes.power_spectrum import spectrum
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.observability.identifiability import identifiability
from freefloat.papers.paper_000.published import BOUNDS, EXCITATION, PUBLISHED
from freefloat.papers.paper_000.tables import splines
from freefloat.papers.paper_rows import Row, Status, near_status, printed_row, within
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

# format: protocol, [rad] of the joints parallel to the hinges: "close to a dirac impulse"
KICK = 0.1


def mode_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """The modes of the winged servicer, and how the arm's posture moves the first it shows."""
    wings = load_model("servicer-wings") if model is None else model
    table, own = "Modes of the flexible model", modes(wings)
    rows = [
        within(table, "mode 1, wings together", "Hz", own[0].frequency, between=BOUNDS["mode 1"],
               note="turns nothing, so the gyro does not see it"),
        printed_row(table, "mode 2, wings against each other", "Hz", PUBLISHED["wings"][0],
                own[1].frequency, digits=2),
        within(table, "mode 3, outer panels together", "Hz", own[2].frequency,
               between=BOUNDS["mode 3"]),
        printed_row(table, "mode 4, outer panels against each other", "Hz", PUBLISHED["wings"][1],
                own[3].frequency, digits=2),
    ]  # fmt: skip
    rows += [
        Row(table, f"damping ratio of mode {k}", "-", None, mode.damping, "not published")
        for k, mode in enumerate(own, start=1)
    ]
    seen = _over_postures(wings, n=40 if quick else 400, seed=seed)
    return [
        *rows,
        within(table, "mode 2, lowest over postures", "Hz", min(seen),
               between=BOUNDS["lowest .230"],
               note="a frequency without the posture it belongs to says little"),
        within(table, "mode 2, highest over postures", "Hz", max(seen),
               between=BOUNDS["highest .230"]),
    ]  # fmt: skip


def _over_postures(model: Model, *, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    arm = [joint.name for joint in model.joints if joint.role == "motion"]
    found = []
    for _ in range(n):
        posture = dict(zip(arm, rng.uniform(-1.6, 1.6, len(arm)).tolist(), strict=True))
        found.append(modes(model, posture=posture)[1].frequency)
    stretched, folded = dict.fromkeys(arm, 0.0), dict.fromkeys(arm, 0.0)
    folded["arm_4"] = 2.8
    return found + [modes(model, posture=p)[1].frequency for p in (stretched, folded)]


def slosh_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """0.06 Hz of slosh cannot come from Table I."""
    slosh = load_model("servicer-slosh") if model is None else model
    table, own = "Slosh frequency from Table I", modes(slosh)
    mass, length, stiffness = PUBLISHED["pendulum"]
    fixed = float(np.sqrt(stiffness / (mass * length**2)) / (2.0 * np.pi))
    paper, rows = PUBLISHED["slosh"], []
    for words, key, ours, note in (
        ("eq. 16, base fixed", "eq. 16", fixed, "a free base makes it faster still: no 0.06 Hz"),
        ("free-floating, first", "slosh 1", own[0].frequency, ""),
        ("free-floating, second", "slosh 2", own[1].frequency, ""),
    ):
        status = "paper wrong" if BOUNDS[key][0] < ours < BOUNDS[key][1] else "missed"
        rows.append(Row(table, words, "Hz", paper, ours, status, note))
    cases = (
        ("stiffness", "N m/rad", "needed k", stiffness),
        ("length", "m", "needed l", length),
        ("mass", "kg", "needed m", mass),
    )
    for field, unit, key, value_in_table in cases:
        value = _solve_for(slosh, field, paper)
        rows.append(
            within(table, f"{field} that would give 0.06 Hz", unit, value, between=BOUNDS[key],
                   note=f"Table I has {value_in_table:g}")
        )  # fmt: skip
    return rows


def _solve_for(model: Model, field: str, goal: float) -> float:
    """The value of one field of the tank with which the first mode has the frequency `goal`."""
    from scipy.optimize import brentq

    tank = model.tanks[0]
    now = tank.stiffness[0] if field == "stiffness" else getattr(tank, field)

    def miss(log_factor: float) -> float:
        value = now * float(np.exp(log_factor))
        new = (value, value) if field == "stiffness" else value
        changed = replace(model, tanks=(replace(tank, **{field: new}),))
        return modes(changed)[0].frequency - goal

    low, high = (-3.0, 0.0) if field == "stiffness" else (0.0, 2.5)
    root = brentq(miss, low, high)
    return float(now * np.exp(float(root)))  # type: ignore[arg-type]


def equation_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """What the printed equations do when taken at their word."""
    wings = load_model("servicer-wings") if model is None else model
    table = "Printed equations"
    plan = splines(wings, **EXCITATION)
    system = flatten(rigid(wings))
    flight = integrate(
        system, plan.start_state(system), plan.inputs(system),
        duration=EXCITATION["duration"], step=5e-3,
    )  # fmt: skip
    rate = flight.states[:, 10]  # about the hinges' axis
    stiffness = wings.joint("hinge_l1").stiffness
    signed, absolute = rate[-1] - rate[0], np.sum(np.abs(np.diff(rate)))
    return [
        within(table, "eq. 10's sum over that of absolute values", "-",
               float(abs(signed) / absolute), between=BOUNDS["eq. 10"], status="paper wrong",
               note="rest to rest the signed accelerations add up to nothing, whatever the motion"),
        Row(table, "force of a spring deflected by 1 rad, eqs 1 and 4", "N m/rad", None,
            -stiffness, "paper wrong" if stiffness > 0.0 else "missed",
            "K = -diag(k) on the left side of eq. 1 pushes away from rest"),
    ]  # fmt: skip


# -- paper 000's spectra: the modes read off the free response, and what a motion excites ----------


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
                near_status(seen.frequency, frequency, 0.01),
                "maximum likelihood; 0.05 N m and 1e-4 rad/s of noise"),
            Row(table, f"damping ratio {n}", "-", None, seen.damping,
                "not published" if abs(seen.damping / damping - 1.0) < 0.15 else "missed",
                f"the model's: {damping:g}"),
        ]  # fmt: skip
    peaks = found.spectrum.peaks()
    harmonics = [mode for mode in found.others if mode.kind == "harmonic"]
    rows += [
        Row(table, "highest peak of the spectrum", "Hz", PUBLISHED["wings"][0],
            peaks[0].frequency, near_status(peaks[0].frequency, 0.2298, 0.01), "between bins"),
        Row(table, "twice the first frequency, seen and flagged", "Hz", None,
            harmonics[0].frequency if harmonics else float("nan"),
            "not published" if harmonics else "missed",
            "a harmonic of a wide swing: it decays twice as fast, and is no mode"),
    ]  # fmt: skip
    return rows + _motion_rows(wings, seed=seed)


def _nearest(modes: tuple[SeenMode, ...], frequency: float) -> SeenMode:
    return min(modes, key=lambda mode: abs(mode.frequency - frequency))


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
