"""Runs on Dask: each once and the same bytes, with workers, scheduler or client killed."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_samples import carry_out, fingerprint, flight_campaign, function_campaign
from dask_hosts import DaskHosts, hosts  # noqa: F401 - a fixture

from freefloat.campaign.run_store import RunStore
from freefloat.errors import CampaignError

pytest.importorskip("distributed")
from freefloat.campaign.dask_ import ClusterOptions, DaskExecutor

PAUSE = '[set]\n"pause" = {}\n'
# what Dask warns of while its peers die is no fault of ours
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def no_sockets_left() -> Iterator[None]:
    """What Dask leaves open is collected here, not in whatever test comes next in this process."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.mark.promise("C6")
def test_a_cluster_gives_the_same_bytes_as_processes(tmp_path):
    campaign = flight_campaign(tmp_path, runs=3)
    carry_out(campaign, tmp_path / "processes")
    told: list[str] = []
    executor = DaskExecutor(n_workers=1, tell=told.append)
    carry_out(campaign, tmp_path / "dask", executor=executor)
    assert fingerprint(tmp_path / "processes") == fingerprint(tmp_path / "dask")
    assert any("http://127.0.0.1:" in one for one in told)


@pytest.mark.promise("C1")
def test_killed_workers_of_a_cluster_leave_no_trace(tmp_path, hosts, figure):  # noqa: F811
    check_kills(tmp_path, hosts, runs=60, pause=0.15, every=4.0, least=1, figure=figure)


@pytest.mark.full
@pytest.mark.promise("C1")
def test_twenty_killed_workers_of_a_cluster_leave_no_trace(tmp_path, hosts, figure):  # noqa: F811
    check_kills(tmp_path, hosts, runs=1000, pause=0.2, every=5.0, least=20, figure=figure)


def check_kills(folder: Path, hosts: DaskHosts, *, runs, pause, every, least, figure) -> None:  # noqa: F811
    campaign = function_campaign(folder, runs=runs, more=PAUSE.format(pause))
    carry_out(campaign, folder / "calm", workers=2)
    hosts.begin_scheduler()
    for _ in range(2):
        hosts.begin_worker()
    rng, killed, is_over = random.Random(2), [], threading.Event()

    def kill_now_and_then() -> None:
        n_then = 0
        while not is_over.wait(every * rng.uniform(0.7, 1.3)):
            n_now = len(rows(folder / "wild"))
            if n_now == n_then:  # those that were begun anew are not there yet
                continue
            n_then = n_now
            hosts.kill_worker(rng.randrange(len(hosts.workers)))
            killed.append(1)
            hosts.begin_worker()

    executor = DaskExecutor(hosts.address)
    thread = threading.Thread(target=kill_now_and_then)
    thread.start()
    try:
        state = carry_out(campaign, folder / "wild", executor=executor)
    finally:
        is_over.set()
        thread.join()
    assert len(killed) >= least
    assert state.n_now == runs and state.counts == {"done": runs}
    assert fingerprint(folder / "calm") == fingerprint(folder / "wild")
    figure("C1", f"Dask: {runs} runs, {len(killed)} workers killed, the same bytes")


@pytest.mark.promise("C2")
def test_the_scheduler_may_be_killed(tmp_path, hosts, figure):  # noqa: F811
    campaign = function_campaign(tmp_path, runs=50, more=PAUSE.format(0.1))
    carry_out(campaign, tmp_path / "calm")
    hosts.begin_scheduler()
    hosts.begin_worker()
    told: list[str] = []

    def kill_once() -> None:
        until = time.monotonic() + 100.0
        while time.monotonic() < until and len(rows(tmp_path / "wild")) < 10:
            time.sleep(0.05)
        hosts.kill_scheduler()
        hosts.kill_worker(0)
        hosts.begin_scheduler()
        hosts.begin_worker()

    thread = threading.Thread(target=kill_once)
    thread.start()
    executor = DaskExecutor(hosts.address, tell=told.append)
    state = carry_out(campaign, tmp_path / "wild", executor=executor)
    thread.join()
    assert state.n_now == 50
    assert fingerprint(tmp_path / "calm") == fingerprint(tmp_path / "wild")
    assert any("scheduler is back" in one for one in told)
    figure("C2", "Dask: the scheduler killed within 50 runs: the same bytes")


def rows(out: Path) -> list[str]:
    folder = out / "open" / "00000"
    return os.listdir(folder) if folder.exists() else []


@pytest.mark.promise("C2")
def test_the_client_of_a_cluster_may_be_killed(tmp_path, hosts):  # noqa: F811
    campaign = function_campaign(tmp_path, runs=40, more=PAUSE.format(0.1))
    carry_out(campaign, tmp_path / "calm")
    hosts.begin_scheduler()
    hosts.begin_worker()
    command = [sys.executable, "-m", "freefloat", "campaign", "run",
               str(tmp_path / "campaign.toml"), "--out", str(tmp_path / "wild"), "--run-code",
               "--scheduler", hosts.address]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 100.0
    while time.monotonic() < until and len(rows(tmp_path / "wild")) < 8:
        time.sleep(0.05)
    process.kill()
    process.wait()
    n_before = RunStore(tmp_path / "wild").status().n_done
    assert 0 < n_before < 40
    second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert second.returncode == 0, second.stderr
    assert fingerprint(tmp_path / "calm") == fingerprint(tmp_path / "wild")


@pytest.mark.promise("C4")
def test_a_cluster_without_workers_is_given_up(tmp_path, hosts):  # noqa: F811
    campaign = function_campaign(tmp_path, runs=2)
    hosts.begin_scheduler()
    executor = DaskExecutor(hosts.address, options=ClusterOptions(silence=3.0))
    begun = time.monotonic()
    with pytest.raises(CampaignError) as raised:
        carry_out(campaign, tmp_path / "out", executor=executor)
    assert raised.value.codes == ("cluster.workers",) and time.monotonic() - begun < 30.0
    assert ClusterOptions().silence == 60.0


@pytest.mark.promise("C4")
def test_a_scheduler_that_is_not_there_is_given_up(tmp_path):
    campaign = function_campaign(tmp_path, runs=2)
    executor = DaskExecutor("tcp://127.0.0.1:9", options=ClusterOptions(silence=2.0))
    with pytest.raises(CampaignError) as raised:
        carry_out(campaign, tmp_path / "out", executor=executor)
    assert raised.value.codes == ("cluster.scheduler",)
    with pytest.raises(CampaignError) as raised:
        carry_out(campaign, tmp_path / "out", executor=DaskExecutor("no address"))
    assert raised.value.codes


@pytest.mark.full
@pytest.mark.promise("C4")
def test_after_a_minute_without_workers_the_command_ends(tmp_path, hosts, figure):  # noqa: F811
    function_campaign(tmp_path, runs=2)
    hosts.begin_scheduler()
    command = [sys.executable, "-m", "freefloat", "campaign", "run",
               str(tmp_path / "campaign.toml"), "--out", str(tmp_path / "out"), "--run-code",
               "--scheduler", hosts.address]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    begun = time.monotonic()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    seconds = time.monotonic() - begun
    assert ended.returncode == 2 and "no worker" in ended.stderr
    figure("C4", f"no worker: exit code {ended.returncode} after {seconds:.0f} s")
