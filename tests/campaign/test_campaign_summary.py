"""The summary: the same figures as straight from the definitions, in bounded memory and time."""

from __future__ import annotations

import resource
import time

import numpy as np
import pytest
from campaign_samples import carry_out, function_campaign
from scipy.stats import binom, chi2

from freefloat.campaign.campaign_page import campaign_page
from freefloat.campaign.campaign_summary import covering_band, summarise
from freefloat.campaign.normalised_errors import normalised_errors
from freefloat.campaign.run_row import RunCost, RunEstimate, RunResult, RunRow
from freefloat.campaign.run_setup import request_of
from freefloat.campaign.run_store import CHUNK, RunStore
from freefloat.campaign.run_tables import tables_of, write_tables

GRID = '[[vary]]\nname = "size"\nkind = "grid"\nvalues = [1, 2]\n'
NAMES = tuple(f"body.{name}" for name in ("mass", "mx", "my", "mz", "ixx", "iyy", "izz", "ixy"))


def invented(campaign, run: int, rng: np.random.Generator) -> RunResult:
    """A row with errors of one standard deviation, and every tenth run without a result."""
    request = request_of(campaign, run)
    if run % 10 == 9:
        return RunResult(RunRow.of_error(request, "failed", "bug", "invented"), RunCost(cpu=0.1))
    estimates = []
    for k, name in enumerate(NAMES):
        std = 0.1 * (1.0 + k)
        value = 1.0 + std * rng.standard_normal()
        ends = (value - 1.959964 * std, value + 1.959964 * std)
        estimates.append(
            RunEstimate(name, "kg", 1.0, 0.9, value, std, 1.1 * std, *ends, "seen", std)
        )
    row = RunRow(
        **vars(request), grade="trusted" if run % 2 else "not trusted", method="x",
        estimates=tuple(estimates), measures={"nees": rng.chisquare(8), "nees_dof": 8.0},
    )  # fmt: skip
    return RunResult(row, RunCost(wall=1.0, cpu=0.5 + 0.1 * (run % 3), memory=1e6))


def store_of(folder, n_runs: int) -> tuple[RunStore, list[RunResult]]:
    campaign = function_campaign(folder, runs=n_runs // 2, more=GRID)
    with RunStore.open_to_write(folder / "out", campaign):
        pass
    rng, kept = np.random.default_rng(0), []
    for chunk in range(-(-n_runs // CHUNK)):
        runs = range(chunk * CHUNK, min((chunk + 1) * CHUNK, n_runs))
        results = [invented(campaign, run, rng) for run in runs]
        write_tables(folder / "out", chunk, tables_of(results, campaign))
        kept += results if n_runs <= 5000 else []
    return RunStore(folder / "out"), kept


def test_figures_are_those_of_the_definitions(tmp_path):
    store, results = store_of(tmp_path, 2400)
    found = summarise(store)
    assert found.n_done == 2400 and len(found.cells) == 2
    for cell in (0, 1):
        own = [r.row for r in results if r.row.cell == cell and r.row.status == "done"]
        for k, name in enumerate(NAMES):
            e = np.array([row.estimates[k].value - 1.0 for row in own])
            inside = [r.estimates[k].lower <= 1.0 <= r.estimates[k].upper for r in own]
            (p,) = [p for p in found.parameters if p.cell == cell and p.name == name]
            assert p.coverage == pytest.approx(np.mean(inside))
            assert p.coverage_band[0] < p.coverage < p.coverage_band[1]
            assert p.bias == pytest.approx(e.mean())
            assert p.bias_std == pytest.approx(e.std(ddof=1) / np.sqrt(len(e)))
            std = 0.1 * (1.0 + k)
            assert p.over_bound == pytest.approx(np.sqrt(np.mean((e / std) ** 2)))
            assert (p.std_over_bound, p.bound) == (pytest.approx(1.0), pytest.approx(std))
        (c,) = [c for c in found.cells if c.cell == cell]
        nees = np.mean([row.measures["nees"] for row in own]) / 8.0
        assert c.nees == pytest.approx(nees)
        assert c.nees_band[0] == pytest.approx(chi2.ppf(0.025, 8 * len(own)) / (8 * len(own)))
        failed = c.counts.get("failed", 0)  # every tenth run, hence in one cell of two
        assert c.counts["done"] == len(own) and c.codes == ({"bug": failed} if failed else {})
        wrong = sum(
            any(abs(e.value - 1.0) > max(4.0 * e.total_std, 0.02) for e in row.estimates)
            for row in own
        )
        assert sum(w for _, w in c.grades.values()) == wrong


def test_the_band_of_a_share_is_the_exact_one():
    for n, k in ((8, 8), (80, 70), (1000, 950)):
        low, high = covering_band(k, n)
        # at its ends so many hits, or more, or fewer, come with 2.5 %
        assert binom.sf(k - 1, n, low) == pytest.approx(0.025, abs=1e-9)
        assert high == 1.0 or binom.cdf(k, n, high) == pytest.approx(0.025, abs=1e-9)


def test_the_page_holds_every_parameter_and_loads_nothing(tmp_path):
    store, _ = store_of(tmp_path, 100)
    page = campaign_page(store, summarise(store))
    assert all(name in page for name in NAMES) and "http://" not in page.replace(
        "http://www.w3", ""
    )
    assert "size = 2" in page


def test_errors_are_counted_in_their_deviations(tmp_path):
    store, results = store_of(tmp_path, 200)
    rows = [e for one in results for e in one.row.estimates]
    for cell, used in ((None, rows), (1, [e for one in results if one.row.cell == 1
                                          for e in one.row.estimates])):  # fmt: skip
        found = normalised_errors(store, cell=cell)
        assert tuple(found) == NAMES
        expected = [(e.value - e.true) / e.std for e in used if e.name == NAMES[2]]
        np.testing.assert_allclose(np.sort(found[NAMES[2]]), np.sort(expected))
    page = campaign_page(store, summarise(store))
    assert page.count('class="histogram"') == 2 * len(NAMES)


def test_a_campaign_of_functions_is_summarised(tmp_path):
    campaign = function_campaign(tmp_path, runs=30)
    carry_out(campaign, tmp_path / "out")
    (p,) = summarise(RunStore(tmp_path / "out")).parameters
    assert p.name == "mass" and p.n == 30 and 0.5 < p.over_bound < 2.0


@pytest.mark.full
@pytest.mark.promise("C6")
def test_a_hundred_thousand_rows_are_summarised_in_bounded_memory(tmp_path, figure):
    few, _ = store_of(tmp_path / "few" if (tmp_path / "few").mkdir() is None else tmp_path, 10_000)
    many, _ = store_of(
        tmp_path / "many" if (tmp_path / "many").mkdir() is None else tmp_path, 100_000
    )
    summarise(few)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    found = summarise(many)
    seconds = time.process_time() - begun
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0
    figure(
        "C6", f"100 000 rows of 8 parameters: {seconds:.1f} s of processor time, {more:.0f} MB more"
    )
    assert found.n_done == 100_000 and seconds < 5.0 and more < 100.0
