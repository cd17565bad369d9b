"""Coverage-guided fuzzing of one reader: whatever the bytes, they are read or refused.

    python tests/chaos/fuzz.py TARGET [--seconds 60] [--keep FOLDER] [FILE ...]

Anything but a FreefloatError is a crash, and so are five seconds over one input and 2 GB of memory;
the input is then left in the folder to keep (`build/fuzz`), and the exit code is not 0. Files named
are only read, as is one that was kept. Needs atheris: pip install 'freefloat[fuzz]'.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import os
import random
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
OWN = ("csv", "parquet", "toml", "urdf", "plan", "fit", "verdict", "state")
RECORDINGS = (
    "csv", "blanks", "npz", "mat", "mat73", "hdf5", "parquet", "ros1", "db3", "mcap_ros2",
    "mcap_json", "mcap_protobuf", "ulog",
)  # fmt: skip
SAVED = ("mcap", "mat")  # formats of ours that are not in OWN
TARGETS = (
    *OWN, *(f"saved-{kind}" for kind in SAVED), *(f"import-{kind}" for kind in RECORDINGS), "map",
    "lines",
)  # fmt: skip
ARCHIVES = ("state", "import-npz")
# What is watched: the readers. Nothing that numba compiles may be, as it reads the same bytecode.
WATCHED = (
    "records", "model", "telemetry.readers", "telemetry.recordings", "telemetry.sample_lines",
    "excitation.plan", "identification.fit", "validation.verdict", "online.state_file",
    "online.intake",
)  # fmt: skip

Target = tuple[Callable[[bytes], object], list[bytes]]  # what takes the bytes, and sound ones


def state_target(folder: Path) -> Target:
    """A state, which the estimator must be able to go on from where it was read."""
    from read_mutants import estimator
    from sound_files import sound_file
    from validation_flights import planar_flight

    fresh, following = estimator(), list(planar_flight(1, 6.0).between(5.0, 5.5))

    def go_on(path: Path) -> None:
        tracker = copy.deepcopy(fresh)
        tracker.restore(path)
        for sample in following:
            tracker.update(sample)
        assert str(tracker.estimate)

    return by_file(sound_file("state", folder), go_on)


def own_target(kind: str, folder: Path) -> Target:
    """A kind of file that freefloat writes itself."""
    from read_mutants import READERS
    from sound_files import sound_file

    path = sound_file(kind, folder)
    return by_file(path, READERS[kind])


def saved_target(kind: str, folder: Path) -> Target:
    """Telemetry of ours in a format that other programs read, too."""
    from read_mutants import look_at
    from validation_flights import planar_flight

    path = folder / f"f.{kind}"
    planar_flight(1, 1.0).with_truth(None).save(path)
    return by_file(path, look_at)


def recording_target(kind: str, folder: Path) -> Target:
    """A recording of another program: looked at, mapped, and a map suggested for it."""
    from foreign_recordings import write_recording

    from freefloat.errors import FreefloatError
    from freefloat.telemetry.recordings.import_telemetry import import_recording, open_recording
    from freefloat.telemetry.recordings.map_suggestion import suggest_map
    from freefloat.telemetry.recordings.recording_map import load_map

    path, map_path = write_recording(kind, folder)
    wanted = load_map(map_path)

    def read(path: Path) -> None:
        try:
            import_recording(path, wanted)
        except FreefloatError:  # then it can perhaps still be looked at
            suggest_map(open_recording(path), max_bytes=10**7)

    return by_file(path, read)


def map_target(folder: Path) -> Target:
    """The maps of recordings."""
    from foreign_recordings import FORMATS

    from freefloat.telemetry.recordings.recording_map import load_map

    path = folder / "map.toml"
    take, _ = by_file(path, load_map)
    return take, [text.encode() for _, _, text, _ in FORMATS.values()]


def lines_target() -> Target:
    """Lines as they come over a pipe, in two parts, read as samples and taken by an estimator."""
    from live_flights import noisy
    from read_mutants import estimator

    from freefloat.telemetry.sample_lines import LineSplitter, sample_of_line

    fresh = estimator()

    def take(data: bytes) -> None:
        splitter, half = LineSplitter(longest=2000), len(data) // 2
        tracker = copy.deepcopy(fresh)
        for line in [*splitter.push(data[:half]), *splitter.push(data[half:]), *splitter.finish()]:
            sample = sample_of_line(line)
            if sample is not None:
                tracker.update(sample)

    samples = list(noisy("planar-capture", 0))[:4]
    lines = [json.dumps({"time": s.time, **s.values}) for s in samples]
    return take, ["\n".join(lines).encode(), lines[0].encode()]


def by_file(path: Path, read: Callable[[Path], object]) -> Target:
    """A reader of files, which gets the bytes by way of one."""

    def take(data: bytes) -> None:
        path.write_bytes(data)
        read(path)

    return take, [path.read_bytes()] if path.exists() else []


def make_target(name: str, folder: Path) -> Target:
    """What a target is called, made."""
    origin, _, kind = name.partition("-")
    if name == "lines":
        return lines_target()
    if name == "map":
        return map_target(folder)
    if name == "state":
        return state_target(folder)
    if name in OWN:
        return own_target(name, folder)
    return (saved_target if origin == "saved" else recording_target)(kind, folder)


def spoil_member(data: bytes, most: int, seed: int) -> bytes:
    """Mutate a member of an archive and pack it anew: its checksum would stop what is inside."""
    import atheris

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chance = random.Random(seed)
        name = chance.choice(list(members))
        members[name] = atheris.Mutate(members[name], len(members[name]) + 64)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    except Exception:  # no archive any more
        return atheris.Mutate(data, most)
    return packed.getvalue() if chance.random() < 0.9 else atheris.Mutate(data, most)


def not_watched() -> list[str]:
    """Every module of freefloat but the readers: atheris knows how to leave out single modules."""
    import importlib.util

    spec = importlib.util.find_spec("freefloat")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    names = [path.relative_to(root).with_suffix("").parts for path in root.rglob("*.py")]
    modules = [".".join(parts).removesuffix("__init__").removesuffix(".") for parts in names]
    return [f"freefloat.{name}".rstrip(".") for name in modules if not name.startswith(WATCHED)]


def main() -> None:
    """Fuzz one target until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("files", nargs="*", type=Path, help="inputs to read, and no others")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz", help="for crashes")
    given = parser.parse_args()
    try:
        import atheris
    except ImportError:
        sys.exit("fuzz.py needs atheris, which is not installed: pip install 'freefloat[fuzz]'")
    sys.path.insert(0, str(TESTS))
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=fast) as name:
        folder, corpus = Path(name), Path(name, "corpus")
        corpus.mkdir()
        with atheris.instrument_imports(include=["freefloat"], exclude=not_watched()):
            take, sound = make_target(given.target, folder)
            from freefloat.errors import FreefloatError

            for n, data in enumerate(sound):
                (corpus / str(n)).write_bytes(data)
                take(data)  # is sound, and imports what is imported late

        def read_or_refuse(data: bytes) -> None:
            with contextlib.suppress(FreefloatError):
                take(data)

        given.keep.mkdir(parents=True, exist_ok=True)
        options = [f"-artifact_prefix={given.keep}/{given.target}-", "-timeout=5"]
        options += ["-rss_limit_mb=2048", f"-max_len={max(4 * max(map(len, sound)), 4096)}"]
        options += [f"-max_total_time={given.seconds}", "-print_final_stats=1"]
        files = [str(file) for file in given.files] or [str(corpus)]
        how = {"custom_mutator": spoil_member} if given.target in ARCHIVES else {}
        atheris.Setup([sys.argv[0], *options, *files], read_or_refuse, **how)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
