"""One run of the command: arguments in, exit code out, whatever happens in between.

0 fine · 1 the verdict is negative · 2 bad input · 3 our bug · 130 interrupted · 141 the reader of
our output went away.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path

from cyclopts import CycloptsError, UnusedCliTokensError, ValidationError

from freefloat.cli import screen, settings
from freefloat.cli.app import app
from freefloat.cli.waiting import acknowledge_interrupt
from freefloat.errors import Fault, FreefloatError, shorten, visible
from freefloat.files import unwritable

FINE, NEGATIVE, BAD_INPUT, OUR_BUG = 0, 1, 2, 3
INTERRUPTED, BROKEN_PIPE = 130, 141  # 128 plus the signal's number, as shells report it
# format: options as the library advises them, with a value or by their name alone
ADVISED = r"\b(method|plan|clock)=(?:'([\w-]+)'|(?=[ ,;:)]|$))"
USAGE_CODES = {
    "UnknownCommandError": "name.unknown", "UnknownOptionError": "name.unknown",
    "UnusedCliTokensError": "value.count", "RepeatArgumentError": "name.duplicate",
    "MissingArgumentError": "key.missing", "CoercionError": "value.type",
    "ValidationError": "value.range",
}  # fmt: skip


def run(arguments: Sequence[str]) -> int:
    """Carry out the command and return its exit code; nothing is raised.

    >>> run(["--version"])
    0.2.0
    0
    """
    screen.never_fail_to_encode()
    try:
        code = _carry_out(list(arguments))
        if sys.stdout is not None:  # closed by whoever started us
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # `freefloat models | head -1`
        _write_to_nowhere()
        return BROKEN_PIPE
    except OSError as error:  # the library turns those of its files into errors of its own
        _write_to_nowhere()
        screen.tell_error(
            FreefloatError(f"cannot write the output: {error.strerror}", code="output.unwritable")
        )
        return BAD_INPUT


def _carry_out(arguments: list[str]) -> int:
    is_json, is_debug = "--json" in arguments, "--debug" in arguments
    try:
        _require_readable(arguments)
        if verb := settings.is_help(arguments):
            _show_settings(verb, is_json=is_json)
            return FINE
        result = app(arguments, exit_on_error=False, print_error=False)
        return result if isinstance(result, int) else FINE
    except KeyboardInterrupt:
        acknowledge_interrupt()
        # Python notes an interrupt inside exec(text), as Numba uses it, and would end by the signal
        # instead of our exit code; the next exec(text) clears that note.
        exec("")
        screen.note("interrupted; every file is as it was before, or complete")
        return INTERRUPTED
    except FreefloatError as error:
        _tell_traceback(is_debug)
        screen.tell_error(_with_options(error, arguments), is_json=is_json)
        return BAD_INPUT
    except CycloptsError as error:
        screen.tell_misuse(_usage_fault(error), _verb(error), is_json=is_json)
        return BAD_INPUT
    except MemoryError:
        _tell_traceback(is_debug)
        message = "not enough memory for this; shorten the flight, lower the sensors' rates,"
        message += " or take longer steps"
        screen.tell_error(FreefloatError(message, code="memory.short"), is_json=is_json)
        return BAD_INPUT
    except OSError as error:
        if error.filename is None and not _is_from_cache(error):  # standard output itself
            raise
        return _tell_failure(error, is_debug=is_debug, is_json=is_json)
    except Exception as error:
        return _tell_failure(error, is_debug=is_debug, is_json=is_json)


def _with_options(error: FreefloatError, arguments: Sequence[str]) -> FreefloatError:
    """The error with options by their names on the command line where they have those of Python.

    >>> error = FreefloatError("gate=2: expected a chance", [Fault("max_bytes", "0", "1", "")])
    >>> str(_with_options(error, ["--gate", "2", "--max-bytes=0"])).splitlines()
    ['--gate=2: expected a chance', '  --max-bytes: got 0; expected 1']
    >>> _with_options(FreefloatError("give plan=, or use method='auto'"), []).message
    'give --plan, or use --method auto'
    """

    def reword(text: str) -> str:
        for option in options:
            name = option[2:].replace("-", "_")
            if re.match(rf"{re.escape(name)}(=| '| cannot|\[|$)", text):
                return option + text[len(name) :]
        return advise(text)

    def advise(text: str) -> str:
        """What is advised: method='auto' is --method auto, and plan= is --plan."""
        return re.sub(ADVISED, lambda hit: " ".join(filter(None, (f"--{hit[1]}", hit[2]))), text)

    options = {one.partition("=")[0] for one in arguments if re.match(r"--\w", one)}
    reworded = copy(error)
    reworded.message = reword(error.message)
    reworded.faults = tuple(
        replace(fault, place=reword(fault.place), remedy=advise(fault.remedy))
        for fault in error.faults
    )
    return reworded


def _require_readable(arguments: Sequence[str]) -> None:
    """A name that is no text could go into no report, log or model file; better said at once."""
    for argument in arguments:
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            remedy = "rename the file, or reach it by a link with another name"
            fault = Fault("arguments", argument, "text in UTF-8", remedy, "file.encoding")
            raise FreefloatError("a file name is not UTF-8 text", [fault]) from None


def _show_settings(verb: str, *, is_json: bool) -> None:
    if is_json:
        screen.print_json(settings.as_dict(verb))
    else:
        screen.show(*settings.help_lines(verb, width=screen.results().width))


def _tell_failure(error: Exception, *, is_debug: bool, is_json: bool) -> int:
    """Say what happened: the cache of kernels is in disorder, or there is a bug of ours."""
    if not _is_from_cache(error):
        return _bug(error, is_debug=is_debug, is_json=is_json)
    _tell_traceback(is_debug)
    screen.tell_error(_damaged_cache(error), is_json=is_json)
    return BAD_INPUT


def _is_from_cache(error: Exception) -> bool:
    """Whether Numba failed to load or to save compiled kernels; it does not catch that itself."""
    return any(
        Path(frame.filename).parts[-3:] == ("numba", "core", "caching.py")
        and ("load" in frame.name or "save" in frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
    )


def _damaged_cache(error: Exception) -> FreefloatError:
    from freefloat.numba_.compilation import cache_folder

    if isinstance(error, OSError):  # a full disk, most likely
        return unwritable(cache_folder(), error)
    fault = Fault(
        str(cache_folder()),
        shorten(f"{type(error).__name__}: {error}"),
        "kernels as Numba wrote them (the folder is FREEFLOAT_CACHE_DIR, where that is set)",
        "delete this folder; the next run compiles the kernels again",
        "file.unreadable",
    )
    return FreefloatError("the cache of compiled kernels is damaged", [fault])


def _bug(error: Exception, *, is_debug: bool, is_json: bool) -> int:
    _tell_traceback(is_debug)
    what = shorten(f"{type(error).__name__}: {error}", 200)
    screen.tell_bug(what, is_debug=is_debug, is_json=is_json)
    return OUR_BUG


def _write_to_nowhere() -> None:
    """Python flushes standard output once more on leaving; that must not fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_fault(error: CycloptsError) -> Fault:
    """The parser's sentence, on one line, with the option it is about where that is known."""
    message = shorten(" ".join(str(error).split()), 300)
    option = getattr(error.argument, "name", "") if error.argument is not None else ""
    if isinstance(error, ValidationError):  # by a check of ours, whose sentence says it all
        said = shorten(error.exception_message, 300)
        message = said if said.startswith("-") or not option else f"{option} {said}"
    elif isinstance(error, UnusedCliTokensError):
        extra = ", ".join(map(repr, error.unused_tokens or ()))
        message = shorten(f"unexpected {extra}; an option that takes several values is repeated, "
                          "as in --free A --free B", 300)  # fmt: skip
    code = USAGE_CODES.get(type(error).__name__, "option.form")
    return Fault(option or "arguments", message, "arguments as --help shows them", "", code)


def _verb(error: CycloptsError) -> str:
    """The command as far as it was understood, such as `freefloat models copy`."""
    return " ".join(["freefloat", *(error.command_chain or ())])


def _tell_traceback(is_debug: bool) -> None:
    if is_debug:
        sys.stderr.write(visible(traceback.format_exc(), keep="\n"))
