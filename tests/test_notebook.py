"""Every noun shows itself in a notebook as HTML in which nothing of a file can become markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import freefloat as ff
from freefloat.model import Body


class Balance(HTMLParser):
    """Counts tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        assert not attrs
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def nouns():
    """One of each, by name."""
    model = ff.load_model("planar-capture")
    wanted = ff.Parameters(model).free("target.mass", "target.izz")
    plan = ff.default_plan(model, duration=10.0, seed=1)
    flight = ff.simulate(model, plan, seed=1)
    fit = ff.identify(model, wanted, flight, assess=False)
    return {
        "model": model,
        "plan": plan,
        "telemetry": flight,
        "visibility": ff.identifiability(model, wanted),
        "fit": fit,
        "verdict": ff.validate(fit, ff.simulate(model, plan, seed=2)),
    }


@pytest.mark.parametrize(
    ("noun", "shows"),
    [
        ("model", ["mass [kg]", "bus", "target"]),
        ("plan", ["Fourier", "10 s"]),
        ("telemetry", ["rate [Hz]", "base.rate.x|y|z"]),
        ("visibility", ["target.mass", "status"]),
        ("fit", ["target.mass", "95 % interval"]),
        ("verdict", ["criterion", "prediction"]),
    ],
)
def test_a_noun_is_a_table_in_a_notebook(nouns, noun, shows):
    html = nouns[noun]._repr_html_()
    parser = Balance()
    parser.feed(html)
    assert not parser.open and {"div", "table"} <= parser.tags
    text = re.sub("<[^>]+>", " ", html)
    assert all(word in text for word in shows), text


def test_names_from_files_stay_text():
    model = ff.load_model("planar-capture")
    bus = Body("bus", 1.0, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    html = ff.Model("<script>", model.root, bodies=(bus,))._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_a_plan_says_what_moves(nouns):
    first, *rows = str(nouns["plan"]).splitlines()
    assert "10 s" in first and len(rows) == len(nouns["plan"].motions)
