"""The live filter: honest, as good as batch, robust, restartable, and quick."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from estimator import identify
from exciting_plans import exciting_plan
from fault_codes import refused
from live_flights import clean_flight, damaged, noisy, steady_flight, truth, wanted
from scipy.stats import chi2

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.online.estimator import METHODS
from freefloat.online.filter_options import FilterOptions, KalmanOptions
from freefloat.online.health import OUTCOMES
from freefloat.online.kernels.codes import KERNEL_BITS, KernelOutcome
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.online.live_channels import noise_of_sensors
from freefloat.online.momentum_filter import OUTCOME_WORDS

PLANE, SPACE = "planar-capture", "spatial-capture"


def tracker(name: str, **options: object) -> ff.OnlineEstimator:
    return ff.OnlineEstimator(ff.load_model(name), wanted(name), **options)  # type: ignore[arg-type]


@pytest.mark.promise("O1")
def test_surprise_and_errors_are_as_large_as_they_should_be(figure):
    """NIS and NEES inside their 95 % bands at least 90 % of the time after convergence."""
    n, inside_nis, inside_nees, n_nis, n_nees = 12, 0, 0, 0, 0
    for seed in range(n):
        t = tracker(PLANE, like=noisy(PLANE, 0))
        for k, sample in enumerate(noisy(PLANE, seed)):
            e = t.update(sample)
            if k > 150:
                low, high = chi2.ppf([0.025, 0.975], e.dof)
                inside_nis += low < e.nis < high
                n_nis += 1
            if k > 150 and k % 50 == 0:
                z = e.values - truth(PLANE)
                low, high = chi2.ppf([0.025, 0.975], len(z))
                inside_nees += low < z @ np.linalg.solve(e.covariance, z) < high
                n_nees += 1
    nis, nees = inside_nis / n_nis, inside_nees / n_nees
    figure("O1", f"NIS inside {nis:.1%}, NEES inside {nees:.1%} of the time")
    assert nis > 0.9 and nees > 0.9


@pytest.mark.promise("O4")
@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        (PLANE, range(6)),
        (SPACE, (6, 22)),  # whose first samples lead an estimate astray that trusts them too soon
        pytest.param(SPACE, range(20), marks=pytest.mark.full),
    ],
)
def test_agrees_with_batch(figure, name, seeds):
    """Within one standard deviation of the batch answer for 95 of 100 parameters in the plane.

    In space for 90: there live finds the root's way with less noise than batch, and its deviations
    are down to 0.7 of batch's. With thrust that stays on, and with thrust that switches: both know
    the kinks it makes.
    """
    shares, worst = {}, {}
    for kind, flown in (("steady", steady_flight(name)), ("switching", clean_flight(name))):
        apart = []
        for seed in seeds:
            flight = noisy(name, seed, flown)
            follower = tracker(name, like=flight)
            live = follower.run(flight)
            assert not follower.events  # nothing changed, and nobody said so
            fit = identify(ff.load_model(name), wanted(name), flight, method="momentum",
                              physical=False)  # fmt: skip
            apart += [abs(live[n][0] - fit[n].value) / fit[n].std for n in live.names]
        shares[kind], worst[kind] = float(np.mean(np.array(apart) < 1.0)), max(apart)
    told = ", ".join(f"{k} thrust {shares[k]:.1%} (worst {worst[k]:.2f})" for k in shares)
    figure("O4", f"{name}, within 1 sigma: {told}")
    assert min(shares.values()) >= (0.95 if name == PLANE else 0.90)
    assert max(worst.values()) < 2.0  # and never another answer


@pytest.mark.promise("O2")
@pytest.mark.parametrize(("name", "n"), [(PLANE, 8), (SPACE, 2)])
def test_a_bad_stream_is_survived(figure, name, n):
    errors, clean, covered = [], [], []
    for seed in range(n):
        flight = noisy(name, seed)
        reference = tracker(name, like=flight).run(flight)
        t = tracker(name, like=flight, reorder=3)
        stream = damaged(flight, seed)
        for sample in stream:
            t.update(sample)
        e = t.finish()
        assert np.all(np.linalg.eigvalsh(e.covariance) > 0.0)
        assert e.health.n_samples == len(stream)  # every sample is accounted for
        assert e.health.counts["duplicate"] and e.health.counts["unusable"]
        assert e.health.counts["clock jump"] >= 1
        assert e.health.counts.get("gated", 0) + e.health.counts.get("spike", 0) >= 1
        clean.append((reference.values - truth(name)) / reference.std)
        errors.append((e.values - truth(name)) / reference.std)
        covered.append(np.abs(e.values - truth(name)) < 1.96 * e.std)
    ratio = np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(clean)))
    share = float(np.mean(covered))
    told = f"error {ratio:.2f} times that of the clean stream, 95 % intervals hold {share:.1%}"
    figure("O2", f"{name}, {n} streams: {told}")
    assert ratio <= 2.0
    # strongly correlated intervals; 85 % is what a stream here and there may cost, 95 % the aim
    assert share >= 0.85


def test_nothing_that_arrives_raises():
    t = tracker(PLANE)
    odd = [
        None, 3, "x", [], {}, {"time": "late"}, {"time": True}, {"time": 1.0, "base.angle": None},
        {"time": float("inf")}, {"time": 1.0, "values": 5}, {"time": 10**400},
    ]  # fmt: skip
    for thing in odd:
        e = t.update(thing)  # type: ignore[arg-type]
        assert e.outcome in ("unreadable", "incomplete")
    assert t.health.codes == ("samples.none_used",) and t.health.missing[0] == "base.rate.z"
    assert set(e.statuses) == {"not seen"} and np.all(np.isnan(e.std))


@pytest.mark.parametrize(
    ("options", "outcome"),
    [({}, "incomplete"), ({"gather": True}, "late")],
)
def test_an_integer_that_no_float_can_hold_is_no_reading(options, outcome):
    t = tracker(PLANE, **options)
    assert t.update({"time": 0.0, "base.rate.z": 10**400}).outcome == outcome


def test_nor_for_the_kalman_filter():
    model = ff.load_model("servicer-wings")
    t = ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass"))
    assert t.update({"time": 0.0, "base.rate.z": 10**400}).outcome == "unusable"


@pytest.mark.promise("O5")
def test_saved_and_restored_it_goes_on_bit_for_bit(tmp_path, figure):
    flight = noisy(SPACE, 3)
    samples = list(flight)
    for stop in (10, 300):  # before and after the first samples are taken again
        one, two = tracker(SPACE, like=flight, reorder=2), tracker(SPACE, like=flight, reorder=2)
        for sample in samples[:stop]:
            one.update(sample)
        one.save(tmp_path / "state")
        two.restore(tmp_path / "state")
        for sample in samples[stop:]:
            one.update(sample)
            two.update(sample)
        for a, b in zip(one.filter.memory, two.filter.memory, strict=True):
            assert np.array_equal(a, b, equal_nan=True)
        assert one.health == two.health
    figure("O5", "all arrays identical after stopping at sample 10 and at sample 300 of 601")


def test_a_state_of_another_problem_or_a_damaged_one_is_refused(tmp_path):
    one = tracker(PLANE)
    one.save(tmp_path / "state")
    with pytest.raises(IdentificationError) as error:
        tracker(SPACE).restore(tmp_path / "state")
    assert {fault.code for fault in error.value.faults} == {"state.problem"}
    assert "model" in {fault.place for fault in error.value.faults}
    (tmp_path / "bad").write_bytes((tmp_path / "state").read_bytes()[:500])
    with pytest.raises(IdentificationError) as error:
        one.restore(tmp_path / "bad")
    assert [fault.code for fault in error.value.faults] == ["file.damaged"]


def test_a_state_made_with_other_options_is_refused_and_they_are_named(tmp_path):
    own = FilterOptions(
        weigh_every=4,
        limits=KernelLimits(spike=7.0),
        kalman=KalmanOptions(joint_spread=(0.1, 1.0, 2.0, 20.0)),
    )
    tracker(PLANE, options=own).save(tmp_path / "state")
    tracker(PLANE, options=own).restore(tmp_path / "state")
    with pytest.raises(IdentificationError) as error:
        tracker(PLANE).restore(tmp_path / "state")
    faults = {fault.place: fault for fault in error.value.faults}
    assert set(faults) == {
        "option filter.weigh_every", "option limits.spike", "option kalman.joint_spread",
    }  # fmt: skip
    assert {fault.code for fault in faults.values()} == {"state.options"}
    spike = faults["option limits.spike"]
    assert (spike.value, spike.expected) == ("6.0", "7.0")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": 4}, "file.version"),  # as it was before options were part of it
        ({"problem": {"method": "square-root"}}, "file.damaged"),
        ({"problem": []}, "file.damaged"),
        ({"intake": None}, "file.damaged"),
    ],
)
def test_a_state_of_an_old_format_or_without_its_parts_is_refused(change, code, tmp_path):
    one = tracker(PLANE)
    one.save(tmp_path / "state")
    with np.load(tmp_path / "state") as file:
        arrays = dict(file)
    content = json.loads(arrays["content"].tobytes()) | change
    arrays["content"] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    with (tmp_path / "odd").open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(IdentificationError) as error:
        one.restore(tmp_path / "odd")
    assert [fault.code for fault in error.value.faults] == [code]


def with_release(seed: int, at: float = 30.0) -> tuple[list, float]:
    """The plane flight, from `at` on as if the target had become another one."""
    name = PLANE
    heavy = noisy(name, seed)
    lighter = ff.load_model("planar-capture-small")
    from dataclasses import replace as changed

    quiet = tuple(changed(s, noise=0.0) for s in lighter.sensors)
    other = noisy(name, seed, ff.simulate(lighter, exciting_plan(lighter), sensors=quiet))
    before = [s for s in heavy if s.time < at]
    return [*before, *(s for s in other if s.time >= at)], at


@pytest.mark.promise("O3")
def test_a_change_is_flagged_soon_and_nothing_else_is(figure):
    samples, at = with_release(0)
    t = tracker(PLANE, like=noisy(PLANE, 0))
    for sample in samples:
        e = t.update(sample)
    when = [event.time for event in t.events if event.kind == "change"]
    assert len(when) == 1 and at <= when[0] < at + 5.0
    value, std = e["target.mass"]
    assert abs(value - 125.0) < 4.0 * std  # and the new target is found
    n_alarms = n_samples = 0
    for seed in range(20):
        flight = noisy(PLANE, 100 + seed)
        calm = tracker(PLANE, like=flight)
        calm.run(flight)
        n_alarms += sum(event.kind == "change" for event in calm.events)
        n_samples += 600
    late = when[0] - at
    figure("O3", f"flagged after {late:.1f} s; {n_alarms} false alarms in {n_samples} samples")
    assert n_alarms == 0


@pytest.mark.promise("O6")
def test_updates_take_microseconds_and_no_memory(figure):
    import tracemalloc

    flight = noisy(SPACE, 0)
    samples = list(flight)
    t = tracker(SPACE, like=flight)
    t.warm_up()
    best = np.full(len(samples), np.inf)
    for _ in range(15):  # the best of some passes: what an update takes, not what else runs here
        t = tracker(SPACE, like=flight)
        for k, sample in enumerate(samples):
            begun = time.thread_time_ns()
            t.update(sample)
            best[k] = min(best[k], 1e-3 * (time.thread_time_ns() - begun))
        median, late = np.percentile(best[150:], [50, 99])  # the first samples are taken twice
        if late < 40.0:
            break
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    from dataclasses import replace as changed

    for lap in range(1, 6):
        for sample in samples[1:]:
            t.update(changed(sample, time=sample.time + 60.0 * lap))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    told = f"update {median:.0f} us (median), {late:.0f} us (99 %) of the processor"
    figure("O6", f"{told}; {after - before} bytes more after 3000 samples")
    assert late < 50.0
    assert after - before < 100_000  # events and counters, but no samples


def test_fuel_on_a_random_walk():
    """A wandering base has a deviation that does not shrink to nothing."""
    flight = noisy(PLANE, 0)
    still = tracker(PLANE, like=flight).run(flight)
    moving = tracker(PLANE, like=flight, random_walk={"bus.mass": 1.0}).run(flight)
    assert moving["bus.mass"][1] > 1.5 * still["bus.mass"][1]
    assert abs(moving["bus.mass"][0] - 500.0) < 4.0 * moving["bus.mass"][1]


def test_a_stuck_joint_and_a_frozen_channel_are_told():
    flight = noisy(PLANE, 0)
    t = tracker(PLANE, like=flight)
    held = 0.0
    for sample in flight:
        values = dict(sample.values)
        if sample.time == 30.0:
            held = values["base.rate.z"]
        if 30.0 <= sample.time < 40.0:
            values["base.rate.z"] = held
        t.update(type(sample)(sample.time, values))
    kinds = {event.kind for event in t.events}
    assert "frozen" in kinds


def test_what_is_missing_is_named_before_the_first_sample():
    model = ff.load_model(PLANE)
    with refused(IdentificationError, "channel.missing", "channel.missing"):
        ff.OnlineEstimator(model, wanted(PLANE), like=noisy(PLANE, 0).without("arm_2.*"))
    with refused(IdentificationError, "parameters.none"):
        ff.OnlineEstimator(model, ff.Parameters(model))
    with refused(IdentificationError, "option.range", naming="gate"):
        ff.OnlineEstimator(model, wanted(PLANE), gate=2.0)
    with refused(IdentificationError, "option.form", naming="random_walk"):
        ff.OnlineEstimator(model, wanted(PLANE), random_walk={"fuel": 1.0})


def test_noise_free_samples_give_the_truth():
    name = SPACE
    small = {k: 0.1 * v for k, v in noise_of_sensors(ff.load_model(name)).items()}
    t = tracker(name, noise=small, correct=False, gate=0.0, reset=())
    e = t.run(clean_flight(name))
    # 1e-4: what integration between samples 0.1 s apart leaves with thrusters switching
    assert np.max(np.abs(e.values - truth(name)) / e.sizes) < 1e-4


def test_the_physical_projection_is_physical():
    flight = noisy(SPACE, 0)
    t = tracker(SPACE, like=flight)
    for sample in list(flight)[:60]:  # too little to know much
        e = t.update(sample)
    for body in ("bus", "target"):
        assert ff.Model.body(e.physical.model, body).mass > 0.0


def test_methods_are_chosen_by_name():
    model = ff.load_model(PLANE)
    params = ff.Parameters(model).free("bus.mass", "target.mass")
    made = {m: ff.OnlineEstimator(model, params, method=m) for m in METHODS if m != "kalman"}
    wings = ff.load_model("servicer-wings")
    made["kalman"] = ff.OnlineEstimator(wings, ff.Parameters(wings).free("bus.mass"))
    kinds = {m: t.filter.method for m, t in made.items()}
    assert kinds == {"auto": "square-root", "square-root": "square-root", "kalman": "kalman"}
    assert {type(t) for t in made.values()} == {ff.OnlineEstimator}


def test_outcomes_of_kernels_are_outcomes_of_samples():
    """Words go by the names of the codes, not by their order."""
    words = {code.name.lower() for code in KernelOutcome} - {"gap"}
    assert words <= set(OUTCOMES) and {OUTCOME_WORDS[c] for c in OUTCOME_WORDS} == words
    assert max(KernelOutcome) < 1 << KERNEL_BITS
