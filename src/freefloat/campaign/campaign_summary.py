"""What a campaign shows: coverage, bias, errors over the bound, NEES, trust against truth, time.

Rows are read a thousand at a time; what is kept of them are sums by cell and parameter, and the
time of every run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from freefloat.arrays import Array
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.perform import WRONG_SHARE, WRONG_SIGMAS
from freefloat.campaign.run_store import RunStore
from freefloat.campaign.run_tables import RunTables
from freefloat.campaign.variations import InputValue, cell_values
from freefloat.telemetry.channel import Mask

SIGMAS_95 = 1.959964  # theory: the normal distribution has 95 % within
LEVEL = 0.95  # format: of bands and intervals
# format: sums that are kept of a parameter
SUMS = (
    "n", "n_true", "n_interval", "n_inside", "n_total", "n_total_inside", "error", "square",
    "n_bound", "over_bound", "std_over_bound", "n_std", "over_std", "bound",
)  # fmt: skip


@dataclass(frozen=True)
class ParameterSummary:
    """One parameter in one cell; NaN where no run says anything.

    coverage is the share of 95 % intervals that hold the truth, coverage_band where that share may
    really be (95 %, exact binomial); total_coverage the same of total deviations. bias is the mean
    error and bias_std its own deviation. over_bound is the root mean square of errors over the
    Cramér-Rao bound, over_std over the stated deviations.
    """

    cell: int
    name: str
    unit: str
    n: int
    coverage: float
    coverage_band: tuple[float, float]
    total_coverage: float
    bias: float
    bias_std: float
    rms: float
    over_bound: float
    std_over_bound: float
    over_std: float
    bound: float


@dataclass(frozen=True)
class CellSummary:
    """One combination of the grids: how its runs ended, and what they say together.

    nees is the mean normalised error over its degrees of freedom, 1 where deviations are true;
    nees_band is where it lies in 95 % of campaigns like this then. grades: by grade, how many runs,
    and in how many of them an estimate is wrong (more than 4 total deviations and 2 % off).
    """

    cell: int
    inputs: Mapping[str, InputValue]
    n_runs: int
    counts: Mapping[str, int]
    codes: Mapping[str, int]
    nees: float
    nees_band: tuple[float, float]
    total_nees: float
    grades: Mapping[str, tuple[int, int]]
    measures: Mapping[str, float]
    cpu: tuple[float, float, float]
    memory: float
    attempts: int


@dataclass(frozen=True)
class CampaignSummary:
    """The summary of a campaign: cells in their order, and their parameters."""

    name: str
    n_runs: int
    n_done: int
    cells: tuple[CellSummary, ...]
    parameters: tuple[ParameterSummary, ...]
    cpu: float
    versions: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """For machines; what depends on the machine stands under "cost" of a cell."""
        return {
            "campaign": self.name, "runs": self.n_runs, "done": self.n_done, "cpu": self.cpu,
            "cells": [asdict(cell) for cell in self.cells],
            "parameters": [asdict(one) for one in self.parameters],
        }  # fmt: skip


def summarise(store: RunStore) -> CampaignSummary:
    """The summary of all rows that a store has."""
    campaign = store.campaign
    sums, cells = _ParameterSums(), _CellSums()
    for tables in store.tables():
        wrong = sums.add(tables)
        cells.add(tables, wrong)
    cpu = float(sum(np.nansum(part) for parts in cells.cpu.values() for part in parts))
    return CampaignSummary(
        campaign.name, campaign.n_runs, sum(sum(c.values()) for c in cells.counts.values()),
        tuple(cells.summaries(campaign)), tuple(sums.summaries()), cpu,
    )  # fmt: skip


def covering_band(n_inside: float, n: float, *, level: float = LEVEL) -> tuple[float, float]:
    """Where a probability may be of which n_inside of n trials were hits (Clopper and Pearson).

    >>> [round(end, 3) for end in covering_band(950, 1000)]
    [0.935, 0.963]
    """
    from scipy.stats import beta

    if not n:
        return math.nan, math.nan
    tail = 0.5 * (1.0 - level)
    low = beta.ppf(tail, n_inside, n - n_inside + 1) if n_inside else 0.0
    high = beta.ppf(1.0 - tail, n_inside + 1, n - n_inside) if n_inside < n else 1.0
    return float(low), float(high)


class _ParameterSums:
    """Sums over runs, by cell and parameter."""

    def __init__(self) -> None:
        self.units: dict[tuple[int, str], str] = {}
        self.sums: dict[tuple[int, str], Array] = {}

    def add(self, tables: RunTables) -> set[int]:
        """Count the estimates of some runs; the numbers of those that are wrong."""
        table = tables.estimates
        if not table.num_rows:
            return set()
        runs, cells = _numbers(tables.runs, "run"), _numbers(tables.runs, "cell")
        order = np.argsort(runs)
        owner = _numbers(table, "run")
        cell = cells[order][np.searchsorted(runs[order], owner)]
        coded = table.column("name").combine_chunks().dictionary_encode()
        names, units = coded.dictionary.to_pylist(), table.column("unit").to_pylist()
        of_name = coded.indices.to_numpy(zero_copy_only=False)
        keys, place, inverse = np.unique(
            cell * len(names) + of_name, return_index=True, return_inverse=True
        )
        columns, is_wrong = _parameter_columns(table)
        for k, column in enumerate(columns):
            summed = np.bincount(inverse, weights=column, minlength=len(keys))
            for key, where, value in zip(keys.tolist(), place.tolist(), summed, strict=True):
                pair = (key // len(names), names[key % len(names)])
                self.units.setdefault(pair, units[where])
                self.sums.setdefault(pair, np.zeros(len(SUMS)))[k] += value
        return set(owner[is_wrong].tolist())

    def summaries(self) -> Iterable[ParameterSummary]:
        for (cell, name), sums in sorted(self.sums.items(), key=lambda item: item[0][0]):
            s = dict(zip(SUMS, sums.tolist(), strict=True))
            mean = _ratio(s["error"], s["n_true"])
            variance = max(_ratio(s["square"], s["n_true"]) - mean**2, 0.0)
            yield ParameterSummary(
                cell, name, self.units[cell, name], int(s["n"]),
                coverage=_ratio(s["n_inside"], s["n_interval"]),
                coverage_band=covering_band(s["n_inside"], s["n_interval"]),
                total_coverage=_ratio(s["n_total_inside"], s["n_total"]),
                bias=mean, bias_std=math.sqrt(_ratio(variance, s["n_true"] - 1.0)),
                rms=math.sqrt(_ratio(s["square"], s["n_true"])),
                over_bound=math.sqrt(_ratio(s["over_bound"], s["n_bound"])),
                std_over_bound=math.sqrt(_ratio(s["std_over_bound"], s["n_bound"])),
                over_std=math.sqrt(_ratio(s["over_std"], s["n_std"])),
                bound=math.sqrt(_ratio(s["bound"], s["n_bound"])),
            )  # fmt: skip


def _parameter_columns(table: object) -> tuple[list[Array], Mask]:
    """What is summed, in the order of SUMS, and which estimates are wrong."""
    true, value, std, total, lower, upper, bound = (
        _numbers(table, name)
        for name in ("true", "value", "std", "total_std", "lower", "upper", "bound")
    )
    error = value - true
    has_true = np.isfinite(error)
    has_interval = has_true & np.isfinite(lower) & np.isfinite(upper)
    is_inside = has_interval & (lower <= true) & (true <= upper)
    has_total = has_true & np.isfinite(total)
    has_std = has_true & np.isfinite(std) & (std > 0.0)
    has_bound = np.isfinite(bound) & (bound > 0.0)
    is_compared = has_bound & (has_true | ~np.isfinite(value))
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = [
            np.ones(len(true)), has_true, has_interval, is_inside, has_total,
            has_total & (np.abs(error) <= SIGMAS_95 * total), error, error**2, is_compared,
            (error / bound) ** 2, (std / bound) ** 2, has_std, (error / std) ** 2, bound**2,
        ]  # fmt: skip
        spread = np.where(np.isfinite(total), total, std)
        is_far = np.abs(error) > WRONG_SIGMAS * spread
    masks = {"error": has_true, "square": has_true, "over_bound": is_compared & has_true,
             "std_over_bound": is_compared & has_std, "over_std": has_std,
             "bound": is_compared}  # fmt: skip
    kept = [
        np.where(masks[name], column, 0.0) if name in masks else column.astype(float)
        for name, column in zip(SUMS, columns, strict=True)
    ]
    return kept, has_true & is_far & (np.abs(error) > WRONG_SHARE * np.abs(true))


class _CellSums:
    """Counts and sums over runs, by cell."""

    def __init__(self) -> None:
        self.counts: dict[int, Counter[str]] = {}
        self.codes: dict[int, Counter[str]] = {}
        self.grades: dict[int, Counter[str]] = {}
        self.wrong: dict[int, Counter[str]] = {}
        self.measures: dict[int, dict[str, list[float]]] = {}
        self.cpu: dict[int, list[Array]] = {}
        self.memory: dict[int, float] = {}
        self.attempts: dict[int, int] = {}

    def add(self, tables: RunTables, wrong: set[int]) -> None:
        runs, cells = _numbers(tables.runs, "run"), _numbers(tables.runs, "cell").astype(int)
        lines = zip(
            runs.tolist(), cells.tolist(), *(tables.runs.column(n).to_pylist() for n in
            ("status", "code", "grade")), strict=True,
        )  # fmt: skip
        for run, cell, status, code, grade in lines:
            self.counts.setdefault(cell, Counter())[status] += 1
            if status != "done":
                self.codes.setdefault(cell, Counter())[code] += 1
            elif grade:
                self.grades.setdefault(cell, Counter())[grade] += 1
                self.wrong.setdefault(cell, Counter())[grade] += run in wrong
        cell_of = dict(zip(runs.tolist(), cells.tolist(), strict=True))
        if tables.measures.num_rows:
            for run, name, value in zip(
                *_lists(tables.measures, "run", "name", "value"), strict=True
            ):
                kept = self.measures.setdefault(cell_of[run], {}).setdefault(name, [0.0, 0.0])
                if value is not None and math.isfinite(value):
                    kept[0] += 1.0
                    kept[1] += value
        owner = np.array([cell_of[run] for run in tables.costs.column("run").to_pylist()])
        cpu, memory = _numbers(tables.costs, "cpu"), _numbers(tables.costs, "memory")
        attempts = _numbers(tables.costs, "attempts")
        for cell in np.unique(owner).tolist():
            own = owner == cell
            self.cpu.setdefault(cell, []).append(cpu[own])
            most = float(np.max(np.nan_to_num(memory[own]), initial=0.0))
            self.memory[cell] = max(self.memory.get(cell, 0.0), most)
            self.attempts[cell] = self.attempts.get(cell, 0) + int(np.nansum(attempts[own]))

    def summaries(self, campaign: Campaign) -> Iterable[CellSummary]:
        for cell in sorted(self.counts):
            counts, grades = self.counts[cell], self.grades.get(cell, Counter())
            sums = self.measures.get(cell, {})
            means = {name: _ratio(total, n) for name, (n, total) in sums.items()}
            nees, band = _nees_of(sums, "nees")
            seconds = np.concatenate(self.cpu.get(cell, [np.zeros(0)]))
            seconds = seconds[np.isfinite(seconds)]
            quantiles = np.quantile(seconds, [0.5, 0.95, 1.0]) if len(seconds) else [math.nan] * 3
            yield CellSummary(
                cell, cell_values(campaign.vary, cell), sum(counts.values()), dict(counts),
                dict(self.codes.get(cell, Counter()).most_common()), nees, band,
                _nees_of(sums, "total_nees")[0],
                {grade: (n, self.wrong[cell][grade]) for grade, n in grades.most_common()},
                {name: mean for name, mean in means.items() if "nees" not in name},
                (float(quantiles[0]), float(quantiles[1]), float(quantiles[2])),
                self.memory.get(cell, math.nan), self.attempts.get(cell, 0),
            )  # fmt: skip


def _nees_of(sums: Mapping[str, list[float]], name: str) -> tuple[float, tuple[float, float]]:
    """The mean of a normalised error over its degrees of freedom, and the band of chi-squared."""
    from scipy.stats import chi2

    _, total = sums.get(name, (0.0, 0.0))
    _, dof = sums.get(f"{name}_dof", (0.0, 0.0))
    if not dof:
        return math.nan, (math.nan, math.nan)
    low, high = chi2.ppf([0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], dof) / dof
    return total / dof, (float(low), float(high))


def _numbers(table: object, name: str) -> Array:
    return table.column(name).to_numpy()  # type: ignore[attr-defined]


def _lists(table: object, *names: str) -> Iterable[list]:
    return (table.column(name).to_pylist() for name in names)  # type: ignore[attr-defined]


def _ratio(number: float, count: float) -> float:
    return number / count if count > 0.0 else math.nan
