"""The command and its verbs."""

from __future__ import annotations

import math
from dataclasses import is_dataclass

from cyclopts import App, Parameter

from freefloat import __version__
from freefloat.cli import screen
from freefloat.cli.benchmark import benchmark
from freefloat.cli.bug_report import bug_report
from freefloat.cli.campaign import campaign
from freefloat.cli.check import check
from freefloat.cli.design import design
from freefloat.cli.diagnose import diagnose
from freefloat.cli.export import export
from freefloat.cli.identify import identify
from freefloat.cli.import_recording import import_
from freefloat.cli.models import models
from freefloat.cli.reproduce import reproduce
from freefloat.cli.simulate import simulate
from freefloat.cli.spectrum import spectrum
from freefloat.cli.structure import structure
from freefloat.cli.studio import studio
from freefloat.cli.telemetry import telemetry
from freefloat.cli.track import track
from freefloat.cli.validate import validate

HELP = """\
Identify the dynamic parameters of free-floating space robots from their
telemetry: check models, design motions, simulate, identify, validate.

Start here:  freefloat check servicer
             freefloat simulate spatial-capture --seed 1 --out one.parquet
             freefloat simulate spatial-capture --seed 2 --out two.parquet
             freefloat identify spatial-capture one.parquet --out fit.json
             freefloat validate fit.json two.parquet --report report.html
             freefloat reproduce 003

Exit codes:  0 fine, 1 the verdict is negative, 2 bad input, 3 a bug in freefloat"""


def require_finite(_: object, value: object) -> None:
    """ValueError for a number that is none: of no verb and no option."""
    named = vars(value).items() if is_dataclass(value) else [("", value)]
    for name, one in named:
        if isinstance(one, float) and not math.isfinite(one):
            option = f"--{name.replace('_', '-')} " if name else ""
            raise ValueError(f"{option}{one} is not a finite number")


app = App(
    name="freefloat",
    help=HELP,
    version=__version__,
    help_format="plaintext",
    console=screen.results(),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(validator=require_finite),
)
VERBS = (
    models, check, design, simulate, import_, telemetry, spectrum, identify, diagnose, structure,
    track, validate, export, reproduce, campaign, benchmark, studio, bug_report,
)  # fmt: skip
for verb in VERBS:
    app.command(verb)
app.register_install_completion_command()  # --install-completion, for bash, zsh and fish
