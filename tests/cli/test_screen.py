"""Tables that fit the terminal."""

from __future__ import annotations

import pytest

from freefloat.cli import screen


@pytest.mark.parametrize("width", [40, 44, 60, 80, 200])
def test_numbers_are_whole_however_narrow_the_terminal(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [("a_rather_long.parameter_name", "-12345.678", "1.234e-05", "kg m^2", "·" * 21, "seen")]
    head = ("parameter", "value", "± std", "unit", "line", "status")
    screen.show(screen.table(head, rows, align="LRRLLL", optional=("line", "status")))
    out = capsys.readouterr().out
    assert "-12345.678" in out and "1.234e-05" in out
    assert all(len(line.rstrip()) <= width for line in out.splitlines())
    assert ("·" in out) == (width >= 100) and "param" in out
