"""The studio in a headless Chromium: every tab, two pages, a reload, broken files."""

from __future__ import annotations

import pytest

from freefloat.studio import messages


@pytest.mark.promise("W1")
def test_a_model_opens_and_moves(running, visit_studio):
    studio = running()
    page = visit_studio(studio)
    page.see("Open a model to begin")
    studio.do(messages.OpenModelFile("servicer"))
    page.see("servicer is open")
    page.see("panel_l1")
    other = visit_studio(studio)  # two pages see the same
    other.see("servicer is open")
    page.page.get_by_text("Modes").click()
    page.see("0.08")
    page.page.reload()
    page.see("servicer is open")
    n = studio.studio.scene.n_updates
    studio.studio.ask(messages.MoveJoint("arm_1", 0.7))
    studio.wait(lambda state: state.posture == {"arm_1": 0.7})
    studio.wait(lambda state: studio.studio.scene.n_updates > n)


@pytest.mark.promise("W1")
def test_a_broken_model_is_a_message(running, visit_studio, tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text('format = 1\nname = "<b>bold</b>"\n[[body]]\nname = "bus"\nmass = -1\n')
    studio = running()
    page = visit_studio(studio)
    studio.do(messages.OpenModelFile(str(broken)))
    assert studio.state.notice.kind == "error"
    page.see("Opening the model failed")
    assert "mass" in studio.state.notice.text
    studio.do(messages.OpenModelFile("cepheus"))  # and the studio lives on
    page.see("cepheus is open")
