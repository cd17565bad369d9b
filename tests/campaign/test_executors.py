"""Runs on processes: each once, the same bytes on 1 or 2 workers, whoever is killed meanwhile."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from campaign_samples import carry_out, fingerprint, flight_campaign, function_campaign

from freefloat.campaign.campaign_summary import summarise
from freefloat.campaign.executors import ProcessExecutor
from freefloat.campaign.run_store import RunStore
from freefloat.campaign.supervised_worker import WorkerOptions
from freefloat.errors import CampaignError

PAUSE = '[set]\n"pause" = {}\n'


def kind_of_run(kind: str, more: str = "") -> str:
    return f'[set]\n"kind" = "{kind}"\n{more}'


@contextmanager
def killer(pids, *, every: float, seed: int = 0):
    """Kill a random one of some processes again and again; gives the list of those killed."""
    rng, killed, is_over = random.Random(seed), [], threading.Event()

    def work() -> None:
        while not is_over.wait(every * rng.uniform(0.5, 1.5)):
            found = pids()
            if found:
                pid = rng.choice(found)
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                except ProcessLookupError:
                    pass

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


@pytest.mark.promise("C6")
def test_one_or_two_workers_give_the_same_bytes(tmp_path):
    campaign = flight_campaign(tmp_path, runs=4)
    for n in (1, 2):
        carry_out(campaign, tmp_path / str(n), workers=n)
    assert fingerprint(tmp_path / "1") == fingerprint(tmp_path / "2")
    one, two = (summarise(RunStore(tmp_path / str(n))) for n in (1, 2))
    assert one.parameters == two.parameters


@pytest.mark.promise("C1")
def test_killed_workers_leave_no_trace(tmp_path, figure):
    check_kills(tmp_path, runs=60, pause=0.1, every=3.0, least=1, figure=figure)


@pytest.mark.full
@pytest.mark.promise("C1")
def test_twenty_killed_workers_leave_no_trace_in_a_thousand_runs(tmp_path, figure):
    check_kills(tmp_path, runs=1000, pause=0.2, every=5.0, least=20, figure=figure)


def check_kills(folder: Path, *, runs, pause, every, least, figure) -> None:
    campaign = function_campaign(folder, runs=runs, more=PAUSE.format(pause))
    carry_out(campaign, folder / "calm", workers=2)
    executor = ProcessExecutor(2)
    with killer(lambda: [w.pid for w in executor.workers], every=every) as killed:
        state = carry_out(campaign, folder / "wild", executor=executor)
    assert len(killed) >= least
    assert state.n_now == runs and state.counts == {"done": runs}
    assert fingerprint(folder / "calm") == fingerprint(folder / "wild")
    figure("C1", f"processes: {runs} runs, {len(killed)} workers killed, the same bytes")


@pytest.mark.promise("C2")
def test_the_whole_command_may_be_killed(tmp_path, figure):
    check_client_kills(tmp_path, runs=60, pause=0.03, kills=2, figure=figure)


@pytest.mark.full
@pytest.mark.promise("C2")
def test_the_whole_command_may_be_killed_twenty_times(tmp_path, figure):
    check_client_kills(tmp_path, runs=1000, pause=0.1, kills=20, figure=figure)


def check_client_kills(folder: Path, *, runs, pause, kills, figure) -> None:
    campaign = function_campaign(folder, runs=runs, more=PAUSE.format(pause))
    carry_out(campaign, folder / "calm", workers=2)
    command = [sys.executable, "-m", "freefloat", "campaign", "run", str(folder / "campaign.toml"),
               "--out", str(folder / "wild"), "--workers", "2", "--run-code"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    rng, n_before, killed = random.Random(1), 0, 0
    while killed < kills:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 120.0
        while process.poll() is None and time.monotonic() < until:
            rows = folder / "wild" / "open" / "00000"
            n = len(list(rows.glob("0*.json"))) if rows.exists() else 0
            if n > n_before + rng.randint(1, max(2, runs // (2 * kills))):
                break
            time.sleep(0.01)
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        killed += 1
        store = RunStore(folder / "wild")  # valid at every instant
        n_before = store.status().n_done
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert process.returncode == 0, process.stderr
    assert killed == kills and n_before > 0
    assert fingerprint(folder / "calm") == fingerprint(folder / "wild")
    figure("C2", f"the command killed {killed} times in {runs} runs: the same bytes")


@pytest.mark.promise("C5")
def test_runs_that_fail_are_rows(tmp_path):
    campaign = function_campaign(tmp_path, runs=12, more=kind_of_run("error"))
    state = carry_out(campaign, tmp_path / "out", workers=2)
    assert 0 < state.counts["failed"] < 12 and sum(state.counts.values()) == 12
    store = RunStore(tmp_path / "out")
    assert store.status().codes == {"bug": state.counts["failed"]}
    again = carry_out(campaign, tmp_path / "out", again=("failed",))
    assert again.n_now == state.counts["failed"]
    assert RunStore(tmp_path / "out").status().n_done == 12


@pytest.mark.promise("C5")
@pytest.mark.parametrize(
    ("kind", "limits", "status", "code"),
    [
        ("eats", "[limits]\nmemory = 2e8\n", "stopped", "limit.memory"),
        ("hangs", "[limits]\ntime = 1.0\n", "stopped", "limit.time"),
        ("crashes", "", "crashed", "worker.crashed"),
    ],
)
def test_a_run_that_goes_wild_is_stopped_and_the_others_go_on(tmp_path, kind, limits, status, code):
    grid = f'[[vary]]\nname = "kind"\nkind = "grid"\nvalues = ["{kind}", "sound"]\n'
    campaign = function_campaign(tmp_path, runs=2, more=limits + grid)
    patience = WorkerOptions(compilation=0.0)
    state = carry_out(campaign, tmp_path / "out", executor=ProcessExecutor(1, patience=patience))
    assert state.counts == {status: 2, "done": 2}
    assert RunStore(tmp_path / "out").status().codes == {code: 2}


@pytest.mark.promise("C4")
def test_workers_that_cannot_begin_end_the_campaign(tmp_path, monkeypatch):
    campaign = function_campaign(tmp_path, runs=2)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(CampaignError) as raised:
        carry_out(campaign, tmp_path / "out")
    assert raised.value.codes == ("worker.start",)
    monkeypatch.undo()
    assert carry_out(campaign, tmp_path / "out").n_now == 2


def test_a_worker_leaves_with_its_parent(tmp_path):
    campaign = function_campaign(tmp_path, runs=1)
    text = (
        "import sys, time\n"
        "from freefloat.campaign.campaign_text import write_campaign\n"
        "from freefloat.campaign.campaign_file import load_campaign\n"
        "from freefloat.campaign.supervised_worker import SupervisedWorker\n"
        f"c = load_campaign({str(tmp_path / 'campaign.toml')!r})\n"
        "w = SupervisedWorker(write_campaign(c), c.limits)\n"
        "print(w.pid, flush=True)\n"
        "time.sleep(100)\n"
    )
    assert campaign.code
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, env=environment
    ) as p:
        pid = int(p.stdout.readline())
        p.kill()
        p.wait()
    until = time.monotonic() + 30.0
    while Path(f"/proc/{pid}").exists() and "Z" not in _state(pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists() or "Z" in _state(pid)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@pytest.mark.promise("C3")
def test_a_full_disk_ends_the_campaign_with_a_valid_store(tmp_path, small_disk):
    campaign = function_campaign(tmp_path, runs=400)
    with pytest.raises(Exception) as raised:
        carry_out(campaign, small_disk / "out")
    assert "file.unwritable" in raised.value.codes
    store = RunStore(small_disk / "out")
    n_done = store.status().n_done
    assert 0 < n_done < 400
    (small_disk / "ballast").unlink()
    assert carry_out(campaign, small_disk / "out").n_before == n_done
    carry_out(campaign, tmp_path / "calm")
    assert fingerprint(small_disk / "out") == fingerprint(tmp_path / "calm")


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for some hundred rows, and a file that can be removed."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        (place / "ballast").write_bytes(bytes(3_300_000))
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=False)
