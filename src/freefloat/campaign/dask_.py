"""Runs on a Dask cluster: each worker of it has a supervised process of ours beside itself.

The client hands out requests and takes results back; whatever dies (a worker, the scheduler, the
client itself), rows that are in the store stay there and the others are asked for again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from freefloat.campaign.campaign import RunLimits
from freefloat.campaign.run_row import (
    RunCost,
    RunRequest,
    RunResult,
    RunRow,
    read_result,
    write_result,
)
from freefloat.campaign.supervised_worker import SupervisedWorker
from freefloat.errors import CampaignError, Fault

GO_ON = "then give the same command again, which goes on where it was"
CONNECT = 5.0  # format: [s] for one try to reach a scheduler


@dataclass(frozen=True)
class ClusterOptions:
    """How patient one is with a cluster."""

    silence: float = 60.0
    """Without a worker, or without a scheduler, for so long the campaign ends [s]."""

    ahead: int = 2
    """Requests that wait at every worker's, so that it need not wait for us."""

    losses: int = 10
    """So many times a run may be lost with its worker before it counts as crashed."""

    pause: float = 0.05
    """Between two looks at what has come [s]."""


USUAL_CLUSTER = ClusterOptions()


class DaskExecutor:
    """The workers of a Dask scheduler, or of a local cluster that this process begins.

    Args:
        address: of a scheduler, such as tcp://10.0.0.1:8786; none: a local cluster.
        n_workers: of a local cluster.
        tell: called with sentences that people want to read.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        n_workers: int = 1,
        tell: Callable[[str], None] = lambda _: None,
        options: ClusterOptions = USUAL_CLUSTER,
    ) -> None:
        require_dask()
        self.address = address
        self.n_workers = n_workers
        self.tell = tell
        self.options = options
        self._cluster: Any = None
        self._client: Any = None
        self._import_trouble: ImportError | None = None

    @property
    def words(self) -> str:
        """Where runs are carried out."""
        if self.address is None:
            return f"a local Dask cluster of {self.n_workers}"
        return f"the Dask cluster of {self.address}"

    def carry_out(
        self, text: str, limits: RunLimits, requests: Iterable[RunRequest]
    ) -> Iterator[RunResult | None]:
        """See `Executor`."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what happened
        try:
            self._begin()
            yield from self._serve(text, limits, iter(requests))
        finally:
            self._end()

    # -- the cluster -------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self.address is None:
            from distributed import LocalCluster

            self._cluster = LocalCluster(
                n_workers=self.n_workers, threads_per_worker=1, host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            )  # fmt: skip
        self._connect()
        self.tell(f"Dask's dashboard: {self._client.dashboard_link}")

    def _connect(self) -> None:
        """A client of the scheduler, as soon as it answers; CampaignError if it never does."""
        from distributed import Client

        since = time.monotonic()
        while True:
            try:
                self._client = Client(
                    self._cluster or self.address, timeout=CONNECT, set_as_default=False
                )
                return
            except ValueError as error:  # no address at all
                remedy = "write it like tcp://10.0.0.1:8786"
                expected = "the address of a scheduler"
                fault = Fault(
                    "--scheduler", str(self.address), expected, remedy, "option.form"
                )  # fmt: skip
                raise CampaignError("there can be no scheduler at this address", [fault]) from error
            except (OSError, TimeoutError) as error:
                if time.monotonic() - since > self.options.silence:
                    raise self._no_scheduler() from error
                time.sleep(1.0)

    def _end(self) -> None:
        for one in (self._client, self._cluster):
            with suppress(Exception):  # whatever state it is in: rows are in the store
                if one is not None:
                    one.close(timeout=CONNECT)
        self._client = self._cluster = None

    def _no_scheduler(self) -> CampaignError:
        value = f"no answer for {self.options.silence:g} s"
        remedy = f"start it; {GO_ON}"
        place, expected = str(self.address), "a Dask scheduler"
        fault = Fault(place, value, expected, remedy, "cluster.scheduler")
        return CampaignError("the scheduler cannot be reached", [fault])

    def _no_workers(self) -> CampaignError:
        value = f"no worker for {self.options.silence:g} s"
        remedy = f"start one with `dask worker ADDRESS`; {GO_ON}"
        place, expected = str(self.address or "the local cluster"), "at least one worker"
        fault = Fault(place, value, expected, remedy, "cluster.workers")
        return CampaignError("no worker is left", [fault])

    # -- requests out, results in ------------------------------------------------------------------

    def _serve(
        self, text: str, limits: RunLimits, waiting: Iterator[RunRequest]
    ) -> Iterator[RunResult | None]:
        again: deque[RunRequest] = deque()
        at_work: dict[Any, RunRequest] = {}
        losses: dict[int, int] = {}
        last_news = time.monotonic()
        n_threads, next_look = 0, 0.0
        while True:
            now = time.monotonic()
            if now > next_look:
                next_look = now + 1.0
                n_threads = self._count_threads()
                if n_threads < 0:
                    self.tell("the scheduler is gone; waiting for it to come back")
                    again.extend(at_work.values())
                    at_work.clear()
                    self._reconnect()
                    next_look = 0.0
                    continue
                if n_threads:
                    last_news = now
            while len(at_work) < self.options.ahead * n_threads:
                request = again.popleft() if again else next(waiting, None)
                if request is None:
                    break
                at_work[self._submit(text, limits, request)] = request
            if not at_work and not again and n_threads:
                return
            yield None
            came = [future for future in at_work if future.status != "pending"]
            for future in came:
                request = at_work.pop(future)
                result = self._result(future)
                if result is None:
                    losses[request.run] = losses.get(request.run, 0) + 1
                    if losses[request.run] < self.options.losses:
                        again.append(request)
                        continue
                    message = f"its worker died {self.options.losses} times"
                    row = RunRow.of_error(request, "crashed", "worker.killed", message)
                    result = RunResult(row, RunCost())
                future.release()
                last_news = time.monotonic()
                yield result
            if time.monotonic() - last_news > self.options.silence:
                raise self._no_workers()
            if not came:
                time.sleep(self.options.pause)

    def _submit(self, text: str, limits: RunLimits, request: RunRequest) -> Any:
        arguments = (text, limits, request)
        return self._client.submit(carry_out_here, *arguments, pure=False, retries=0)

    def _result(self, future: Any) -> RunResult | None:
        """The result of a run; None where it was lost with its worker or its scheduler."""
        if future.status != "finished":
            return self._own_error(future)
        try:
            return read_result(future.result(timeout=CONNECT))
        except Exception:  # the worker that has it died before it was fetched
            return None

    def _own_error(self, future: Any) -> None:
        """Raise where workers cannot do what is asked of them: repeating it would not help."""
        if future.status != "error":
            return
        with suppress(Exception):
            error = future.exception(timeout=CONNECT)
            if isinstance(error, ImportError):
                self._import_trouble = error
        trouble = self._import_trouble
        if trouble is not None:
            fault = Fault(
                "the workers", str(trouble), "freefloat of this version on every worker",
                "install it there: pip install 'freefloat[cluster]'", "cluster.import",
            )  # fmt: skip
            raise CampaignError("the workers cannot carry out runs", [fault])

    def _count_threads(self) -> int:
        """Threads of all workers; -1 where the scheduler does not answer."""
        if self._client.status != "running":
            return -1
        try:
            return sum(
                self._client.sync(self._client.scheduler.ncores, callback_timeout=CONNECT).values()
            )
        except Exception:
            return -1

    def _reconnect(self) -> None:
        with suppress(Exception):
            self._client.close(timeout=1.0)
        self._connect()
        self.tell("the scheduler is back")


_here = threading.local()


def carry_out_here(text: str, limits: RunLimits, request: RunRequest) -> str:
    """The result of a run in this thread's own worker process; what a Dask worker calls."""
    worker: SupervisedWorker | None = getattr(_here, "worker", None)
    if worker is None or worker.text != text:
        if worker is not None:
            worker.close()
        worker = _here.worker = SupervisedWorker(text, limits)
    if not worker.is_idle:  # the task before it was given up
        worker.close()
        worker = _here.worker = SupervisedWorker(text, limits)
    worker.give(request)
    while (result := worker.collect()) is None:
        worker.wait(USUAL_CLUSTER.pause)
    return write_result(result)


def require_dask() -> None:
    """Raise CampaignError unless Dask is installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        fault = Fault("--scheduler", "Dask is not installed", "the package distributed",
                      "pip install 'freefloat[cluster]'", "dependency.missing")  # fmt: skip
        raise CampaignError("runs on a cluster need Dask", [fault]) from error
