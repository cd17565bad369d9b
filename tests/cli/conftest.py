"""The command, run inside the test process."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from freefloat.cli.run import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error_codes(self):
        """What an error with --json says: its kind and its codes."""
        error = self.json["error"]
        assert self.json["ok"] is False and error["message"]
        return [error["kind"], *error["codes"]]

    @property
    def error_places(self):
        return [fault["place"] for fault in self.json["error"]["faults"]]


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Run `freefloat` with some arguments, in a folder of its own, on a screen of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def carried_out(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Outcome(code, shown.out, shown.err)

    return carried_out
