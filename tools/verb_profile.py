"""Where the processor time of a verb goes: a table of verbs, and of the kernels each one calls.

    python tools/verb_profile.py                             # every verb on its usual case
    python tools/verb_profile.py --only 'identify*' --kernels
    python tools/verb_profile.py -- identify servicer-wings flight.parquet --no-assess
    python tools/verb_profile.py --source ../old/src --json build/old.json

A verb runs in a process of its own, twice: once so that everything is compiled, then measured.
Columns are processor seconds that add up to the whole: *kernels* are calls of compiled loops;
*smoothing* is all of `telemetry/smoothing.py`, whatever it calls; *linear algebra* is
`numpy.linalg` and `scipy.linalg`; *compiled code* is Numba as it loads (or makes) machine code;
*imports* are modules; *Python* is the rest, sums and products of arrays included.

(The name is not `profile.py`: the standard library has a module of that name, which cProfile
imports.)
"""

from __future__ import annotations

import argparse
import atexit
import builtins
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import wraps
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"
COLUMNS = ("kernels", "smoothing", "linear algebra", "compiled code", "imports", "Python")
SHORT = {"linear algebra": "lin. alg.", "compiled code": "compiled"}
REST = "Python"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA", "MKL")}

# Arguments of every verb; a word of FLIGHTS stands for a recording, FIT for a fit of the first.
FLIGHTS = {
    "@planar": ("planar-capture", "--seed", "1"),
    "@planar2": ("planar-capture", "--seed", "2"),
    "@spatial": ("spatial-capture", "--seed", "1"),
    "@wings": ("servicer-wings", "--seed", "1", "--duration", "30"),
}
FIT = "@fit"
VERBS = {
    "check": ("check", "servicer"),
    "simulate": ("simulate", "servicer-wings", "--seed", "1"),
    "design": ("design", "cepheus", "--free", "link_2.*", "--duration", "10"),
    "identify linear": ("identify", "spatial-capture", "@spatial", "--method", "weak",
                        "--no-assess"),
    "identify output error": ("identify", "servicer-wings", "@wings", "--free", "bus.*", "--free",
                              "hinge_*.stiffness", "--method", "output_error", "--no-assess"),
    "identify auto, assessed": ("identify", "planar-capture", "@planar"),
    "structure": ("structure", "servicer-wings", "@wings", "--free", "bus.mass", "--effects",
                  "friction"),
    "validate": ("validate", FIT, "@planar2"),
    "track": ("track", "planar-capture", "@planar"),
    "report": ("validate", FIT, "@planar2", "--report", "@page"),
}  # fmt: skip


class Clock:
    """Processor seconds by column: whoever is called last has the time that passes."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.kernels: dict[str, list[float]] = {}
        self.columns = [REST]
        self.begin = time.process_time()
        self.seconds["imports"] = self.begin  # Python itself, before anything was asked for

    def switch(self) -> None:
        """Give the time since the last switch to the column that had it."""
        now = time.process_time()
        self.seconds[self.columns[-1]] += now - self.begin
        self.begin = now

    def enter(self, column: str) -> None:
        """What is called within smoothing is smoothing, within an import an import."""
        self.switch()
        is_held = self.columns[-1] in ("smoothing", "imports")
        self.columns.append(self.columns[-1] if is_held else column)

    def leave(self) -> None:
        """Back to the caller's column."""
        self.switch()
        self.columns.pop()

    def timed(self, function: Callable[..., Any], column: str) -> Callable[..., Any]:
        """The function, its time in a column."""

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            self.enter(column)
            try:
                return function(*arguments, **options)
            finally:
                self.leave()

        return call

    def count(self, name: str, entry: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled function, its calls counted and timed."""

        def call(*arguments: Any) -> Any:
            begin = self.seconds["kernels"]  # without what it takes to load the machine code
            self.enter("kernels")
            try:
                return entry(*arguments)
            finally:
                self.leave()
                calls = self.kernels.setdefault(name, [0, 0.0])
                calls[0] += 1
                calls[1] += self.seconds["kernels"] - begin

        return call


class TimedKernel:
    """A kernel as its callers see it; everything must be compiled before."""

    def __init__(self, kernel: Any, clock: Clock) -> None:
        self._kernel, self._clock = kernel, clock
        module = kernel.py_func.__module__.rpartition(".")[2]
        self._name = f"{module}.{kernel.py_func.__name__}"
        self._call = clock.count(self._name, kernel)

    def __call__(self, *arguments: Any) -> Any:
        """The kernel, timed."""
        return self._call(*arguments)

    def compile(self, types: Any) -> Callable[..., Any]:
        """The entry for these types, as `compile_call` wants it."""
        return self._clock.count(self._name, self._kernel.compile(types))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


def _wrap_all(module: Any, clock: Clock, column: str) -> None:
    for name, function in list(vars(module).items()):
        is_own = callable(function) and not isinstance(function, type)
        if (
            is_own
            and not name.startswith("_")
            and hasattr(function, "__wrapped__")
            | (getattr(function, "__module__", "").startswith(("numpy", "scipy")))
        ):
            setattr(module, name, clock.timed(function, column))


def _wrap_kernels(module: Any, clock: Clock) -> None:
    make = module.kernel
    module.kernel = lambda function: TimedKernel(make(function), clock)


def _wrap_smoothing(module: Any, clock: Clock) -> None:
    for name in ("smooth", "smooth_attitude"):
        setattr(module, name, clock.timed(getattr(module, name), "smoothing"))
    for signal in (module.SmoothSignal, module.SmoothAttitude):
        signal._derivative = clock.timed(signal._derivative, "smoothing")


def _wrap_dispatcher(module: Any, clock: Clock) -> None:
    owner = module.Dispatcher
    for name in ("_compile_for_args", "compile"):
        setattr(owner, name, clock.timed(getattr(owner, name), "compiled code"))


WATCHED = {
    "numpy.linalg": lambda module, clock: _wrap_all(module, clock, "linear algebra"),
    "scipy.linalg": lambda module, clock: _wrap_all(module, clock, "linear algebra"),
    "freefloat.numba_.compilation": _wrap_kernels,
    "freefloat.telemetry.smoothing": _wrap_smoothing,
    "numba.core.dispatcher": _wrap_dispatcher,
}


def watch_imports(clock: Clock) -> None:
    """Time imports, and wrap what is watched as soon as it is there, before its callers see it."""
    load, waiting = builtins.__import__, dict(WATCHED)

    def timed_import(*what: Any, **details: Any) -> Any:
        clock.enter("imports")
        try:
            return load(*what, **details)
        finally:
            clock.leave()
            for module in [m for m in waiting if _is_loaded(m)]:
                waiting.pop(module)(sys.modules[module], clock)

    builtins.__import__ = timed_import


def _is_loaded(name: str) -> bool:
    specification = getattr(sys.modules.get(name), "__spec__", None)
    return specification is not None and not getattr(specification, "_initializing", False)


def run_measured(out: Path, arguments: list[str]) -> None:
    """Run a verb in this process; what it took is written when the process ends."""
    clock = Clock()
    watch_imports(clock)

    def write() -> None:
        clock.switch()
        out.write_text(json.dumps({"seconds": clock.seconds, "kernels": clock.kernels}))

    atexit.register(write)
    from freefloat.cli import main

    sys.argv = ["freefloat", *arguments]
    main()


@dataclass(frozen=True)
class Runner:
    """Runs verbs of a source tree, each in a process of its own, in a folder of recordings."""

    source: Path
    folder: Path

    def run(self, arguments: list[str], out: Path | None = None) -> None:
        """Run the command, measured where `out` says; SystemExit where it fails."""
        plain = ["-m", "freefloat"]
        measured = [str(Path(__file__).resolve()), "--measured", str(out), "--"]
        command = [sys.executable, *(measured if out else plain), *arguments]
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(self.source.resolve())}
        done = subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True
        )
        if done.returncode not in (0, 1):  # 1: a negative verdict
            failed = f"{' '.join(arguments)}: exit {done.returncode}"
            raise SystemExit(f"{failed}\n{done.stderr[-2000:]}")

    def fill_in(self, words: tuple[str, ...]) -> list[str]:
        """The arguments, with the recordings and the fit they name, made where missing."""
        return [self._file(word) if word.startswith("@") else word for word in words]

    def _file(self, word: str) -> str:
        if word == "@page":
            return "page.html"
        name = f"{word[1:]}.json" if word == FIT else f"{word[1:]}.parquet"
        if not (self.folder / name).exists():
            if word == FIT:
                given = self.fill_in(("identify", "planar-capture", "@planar", "--no-assess"))
            else:
                given = ["simulate", *FLIGHTS[word]]
            self.run([*given, "--out", name])
        return name

    def measure(self, words: tuple[str, ...]) -> dict[str, Any]:
        """What a verb takes, once everything is compiled."""
        arguments = self.fill_in(words)
        out = self.folder / "measured.json"
        self.run(arguments)
        self.run(arguments, out)
        return json.loads(out.read_text())


def show(name: str, measured: dict[str, Any], *, is_by_kernel: bool) -> None:
    """One row, and the kernels below it."""
    seconds = measured["seconds"]
    cells = "".join(f"{seconds.get(column, 0.0):>10.2f}" for column in COLUMNS)
    print(f"{name:<24}{sum(seconds.values()):>8.2f}{cells}", flush=True)
    if is_by_kernel:
        rows = sorted(measured["kernels"].items(), key=lambda row: -row[1][1])
        for kernel, (calls, total) in rows[:6]:
            print(f"    {kernel:<36}{calls:>8} calls {total:>9.3f} s")


def main() -> None:
    """Measure what was asked for, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="GLOB", help="these verbs")
    parser.add_argument("--kernels", action="store_true", help="the six kernels that take most")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was measured")
    parser.add_argument("--source", type=Path, default=SOURCE, help="the source tree to measure")
    parser.add_argument("--measured", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help="a verb with its arguments, after --")
    options = parser.parse_args()
    if options.measured:
        return run_measured(options.measured, options.arguments)
    verbs = {options.arguments[0]: tuple(options.arguments)} if options.arguments else VERBS
    heads = "".join(f"{SHORT.get(column, column):>10}" for column in COLUMNS)
    print(f"{'processor seconds':<24}{'whole':>8}{heads}", flush=True)
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path.cwd() if options.arguments else Path(scratch)
        for name, words in verbs.items():
            if not options.only or any(fnmatchcase(name, glob) for glob in options.only):
                found[name] = Runner(options.source, folder).measure(words)
                show(name, found[name], is_by_kernel=options.kernels)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
