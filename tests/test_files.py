"""Sets of files are replaced together or not at all, whatever happens at whatever instant."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from fault_codes import refused

from freefloat.errors import FreefloatError
from freefloat.files import atomic_path, atomic_write, settle, together
from freefloat.part_files import is_same_file

# Dies before the n-th thing it asks the system for, for every n, and looks at what is left. Each
# file of the set holds the name of its generation. `looker` is the file that is read first.
DYING = """
import os, sys, pathlib
from freefloat.files import atomic_write, settle, together
places = [pathlib.Path(name) for name in sys.argv[2:]]
looker = places[int(sys.argv[1])]
WATCHED = {"open", "os.rename", "os.remove", "fcntl.flock", "os.listdir", "os.chmod"}

def write(generation):
    with together():
        for place in places:
            atomic_write(place, generation)

def hidden():
    return [name for place in places for name in os.listdir(place.parent) if name[0] == "."]

def die_before(n):
    count = 0
    def hook(event, arguments):
        nonlocal count
        if event in WATCHED:
            count += 1
            if count == n:
                os._exit(9)
    sys.addaudithook(hook)

instants, completed, mixed = 0, 0, 0
write("old")
while True:
    instants += 1
    child = os.fork()
    if not child:
        die_before(instants)
        write("new")
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = {place.read_text() for place in places}
    assert found <= {"old", "new"}, (instants, found)
    mixed += len(found) > 1
    settle(looker)
    found = {place.read_text() for place in places}
    assert len(found) == 1, (instants, found)
    completed += found == {"new"}
    for place in places:
        settle(place)
    assert {place.read_text() for place in places} == found, instants  # for good
    assert not [name for name in hidden() if name.endswith("set")], (instants, hidden())
    write("old")
    assert {place.read_text() for place in places} == {"old"} and not hidden(), instants
    if code == 0:
        break
print(instants, completed, mixed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs to die cheaply")
@pytest.mark.parametrize("looker", [0, 1, 2])
@pytest.mark.parametrize("names", [("a", "b", "c"), ("x/a", "y/b", "x/c")])
def test_a_run_that_dies_at_any_instant_leaves_a_set(tmp_path, names, looker):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
    places = [str(tmp_path / name) for name in names]
    ended = subprocess.run(
        [sys.executable, "-c", DYING, str(looker), *places], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    instants, completed, mixed = map(int, ended.stdout.split())
    # The attack reached the renames: instants before, between and after them.
    assert instants > completed > 3 and mixed >= 2


# Several write one set, in whatever order of its files, and some of them die while they do.
CROWD = """
import os, random, sys
from freefloat.files import atomic_write, together
chance, places = random.Random(int(sys.argv[1])), sys.argv[2:]
for n in range(25):
    chance.shuffle(places)
    with together():
        for place in places:
            atomic_write(place, f"{sys.argv[1]}.{n}")
if chance.random() < 0.5:
    sys.addaudithook(lambda event, arguments: event == "os.rename" and os._exit(9))
    with together():
        for place in places:
            atomic_write(place, f"{sys.argv[1]}.last")
"""


def test_a_crowd_that_writes_one_set_leaves_one_set(tmp_path):
    places = [tmp_path / name for name in ("a", "b", "c")]
    crowd = [
        subprocess.Popen([sys.executable, "-c", CROWD, str(k), *map(str, places)]) for k in range(5)
    ]
    codes = [one.wait() for one in crowd]
    assert set(codes) == {0, 9}  # neither an error nor only deaths
    settle(places[0])
    assert len({place.read_text() for place in places}) == 1
    with together():
        for place in places:
            atomic_write(place, "end")
    assert sorted(tmp_path.iterdir()) == places


def test_an_interrupt_between_two_renames_waits_for_the_others(tmp_path, monkeypatch):
    replace, count = os.replace, 0

    def interrupted(*arguments: object) -> None:
        nonlocal count
        count += 1
        if count == 2:
            raise KeyboardInterrupt
        replace(*arguments)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), together():
        atomic_write(tmp_path / "a", "new")
        atomic_write(tmp_path / "b", "new")
    assert [file.read_text() for file in sorted(tmp_path.iterdir())] == ["new", "new"]


@pytest.mark.parametrize("failing", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_the_old_set(tmp_path, monkeypatch, failing):
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.write_text("old")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with refused(FreefloatError, "file.unwritable"), together():
        for place in places:
            atomic_write(place, "new")
        monkeypatch.setattr(os, failing, full)
    monkeypatch.undo()
    assert sorted(tmp_path.iterdir()) == places
    assert [place.read_text() for place in places] == ["old", "old"]


def test_an_accident_before_the_end_of_a_set_leaves_nothing(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(RuntimeError), together():
        atomic_write(tmp_path / "a", "new")
        raise RuntimeError
    assert (tmp_path / "a").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_set_holds_a_file_once(tmp_path):
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a").write_text("old")
    with refused(FreefloatError, "file.conflict"), together():
        atomic_write(tmp_path / "a", "1")
        atomic_write(tmp_path / "link", "2")
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"set": "1", "files": [["a", "../b"]]}',
        '{"set": "1", "files": [["a", "precious"]]}',
    ],
)
def test_a_marker_that_is_none_of_ours_moves_nothing(tmp_path, text):
    (tmp_path / "a").write_text("old")
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".a.freefloat-set").write_text(text)
    settle(tmp_path / "a")
    names = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert names == {"a": "old", "precious": "mine"}


# -- parts of the dead and of the living -----------------------------------------------------------


def test_the_next_run_removes_what_a_dead_one_left_and_nothing_else(tmp_path):
    dead = "import sys, os; from freefloat.files import atomic_path\n"
    dead += "with atomic_path(sys.argv[1]) as part: part.write_text('half'); os._exit(9)"
    target, long = tmp_path / "flight.csv", tmp_path / ("x" * 240 + ".csv")
    for path in (target, long):
        subprocess.run([sys.executable, "-c", dead, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    others = [".flight.csv", ".flight.part.csv", ".other.0123456789ab.part.csv", "flight.part"]
    for name in others:
        (tmp_path / name).write_text("")
    for path in (target, long):
        atomic_write(path, "whole")
    assert {file.name for file in tmp_path.iterdir()} == {*others, target.name, long.name}


def test_what_a_living_run_is_writing_stays(tmp_path):
    with atomic_path(tmp_path / "flight.csv") as part:
        code = "import sys; from freefloat.files import atomic_write; atomic_write(sys.argv[1], '')"
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "flight.csv")], check=True)
        part.write_text("mine")
    assert (tmp_path / "flight.csv").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


# -- what is never replaced ------------------------------------------------------------------------


def special_file(kind: str, folder: Path) -> Path:
    """Something that is no ordinary file."""
    path = folder / "it"
    if kind == "device":
        return Path(os.devnull)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        path = Path(os.path.relpath(path))  # names of sockets are short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    elif kind == "link to itself":
        path.symlink_to("it")
    elif kind == "link to a device":
        path.symlink_to(os.devnull)
    return path


KINDS = [
    "device",
    "folder",
    "pipe",
    "socket",
    "dangling link",
    "link to itself",
    "link to a device",
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no such files")
@pytest.mark.parametrize("kind", KINDS)
def test_no_file_takes_the_place_of_what_is_none(tmp_path, kind):
    path = special_file(kind, tmp_path)
    before = path.lstat()
    with refused(FreefloatError, "file.unwritable") as caught:
        atomic_write(path, "destroyed")
    assert caught.value.faults[0].remedy
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert not [file for file in tmp_path.iterdir() if ".part" in file.name]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(Path("far", "real.csv"))
    with atomic_path(tmp_path / "link.csv") as part:
        assert part.parent == (tmp_path / "far").resolve()  # or it could not be renamed at once
        part.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "far" / "real.csv").read_text() == "new"


def test_one_file_by_many_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("")
    (tmp_path / "hard").hardlink_to(tmp_path / "a")
    (tmp_path / "soft").symlink_to("a")
    (tmp_path / "folder").symlink_to(tmp_path)
    for name in ("a", "hard", "soft", "./a", f"../{tmp_path.name}/a", "folder/a"):
        assert is_same_file(Path(name), tmp_path / "a"), name
    assert is_same_file(Path("folder/new"), Path("new")) and not is_same_file(Path("a"), Path("b"))


def test_a_name_that_is_no_utf8_is_refused_before_anything_is_written(tmp_path):
    with refused(FreefloatError, "file.unwritable"):
        atomic_write(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.csv"), "")
    assert not list(tmp_path.iterdir())
