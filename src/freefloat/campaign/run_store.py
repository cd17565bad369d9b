"""Where the rows of a campaign are: a folder, valid at every instant, the only state there is.

```text
campaign.json          the campaign, its model and its plan inside
open/00012/*.json      one file a run, written whole or not at all
runs/00012.parquet     a thousand runs, once all of them are there; and beside it, by run:
estimates/...          every parameter: true, prior, value, deviations, interval, bound
measures/...           numbers by name
costs/...              time and memory; all that depends on machines
kept/00012345/         files of single runs
```

One process writes at a time; any may read, at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.campaign_text import read_campaign, write_campaign
from freefloat.campaign.run_row import RunResult, read_result, write_result
from freefloat.campaign.run_tables import RunTables, read_tables, tables_of, write_tables
from freefloat.errors import CampaignError, Fault
from freefloat.files import atomic_write, settle, unwritable
from freefloat.provenance import provenance

if TYPE_CHECKING:
    from collections.abc import Collection

CHUNK = 1000  # format: runs in one file; as many files in one folder slow no file system down


@dataclass(frozen=True)
class StoreStatus:
    """How far a campaign is."""

    n_runs: int
    n_done: int
    counts: dict[str, int]
    codes: dict[str, int]
    is_being_written: bool


class RunStore:
    """The folder of a campaign, to be read; `RunStore.open_to_write` gives one to write to."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        text = self._campaign_text()
        self.campaign = read_campaign(text)
        self._lock: int | None = None

    @classmethod
    def open_to_write(cls, folder: str | os.PathLike[str], campaign: Campaign) -> RunStore:
        """The store of a campaign, made if need be; CampaignError if it is of another one.

        A campaign with more runs than before goes on where it was.
        """
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = _lock(path / "lock")
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            text, place = write_campaign(campaign), path / "campaign.json"
            if place.exists():
                old = cls(path).campaign
                if old.digest != campaign.digest:
                    raise _other_campaign(path, old, campaign)
                if old.runs > campaign.runs:
                    text = ""  # what is there stays
            elif any(one.name != "lock" for one in path.iterdir()):
                expected, remedy = "an empty folder, or that of this campaign", "choose another one"
                fault = Fault(str(path), "a folder with other files", expected, remedy,
                              "file.conflict")  # fmt: skip
                raise CampaignError("this folder cannot hold a campaign", [fault])
            if text:
                told = {"campaign": text, "provenance": provenance()}
                if not place.exists() or json.loads(place.read_text())["campaign"] != text:
                    atomic_write(place, json.dumps(told, indent=1) + "\n")
            store = cls(path)
            store.campaign = campaign
            store._lock = lock
            return store
        except BaseException:
            _unlock(lock)
            raise

    def close(self) -> None:
        """Let another process write."""
        _unlock(self._lock)
        self._lock = None

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _campaign_text(self) -> str:
        path = self.folder / "campaign.json"
        try:
            settle(path)
            return str(json.loads(path.read_text(encoding="utf-8"))["campaign"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            expected, remedy = "the folder of a campaign", "name the --out of `campaign run`"
            reason = getattr(error, "strerror", None) or "unreadable"
            fault = Fault(str(path), reason, expected, remedy, "file.unreadable")
            raise CampaignError(f"{self.folder}: no campaign here", [fault]) from error

    # -- writing -----------------------------------------------------------------------------------

    def add(self, result: RunResult) -> None:
        """Write the row of a run, whole or not at all; when this returns it is on the disk."""
        number, files = result.row.run, result.files
        if files:
            self._keep(number, result)
        place = self._open_place(number)
        if not place.parent.is_dir():
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise unwritable(place.parent, error) from error
        atomic_write(place, write_result(replace(result, files={})) + "\n")

    def _keep(self, number: int, result: RunResult) -> None:
        folder = self.folder / "kept" / f"{number:08d}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        for name, text in result.files.items():
            atomic_write(folder / Path(name).name, text)

    def compact(self, *, chunk: int | None = None, again: Collection[int] = ()) -> None:
        """Put complete chunks, or the one that is named, into tables; remove their single files.

        Args:
            chunk: only this one, complete or not.
            again: runs that are to be carried out again: their rows are left out.
        """
        for one in [chunk] if chunk is not None else self._chunks():
            names = self._open_names(one)
            if not names and not again:
                continue
            tables = self._tables_of_chunk(one, leave_out=again)
            expected = min(CHUNK, self.campaign.n_runs - one * CHUNK)
            if chunk is None and tables.n_runs < expected:
                continue
            write_tables(self.folder, one, tables)
            for name in names:
                with suppress(OSError):
                    (self._open_folder(one) / name).unlink()
            with suppress(OSError):
                self._open_folder(one).rmdir()

    def forget(self, runs: Collection[int]) -> None:
        """Take the rows of some runs out, to have them carried out again."""
        for chunk in sorted({run // CHUNK for run in runs}):
            own = {run for run in runs if run // CHUNK == chunk}
            for run in own:
                with suppress(OSError):
                    self._open_place(run).unlink()
            if own & set(read_tables(self.folder, chunk).run_numbers()):
                self.compact(chunk=chunk, again=own)

    def sweep(self) -> list[str]:
        """Remove what is no row of this campaign, if anything is; what it was, in words."""
        removed = []
        for chunk in self._chunks():
            for name in self._open_names(chunk):
                place = self._open_folder(chunk) / name
                try:
                    result = read_result(place.read_text(encoding="ascii"))
                    is_sound = self._open_place(result.row.run) == place
                except (OSError, ValueError):
                    is_sound = False
                if not is_sound:
                    removed.append(
                        f"{place}: no row of this campaign; the run is carried out again"
                    )
                    place.unlink(missing_ok=True)
        return removed

    # -- reading -----------------------------------------------------------------------------------

    def finished_runs(self) -> set[int]:
        """The numbers of all runs that have a row."""
        found: set[int] = set()
        for chunk in self._chunks():
            found.update(read_tables(self.folder, chunk, only=("runs",)).run_numbers())
            found.update(int(Path(name).stem) for name in self._open_names(chunk))
        return {run for run in found if run < self.campaign.n_runs}

    def tables(self) -> Iterator[RunTables]:
        """All rows as tables, a thousand at a time, in the order of their numbers."""
        for chunk in self._chunks():
            tables = self._tables_of_chunk(chunk)
            if tables.n_runs:
                yield tables

    def result(self, run: int) -> RunResult | None:
        """The row of one run with what it cost, if it is there."""
        with suppress(OSError, ValueError):
            return read_result(self._open_place(run).read_text(encoding="ascii"))
        return read_tables(self.folder, run // CHUNK).results().get(run)

    def status(self) -> StoreStatus:
        """How far it is, and how many runs ended how."""
        counts: dict[str, int] = {}
        codes: dict[str, int] = {}
        for tables in self.tables():
            statuses = tables.runs.column("status").to_pylist()
            for status, code in zip(statuses, tables.runs.column("code").to_pylist(), strict=True):
                counts[status] = counts.get(status, 0) + 1
                if status != "done":
                    codes[code] = codes.get(code, 0) + 1
        n_done = sum(counts.values())
        return StoreStatus(self.campaign.n_runs, n_done, counts, codes, _is_locked(self.folder))

    # -- places ------------------------------------------------------------------------------------

    def _chunks(self) -> list[int]:
        """Chunks of which there is anything."""
        found = set()
        for folder, suffix in (("runs", ".parquet"), ("open", "")):
            with suppress(OSError):
                for one in os.scandir(self.folder / folder):
                    stem = one.name.removesuffix(suffix) if suffix else one.name
                    if stem.isdigit() and one.name.endswith(suffix):
                        found.add(int(stem))
        return sorted(found)

    def _open_folder(self, chunk: int) -> Path:
        return self.folder / "open" / f"{chunk:05d}"

    def _open_place(self, run: int) -> Path:
        return self._open_folder(run // CHUNK) / f"{run:08d}.json"

    def _open_names(self, chunk: int) -> list[str]:
        try:
            names = os.listdir(self._open_folder(chunk))
        except OSError:
            return []
        return sorted(name for name in names if name.endswith(".json") and name[:-5].isdigit())

    def _tables_of_chunk(self, chunk: int, *, leave_out: Collection[int] = ()) -> RunTables:
        """A chunk with its single files, whoever compacts it meanwhile."""
        results: dict[int, RunResult] = {}
        for name in self._open_names(chunk):
            with suppress(OSError, ValueError):
                result = read_result((self._open_folder(chunk) / name).read_text(encoding="ascii"))
                results[result.row.run] = result
        tables = read_tables(self.folder, chunk)
        if not results and not leave_out:
            return tables
        # a single file is as good as the same run in a table; of a repeated run it is the newer
        whole = {**tables.results(), **results}
        most = self.campaign.n_runs
        kept = [whole[run] for run in sorted(whole) if run not in leave_out and run < most]
        return tables_of(kept, self.campaign)


def _other_campaign(path: Path, old: Campaign, new: Campaign) -> CampaignError:
    from freefloat.campaign.campaign import TABLES

    names = ("seed", "free", "steps", "set", "vary", "robot", "flown", "code", *TABLES)
    apart = ("keep", "limits")
    changed = [n for n in names if n not in apart and getattr(old, n) != getattr(new, n)]
    value = f"a campaign {old.name!r} with another {', '.join(changed) or 'model'}"
    remedy = "choose another --out, or give the campaign file as it was"
    fault = Fault(str(path), value, "the store of this campaign", remedy, "file.conflict")
    return CampaignError("rows of two campaigns cannot stand in one folder", [fault])


# -- one writer ------------------------------------------------------------------------------------


def _lock(path: Path) -> int | None:
    """Own the store until the process ends; CampaignError while another one owns it."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        import fcntl
    except ImportError:  # Windows
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        remedy = "wait until it has ended, or choose another folder"
        value, expected = "a process that writes to it", "a store that is free"
        fault = Fault(str(path.parent), value, expected, remedy, "file.conflict")
        raise CampaignError("another process is writing to this campaign", [fault]) from None
    except OSError:  # a disk without locks
        pass
    return handle


def _unlock(handle: int | None) -> None:
    if handle is not None:
        with suppress(OSError):
            os.close(handle)


def _is_locked(folder: Path) -> bool:
    try:
        import fcntl

        handle = os.open(folder / "lock", os.O_RDONLY)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(handle)
