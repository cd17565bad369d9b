"""The live Kalman filter: finds wings and fuel, no surer than it may be, on any stream."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from estimator import identify
from plan_samples import shaking
from scipy.stats import chi2

import freefloat as ff
from freefloat.dynamics.sensitivity import Sensitivity
from freefloat.model import Sensor
from freefloat.model.rotations import (
    conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.online.filter_options import FilterOptions, KalmanOptions
from freefloat.online.kalman_filter import KalmanFilter
from freefloat.online.kalman_memory import KalmanMemory, copy_of
from freefloat.online.kalman_recursion import KalmanRecursion
from freefloat.online.kernels.kalman_tables import ATTITUDE, DRIVEN, TIME
from freefloat.online.kernels.kalman_tables import FREE as FREE_COORDINATE
from freefloat.online.momentum_filter import MomentumFilter
from freefloat.parameters.write_back import with_parameters

WINGS, SLOSH = "servicer-wings", "servicer-slosh"
FREE = {
    WINGS: ("bus.*", "hinge_*.stiffness"),
    SLOSH: ("bus.*", "tank.mass", "tank_1.stiffness", "tank_2.stiffness"),
}


@cache
def flown_with_noise(name: str, duration: float, seed: int) -> ff.Telemetry:
    model = ff.load_model(name)
    return ff.simulate(model, shaking(model, duration), seed=seed, step=1e-2)


def wrong(name: str) -> ff.Model:
    """Springs a fifth too stiff, the bus and the fuel a fifth too light."""
    model = ff.load_model(name)
    wanted = ff.Parameters(model).free(*FREE[name]).free_ones
    factor = {True: 1.2, False: 0.8}
    return with_parameters(model, {p.name: factor["stiff" in p.name] * p.value for p in wanted})


def truth(name: str, names: tuple[str, ...]) -> np.ndarray:
    value = {p.name: p.value for p in ff.Parameters(ff.load_model(name))}
    return np.array([value[n] for n in names])


def tracker(name: str, flight: ff.Telemetry, *free: str, **options: object) -> ff.OnlineEstimator:
    start = wrong(name)
    parameters = ff.Parameters(start).free(*(free or FREE[name]))
    found = ff.OnlineEstimator(start, parameters, like=flight, **options)  # type: ignore[arg-type]
    assert isinstance(found.filter, KalmanFilter)
    return found


def few(flight: ff.Telemetry, **options: object) -> ff.OnlineEstimator:
    """A quick one: two springs, everything else known."""
    model = ff.load_model(WINGS)
    start = with_parameters(model, {f"hinge_{k}.stiffness": 240.0 for k in ("l1", "r1")})
    parameters = ff.Parameters(start).free("hinge_l1.stiffness", "hinge_r1.stiffness")
    found = ff.OnlineEstimator(start, parameters, like=flight, **options)  # type: ignore[arg-type]
    assert isinstance(found.filter, KalmanFilter)
    return found


def window(seconds: float) -> FilterOptions:
    """The first seconds to be solved at once."""
    return FilterOptions(kalman=KalmanOptions(start_window=seconds))


def recursion_of(tracker: ff.OnlineEstimator) -> KalmanRecursion:
    assert isinstance(tracker.filter, KalmanFilter)
    return tracker.filter.recursion


def surprise(name: str, seed: int, duration: float) -> tuple[float, int, ff.Telemetry, object]:
    flight = flown_with_noise(name, duration, seed)
    e = tracker(name, flight).run(flight)
    z = e.values - truth(name, e.names)
    return float(z @ np.linalg.solve(e.spread, z)), len(z), flight, e  # type: ignore[attr-defined]


@pytest.mark.promise("O4")
def test_wings_are_found_from_afar_and_as_in_batch(figure):
    nees, n, flight, e = surprise(WINGS, 1, 10.0)
    springs = [k for k, x in enumerate(e.names) if x.endswith("stiffness")]
    apart = np.abs(e.values[springs] / truth(WINGS, e.names)[springs] - 1.0)
    fit = identify(wrong(WINGS), ff.Parameters(wrong(WINGS)).free(*FREE[WINGS]), flight)
    off = np.array([(e[x][0] - fit[x].value) / np.hypot(e[x][1], fit[x].std) for x in e.names])
    figure("O4", f"wings: {np.mean(np.abs(off) < 1):.0%} within 1 sigma of batch, worst"
                 f" {np.max(np.abs(off)):.2f}; stiffness within {apart.max():.2%}")  # fmt: skip
    assert np.max(apart) < 0.02  # they start 20 % off
    assert np.max(np.abs(off)) < 2.0
    assert nees < chi2.ppf(0.999, n)


@pytest.mark.full
@pytest.mark.promise("O1")
@pytest.mark.parametrize("name", [WINGS, SLOSH])
def test_errors_are_as_large_as_they_should_be(figure, name):
    found = [surprise(name, seed, 15.0)[:2] for seed in range(8)]
    total, n = sum(f[0] for f in found), sum(f[1] for f in found)
    figure("O1", f"{name}: NEES {total / n:.2f} of a parameter, over {len(found)} flights")
    assert chi2.ppf(1e-4, n) < total < 1.5 * chi2.ppf(1.0 - 1e-4, n)


def test_noise_of_open_valves_is_felt_as_differences_say():
    model = ff.load_model("servicer")
    flight = ff.simulate(model, shaking(model, 0.1), seed=1, step=5e-3)
    wanted = ff.Parameters(model).free("hinge_*.stiffness")
    t = ff.OnlineEstimator(model, wanted, like=flight, options=window(0.0))
    assert isinstance(t.filter, KalmanFilter)
    t.run(flight)
    f, h, k = recursion_of(t), 0.02, 3
    before, n = copy_of(f.memory), f.layout.n_states
    assert not before.push.any()  # closed valves read noise, which pushes nobody
    assert f.settings.thrust[k] == 0.02

    def ahead(push: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        put_back(f, before)
        f.memory.push[:], f.memory.root[:] = push, 1e-9 * np.eye(f.layout.n_all)
        f.move_to(float(before.numbers[TIME]) + h)
        return f.memory.x.copy(), f.memory.root[:n]

    assert np.max(np.abs(ahead(before.push)[1])) < 1e-7  # of the 1e-9, with springs in between
    one = np.eye(len(before.push))[k]
    felt = ahead(5.0 * one)[1].copy()
    moved = 0.5 * difference(f, ahead(5.02 * one)[0], ahead(4.98 * one)[0])
    # wings that swing back within the step are left out: (omega h)^2, less than a hundredth
    most = np.max(np.abs(moved)) ** 2
    assert np.max(np.abs(felt @ felt.T - np.outer(moved, moved))) < 0.02 * most


@pytest.mark.full
@pytest.mark.promise("O1")
def test_wheels_thrusters_and_a_target_beside_wings_and_fuel(figure):
    model = ff.load_model("servicer")
    flight = ff.simulate(model, shaking(model, 7.0), seed=1, step=5e-3)
    wanted = ("target.*", "hinge_*.stiffness")
    value = {p.name: p.value for p in ff.Parameters(model).free(*wanted).free_ones}
    far = {n: (1.2 if n.endswith("stiffness") else 0.8) * v for n, v in value.items()}
    start = with_parameters(model, far)
    parameters = ff.Parameters(start).free(*wanted)
    e = ff.OnlineEstimator(start, parameters, like=flight).run(flight)
    assert abs(e["target.mass"][0] / value["target.mass"] - 1.0) < 0.01  # from 20 % off
    assert all(abs(e[n][0] / v - 1.0) < 0.02 for n, v in value.items() if "stiff" in n)
    z = e.values - np.array([value[n] for n in e.names])
    nees = float(z @ np.linalg.solve(e.spread, z))  # type: ignore[attr-defined]
    figure("O1", f"servicer: NEES {nees / len(z):.2f} of a parameter")
    assert chi2.ppf(1e-3, len(z)) < nees < chi2.ppf(1.0 - 1e-3, len(z))


def difference(filter: KalmanRecursion, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    system = filter.home
    free, c = system.tree.free[system.tree.free >= 6] - 6, system.n_coordinates
    turn = rotation_vector_from_quaternion(quaternion_product(conjugate(y[3:7]), x[3:7]))
    d = x - y
    whole = np.concatenate([d[:3], turn, d[7:13], d[13 + free], d[13 + c + free]])
    return whole[filter.layout.rows]


def put_back(f: KalmanRecursion, before: KalmanMemory) -> None:
    for array, old in zip(f.memory, before, strict=True):
        array[...] = old


def test_slopes_are_those_of_differences():
    flight = flown_with_noise(WINGS, 6.0, 1)
    t = few(flight, options=window(0.0))
    for k, sample in enumerate(flight):
        t.update(sample)
        if k == 60:
            break
    f = recursion_of(t)
    before, n = copy_of(f.memory), f.layout.n_all
    f.readings.present[:], f.readings.blur[:] = 1, 1.0
    f.readings.measured[:] = 0.0

    def ahead(step: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        put_back(f, before)
        for array, moved in zip((f.memory.x, f.memory.joints, f.memory.values),
                                f._ends_of(step[None]), strict=True):  # fmt: skip
            array[:] = moved[0]
        f.look()
        f._compile()[2](1, True)
        C, left = f.algebra.C.copy(), f.algebra.left.copy()
        put_back(f, before)
        for array, moved in zip((f.memory.x, f.memory.joints, f.memory.values),
                                f._ends_of(step[None]), strict=True):  # fmt: skip
            array[:] = moved[0]
        f.move_to(float(f.memory.numbers[TIME]) + 0.02)
        return f.memory.x.copy(), f.algebra.transition.copy(), C, left

    _, F, C, _ = ahead(np.zeros(n))
    sizes = np.linalg.norm(before.root, axis=1)
    for k in range(n):
        step = 1e-4 * np.eye(n)[k]
        plus, minus = ahead(step), ahead(-step)
        moved = difference(f, plus[0], minus[0]) / 2e-4
        seen = -(plus[3] - minus[3]) / 2e-4
        # exact but for the joints, whose reaction is taken to be straight over a step: 1 % of it
        allowed = 1e-7 + (0.01 * np.max(np.abs(moved)) if k >= f.layout.joints.start else 0.0)
        assert np.max(np.abs(F[: f.layout.n_states, k] - moved)) < allowed
        # NUDGES are differences, too: a thousandth of the noise at the deviation there is
        assert np.max(np.abs(C[:, k] - seen)) * sizes[k] < 1e-3 + 1e-5 * sizes[k]


@pytest.mark.parametrize(
    ("name", "bodies"), [("servicer", ("link_5", "panel_r2")), ("cbk-arm", ())]
)
def test_kernels_read_as_the_models_of_sensors_do(name, bodies):
    model = ff.load_model(name)
    extra = [
        Sensor(kind, body, 10.0, noise=1e-3)
        for kind in ("gyro", "accelerometer", "position", "velocity")
        for body in bodies
    ]
    model = replace(model, sensors=(*model.sensors, *extra))
    flight = ff.simulate(model, ff.default_plan(model, duration=0.3, seed=1), seed=1)
    wanted = ff.Parameters(model).free(*(("*.stiffness",) if name == "servicer" else ("bus.mass",)))
    t = ff.OnlineEstimator(model, wanted, method="kalman", like=flight, options=window(0.0))
    t.run(flight)
    f = recursion_of(t)
    found, m, kind = f.readings, f.memory, f.rows.table.kind
    found.present[:], found.measured[:] = 1, 0.0
    f.look()
    mine = {part: getattr(found, part).copy() for part in ("value", "own", "by_joints")}
    places = np.flatnonzero((kind != DRIVEN) & (kind != ATTITUDE)).tolist()
    assert name != "servicer" or len({*kind.tolist()} - {FREE_COORDINATE}) >= 7
    tables, free = f.mechanics, [f.home.coordinates[c] for c in f.table.free]
    tangent = Sensitivity(
        f.layout.names, tables.states[:1], tables.tangents[:1], tables.efforts[:1], tuple(free)
    )
    f.rows.read_into(found, places, f.system, tangent, float(m.numbers[TIME]), x=m.x,
                     joints=m.joints, push=m.push)  # fmt: skip
    rows = np.concatenate([np.arange(f.rows.rows[k].start, f.rows.rows[k].stop) for k in places])
    # rounding, of differences by the smallest nudge for the last
    for part, rounding in (("own", 1e-10), ("by_joints", 1e-6)):
        other = getattr(found, part)[rows]
        assert np.max(np.abs(mine[part][rows] - other)) < rounding * max(np.max(np.abs(other)), 1.0)
    value = found.value[0, rows]
    assert np.max(np.abs(mine["value"][0, rows] - value)) < 1e-11 * max(np.max(np.abs(value)), 1.0)


def bad_stream(flight):
    """The estimator after a stream of that flight with all that can be wrong; how many samples."""
    rng = np.random.default_rng(0)
    t, n = few(flight, options=window(3.0), reorder=2), 0
    for sample in flight:
        values = dict(sample.values)
        chance = rng.random()
        if chance < 0.1:
            continue
        if chance < 0.15:
            values = dict.fromkeys(values, float("nan"))
        elif chance < 0.2:
            values.pop("arm_3.torque")
        elif chance < 0.23 and sample.time > 3.5:
            values["base.rate.x"] += 1.0
            values["arm_2.position"] += 0.1
        t.update({"time": sample.time, "values": values})
        n += 1
        if chance > 0.95:
            t.update({"time": sample.time, "values": values})
            n += 1
    for odd in (None, 3, {}, {"time": 6.0}, {"time": 1e9, "base.rate.x": 0.0}):
        t.update(odd)  # type: ignore[arg-type]
        n += 1
    return t, n


@pytest.mark.promise("O2")
def test_a_bad_stream_is_survived(figure):
    apart = []
    for seed in (2, 3, 4):  # of one flight alone the numbers scatter by as much as they are
        flight = flown_with_noise(WINGS, 6.0, seed)
        clean = few(flight, options=window(3.0)).run(flight)
        t, n = bad_stream(flight)
        e = t.finish()
        assert e.health.n_samples == n  # every sample is accounted for
        assert e.health.counts["unusable"] and e.health.counts["duplicate"]
        assert t.filter.outliers["base.rate"] and t.filter.outliers["arm_2.position"]
        assert np.all(np.linalg.eigvalsh(e.covariance) > 0.0)
        apart.append((e.values - clean.values) / e.std)
    rms = np.sqrt(np.mean(np.square(apart)))
    figure("O2", f"wings: {rms:.2f} sigma from the clean stream, rms of three flights")
    assert rms < 2.0


@pytest.mark.promise("O5")
def test_saved_and_restored_it_goes_on_bit_for_bit(tmp_path):
    flight = flown_with_noise(WINGS, 6.0, 1).between(0.0, 3.2)
    one, others = few(flight, options=window(2.5)), []
    for k, sample in enumerate(flight):
        if k in (50, 140):  # before and after the first seconds are solved
            one.save(tmp_path / "state")
            others.append(few(flight, options=window(2.5)))
            others[-1].restore(tmp_path / "state")
        for each in (one, *others):
            each.update(sample)
    assert one.filter.memory.counts[0] and len(others) == 2
    for other in others:
        assert one.counts == other.counts
        for a, b in zip(one.filter.memory, other.filter.memory, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize(("name", "free"), [("planar-capture", "bus.mass"),
                                            ("spatial-capture", "bias.base.rate.x")])  # fmt: skip
def test_rigid_robots_are_refused(name, free):
    """Its covariance of these is too small: NEES of 7 to 7000 a parameter."""
    model = ff.load_model(name)
    with pytest.raises(ff.FreefloatError) as caught:
        ff.OnlineEstimator(model, ff.Parameters(model).free(free), method="kalman")
    assert caught.value.codes == ("filter.rigid_model",)


def test_it_is_chosen_where_something_swings_unmeasured():
    model = ff.load_model("planar-capture")
    plain = ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass"))
    assert isinstance(plain.filter, MomentumFilter)
    wings = ff.load_model(WINGS)
    told = ff.OnlineEstimator(wings, ff.Parameters(wings).free("bus.mass", "bias.base.rate.x"))
    assert isinstance(told.filter, KalmanFilter)
    assert told.update({"time": 0.0}).outcome == "incomplete"
    assert set(told.estimate.statuses) == {"not seen"}


def unpushed(seed: int, duration: float) -> tuple[ff.Telemetry, ff.OnlineEstimator]:
    model = ff.load_model(WINGS)
    flight = ff.simulate(model, ff.default_plan(model), seed=seed).between(0.0, duration)
    made = ff.OnlineEstimator(model, ff.Parameters(model).free("bus.*"), like=flight)
    assert isinstance(made.filter, KalmanFilter)
    return flight, made


def test_without_thrust_it_waits_until_slopes_are_good_enough():
    """After 6 s the mass is known to 30 %: going on from there, it is sure of wrong ones."""
    flight, t = unpushed(1, 8.0)
    for sample in flight:
        e = t.update(sample)
    assert t.filter.window.samples is not None and t.filter.window.seconds == 12.0
    assert set(e.statuses) == {"not seen"}
    assert e.health.codes == ("observable.none.starting",)


@pytest.mark.full
def test_without_thrust_it_is_not_too_sure():
    z = []
    for seed in (1, 2, 3):
        flight, t = unpushed(seed, 30.0)
        e = t.run(flight)
        assert t.filter.window.samples is None
        z += ((e.values - truth(WINGS, e.names)) / e.std).tolist()
    # thirty errors, but one scale each: begun after 6 s it was 3.3, honest ones stay below 1.6
    assert np.sqrt(np.mean(np.square(z))) < 1.6


def test_springs_are_waited_for_and_a_short_flight_is_solved_at_its_end():
    """Six seconds do not show these springs; a filter that begins there is sure of wrong ones."""
    model = ff.load_model("servicer-wings")
    flight = ff.simulate(model, ff.default_plan(model), seed=14).between(0.0, 10.0)
    parameters = ff.Parameters(model).free("hinge_*.stiffness", "bus.mass")
    tracker = ff.OnlineEstimator(model, parameters, like=flight)
    for sample in flight:
        tracker.update(sample)
    assert tracker.filter.window.samples is not None  # still kept
    estimate = tracker.finish()
    truth = np.array([p.value for p in parameters.free_ones])
    assert np.all(np.abs(estimate.values - truth) < 4.0 * np.sqrt(np.diag(estimate.spread)))  # type: ignore[attr-defined]
