"""Executors move requests to workers and rows back; they hold nothing else."""

from __future__ import annotations

import select
from collections.abc import Iterable, Iterator
from typing import Protocol

from freefloat.campaign.campaign import RunLimits
from freefloat.campaign.run_row import RunRequest, RunResult
from freefloat.campaign.supervised_worker import PATIENCE, SupervisedWorker, WorkerOptions

PAUSE = 0.1  # format: [s] between two looks at limits while nothing comes


class Executor(Protocol):
    """Where runs are carried out."""

    @property
    def words(self) -> str:
        """Where that is, for people."""
        ...

    def carry_out(
        self, text: str, limits: RunLimits, requests: Iterable[RunRequest]
    ) -> Iterator[RunResult | None]:
        """Results as they come, in any order, each request once; None when there is no news.

        Args:
            text: the campaign, as `write_campaign` writes it.
            limits: of every run.
            requests: taken as workers become free.
        """
        ...


class ProcessExecutor:
    """Worker processes on this machine, each with one run at a time."""

    def __init__(self, n_workers: int, *, patience: WorkerOptions = PATIENCE) -> None:
        self.n_workers = n_workers
        self.patience = patience
        self.workers: list[SupervisedWorker] = []

    @property
    def words(self) -> str:
        """Where runs are carried out."""
        return f"{self.n_workers} process{'es' if self.n_workers > 1 else ''} on this machine"

    def carry_out(
        self, text: str, limits: RunLimits, requests: Iterable[RunRequest]
    ) -> Iterator[RunResult | None]:
        """See `Executor`."""
        waiting = iter(requests)
        try:
            for _ in range(self.n_workers):
                request = next(waiting, None)
                if request is None:
                    break
                worker = SupervisedWorker(text, limits, patience=self.patience)
                self.workers.append(worker)
                worker.give(request)
            while any(not worker.is_idle for worker in self.workers):
                select.select([w for w in self.workers if not w.is_idle], [], [], PAUSE)
                results = list(self._collect(waiting))
                yield from results or (None,)
        finally:
            for worker in self.workers:
                worker.close()
            self.workers.clear()

    def _collect(self, waiting: Iterator[RunRequest]) -> Iterator[RunResult]:
        """What has come; whoever is free has its next request before results are written down."""
        for worker in self.workers:
            if worker.is_idle:
                continue
            result = worker.collect()
            if result is not None:
                request = next(waiting, None)
                if request is not None:
                    worker.give(request)
                yield result
