"""A headless Chromium that opens a page and tells what happened: console, network, its DOM."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr", "--virtual-time-budget=5000",
)  # fmt: skip


class Visit(NamedTuple):
    dom: str
    console: list[str]
    requests: list[str]


def chromium() -> str:
    """The browser on this machine; without one the test is skipped, and says what to install."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(
            "no Chromium found: install it (Debian: apt-get install chromium) to test pages"
        )
    return found


def visit(page: Path, folder: Path, *flags: str, query: str = "") -> Visit:
    """Open a page: its DOM after its scripts ran, console messages, and requests that left it."""
    log = folder / "net.json"
    command = [
        chromium(), *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}",
        f"--log-net-log={log}", "--dump-dom", page.absolute().as_uri() + query,
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    console = re.findall(r"CONSOLE[^\]]*\] ?(.*)", ended.stderr)
    return Visit(ended.stdout, console, _requests(log.read_text(encoding="utf-8")))


def _requests(log: str) -> list[str]:
    """Every address that the page, not the browser for itself, started a request for."""
    try:
        content = json.loads(log)
    except ValueError:  # the browser was quicker to end than to close its log
        content = json.loads(log.rstrip().rstrip(",") + "]}")
    told = [event.get("params", {}) for event in content["events"]]
    own = [p for p in told if str(p.get("network_isolation_key", "")).startswith("file:")]
    return sorted({p["url"] for p in own if not p.get("url", "file:").startswith("file:")})
