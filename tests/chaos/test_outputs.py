"""Outputs that cannot destroy: attacks on what the command writes and on what it shows.

What is refused is refused before anything is touched; a signal, a full disk or a folder that cannot
be written to leaves the old files, all of them, or the new ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import freefloat as ff
from freefloat.cli.run import run

ROBOT = "planar-capture"


@pytest.fixture(scope="module")
def flights(tmp_path_factory) -> Path:
    """A folder with two short flights, a plan, a model of its own with a URDF, and a fit."""
    folder = tmp_path_factory.mktemp("flights")
    model = ff.load_model(ROBOT)
    for name, seed in (("one.parquet", 1), ("two.csv", 2)):
        ff.simulate(model, ff.default_plan(model, duration=3.0, seed=seed), seed=seed).save(
            folder / name
        )
    ff.default_plan(model, duration=3.0).save(folder / "plan.toml")
    wanted = ff.Parameters(model).free("target.mass")
    fit = ff.identify(model, wanted, ff.read_telemetry(folder / "one.parquet"), assess=False)
    fit.save(folder / "fit.json")
    ff.load_model("cbk-arm").save(folder / "arm.urdf")
    (folder / "arm.toml").write_text('format = 1\nname = "arm"\nurdf = "arm.urdf"\n')
    return folder


@pytest.fixture
def folder(flights, tmp_path, monkeypatch) -> Path:
    """A copy of these files to attack, as the folder where the command runs."""
    shutil.copytree(flights, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def snapshot(folder: Path) -> dict[str, object]:
    """What is in a folder: which files, of which kind, with what in them."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_ino, status.st_mtime_ns, content)
    return found


def refusal(capsys, *arguments: object) -> list[tuple[str, str]]:
    """The places and codes of a command that is refused."""
    capsys.readouterr()
    code = run([*map(str, arguments), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert code == 2 and all(fault["remedy"] for fault in answer["error"]["faults"])
    return [(fault["place"], fault["code"]) for fault in answer["error"]["faults"]]


# Every verb that writes: arguments with OUT where it would replace one of its own inputs, or write
# two things to one file, by some other name of it.
REPLACED = {
    "track, its recording": (("track", ROBOT, "one.parquet", "--parquet", "OUT"), "one.parquet"),
    "track, its model": (("track", "arm.toml", "two.csv", "--out", "OUT"), "arm.toml"),
    "validate, its fit": (("validate", "fit.json", "two.csv", "--out", "OUT"), "fit.json"),
    "validate, its model": (("validate", "arm.toml", "two.csv", "--out", "OUT"), "arm.toml"),
    "identify, its plan": (
        ("identify", ROBOT, "two.csv", "--plan", "plan.toml", "--save-model", "OUT"),
        "plan.toml",
    ),
    "identify, the URDF of its model": (
        ("identify", "arm.toml", "two.csv", "--save-model", "OUT"), "arm.urdf",
    ),
    "structure, its model": (
        ("structure", "arm.toml", "two.csv", "--save-model", "OUT"), "arm.toml",
    ),
    "spectrum, its model": (
        ("spectrum", "two.csv", "--model", "arm.toml", "--save-model", "OUT"), "arm.toml",
    ),
    "telemetry, its recording": (("telemetry", "two.csv", "--repair", "OUT"), "two.csv"),
    "telemetry, the truth of it": (("telemetry", "two.csv", "--repair", "OUT"), "two.truth.csv"),
    "simulate, its plan": (
        ("simulate", ROBOT, "--plan", "plan.toml", "--save-plan", "OUT"), "plan.toml",
    ),
    "design, its model": (("design", "arm.toml", "--out", "OUT"), "arm.toml"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["itself", "dots", "symbolic", "hard"])
@pytest.mark.parametrize("case", REPLACED)
def test_an_input_is_never_an_output(folder, capsys, case, name):
    arguments, victim = REPLACED[case]
    # The suffix has to be one that the option takes, or that would be the reason.
    suffix = ".json" if "validate" in case else Path(victim).suffix
    out = f"other{suffix}"
    if name in ("itself", "dots"):
        out = victim if name == "itself" else f"../here/./{victim}"
        if Path(victim).suffix != suffix:
            pytest.skip("another suffix is refused anyway")
    elif name == "symbolic":
        (folder / out).symlink_to(victim)
    else:
        (folder / out).hardlink_to(folder / victim)
    before = snapshot(folder)
    found = refusal(capsys, *(out if text == "OUT" else text for text in arguments))
    assert [code for _, code in found] == ["file.conflict"]
    assert snapshot(folder) == before


TWICE = {
    "track": ("track", ROBOT, "two.csv", "--out", "q.pq", "--state", "q.pq", "--parquet", "q.pq"),
    "identify": ("identify", ROBOT, "two.csv", "--out", "a.json", "--report", "b.html"),
    "simulate": ("simulate", ROBOT, "--out", "f.csv", "--save-plan", "f.toml"),
    "reproduce": ("reproduce", "003", "--report", "b.html", "--rows", "a.json"),
}


@pytest.mark.parametrize("verb", TWICE)
def test_two_outputs_are_never_one_file(folder, capsys, verb):
    if verb in ("identify", "reproduce"):
        (folder / "a.json").write_text("")
        (folder / "b.html").hardlink_to(folder / "a.json")
    if verb == "simulate":  # the truth that comes with --out
        (folder / "f.toml").write_text("")
        (folder / "f.truth.csv").symlink_to("f.toml")
    before = snapshot(folder)
    found = refusal(capsys, *TWICE[verb])
    assert {code for _, code in found} == {"file.conflict"} and snapshot(folder) == before


OUTPUTS = {
    "design": ("design", ROBOT, "--table", "it.csv"),
    "simulate": ("simulate", ROBOT, "--out", "it.csv"),
    "the truth": ("simulate", ROBOT, "--out", "its.csv"),
    "identify": ("identify", ROBOT, "two.csv", "--out", "it.json"),
    "structure": ("structure", ROBOT, "two.csv", "--save-model", "it.toml"),
    "track": ("track", ROBOT, "two.csv", "--state", "it"),
    "validate": ("validate", "fit.json", "two.csv", "--report", "it.html"),
    "spectrum": ("spectrum", "two.csv", "--model", ROBOT, "--save-model", "it.toml"),
    "telemetry": ("telemetry", "two.csv", "--repair", "it.csv"),
    "reproduce": ("reproduce", "003", "--rows", "it.json"),
    "models": ("models", "copy", "servicer", "it.toml", "--force"),
}


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "dangling", "nowhere"])
@pytest.mark.parametrize("verb", OUTPUTS)
def test_what_is_no_file_is_refused_before_work_begins(folder, capsys, verb, kind):
    *arguments, out = [text for text in OUTPUTS[verb] if text != "--force"]
    force = ["--force"] * ("--force" in OUTPUTS[verb])
    path = folder / ("its.truth.csv" if verb == "the truth" else out)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to(os.devnull)
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif verb == "models":
        pytest.skip("it makes its folder")
    else:
        out = f"nowhere/{out}"
    before = snapshot(folder)
    found = refusal(capsys, *arguments, out, *force)
    assert "file.unwritable" in [code for _, code in found] and snapshot(folder) == before
    if verb != "models":
        assert found[0][0].startswith("--")


# -- disks --------------------------------------------------------------------------------


# Writes telemetry and its truth anew where the disk ends between the two.
FULL = """
import resource, sys
from pathlib import Path
from freefloat.cli.run import run
small, large = sorted(len(Path(name).read_bytes()) for name in ("f.csv", "f.truth.csv"))
resource.setrlimit(resource.RLIMIT_FSIZE, ((small + large) // 2,) * 2)
sys.exit(run(["simulate", "planar-capture", "--duration", "3", "--seed", "7", "--out", "f.csv"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_a_disk_that_is_full_between_two_files_leaves_both_old(folder):
    shutil.copy("two.csv", "f.csv")
    shutil.copy("two.truth.csv", "f.truth.csv")
    before = snapshot(folder)
    ended = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True)
    assert ended.returncode == 2 and "cannot write" in ended.stderr
    assert snapshot(folder) == before


def mounted(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell with a small disk of its own at ./disk; skip where none can be."""
    Path("disk").mkdir(exist_ok=True)
    mount = f"mount -t tmpfs -o size=256k none disk && {{ {command}; }}"
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=256k none disk"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("no disks can be mounted here")
    shell = ["unshare", "-m", "sh", "-c", mount.replace("PYTHON", sys.executable)]
    return subprocess.run(shell, capture_output=True, text=True)


def test_a_small_disk_leaves_the_old_set(folder):
    save = "PYTHON -m freefloat simulate planar-capture --seed 3 --out disk/f.csv --duration"
    look = "sha256sum disk/f.csv disk/f.truth.csv; ls -A disk"
    ended = mounted(f"{save} 3 >&2; {look}; {save} 90 >&2; echo $?; {look}")
    lines = ended.stdout.splitlines()
    half = len(lines) // 2
    assert lines[half] == "2" and lines[:half] == lines[half + 1 :] and half == 4, ended


def test_a_read_only_disk_is_refused_before_work_begins(folder):
    copy = "PYTHON -m freefloat models copy servicer disk/m.toml"
    fly = "PYTHON -m freefloat simulate planar-capture --duration 3 --out disk/f.csv"
    ended = mounted(f"mount -o remount,ro disk; {copy}; echo $?; {fly}; echo $?")
    assert ended.stdout.split() == ["2", "2"] and ended.stderr.count("read-only") >= 2, ended


# -- terminals -------------------------------------------------------------------------------------

HOSTILE = "a\x1b[2J\nb\u202e\x9b\r.csv"


def unsafe(text: str) -> set[str]:
    """What a terminal would obey, but for line ends."""
    return {c for c in text if not c.isprintable()} - {"\n"}


@pytest.mark.parametrize("is_json", [False, True])
def test_hostile_names_are_shown_and_not_obeyed(folder, capsys, is_json):
    shutil.copy("two.csv", HOSTILE)
    json_option = ["--json"] * is_json
    for arguments in (
        ("telemetry", HOSTILE), ("telemetry", HOSTILE, "--repair", "x" + HOSTILE),
        ("identify", ROBOT, HOSTILE, "--method", "momentum", "--no-assess"),
        ("track", ROBOT, HOSTILE), ("check", HOSTILE), ("telemetry", "no" + HOSTILE),
        ("simulate", ROBOT, "--duration", "1", "--out", "y" + HOSTILE, "--save-plan", "p.toml"),
        ("nosuch" + HOSTILE,), ("simulate", ROBOT, "--seed", HOSTILE),
        ("track", ROBOT, HOSTILE, "--parquet", HOSTILE, "--debug"),
    ):  # fmt: skip
        capsys.readouterr()
        assert run([*arguments, *json_option]) in (0, 1, 2), arguments
        shown = capsys.readouterr()
        assert not unsafe(shown.out) and not unsafe(shown.err), arguments
        if is_json and arguments[0] == "telemetry" and arguments[1] == HOSTILE:
            assert json.loads(shown.out)["file"] == HOSTILE  # the name itself, for machines
        elif not is_json and "nosuch" not in arguments[0]:
            assert "\\x1b[2J" in (shown.out + shown.err), arguments


def test_errors_of_the_library_show_hostile_names(folder):
    with pytest.raises(ff.FreefloatError) as caught:
        ff.read_telemetry("no" + HOSTILE)
    assert not unsafe(str(caught.value)) and len(str(caught.value).splitlines()) == 2


def test_names_that_are_no_text_are_refused_before_work_begins(folder, capsys):
    before = snapshot(folder)
    name = os.fsdecode(b"a\xff.csv")
    assert refusal(capsys, "simulate", ROBOT, "--out", name) == [("arguments", "file.encoding")]
    assert snapshot(folder) == before


# -- the cache of kernels --------------------------------------------------------------------------

LOOK = """
import os, sys
from freefloat.cli.waiting import tell_first_run
from freefloat.numba_ import compilation
tell_first_run("update.take_sample", takes="long")
from freefloat.dynamics.kernels import integrate
print(integrate.rk4._cache.cache_path)
print(compilation.cache_folder() / compilation._fingerprint())
"""


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_cache_that_cannot_be_used_is_replaced_by_a_temporary_one(tmp_path, is_shared):
    (tmp_path / "file").touch()  # no folder can be made inside, not even by root
    own = tmp_path / f"freefloat-{os.getuid()}"
    if is_shared:  # others may have put machine code there
        own.mkdir()
        own.chmod(0o777)
    changed = {"FREEFLOAT_CACHE_DIR": str(tmp_path / "file" / "cache"), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, env=os.environ | changed
    )
    kernels, folder = map(Path, ended.stdout.split())
    assert ended.returncode == 0 and kernels.is_relative_to(folder)
    assert folder.is_relative_to(tmp_path) and (own in folder.parents) != is_shared
    said = " ".join(ended.stderr.split())
    assert said.count("cannot be used") == 1 and "compiling" in said
    package = Path(ff.__file__).parent
    assert not list(package.rglob("*.nbi"))


# -- standard output, words ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["f.csv", "link.csv"])
def test_an_output_that_standard_output_goes_to_is_refused(folder, name):
    (folder / "link.csv").symlink_to("f.csv")
    command = f"{sys.executable} -m freefloat simulate {ROBOT} --duration 1 --out {name}"
    for redirect in (">", ">>"):
        ended = subprocess.run(
            ["sh", "-c", f"{command} {redirect} f.csv"], capture_output=True, text=True
        )
        assert ended.returncode == 2 and "standard output" in ended.stderr
        assert (folder / "f.csv").stat().st_size == 0
    ended = subprocess.run(["sh", "-c", f"{command} > other.txt"], capture_output=True, text=True)
    assert ended.returncode == 0 and (folder / name).stat().st_size > 0


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_model_is_copied_to_files_only(folder, capsys, force):
    os.mkfifo(folder / "pipe.toml")
    (folder / "device.toml").symlink_to(os.devnull)
    for name in ("pipe.toml", "device.toml", os.devnull):
        found = refusal(capsys, "models", "copy", "servicer", name, *force)
        assert found == [(name, "file.unwritable")]


def test_errors_call_options_by_their_names_on_the_command_line(folder, capsys):
    for arguments, place in (
        (("telemetry", "two.csv", "--max-bytes", "0"), "--max-bytes"),
        (("track", ROBOT, "-", "--idle=-1"), "--idle"),
        (("identify", ROBOT, "two.csv", "--uncertainty", "link_1.mass=1"), "--uncertainty"),
        (("telemetry", "two.csv", "--repair", "two.truth.csv"), "--repair"),
    ):
        (found,) = refusal(capsys, *arguments)
        assert found[0].startswith(place), found
    assert run(["track", ROBOT, "two.csv", "--gate", "2"]) == 2
    assert capsys.readouterr().err.startswith("error: --gate")


def test_remedies_lead_on(folder, capsys):
    def remedy(*arguments: str) -> str:
        capsys.readouterr()
        assert run(["identify", ROBOT, "two.csv", *arguments, "--json"]) == 2
        (fault,) = json.loads(capsys.readouterr().out)["error"]["faults"]
        return fault["expected"] + fault["remedy"]

    assert "link_1.scale?" in remedy("--uncertainty", "link_1.mass=0.1")
    assert "0.01" in remedy("--uncertainty", "link_1.scale=1%")
    assert "a finite number" in remedy("--uncertainty", "link_1.scale=nan")


def test_a_number_that_is_none_is_worded_alike(folder, capsys):
    for arguments in (("simulate", ROBOT, "--duration=nan"), ("track", ROBOT, "-", "--every=nan")):
        assert run([*arguments]) == 2
        option = arguments[-1].partition("=")[0]
        told = capsys.readouterr().err
        assert told.startswith(f"error: {option} nan is not a finite number\n")


def test_a_number_of_many_digits_is_told_of(folder, capsys):
    lines = Path("two.csv").read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if not line.startswith("#")) + 20
    first, _, rest = lines[at].partition(",")
    lines[at] = ",".join([first, "1" * 400, *rest.split(",")[1:]])
    Path("digits.csv").write_text("\n".join(lines) + "\n")
    how = ("--free", "target.mass", "--method", "momentum", "--no-assess")
    assert run(["identify", ROBOT, "digits.csv", *how]) in (0, 1)
    assert "base.position.x (1)" in capsys.readouterr().out
    assert run(["telemetry", "digits.csv"]) in (0, 1)
    assert "base.position.x" in capsys.readouterr().out
