"""A live run attacked: signals, kills, broken lines, full disks. Nothing flown is lost."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from live_flights import noisy
from mcap.reader import make_reader
from pyarrow.parquet import ParquetFile

import freefloat as ff
from freefloat.cli import estimate_files
from freefloat.cli.run import run
from freefloat.telemetry.sample_lines import LONGEST_LINE

MODEL = "planar-capture"
WANTED = ("--free", "bus.mass", "--free", "target.mass")
STRANGE = [
    "1" + "0" * 400, "-1" + "0" * 400, "1e400", "-1e400", "NaN", "Infinity", "1e300", "null",
    "true", '"x"', "[]", "{}", '"\\ud800"', "[[[[1]]]]", "1e-320", "0x10", "1_000", "", "1" * 5000,
]  # fmt: skip

# Beyond what a run of sound lines takes: a state, estimates, 2000 broken lines took 0.3 s and 0 B.
MOST_SECONDS = 3.0  # [s] of processor time; a busy machine is not the fault of a line
SECONDS_A_LINE = 1e-3  # [s] for every broken line: seven times what a sound one takes
MOST_GROWTH = 50 * 2**20  # [B]; one line that was kept whole, a megabyte, fifty times


def flight_lines(*, until: float = 60.0) -> list[str]:
    flight = noisy(MODEL, 0).between(0.0, until)
    return [json.dumps({"time": s.time, **s.values}) for s in flight]


LINES = flight_lines()


@pytest.fixture
def track(capsys, monkeypatch, tmp_path):
    """Track lines in this process: exit code, the summary, what was told."""
    monkeypatch.chdir(tmp_path)

    def tracked(lines: list[str] | list[bytes], *options: str, model: str = MODEL):
        data = b"\n".join(x.encode("utf-8", "surrogatepass") if isinstance(x, str) else x
                          for x in lines)  # fmt: skip
        Path("lines.ndjson").write_bytes(data)
        capsys.readouterr()
        code = run(["track", model, "lines.ndjson", "--json", *options])
        shown = capsys.readouterr()
        last = json.loads(shown.out.splitlines()[-1])
        return code, last["summary"], shown.err

    return tracked


def start(folder: Path, *arguments: str, **options) -> subprocess.Popen:
    """The command as a process of its own, that reads a pipe."""
    environment = {**os.environ, "PYTHONPATH": str(Path(ff.__file__).parents[1])}
    command = [sys.executable, "-m", "freefloat", "track", MODEL, "-", *WANTED, *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def wait_for(path: Path, process: subprocess.Popen) -> None:
    """Until a file has something in it."""
    for _ in range(1200):  # two minutes: the first run on a machine compiles
        if path.exists() and path.stat().st_size:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError(f"{path} never came")


def wait_until_idle(process: subprocess.Popen) -> None:
    """Until a process has used no processor time for a while; at once where nobody can tell."""
    stat = Path(f"/proc/{process.pid}/stat")
    before = None
    while stat.exists() and before != (now := stat.read_text().rpartition(")")[2].split()[11:13]):
        before = now
        time.sleep(1.0)  # a busy machine keeps a process waiting for some tenths of a second


def samples_in(state: Path) -> int:
    """How many samples a saved state has seen."""
    model = ff.load_model(MODEL)
    tracker = ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass", "target.mass"))
    tracker.restore(state)
    return sum(tracker.counts.values())


# -- signals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_it_like_the_end_of_data(name, tmp_path):
    process = start(tmp_path, "--state", "s", "--out", "o", "--parquet", "p.parquet", "--mcap",
                    "e.mcap", "--json")  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("\n".join(LINES[:300]).encode() + b"\n")
    process.stdin.flush()
    wait_for(tmp_path / "s", process)
    wait_until_idle(process)  # it has taken them all, and waits for more
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    summary = json.loads(out.splitlines()[-1])["summary"]
    assert process.returncode in (0, 1) and summary["ended_by"] == name, err
    assert samples_in(tmp_path / "s") == 300 == sum(summary["samples"].values())
    estimates = [json.loads(line) for line in (tmp_path / "o").read_text().splitlines()]
    assert estimates[-1]["time"] == pytest.approx(29.9)  # the time of line 300, rounded
    table = ParquetFile(tmp_path / "p.parquet").read().to_pydict()
    assert table["time"] == [estimate["time"] for estimate in estimates]
    with (tmp_path / "e.mcap").open("rb") as file:
        messages = [m for _, _, m in make_reader(file).iter_messages(topics=["/estimate"])]
    assert [json.loads(m.data)["t"] for m in messages] == table["time"]


def kill_and_resume(folder: Path, rng: random.Random) -> None:
    """Kill it at a random moment, tear its last line, go on: what is lost is bounded."""
    interval, slack = 0.3, 1.5  # [s]; slack: a busy machine reads and saves late
    options = ("--state", "s", "--out", "o", "--checkpoint", str(interval), "--every", "0.1")
    process = start(folder, *options)
    assert process.stdin is not None
    process.stdin.write(LINES[0].encode() + b"\n")
    process.stdin.flush()
    wait_for(folder / "s", process)
    fed, until = [time.monotonic()], time.monotonic() + rng.uniform(0.5, 3.0)
    while time.monotonic() < until:
        process.stdin.write(LINES[len(fed)].encode() + b"\n")
        process.stdin.flush()
        fed.append(time.monotonic())
        time.sleep(0.01)
    killed = time.monotonic()
    process.kill()
    process.communicate()
    saved = samples_in(folder / "s")
    assert saved >= sum(instant < killed - interval - slack for instant in fed)
    with (folder / "o").open("ab") as file:
        file.write(b'{"time": 1.0, "outc')  # as a disk that filled up leaves it
    process = start(folder, *options)
    _, err = process.communicate("\n".join(LINES[saved:550]).encode(), timeout=60)
    assert process.returncode in (0, 1), err
    assert samples_in(folder / "s") == 550
    estimates = [json.loads(line) for line in (folder / "o").read_text().splitlines()]
    assert len(estimates) > 100 and all("parameters" in e for e in estimates)
    assert not list(folder.glob(".*.part*"))


def test_a_kill_loses_no_more_than_the_checkpoint(tmp_path):
    kill_and_resume(tmp_path, random.Random(1))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_kills_at_random_moments(seed, tmp_path):
    kill_and_resume(tmp_path, random.Random(100 + seed))


def test_a_closed_input_is_a_message(tmp_path):
    command = f"{sys.executable} -m freefloat track {MODEL} - <&-"
    environment = {**os.environ, "PYTHONPATH": str(Path(ff.__file__).parents[1])}
    ended = subprocess.run(
        ["sh", "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2 and "Traceback" not in ended.stderr, ended.stderr
    assert "SOURCE" in ended.stderr


# -- lines ---------------------------------------------------------------------------------------


def mutants(n: int, seed: int) -> list[bytes]:
    """Lines damaged in their bytes, in their numbers or in their names."""
    rng, out = random.Random(seed), []
    for _ in range(n):
        line = LINES[rng.randrange(len(LINES))]
        kind = rng.randrange(4)
        if kind == 0:
            content = json.loads(line)
            name = rng.choice([*content, "time"])
            text = json.dumps({k: v for k, v in content.items() if k != name})
            data = f'{text[:-1]}, "{name}": {rng.choice(STRANGE)}}}'.encode()
        elif kind == 1:
            data = line.replace(
                rng.choice(["base", "time", "arm", "force"]),
                rng.choice(["\\ud800", "x" * 300, "\\u0000", "\x1b[31m", "base.base", ""]), 1,
            ).encode()  # fmt: skip
        else:
            data = bytearray(line.encode())
            for _ in range(rng.randrange(1, 8)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
            data = bytes(data)
        out.append(data.replace(b"\n", b" "))
    return out


class Measured(NamedTuple):
    """How a run in a process of its own ended, and what it took: processor time [s], memory [B]."""

    code: int
    summary: dict
    err: str
    seconds: float
    memory: int


def measure(folder: Path, lines: list[bytes], *options: str, model: str = MODEL) -> Measured:
    """Track lines in a process of its own."""
    (folder / "lines.ndjson").write_bytes(b"\n".join(lines))
    command = [sys.executable, "-m", "freefloat", "track", model, "lines.ndjson", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(ff.__file__).parents[1])}
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        process = subprocess.Popen(
            [*command, *options], cwd=folder, env=environment, stdout=out, stderr=err
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    told = (folder / "out").read_text().splitlines()
    return Measured(
        process.returncode, json.loads(told[-1])["summary"] if told else {},
        (folder / "err").read_text(), used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss,
    )  # fmt: skip


def attack(folder: Path, n: int, seeds: range, *, options=WANTED, model: str = MODEL) -> None:
    good = [line.encode() for line in LINES]
    measure(folder, good[:50], *options, model=model)  # compiles, where nothing has been yet
    sound = measure(folder, good, *options, model=model)
    for seed in seeds:
        (folder / "s").unlink(missing_ok=True)
        survive(folder, good, mutants(n, seed), sound=sound, options=options, model=model)


def survive(folder: Path, good, bad, *, sound: Measured, options, model: str) -> None:
    """Track good lines with bad ones among them: all are counted, in time and within memory."""
    n = len(bad)
    mixed = [x for k in range(max(n, len(good))) for x in (good[k : k + 1] + bad[k : k + 1])]
    run = measure(folder, mixed, "--state", "s", "--out", "o", *options, model=model)
    assert run.code in (0, 1) and run.summary["failures"] == {}, run
    assert "Traceback" not in run.err
    n_lines = sum(bool(line.strip()) for line in mixed)
    assert sum(run.summary["samples"].values()) == n_lines  # every line is accounted for
    assert run.seconds - sound.seconds < MOST_SECONDS + SECONDS_A_LINE * n, (run, sound)
    assert run.memory - sound.memory < MOST_GROWTH, (run, sound)
    for line in (folder / "o").read_text(encoding="utf-8").splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    "options", [pytest.param(WANTED, marks=pytest.mark.full), (*WANTED, "--reorder", "5")]
)
def test_broken_lines_are_counted_and_survived(tmp_path, options):
    attack(tmp_path, 400, range(1, 2), options=options)


def test_broken_lines_of_channels_at_different_rates(tmp_path):
    model = ff.load_model(MODEL)
    slow = tuple(replace(s, rate=5.0) if s.kind == "attitude" else s for s in model.sensors)
    replace(model, sensors=slow).save(tmp_path / "slow.toml")
    attack(tmp_path, 300, range(2, 3), model="slow.toml")


@pytest.mark.full
def test_many_broken_lines(tmp_path):
    n = int(os.environ.get("FREEFLOAT_MUTANTS", "20000"))
    attack(tmp_path, 2000, range(1000, 1000 + max(n // 2000, 1)))


def test_an_endless_line_is_dropped_to_its_end(track):
    endless = b'{"time": 3.0, "x": "' + b"y" * (3 * LONGEST_LINE) + b'"}'
    lines = [line.encode() for line in LINES[:100]]
    code, summary, _ = track([*lines[:50], endless, *lines[50:]], *WANTED)
    assert code in (0, 1) and summary["lines_too_long"] == 1
    assert summary["samples"]["unreadable"] == 1
    assert sum(summary["samples"].values()) == 101


# -- outputs -------------------------------------------------------------------------------------


def test_a_disk_that_is_full_for_a_while_costs_the_lines_of_that_while(track, monkeypatch):
    write, full = os.write, [False]

    def limited(handle: int, data: bytes) -> int:
        full[0] = b'"time": 20' in bytes(data) or b'"time": 3' in bytes(data)
        if full[0]:
            write(handle, bytes(data)[:10])  # a part gets through
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data)

    monkeypatch.setattr(estimate_files.os, "write", limited)
    code, summary, err = track(LINES, *WANTED, "--out", "o", "--state", "s")
    assert code == 2 and summary["failures"]["out"]["count"] > 5 and "No space" in err
    assert samples_in(Path("s")) == len(LINES) == sum(summary["samples"].values())
    times = [json.loads(line)["time"] for line in Path("o").read_text().splitlines()]
    assert len(times) > 30 and not any(30.0 <= t < 40.0 for t in times) and times[-1] > 55.0


def test_what_fails_at_a_sample_or_at_the_state_is_counted(track, monkeypatch):
    take, save = ff.OnlineEstimator.take, ff.OnlineEstimator.save
    n = [0, 0]

    def brittle(self, sample):
        n[0] += 1
        if n[0] % 50 == 0:
            raise ZeroDivisionError("of a kernel")
        return take(self, sample)

    def unable(self, path):
        n[1] += 1
        if n[1] == 1:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        save(self, path)

    monkeypatch.setattr(ff.OnlineEstimator, "take", brittle)
    monkeypatch.setattr(ff.OnlineEstimator, "save", unable)
    code, summary, err = track(LINES[:200], *WANTED, "--state", "s")
    found = summary["failures"]
    assert found["sample"]["count"] == 4 and "ZeroDivisionError" in found["sample"]["last"]
    assert found["state"]["count"] == 1 and code == 2 and "the run goes on" in err
    assert samples_in(Path("s")) == 196  # it was saved in the end


def test_a_table_is_written_in_pieces(track, monkeypatch):
    monkeypatch.setattr(estimate_files, "ROWS", 16)
    code, _, _ = track(LINES, *WANTED, "--parquet", "p.parquet", "--every", "0.5", "--out", "o")
    file = ParquetFile("p.parquet")
    assert code in (0, 1) and file.num_row_groups > 5
    lines = [json.loads(line) for line in Path("o").read_text().splitlines()]
    values = file.read().to_pydict()["bus.mass"]
    assert np.array_equal(values, [e["parameters"]["bus.mass"]["value"] for e in lines])


def test_a_run_that_never_begins_leaves_older_files_alone(track, capsys):
    Path("o").write_text("old\n")
    code = run(["track", MODEL, "tcp://127.0.0.1:9", "--retry", "0", "--out", "o",
                "--parquet", "p.parquet", "--mcap", "e.mcap", "--state", "s"])  # fmt: skip
    assert code == 2 and Path("o").read_text() == "old\n"
    assert not list(Path().glob("*s")) and not list(Path().glob(".*"))


# -- options -------------------------------------------------------------------------------------

OPTIONS = {
    "track": (MODEL, "x.ndjson", "--idle", "--retry", "--every", "--forgetting", "--gate",
              "--checkpoint"),
    "simulate": (MODEL, "--out", "x.csv", "--duration", "--step"),
    "design": (MODEL, "--duration", "--time", "--rate"),
    "spectrum": ("x.csv", "--bandwidth"),
    "validate": ("fit.json", "x.csv", "--error", "--tip"),
}  # fmt: skip


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("verb", OPTIONS)
def test_numbers_that_are_none_are_refused_everywhere(verb, number, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fixed = [word for word in OPTIONS[verb] if word == "--out" or not word.startswith("--")]
    for option in OPTIONS[verb]:
        if option.startswith("--") and option != "--out":
            code = run([verb, *fixed, f"{option}={number}", "--json"])
            error = json.loads(capsys.readouterr().out)["error"]
            assert code == 2 and error["codes"] == ["value.range"], (option, error)


@pytest.mark.parametrize(
    "source",
    ["http://127.0.0.1:80", "wss://127.0.0.1:80", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:0",
     "tcp://127.0.0.1:99999", "tcp://127.0.0.1:x", "ws://[::1", "udp://[bad]:5", "://", "tcp:5000",
     "nothing.ndjson", "-x"],
)  # fmt: skip
def test_addresses_that_cannot_be_are_messages(source, capsys):
    assert run(["track", MODEL, source, "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["kind"] != "bug" and "Traceback" not in told.err


# -- resumed ---------------------------------------------------------------------------------------


def times_in(path: str) -> list[float]:
    return [json.loads(line)["time"] for line in Path(path).read_text().splitlines()]


@pytest.mark.parametrize("options", [(), ("--reorder", "4")])
def test_what_the_state_has_is_not_taken_twice(track, options):
    files = ("--state", "s", "--out", "o", "--parquet", "p.parquet", *WANTED, *options)
    _, once, _ = track(LINES[:400], *files)
    values = json.loads(Path("o").read_text().splitlines()[-1])["parameters"]
    for _ in range(2):  # the same lines again, and again
        code, again, _ = track(LINES[:400], *files)
        assert code in (0, 1) and again["grade"] == once["grade"]
    repeated = again["samples"].pop("already in the state")
    assert again["samples"] == once["samples"] and repeated == 800
    assert json.loads(Path("o").read_text().splitlines()[-1])["parameters"] == values
    _, longer, _ = track(LINES, *files)
    assert longer["samples"].pop("already in the state") == 1200
    assert sum(longer["samples"].values()) == len(LINES)
    table = ParquetFile("p.parquet").read().to_pydict()["time"]
    for found in (times_in("o"), table):
        assert found == sorted(set(found)) and found[0] < 1.0 and found[-1] > 59.0


def test_what_the_state_has_of_channels_at_different_rates(track, tmp_path):
    model = ff.load_model(MODEL)
    slow = tuple(replace(s, rate=5.0) if s.kind == "attitude" else s for s in model.sensors)
    replace(model, sensors=slow).save(tmp_path / "slow.toml")
    lines = [json.dumps({k: v for k, v in json.loads(x).items() if n % 2 == 0 or k != "base.angle"})
             for n, x in enumerate(LINES)]  # fmt: skip
    _, once, _ = track(lines, "--state", "s", *WANTED, model="slow.toml")
    _, again, _ = track(lines, "--state", "s", *WANTED, model="slow.toml")
    assert again["samples"]["already in the state"] >= len(lines) - 1
    assert again["samples"]["taken"] == once["samples"]["taken"]


def test_the_remedy_for_different_rates_can_be_done_on_the_command_line(track, tmp_path):
    lines = [json.dumps({k: v for k, v in json.loads(x).items() if n % 4 == 0 or k != "base.angle"})
             for n, x in enumerate(LINES)]  # fmt: skip
    _, summary, _ = track(lines, *WANTED)
    assert "samples.mostly_incomplete" in summary["health_codes"]
    assert "sensor of the model its rate" in summary["health"] and "=" not in summary["health"]
    model = ff.load_model(MODEL)
    slow = tuple(replace(s, rate=2.5) if s.kind == "attitude" else s for s in model.sensors)
    replace(model, sensors=slow).save(tmp_path / "slow.toml")
    _, summary, _ = track(lines, *WANTED, model="slow.toml")
    assert "samples.mostly_incomplete" not in summary["health_codes"]
    assert summary["samples"]["taken"] > 100 and "incomplete" not in summary["samples"]


def test_estimates_after_the_last_checkpoint_are_not_written_twice(track):
    files = ("--state", "s", "--out", "o", *WANTED)
    track(LINES[:300], *files)
    Path("older").write_bytes(Path("s").read_bytes())
    track(LINES[:500], *files)
    Path("s").write_bytes(Path("older").read_bytes())  # killed: the state is that of before
    track(LINES[:595], *files)
    times = times_in("o")
    assert times == sorted(set(times)) and samples_in(Path("s")) == 595 + 300


def test_estimates_are_not_written_twice_where_the_state_only_holds_samples_back(track):
    files = ("--state", "s", "--out", "o", "--every", "0.1", "--reorder", "3", *WANTED)
    track(LINES[:1], *files)  # nothing is used yet: three are held back
    Path("older").write_bytes(Path("s").read_bytes())
    track(LINES[:50], *files)
    Path("s").write_bytes(Path("older").read_bytes())  # killed: the state is that of before
    track(LINES[1:300], *files)
    times = times_in("o")
    assert times == sorted(set(times)) and times[-1] > 29.0


def test_fill_values_in_lines_are_masked_and_told(track):
    spoiled = [json.loads(line) for line in LINES]
    for k in range(100, 500, 40):
        spoiled[k] |= {"base.rate.z": -9999.0, "base.angle": 1e30, "thr_1.force": 32767}
    code, summary, _ = track([json.dumps(x) for x in spoiled], *WANTED)
    assert code == 0 and summary["samples"]["fill value"] == 10 and summary["failures"] == {}
    assert "1e+30 (10 times)" in summary["fill_values"]["base.angle"]


@pytest.mark.parametrize("number", ["1e308", "-1e308", "1e30", "1e200", "-9999", "5e-324", "0"])
def test_no_finite_number_ends_a_run(track, number):
    names = [name for name in json.loads(LINES[0]) if name != "time"]
    lines = list(LINES)
    for k in range(0, len(lines), 3):
        parts = ", ".join(f'"{name}": {number}' for name in names)
        lines[k] = f'{{"time": {json.loads(lines[k])["time"]}, {parts}}}'
    code, summary, err = track(lines, *WANTED, "--state", "s")
    assert code in (0, 1) and summary["failures"] == {} and "Traceback" not in err


@pytest.mark.parametrize("name", ["f.csv", "f.parquet", "lines.ndjson"])
def test_the_largest_size_holds_for_what_is_tracked(track, capsys, name):
    track(LINES[:50], *WANTED)
    noisy(MODEL, 0).save(name) if "lines" not in name else None
    assert run(["track", MODEL, name, "--max-bytes", "2000", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["codes"] == ["file.size"]


# -- for a long time -------------------------------------------------------------------------------

MOST_GROWTH = 50 * 2**20  # [B]; a leak of 100 B a line would be more within ten minutes


def soak(seconds: float) -> dict[str, int]:
    """What a long run left, with all that can be wrong in it."""
    script = Path(__file__).with_name("soak.py")
    ended = subprocess.run(
        [sys.executable, str(script), "--seconds", str(seconds)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("seconds", [10.0, pytest.param(600.0, marks=pytest.mark.full)])
def test_memory_stays_flat(seconds):
    found = soak(seconds)
    assert found["code"] in (0, 1) and found["lines"] > 100 * seconds
    assert found["ended"] - found["settled"] < MOST_GROWTH
