"""`conduct`: carry out what is missing of a campaign, and write down every row as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.campaign_text import write_campaign
from freefloat.campaign.executors import Executor
from freefloat.campaign.run_row import RunRequest
from freefloat.campaign.run_setup import request_of
from freefloat.campaign.run_store import CHUNK, RunStore


@dataclass
class CampaignProgress:
    """How far a campaign is: runs in all, done before and now, and how they ended."""

    n_runs: int
    n_before: int
    n_now: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)
    notes: list[str] = field(default_factory=list)

    @property
    def n_done(self) -> int:
        """Runs that have a row."""
        return self.n_before + self.n_now

    @property
    def rate(self) -> float:
        """Runs a second, since it began."""
        return self.n_now / max(time.monotonic() - self.since, 1e-9)

    @property
    def seconds_left(self) -> float:
        """How long the rest will take at this rate [s]; infinite before the first."""
        return (self.n_runs - self.n_done) / self.rate if self.n_now else float("inf")


def conduct(
    campaign: Campaign,
    store: RunStore,
    executor: Executor,
    *,
    progress: Callable[[CampaignProgress], None] = lambda _: None,
    again: Collection[str] = (),
) -> CampaignProgress:
    """Carry out every run of a campaign that has no row yet.

    Args:
        campaign: what to do.
        store: open to be written to; what it has is not done again.
        executor: where runs are carried out.
        progress: told after every row, and several times a second while none comes.
        again: statuses of runs that are to be repeated, such as "failed".

    Raises:
        FreefloatError: a row cannot be written, or no worker is left. The store is as good as
            before: called again, this goes on where it was.
    """
    removed = store.sweep()
    if again:
        store.forget(_runs_with(store, again))
    done = store.finished_runs()
    state = CampaignProgress(campaign.n_runs, len(done), notes=removed)
    open_runs = _OpenRuns(campaign.n_runs, done)
    progress(state)
    requests = _requests(campaign, done)
    for result in executor.carry_out(write_campaign(campaign), campaign.limits, requests):
        if result is not None:
            store.add(result)
            state.n_now += 1
            status = result.row.status
            state.counts[status] = state.counts.get(status, 0) + 1
            if (chunk := open_runs.count(result.row.run)) is not None:
                store.compact(chunk=chunk)
        progress(state)
    store.compact()
    return state


def _requests(campaign: Campaign, done: Collection[int]) -> Iterator[RunRequest]:
    return (request_of(campaign, run) for run in range(campaign.n_runs) if run not in done)


def _runs_with(store: RunStore, statuses: Collection[str]) -> list[int]:
    found = []
    for tables in store.tables():
        pairs = zip(tables.run_numbers(), tables.runs.column("status").to_pylist(), strict=True)
        found += [run for run, status in pairs if status in statuses]
    return found


class _OpenRuns:
    """How many runs of each chunk are missing."""

    def __init__(self, n_runs: int, done: Collection[int]) -> None:
        self.missing = {
            chunk: min(CHUNK, n_runs - chunk * CHUNK) for chunk in range(-(-n_runs // CHUNK))
        }
        for run in done:
            self.missing[run // CHUNK] -= 1

    def count(self, run: int) -> int | None:
        """One more is there; its chunk, if that is complete now."""
        chunk = run // CHUNK
        self.missing[chunk] -= 1
        return chunk if self.missing[chunk] == 0 else None
