"""Every example in the docstrings of this folder runs and says what it prints."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    *("freefloat.files", "freefloat.telemetry.resample", "freefloat.telemetry.attitude"),
    *(
        "freefloat.telemetry.channel",
        "freefloat.telemetry.telemetry",
        "freefloat.telemetry.clock_offsets",
    ),
    *("freefloat.telemetry.names", "freefloat.telemetry.quality"),
    *("freefloat.telemetry.quality_checks", "freefloat.telemetry.readers"),
    *("freefloat.telemetry.readers.tables", "freefloat.telemetry.smoothing"),
    *("freefloat.telemetry.doctor", "freefloat.telemetry.repeated_values"),
    *("freefloat.telemetry.stream_pairs",),
    *("freefloat.telemetry.spline_basis", "freefloat.telemetry.units"),
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    # Through importlib: in the package, quality and align are the functions, not the modules.
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted > 0 and outcome.failed == 0
