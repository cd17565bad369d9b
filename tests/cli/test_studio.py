"""`freefloat studio` says where it is, opens what it is given, and ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from freefloat.cli.run import run


def test_it_serves_a_page_and_ends_on_ctrl_c(tmp_path):
    command = [
        sys.executable, "-m", "freefloat", "studio", "planar-capture", "--no-browser", "--json",
        "--port", "0", "--folder", str(tmp_path),
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        said = json.loads(process.stdout.readline())
        with urllib.request.urlopen(said["address"], timeout=30.0) as answer:
            assert answer.status == 200 and b"viser" in answer.read().lower()
        assert said["address"].startswith("http://127.0.0.1:") and said["folder"] == str(tmp_path)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60.0) == 0
        assert process.stdout.read() == "" and "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "70000"], "--port"),
        (["--host", "nowhere"], "--host"),
        (["--folder", "there/is/none"], "--folder"),
    ],
)
def test_a_bad_option_is_named(options, words, capsys):
    assert run(["studio", "--no-browser", *options]) == 2
    assert words in capsys.readouterr().err
