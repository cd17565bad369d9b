"""Recordings with every fault at once, at random places, and what was done to them.

`python tests/recording_faults.py` prints the figures of promise T4 over many seeds, with `clean`
those of sound recordings, with `answers` those of what is identified.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.model import Sensor
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.diagnosis import Diagnosis, Finding
from freefloat.telemetry.doctor import examine, repair
from freefloat.telemetry.telemetry import Telemetry

RATE = 50.0  # [Hz]
DURATION = 30.0  # [s]
NOISE = {
    "gyro": 1e-4, "attitude": 5e-5, "position": 1e-3, "velocity": 1e-3, "encoder": 2e-5,
    "joint_rate": 2e-4, "joint_torque": 1e-2,
}  # fmt: skip
OF_BODY = ("gyro", "attitude", "position", "velocity")
ENCODER_STEP = 1e-4  # [rad]
MODELS = ("spatial-capture", "servicer", "dual-arm", "planar-capture", "cepheus")
SMALLEST = 8.0  # [standard deviations] of the outliers that must be found


@dataclass(frozen=True)
class Faults:
    """What was done to a recording; times as they are stamped in it [s]."""

    delay: float
    clock_step: float
    clock_at: float
    stuck: tuple[str, float, float]
    burst: tuple[str, float, float]
    fill: tuple[str, float]
    gap: tuple[str, float, float]
    outliers: dict[str, np.ndarray]  # by channel, the samples


def sensors_of(model: ff.Model, *, delay: float = 0.0, step: float = 0.0) -> tuple[Sensor, ...]:
    """Sensors of every kind; the gyro is late, the encoders are coarse."""
    sensors = []
    for kind, noise in NOISE.items():
        on = model.root.body if kind in OF_BODY else "*"
        sensor = Sensor(kind, on, RATE, noise=noise)  # type: ignore[arg-type]
        if kind == "gyro":
            sensor = replace(sensor, delay=delay, bias=(3e-4, -2e-4, 1e-4) if delay else ())
        if kind == "encoder":
            sensor = replace(sensor, quantisation=step)
        sensors.append(sensor)
    return (*sensors, *((Sensor("thruster", "*", RATE),) if model.thrusters else ()))


def flight(name: str, seed: int, *, delay: float = 0.0, step: float = 0.0) -> Telemetry:
    """A simulated flight with thrust, where there are thrusters."""
    model = ff.load_model(name)
    plan = ff.default_plan(model, duration=DURATION, seed=seed)
    plan = replace(plan, start=ff.Start(rate=(0.0, 0.0, 0.02)))
    if model.thrusters:
        thrusts = {model.thrusters[0].name: Pulses(((4.0, 3.0, 2.0), (15.0, 1.0, 2.0)))}
        plan = replace(plan, thrusts=thrusts)
    made = ff.simulate(model, plan, seed=seed, sensors=sensors_of(model, delay=delay, step=step))
    return made.with_truth(None)


def faulty_flight(name: str, seed: int) -> tuple[Telemetry, Faults]:
    """A flight with every fault at once."""
    rng = np.random.default_rng([seed, 16])
    delay = 1e-3 * int(rng.integers(3, 26))
    clean = flight(name, seed, delay=delay, step=ENCODER_STEP)
    channels = {
        # the file states the white noise only: rounding is for the doctor to find
        n: c.with_noise(NOISE["encoder"]) if n.endswith(".position") and c.unit == "rad" else c
        for n, c in clean.channels.items()
    }
    values = {n: c.values.copy() for n, c in channels.items()}
    keep = {n: np.ones(c.n_samples, dtype=bool) for n, c in channels.items()}
    smooth = [n for n in channels if not n.endswith((".force", ".torque"))]
    joints = [n for n in smooth if n.endswith(".position") and channels[n].unit == "rad"]
    stuck = _stick(rng, joints, channels, values)
    lone = [n for n in smooth if n != stuck[0] and "attitude" not in n]
    burst_in, fill_in, gap_in, *others = rng.permutation(lone).tolist()
    burst = _burst(rng, burst_in, channels, values)
    fill = _fill(rng, fill_in, channels, values)
    outliers = {n: _outliers(rng, n, channels[n], values[n]) for n in others}
    gap = _gap(rng, gap_in, channels, keep)
    at, by = rng.uniform(8.0, 22.0), rng.choice([-1.0, 1.0]) * rng.uniform(0.05, 0.6)
    made = []
    for n, c in channels.items():
        time = np.where(c.time > at, c.time + by, c.time)
        made.append(Channel(n, c.unit, time[keep[n]], values[n][keep[n]], None, c.noise))
    faulty = Telemetry.of(made, clean.metadata)

    def stamp(t: float) -> float:
        return t + by if t > at else t

    return faulty, Faults(
        delay, by, at, (stuck[0], stamp(stuck[1]), stamp(stuck[2])),
        (burst[0], stamp(burst[1]), stamp(burst[2])), fill, (gap[0], stamp(gap[1]), stamp(gap[2])),
        {n: np.array([stamp(t) for t in channels[n].time[k]]) for n, k in outliers.items()},
    )  # fmt: skip


def _stick(rng, joints, channels, values) -> tuple[str, float, float]:
    """An encoder that stays where it is while its joint moves."""
    ways = {n: np.ptp(values[n]) for n in joints}
    moving = [n for n in joints if ways[n] > 0.2 * max(ways.values())]
    name = str(rng.choice(moving))
    time, n = channels[name].time, int(rng.uniform(0.3, 1.5) * RATE)
    for _ in range(1000):
        first = int(rng.integers(50, len(time) - 50 - n))
        went = abs(values[name][first + n + 1] - values[name][first])
        if went > 20.0 * ENCODER_STEP:
            break
    values[name][first : first + n] = values[name][first]
    return name, float(time[first + 1]), float(time[first + n - 1])


def _burst(rng, name, channels, values) -> tuple[str, float, float]:
    time, n = channels[name].time, int(rng.integers(5, 13))
    first = int(rng.integers(50, len(time) - 50 - n))
    sign = rng.choice([-1.0, 1.0], size=n)
    values[name][first : first + n] += sign * _sigma(name, channels) * rng.uniform(30, 90, size=n)
    return name, float(time[first]), float(time[first + n - 1])


def _fill(rng, name, channels, values) -> tuple[str, float]:
    where = 20 + 5 * rng.choice(len(channels[name].time) // 5 - 10, size=6, replace=False)
    values[name][where] = -999.0
    return name, -999.0


def _outliers(rng, name, channel, values) -> np.ndarray:
    """Lone samples that are off by 8 standard deviations and more."""
    n = max(1, int(0.004 * len(values)))
    where = 10 + 9 * rng.choice((len(values) - 20) // 9, size=n, replace=False)
    size = _sigma(name, {name: channel}) * rng.uniform(SMALLEST, 50.0, size=n)
    values[where] += rng.choice([-1.0, 1.0], size=n) * size
    return np.sort(where)


def _gap(rng, name, channels, keep) -> tuple[str, float, float]:
    time, n = channels[name].time, int(rng.uniform(0.2, 0.5) * RATE)
    first = int(rng.integers(50, len(time) - 50 - n))
    keep[name][first : first + n] = False
    return name, float(time[first - 1]), float(time[first + n])


def _sigma(name, channels) -> float:
    """The noise of a sample, rounding included [unit]."""
    noise = channels[name].noise or 1e-3
    is_coarse = name.endswith(".position") and channels[name].unit == "rad"
    return float(np.hypot(noise, ENCODER_STEP / np.sqrt(12.0) if is_coarse else 0.0))


# -- how well they are found -----------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """How well the faults of one recording were found: errors [s], shares [1], NaN if missed."""

    delay: float
    clock_step: float
    stuck: float
    found_outliers: int
    n_outliers: int
    false_outliers: int
    burst: bool
    fill: bool
    bias: bool
    quantised: float
    is_idempotent: bool


def score(faulty: Telemetry, faults: Faults) -> Score:
    """Examine and repair a faulty recording, and compare with what was done to it."""
    found = examine(faulty)
    better = repair(faulty, found)
    delays = [
        f.size for f in found.findings if f.code == "recording.delay" and _has(f, "base.rate")
    ]
    steps = [f.size for f in found.findings if f.code == "recording.clock_step"]
    n_found, n_false = _count(faulty, better, faults)
    again = repair(better, examine(better))
    coarse = [f.size for f in found.findings if f.code == "recording.quantised"]
    return Score(
        delay=abs(sum(delays) - faults.delay) if delays else np.nan,
        clock_step=abs(sum(steps) - faults.clock_step) if steps else np.nan,
        stuck=_stuck_error(found, faults),
        found_outliers=n_found,
        n_outliers=sum(len(k) for k in faults.outliers.values()),
        false_outliers=n_false,
        burst=_is_burst_found(found, faults),
        fill=any(_is(f, "fill_value", faults.fill[0]) for f in found.findings),
        bias=any(f.code == "recording.bias" and _has(f, "base.rate") for f in found.findings),
        quantised=max((abs(step / ENCODER_STEP - 1.0) for step in coarse), default=np.nan),
        is_idempotent=again == better,
    )


def _has(finding: Finding, stem: str) -> bool:
    return any(name.startswith(stem) for name in finding.channels)


def _is(finding: Finding, code: str, name: str) -> bool:
    return finding.code == f"recording.{code}" and name in finding.channels


def _stuck_error(found: Diagnosis, faults: Faults) -> float:
    name, start, end = faults.stuck
    errors = [
        max(abs(f.start - start), abs(f.end - end)) for f in found.findings if _is(f, "stuck", name)
    ]
    return min(errors, default=np.nan)


def _is_burst_found(found: Diagnosis, faults: Faults) -> bool:
    name, start, end = faults.burst
    return any(_is(f, "burst", name) and f.start <= end and f.end >= start for f in found.findings)


def _count(faulty: Telemetry, better: Telemetry, faults: Faults) -> tuple[int, int]:
    """Outliers masked, and sound samples masked in channels that have outliers only."""
    found, false = 0, 0
    for name, instants in faults.outliers.items():
        masked = faulty[name].valid & ~better[name].valid
        is_outlier = np.zeros(len(masked), dtype=bool)
        for t in instants:
            is_outlier[int(np.argmin(np.abs(faulty[name].time - t)))] = True
        found += int(np.sum(masked & is_outlier))
        false += int(np.sum(masked & ~is_outlier))
    return found, false


def scores(seeds: range) -> Iterator[tuple[str, int, Score]]:
    """One flight a seed, by each model in turn."""
    for seed in seeds:
        name = MODELS[seed % len(MODELS)]
        yield name, seed, score(*faulty_flight(name, seed))


def false_alarms(seeds: range) -> Iterator[tuple[str, int, str, Diagnosis]]:
    """Sound flights of every built-in model, by its own sensors and by all kinds."""
    for seed in seeds:
        for entry in ff.builtin_models():
            model = ff.load_model(entry.name)
            plan = ff.default_plan(model, duration=15.0, seed=seed)
            own = ff.simulate(model, plan, seed=seed).with_truth(None)
            yield entry.name, seed, "own", examine(own, model)
            yield entry.name, seed, "all", examine(flight(entry.name, seed))


def print_false_alarms(n: int) -> None:
    """How many sound recordings are changed or called faulty."""
    total, wrong = 0, 0
    for name, seed, suite, found in false_alarms(range(1000, 1000 + n)):
        total += 1
        is_wrong = bool(found.channels) or not found.ok
        wrong += is_wrong
        if is_wrong:
            print(name, seed, suite, found, flush=True)
    print(f"T4 false alarms: {wrong} of {total} sound recordings (2 %)")


def print_scores(n: int) -> None:
    """How well faults are found."""
    rows = []
    for name, seed, one in scores(range(n)):
        print(name, seed, one, flush=True)
        rows.append(one)
    share = sum(r.found_outliers for r in rows) / sum(r.n_outliers for r in rows)
    print(f"T4 delay: worst error {1e3 * max(r.delay for r in rows):.3f} ms (1 ms)")
    print(f"T4 clock step: worst error {1e3 * max(r.clock_step for r in rows):.3f} ms (10 ms)")
    print(f"T4 stuck: worst error {1e3 * max(r.stuck for r in rows):.3f} ms (50 ms)")
    print(f"T4 outliers above {SMALLEST:g} sigma found: {100 * share:.2f} % (95 %)")
    print(f"T4 sound samples masked: {sum(r.false_outliers for r in rows)}")
    for what in ("burst", "fill", "bias", "is_idempotent"):
        print(f"T4 {what}: {sum(getattr(r, what) for r in rows)} of {len(rows)}")


def print_answers(n: int) -> None:
    """How much worse the answer from a faulty recording is, and whether its intervals hold."""
    rows = []
    for seed in range(FIRST_ANSWER, FIRST_ANSWER + n):
        rows.append(answer(seed))
        print(seed, rows[-1].grade, rows[-1].errors.round(2), flush=True)
    told = Answers(rows)
    print(f"T4 errors over the clean recording's deviations: rms {told.ratio:.2f} (1.5)")
    print(f"T4 the same of the clean recording itself: rms {_rms(told.clean):.2f} (1)")
    within, sound = told.coverage, float(np.mean(np.abs(told.clean) < NORMAL_95))
    print(f"T4 coverage of 95 % intervals: {100 * within:.1f} % of {told.errors.size} (95 +- 3 %)")
    print(f"T4 coverage from the clean recordings: {100 * sound:.1f} %")
    trusted = sum(row.grade == "trusted" for row in rows)
    print(f"T4 trusted: {trusted} of {len(rows)} recordings, the faults repaired")


ASKED = ("bus.mass", "bus.izz", "target.mass")
FIRST_ANSWER = 3000  # seeds before it chose something
NORMAL_95 = 1.96


@dataclass(frozen=True)
class Answer:
    """Errors of one identification, of all that was asked: over its own deviations, over those of
    the clean recording, and of the clean recording over these."""

    errors: np.ndarray
    ratios: np.ndarray
    clean: np.ndarray
    grade: str


class Answers:
    """The same of many."""

    def __init__(self, rows: list[Answer]) -> None:
        self.errors = np.array([row.errors for row in rows])
        self.ratio = _rms(np.array([row.ratios for row in rows]))
        self.clean = np.array([row.clean for row in rows])
        self.coverage = float(np.mean(np.abs(self.errors) < NORMAL_95))


def answer(seed: int) -> Answer:
    """What a user is told of a capture recorded with and without faults."""
    model = ff.load_model("planar-capture")
    wanted = ff.Parameters(model).free(*ASKED)
    clean = ff.identify(model, wanted, flight(model.name, seed))
    faulty = ff.identify(model, wanted, faulty_flight(model.name, seed)[0])

    def off(fit: ff.Fit, scale: ff.Fit) -> np.ndarray:
        return np.array([(fit[n].value - fit[n].prior) / scale[n].std for n in ASKED])

    assert faulty.assessment is not None
    return Answer(
        off(faulty, faulty), off(faulty, clean), off(clean, clean), faulty.assessment.grade
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def main() -> None:
    """Print the figures of T4: faults found; with `clean` in sound recordings; or `answers`."""
    words = sys.argv[1:]
    n = next((int(word) for word in words if word.isdigit()), 20)
    kinds = {"clean": print_false_alarms, "answers": print_answers}
    next((kinds[word] for word in words if word in kinds), print_scores)(n)


if __name__ == "__main__":
    main()
