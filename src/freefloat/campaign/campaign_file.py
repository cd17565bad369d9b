"""Campaign files (TOML), read strictly: every fault at once, with its place, line and remedy.

```toml
format = 1
name = "coverage of a capture"
model = "planar-capture"      # a built-in model, or a file beside this one
runs = 1000                   # draws, each in every cell of the grids
free = ["bus.*", "target.*"]
[identify]                    # and [plan], [simulate], [faults], [validate], [keep], [limits]
method = "auto"
[[vary]]
name = "truth.target.mass"
kind = "normal"
mean = 1.0
std = 0.1
by = "factor"
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from freefloat.campaign import variations
from freefloat.campaign.campaign import (
    MOST_RUNS,
    NEEDS,
    STEPS,
    TABLES,
    VARIED_TABLES,
    Campaign,
    Step,
)
from freefloat.campaign.campaign_text import HEAD, as_tuple
from freefloat.campaign.criterion_check import criterion_faults
from freefloat.campaign.run_setup import name_fault
from freefloat.campaign.variations import (
    VARIATIONS,
    AnyVariation,
    ChoiceVariation,
    GridVariation,
    InputValue,
    NormalVariation,
    input_value,
    input_values,
)
from freefloat.errors import CampaignError, FreefloatError
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.records import values
from freefloat.records.bounded_read import FileKind, path_inside, read_text
from freefloat.records.fault_list import NamedFaults
from freefloat.records.option_record import value_check
from freefloat.records.schema import Dialect, Schema, TableChoice, TableKind, TableList, hints_of
from freefloat.records.toml_text import TOML, entries, lines_of, parse_toml
from freefloat.records.values import PathFault, display

# format: a campaign of hundreds of variations has some kilobytes
CAMPAIGN_FILE = FileKind("campaign", CampaignError, ".toml", 2**20, "vary fewer things at once")
LARGEST_FUNCTION = 2**20  # format: [B] of the file of a function
PLAIN = Dialect(
    checks={**TOML.checks, int: values.whole, bool: values.flag},
    table=TOML.table,
    tables=TOML.tables,
)


@cache
def _schema() -> Schema:
    """What may stand in a campaign file, format 1."""
    head = {
        "format": values.format_1,
        "name": values.name,
        "model": values.name,
        "runs": _runs,
        "seed": value_check(values.Natural),
        "free": values.list_of(values.name),
        "steps": values.list_of(values.one_of(*STEPS)),
        "function": values.name,
        "set": values.dict_of(input_value, expected="a table [set]", remedy=_SET_REMEDY),
    }
    tables = {name: _table(record) for name, record in TABLES.items()}
    kinds = {kind: _variation_table(record) for kind, record in VARIATIONS.items()}
    vary = TableList(TableChoice("kind", kinds))
    return Schema(TableKind({**head, **tables, "vary": vary}, ("format", "name")), PLAIN)


_SET_REMEDY = 'write [set], and below it "sensor.gyro.noise" = 1e-4'


def _runs(value: Any) -> int:
    taken = value_check(values.Count)(value)
    if taken > MOST_RUNS:
        expected, remedy = f"at most {MOST_RUNS}", "split the campaign"
        raise values.refusal(value, expected, remedy, "value.range")
    return taken


def _table(record: type) -> TableKind:
    """A table of options, each with the check of its type and its bounds; all may be left out."""
    return TableKind({name: value_check(hint) for name, hint in _plain_hints(record).items()})


def _variation_table(record: type) -> TableKind:
    keys = {name: value_check(hint) for name, hint in _plain_hints(record).items()}
    keys["kind"] = values.text
    if record in (ChoiceVariation, GridVariation):
        keys["values"] = input_values
    required = {"name", "kind", *({"mean", "std"} if record is NormalVariation else ())}
    required |= {"low", "high"} if "low" in keys else set()
    required |= {"values"} if "values" in keys else set()
    return TableKind(keys, tuple(key for key in keys if key in required))


def _plain_hints(record: type) -> dict[str, Any]:
    names = [one.name for one in fields(record) if one.name not in ("kind", "values")]
    return {name: hints_of(record)[name] for name in names}


# -- reading ---------------------------------------------------------------------------------------


def load_campaign(path: str | Path, *, runs: int | None = None) -> Campaign:
    """The campaign in a campaign file (.toml), with the model and the plan that it names.

    Args:
        path: of the file; files that it names stand in its folder.
        runs: draws in each cell, in place of those that the file says.

    Raises:
        CampaignError: listing every fault: file, place, value, expectation, remedy; those of a
            model or a plan that it names as well.
    """
    CAMPAIGN_FILE.require_suffix(path)
    path = Path(path)
    text = read_text(path, CAMPAIGN_FILE)
    made = read_campaign_text(text, file=path.name, folder=path.parent)
    return made if runs is None else replace(made, runs=_runs(runs))


def read_campaign_text(text: str, *, file: str, folder: Path) -> Campaign:
    """The campaign of the text of a campaign file; names of files are looked up in `folder`."""
    raw = parse_toml(text, file=file, kind=CAMPAIGN_FILE, sections=("vary",))
    raw = _with_whole_names(raw)
    faults = NamedFaults(file, lines=lines_of(text))
    for i, entry in enumerate(entries(raw, "vary")):
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            faults.names["vary", i] = entry["name"]
    reading = _schema().read(raw)
    faults.extend(reading.faults)
    given = reading.content
    files = _NamedFiles(faults, folder)
    robot, code = files.read_model(given), files.read_function(given)
    flown = files.read_plan(given, robot)
    vary = tuple(_read_variations(given.get("vary", []), faults))
    faults.extend(_step_faults(given))
    faults.extend(_name_faults(given, vary, robot))
    faults.extend(_free_faults(given, robot))
    faults.extend(criterion_faults(given, vary, robot))
    faults.raise_any(CAMPAIGN_FILE)
    tables = {name: record(**given.get(name, {})) for name, record in TABLES.items()}
    head = {key: as_tuple(given[key]) for key in HEAD if key in given}
    steps = {"steps": ("function",)} if code and "steps" not in given else {}
    return Campaign(
        **{**head, **steps}, set=given.get("set", {}), vary=vary, **tables, robot=robot,
        flown=flown, code=code,
    )  # fmt: skip


def _with_whole_names(raw: dict[str, Any]) -> dict[str, Any]:
    """The file with names of [set] that TOML took apart, for want of quotes, whole again."""
    from freefloat.model.uncertainty import entries_of

    if not isinstance(raw.get("set"), Mapping):
        return raw
    return {**raw, "set": dict(entries_of(raw["set"]))}


class _NamedFiles:
    """The files that a campaign file names; what is wrong with them is a fault of its own."""

    def __init__(self, faults: NamedFaults, folder: Path) -> None:
        self.faults = faults
        self.folder = folder

    def read_model(self, given: Mapping[str, Any]) -> Model | None:
        from freefloat.campaign.campaign import Campaign as Record
        from freefloat.model.default_sensors import with_default_sensors
        from freefloat.model.loading import builtin_paths, load_model

        name = given.get("model")
        steps = given.get("steps", ("function",) if "function" in given else Record.steps)
        if name is None:
            if set(steps) != {"function"} and not self.faults.is_told(("model",)):
                expected, remedy = 'model = "..."', "add the name of a built-in model, or a file"
                self.faults.add(PathFault(("model",), "nothing", expected, remedy, "key.missing"))
            return None
        try:
            place = name if name in builtin_paths() else self._path(("model",), name)
            return None if place is None else with_default_sensors(load_model(place))
        except FreefloatError as error:
            self._add(("model",), name, error)
            return None

    def read_plan(self, given: Mapping[str, Any], model: Model | None) -> Plan | None:
        from freefloat.excitation.plan_file import load_plan

        name = given.get("plan", {}).get("file")
        path = None if name is None else self._path(("plan", "file"), name)
        if name is None or path is None:
            return None
        try:
            return load_plan(path, model)
        except FreefloatError as error:
            self._add(("plan", "file"), name, error)
            return None

    def read_function(self, given: Mapping[str, Any]) -> str:
        name = given.get("function")
        path = None if name is None else self._path(("function",), name)
        if name is None or path is None:
            return ""
        kind = FileKind("function", CampaignError, ".py", LARGEST_FUNCTION, "make it shorter")
        try:
            text = read_text(path, kind)
            top = ast.parse(text, str(path)).body
        except FreefloatError as error:
            self._add(("function",), name, error)
            return ""
        except (SyntaxError, ValueError) as error:
            expected, remedy = "a Python file with run(inputs, seed)", f"correct it: {error}"
            self.faults.add(PathFault(("function",), name, expected, remedy, "file.syntax"))
            return ""
        if not _makes_run(top):
            value, expected = f"{name}, which has no run", "a Python file with run(inputs, seed)"
            remedy = "write def run(inputs, seed): at its top level"
            self.faults.add(PathFault(("function",), value, expected, remedy, "key.missing"))
        return text

    def _path(self, place: tuple[str, ...], name: str) -> Path | None:
        found = path_inside(self.folder, name)
        if isinstance(found, Path):
            return found
        self.faults.add(PathFault(place, found.value, found.expected, found.remedy, found.code))
        return None

    def _add(self, place: tuple[str, ...], name: str, error: FreefloatError) -> None:
        """The faults of a file, each with its own place inside it."""
        if not error.faults:
            remedy = "correct the name"
            self.faults.add(
                PathFault(place, display(name), error.message, remedy, "file.unreadable")
            )
        for fault in error.faults:
            where = self.faults.place(place)
            self.faults.faults.append(replace(fault, place=f"{where}: {fault.place}"))
            self.faults.paths.add(place)


def _makes_run(top: Sequence[ast.stmt]) -> bool:
    """Whether `run` may come to be at the top level: by def, assignment, import or in a branch."""
    plain = (ast.FunctionDef, ast.ClassDef, ast.Expr)
    return any(
        one.name == "run" if isinstance(one, ast.FunctionDef) else not isinstance(one, plain)
        and any(_names_run(node) for node in ast.walk(one))
        for one in top
    )  # fmt: skip


def _names_run(node: ast.AST) -> bool:
    is_star = isinstance(node, ast.alias) and node.name == "*"
    words = (getattr(node, key, None) for key in ("id", "name", "asname"))
    return is_star or "run" in words


def _read_variations(tables: list[dict[str, Any]], faults: NamedFaults) -> Iterator[AnyVariation]:
    first: dict[str, int] = {}
    for i, given in enumerate(tables):
        record = VARIATIONS.get(given.get("kind", ""))
        name = given.get("name")
        if name is not None and first.setdefault(name, i) != i:
            value = f"a second variation of {name!r} (the first is vary[{first[name]}])"
            remedy = "merge them or delete one"
            fault = PathFault(("vary", i), value, "one of each", remedy, "name.duplicate")
            faults.add(fault)
        if record is None or any(path[:2] == ("vary", i) for path in faults.paths):
            continue
        try:
            yield record(**given)
        except TypeError:  # something is missing, which has been told
            continue
        except CampaignError as error:
            for fault in error.faults:
                field = fault.place.rpartition(".")[2]
                path = ("vary", i, field)
                faults.add(PathFault(path, fault.value, fault.expected, fault.remedy, fault.code))


def _step_faults(given: Mapping[str, Any]) -> Iterator[PathFault]:
    steps: tuple[Step, ...] = tuple(given.get("steps", ()))
    for i, step in enumerate(steps):
        need = NEEDS.get(step)
        if need is not None and need not in steps[:i]:
            remedy = f"add {need!r} before it"
            yield PathFault(("steps", i), repr(step), f"{need!r} before it", remedy, "value.order")
        if step in steps[:i]:
            yield PathFault(("steps", i), repr(step), "each step once", "delete it",
                            "name.duplicate")  # fmt: skip
    if "function" in steps and len(steps) > 1:
        expected, remedy = "'function' alone", "a function does all of the run"
        yield PathFault(("steps",), display(list(steps)), expected, remedy, "value.conflict")
    if "function" in steps and "function" not in given:
        expected = 'function = "file.py"'
        yield PathFault(("function",), "nothing", expected, "add the key", "key.missing")
    if "design" in steps and "file" in given.get("plan", {}):
        expected, remedy = "a plan from a file, or a designed one", "delete one of the two"
        yield PathFault(("plan", "file"), "a file beside the step 'design'", expected, remedy,
                        "value.conflict")  # fmt: skip
    n = len(steps) and variations.count_cells(
        [
            GridVariation(**v)
            for v in given.get("vary", [])
            if v.get("kind") == "grid" and len(v) > 2
        ]
    )
    if n and n * given.get("runs", 1) > MOST_RUNS:
        value = f"{given.get('runs', 1)} runs in {n} cells"
        expected, remedy = f"at most {MOST_RUNS} in all", "split the campaign"
        yield PathFault(("runs",), value, expected, remedy, "value.range")


def _name_faults(
    given: Mapping[str, Any], vary: tuple[AnyVariation, ...], robot: Model | None
) -> Iterator[PathFault]:
    """Names that nothing of the model and no option has, and values that these cannot take."""
    if "function" in given:  # its inputs are its own
        return
    for name, value in given.get("set", {}).items():
        if fault := name_fault(robot, name, value):
            yield PathFault(("set", name), fault.value, fault.expected, fault.remedy, fault.code)
    places = {v["name"]: i for i, v in enumerate(given.get("vary", [])) if "name" in v}
    for one in vary:
        tried, told = _values_to_check(one), set[str]()
        for place, value in tried.items():
            fault = name_fault(robot, one.name, value)
            if fault is None or (fault.code == "name.unknown" and fault.expected in told):
                continue
            told.add(fault.expected)
            is_name = fault.code == "name.unknown"
            path = ("vary", places[one.name], *(("name",) if is_name else place))
            yield PathFault(path, fault.value, fault.expected, fault.remedy, fault.code)


def _values_to_check(one: AnyVariation) -> dict[tuple[str | int, ...], InputValue]:
    """By place: values listed, the ends of a range, and of a normal distribution its mean.

    Parameters of a model take any number: there one value of each type stands for all.
    """
    if isinstance(one, NormalVariation):
        return {("mean",): one.mean}
    if not isinstance(one, ChoiceVariation | GridVariation):
        return {("low",): one.low, ("high",): one.high}
    if one.name.partition(".")[0] in VARIED_TABLES:
        return {("values", k): value for k, value in enumerate(one.values)}
    first: dict[type, int] = {}
    for k, value in enumerate(one.values):
        first.setdefault(type(value), k)
    return {("values", k): one.values[k] for k in first.values()}


def _free_faults(given: Mapping[str, Any], robot: Model | None) -> Iterator[PathFault]:
    from freefloat.parameters.parameters import Parameters
    from freefloat.text import did_you_mean, listing

    globs = given.get("free", ())
    steps = given.get("steps", Campaign.steps)
    if robot is None:
        return
    names = [p.name for p in Parameters(robot)]
    for i, glob in enumerate(globs):
        if not Parameters(robot).matching(glob):
            remedy = did_you_mean(glob, names, otherwise=f"such as {listing(names, most=4)}")
            expected = f"a name or glob of a parameter of {robot.name!r}"
            yield PathFault(("free", i), repr(glob), expected, remedy, "name.unknown")
    needs = {"identify", "track", "bound", "design"}.intersection(steps)
    if not globs and needs:
        expected = 'free = ["bus.*", ...]'
        yield PathFault(("free",), "nothing", expected, "name what is looked for", "key.missing")
