"""A task runs in a process of its own, says how far it is, fails without harm, and stops."""

from __future__ import annotations

import queue
import time
from dataclasses import dataclass

import pytest

from freefloat.errors import FreefloatError
from freefloat.studio.worker import GRACE, Report, Watch, Worker


@dataclass(frozen=True)
class Count:
    """Counts and says so; may fail, or be deaf."""

    n: int = 3
    ends: str = "well"
    grace: float = GRACE

    def run(self, watch: Watch) -> int:
        watch.progress("counting", 0.0)
        if self.ends == "refused":
            raise FreefloatError("it cannot be counted", code="count.refused")
        if self.ends == "broken":
            raise ZeroDivisionError("a bug")
        if self.ends == "killed":
            import os

            os._exit(9)
        for k in range(self.n):
            if self.ends != "deaf":
                watch.progress("counting", k / self.n, value=k)
            if self.n > 100:
                time.sleep(0.01)
        return self.n


@pytest.fixture(scope="module")
def heard():
    inbox: queue.Queue[Report] = queue.Queue()
    worker = Worker(inbox.put)
    worker.start()
    yield worker, inbox
    worker.kill()


def ends_of(worker: Worker, inbox: queue.Queue, task, *, stop_after: float | None = None):
    """Every report of a task, and how long it took [s] from Stop to its end."""
    number = worker.submit(task)
    reports, begun, stopped = [], time.monotonic(), None
    while True:
        worker.look()
        now = time.monotonic()
        if stop_after is not None and stopped is None and reports and now - begun > stop_after:
            stopped = now
            worker.ask_to_stop()
        try:
            report = inbox.get(timeout=0.02)
        except queue.Empty:
            assert now - begun < 60.0
            continue
        if report.task == number:
            reports.append(report)
            if report.kind != "progress":
                worker.finish(number)
                return reports, time.monotonic() - (stopped or now)


def test_a_result_comes_with_its_progress(heard):
    reports, _ = ends_of(*heard, Count())
    assert [r.value for r in reports if r.value is not None] == [0, 1, 2, 3]
    assert reports[-1].kind == "result" and reports[-1].value == 3


@pytest.mark.parametrize(
    ("ends", "kind", "words"),
    [
        ("refused", "error", "it cannot be counted"),
        ("broken", "bug", "ZeroDivisionError: a bug"),
        ("killed", "bug", "ended"),
    ],
)
def test_a_failure_is_told_and_the_worker_lives_on(heard, ends, kind, words):
    reports, _ = ends_of(*heard, Count(ends=ends))
    assert reports[-1].kind == kind and words in reports[-1].value
    reports, _ = ends_of(*heard, Count())
    assert reports[-1].kind == "result"


@pytest.mark.promise("W3")
@pytest.mark.parametrize("ends", ["well", "deaf"])
def test_stop_takes_less_than_a_second(heard, ends):
    reports, seconds = ends_of(*heard, Count(3000, ends=ends), stop_after=0.3)
    assert reports[-1].kind == "stopped" and seconds < 1.0
    reports, _ = ends_of(*heard, Count())
    assert reports[-1].kind == "result"


def test_one_task_at_a_time(heard):
    worker, inbox = heard
    worker.submit(Count(3000))
    with pytest.raises(RuntimeError):
        worker.submit(Count())
    worker.ask_to_stop()
    worker.ask_to_stop()  # a second time: at once
    worker.look()
    while (report := inbox.get(timeout=20.0)).kind == "progress":
        pass
    assert report.kind == "stopped"
    worker.finish(report.task)
