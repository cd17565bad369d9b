"""Reports are one file that needs nothing else, small, quick, escaped, and open in a browser."""

from __future__ import annotations

import re
import time
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from browser import visit
from fault_codes import refused
from fit_samples import sample_fit
from markupsafe import escape
from validation_flights import planar_fit, planar_flight

import freefloat as ff
from freefloat.errors import FreefloatError
from freefloat.identification.assessment import Assessment
from freefloat.identification.fit import Estimate
from freefloat.identification.fit_text import deviation_words
from freefloat.report.charts import ChartLine, chart, verdict_charts
from freefloat.report.pages import fit_page, save_fit_report, verdict_page
from freefloat.validation.acceptance import AcceptanceCriterion

EVIL = '</script><script>alert("x")</script><img src=http://evil.example/a.png>&<b>'


class Outside(HTMLParser):
    """Collects whatever a page would load from elsewhere, its elements and its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "data", "action") and not (value or "").startswith(
                ("#", "data:")
            ):
                self.found.append(f"{tag} {name}={value}")


def parsed(page: str) -> Outside:
    parser = Outside()
    parser.feed(page)
    return parser


@pytest.fixture(scope="module")
def verdict() -> ff.Verdict:
    return ff.validate(planar_fit(), planar_flight(2))


@pytest.fixture(scope="module")
def large() -> tuple[ff.Fit, ff.Verdict]:
    """The largest job there is: the servicer with 53 channels, and a hundred parameters."""
    model = ff.load_model("servicer")
    flight = ff.simulate(model, ff.default_plan(model, duration=60.0), seed=1)
    verdict = ff.validate(model, flight)
    many = tuple(
        Estimate(f"part_{n}.mass", "kg", 10.0 + n, 0.1, (9.8 + n, 10.2 + n), "seen", 9.0 + n)
        for n in range(30)
    )
    covariance = [[0.01 * 0.5 ** abs(i - j) for j in range(30)] for i in range(30)]
    return sample_fit(model, estimates=many, covariance=covariance), verdict


def test_the_verdict_comes_first_and_everything_is_there(verdict):
    page = fit_page(planar_fit(), [verdict])
    ids = "criteria parameters combinations prediction overlays residuals correlation"
    ids = f"{ids} identifiability motion quality credibility provenance".split()
    places = [page.index(f' id="{name}"') for name in ids]
    assert places == sorted(places)
    assert page.index('<header class="good" data-kind="verdict">') < places[0]
    assert all(f'href="#{name}"' in page for name in ids)


def test_a_page_loads_nothing(verdict):
    for page in (fit_page(planar_fit(), [verdict]), verdict_page(verdict), fit_page(sample_fit())):
        assert not parsed(page).found
        assert "default-src 'none'" in page


def test_names_from_files_are_escaped(verdict):
    fit = planar_fit()
    first = replace(fit.estimates[0], note=EVIL, unit=EVIL)
    nasty = replace(
        fit, estimates=(first, *fit.estimates[1:]), notes=(EVIL,), scale=EVIL, status=EVIL,
        model=replace(fit.model, name="robot <script>"), provenance={EVIL: EVIL},
    )  # fmt: skip
    judged = replace(
        verdict, model=EVIL, status=EVIL, execution=EVIL, notes=(EVIL,), quality=(EVIL,),
        criteria=(AcceptanceCriterion(EVIL, False, 1.0, 2.0, EVIL),),
        traces=tuple(replace(t, channel=EVIL, unit=EVIL) for t in verdict.traces[:2]),
        scores=tuple(replace(s, channel=EVIL, unit=EVIL) for s in verdict.scores[:2]),
        whiteness=tuple(replace(w, channel=EVIL) for w in verdict.whiteness[:1]),
        spectra=tuple(replace(s, channel=EVIL, unit=EVIL) for s in verdict.spectra[:1]),
    )  # fmt: skip
    for page in (fit_page(nasty, [judged]), verdict_page(judged)):
        clean = parsed(fit_page(fit, [verdict]) if "parameters" in page else verdict_page(verdict))
        assert "img" not in parsed(page).tags and not parsed(page).found
        assert parsed(page).tags.count("script") == clean.tags.count("script")
        assert str(escape(EVIL)) in page and EVIL not in page
    assert "robot &lt;script&gt;" in fit_page(nasty, [judged])


@pytest.mark.promise("S8")
def test_the_largest_report_is_small_and_quick(large, tmp_path, figure):
    fit, verdict = large
    path = tmp_path / "report.html"
    save_fit_report(fit, path, verdicts=(verdict,))  # the templates are read and compiled once
    begin = time.process_time()
    save_fit_report(fit, path, verdicts=(verdict,))
    seconds, size = time.process_time() - begin, path.stat().st_size
    figure("S8", f"{size / 1e6:.2f} MB, {seconds:.2f} s of processor time, no network")
    assert size <= 1_000_000 and seconds <= 2.0
    assert not parsed(path.read_text(encoding="utf-8")).found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_opens_it_without_network_or_complaint(large, tmp_path, scheme):
    fit, verdict = large
    path = tmp_path / "report.html"
    path.write_text(fit_page(fit, [verdict]), encoding="utf-8")
    flags = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    seen = visit(path, tmp_path, *flags)
    assert seen.console == [] and seen.requests == []
    drawn = seen.dom.count("<canvas")
    n_residuals = sum(len(spectrum.frequency) > 0 for spectrum in verdict.spectra)
    assert n_residuals > 0
    assert drawn == len(verdict.traces) + 2 * n_residuals, "every curve is drawn"


def test_a_narrow_screen_needs_no_sideways_scrolling(large, tmp_path):
    fit, verdict = large
    path = tmp_path / "report.html"
    told = "document.title = document.documentElement.scrollWidth + ' of ' + innerWidth"
    page = fit_page(fit, [verdict]).replace("</body>", f"<script>{told}</script></body>")
    path.write_text(page, encoding="utf-8")
    seen = visit(path, tmp_path, "--window-size=500,900")
    wide, of = re.search(r"<title>(\d+) of (\d+)</title>", seen.dom).groups()
    assert int(wide) <= int(of)  # tables scroll in their own boxes


def test_without_a_script_the_page_says_so_and_keeps_its_numbers(verdict):
    page = fit_page(planar_fit(), [verdict])
    assert parsed(page).tags.count("noscript") == 2  # a sentence, and no empty places for curves
    still = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert all(f"<td>{score.channel}</td>" in still for score in verdict.scores)


def test_charts_hold_what_they_show(verdict):
    charts = {chart["id"]: chart for chart in verdict_charts(verdict, 0)["charts"]}
    trace, chart = verdict.traces[0], charts["v0c0"]
    assert [line["style"] for line in chart["lines"]][-1] == "predicted"
    assert len(chart["xs"]) == 1, "lines at the same instants share them"
    assert floats(chart["xs"][0]) == pytest.approx(trace.time - trace.time[0], abs=1e-5)
    assert floats(chart["lines"][-1]["y"]) == pytest.approx(trace.predicted, rel=1e-6)
    spectrum, shown = verdict.spectra[0], charts["v0s0"]
    assert shown["log"] == "xy" and {line["style"] for line in shown["lines"]} >= {"floor"}
    by_style = {line["style"]: floats(line["y"]) for line in shown["lines"]}
    assert by_style["predicted"] == pytest.approx(spectrum.density, rel=1e-6)
    assert by_style["floor"] == pytest.approx(spectrum.floor, rel=1e-6)
    lags = charts["v0a0"]
    assert floats(lags["lines"][0]["y"]) == pytest.approx(
        verdict.whiteness[0].correlation, abs=1e-7
    )
    assert lags["band"] == verdict.whiteness[0].band


def test_a_logarithmic_chart_holds_nothing_that_has_no_logarithm():
    line = ChartLine("line0", np.arange(4.0), np.array([0.0, -1.0, 1e-40, 1e-3]))
    (packed,) = chart("place", ("x", "y"), [line], log="y")["lines"]
    assert floats(packed["y"]) == pytest.approx([1e-15, 1e-15, 1e-15, 1e-3])


def floats(text: str) -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype="<f4").astype(float)


def test_the_browser_would_tell(tmp_path):
    """The test above can fail: a page that complains and calls home is seen to."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<script>console.error('broken')</script><img src='http://127.0.0.1:9/pixel.png'>"
    )
    seen = visit(page, tmp_path)
    assert any("broken" in line for line in seen.console)
    assert seen.requests == ["http://127.0.0.1:9/pixel.png"]


def test_a_fit_draws_the_flights_it_was_made_from_and_says_so(tmp_path):
    path = tmp_path / "fit.html"
    planar_fit().save_report(path, planar_flight(1, 60.0))
    page = path.read_text(encoding="utf-8")
    assert 'class="warning not-held-out"' in page
    assert '<header class="fair" data-kind="fit">' in page  # the headline stays that of the fit
    assert 'data-state="validation: open"' in page


def test_a_flight_that_cannot_be_predicted_is_a_note(tmp_path):
    path = tmp_path / "fit.html"
    planar_fit().save_report(path, planar_flight(2).without("arm_1.position"))
    assert 'data-code="report.flight_not_predicted"' in path.read_text(encoding="utf-8")


def test_a_verdict_that_did_not_run_has_a_page_too(verdict):
    bare = replace(verdict, has_run=False, scores=(), traces=(), whiteness=(), spectra=(),
                   balances=(), end_effectors=(), is_positive=False)  # fmt: skip
    page = verdict_page(bare)
    assert '<p class="empty">' in page and 'class="plot"' not in page


def test_other_names_are_refused(verdict, tmp_path):
    with refused(FreefloatError, "file.suffix"):
        verdict.save_report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


def test_a_fit_that_was_not_assessed_is_no_good_news():
    fit = sample_fit()
    page = fit_page(fit)
    assert 'class="fair"' in page and "assessment.none" in page
    assert str(escape(deviation_words(fit))) in page  # assumptions were adjusted
    graded = fit_page(replace(fit, assessment=Assessment("trusted")))
    assert 'class="good"' in graded and "assessment.none" not in graded
    assert 'class="bad"' in fit_page(replace(fit, is_trustworthy=False))
