"""The process that carries out runs: `python -m freefloat.campaign.worker_process`.

It reads lines of JSON and writes lines of JSON: first the campaign, then one request after the
other, each answered by one result. It keeps nothing. It ends with its input, and with its parent.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

PARENT_CHECK = 1.0  # format: [s] between two looks whether the parent is still there
RESET_PEAK = "5"  # format: what Linux takes to begin anew with the peak of memory


def main() -> None:
    """Serve requests until there are no more."""
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints must not come among the answers
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    # all that a run needs is imported before a request is taken, whose time is limited
    import freefloat.campaign.perform  # noqa: F401
    from freefloat.campaign.campaign import Campaign
    from freefloat.campaign.campaign_text import read_campaign
    from freefloat.campaign.run_row import RunRequest, write_result
    from freefloat.numba_.compilation import is_compiled

    kernels = ("integrate.rk4", "observe.observe", "tangent.rk4_tangent")
    _send(answers, "{}")
    campaign: Campaign | None = None
    for message in _messages():
        if "campaign" in message:
            campaign = read_campaign(message["campaign"])
            _send(answers, json.dumps({"is_compiled": is_compiled(*kernels)}))
        else:
            assert campaign is not None
            result = carry_out(campaign, RunRequest(**message["request"]))
            _send(answers, write_result(result))


def carry_out(campaign: Any, request: Any) -> Any:
    """The result of one run in this process: its row, what it cost, and the files to keep."""
    from freefloat.campaign.perform import trace_run
    from freefloat.campaign.run_row import RunCost, RunResult

    base = _memory("VmRSS")
    _limit_memory(campaign.limits.memory)
    wall, cpu = time.perf_counter(), time.process_time()
    trace = trace_run(campaign, request)
    cost = RunCost(
        wall=time.perf_counter() - wall, cpu=time.process_time() - cpu,
        memory=max(_memory("VmHWM") - base, 0.0), host=socket.gethostname(),
    )  # fmt: skip
    wish = campaign.keep.fits
    is_failed = trace.row.status != "done"
    is_wanted = wish == "all" or (wish in ("failed", "wrong") and is_failed)
    is_wanted = is_wanted or (wish == "wrong" and trace.is_wrong)
    files = {"fit.json": trace.fit.to_json()} if is_wanted and trace.fit is not None else {}
    if is_wanted and trace.traceback:
        files["traceback.txt"] = trace.traceback
    return RunResult(trace.row, cost, files)


def _messages() -> Iterator[dict[str, Any]]:
    with os.fdopen(0, "rb", closefd=False) as source:
        for line in source:
            yield json.loads(line)


def _send(answers: int, text: str) -> None:
    data = text.encode("ascii") + b"\n"
    while data:
        data = data[os.write(answers, data) :]


def _leave_with(parent: int) -> None:
    """End this process when its parent has ended, however that happened."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(1)


def _limit_memory(more: float) -> None:
    """Let this process have so much more memory than now [B], where the system can hold it to it.

    It is address space that is limited: an array that does not fit is refused before it is filled.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + int(more)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)


def _memory(what: str) -> float:
    """The memory of this process, now (VmRSS) or at most (VmHWM) [B]; nan where unknown."""
    with suppress(OSError, ValueError, LookupError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(what):
                return 1024.0 * float(line.split()[1])
    return float("nan")


if __name__ == "__main__":
    main()
