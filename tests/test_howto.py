"""Every command of the how-to page ends well, in the order in which it stands there."""

from __future__ import annotations

from documents import ROOT, blocks, commands, file_name

from freefloat.cli.run import run

PAGE = ROOT / "docs" / "howto.md"


def test_the_page_can_be_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE, "toml"):
        name = file_name(block)
        assert name
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    asked = list(commands(PAGE))
    assert len(asked) >= 10
    for arguments in asked:
        assert run(arguments) == 0, arguments
    told = capsys.readouterr().out
    assert "springs that agree" in told and "can be trusted" in told
