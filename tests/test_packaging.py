"""What is built holds what it should and nothing else, and the version is the same everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from documents import ROOT

import freefloat

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLAIMED = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
STRAY = ("my_env/lib/python3/site-packages/x.py", ".venv2/pyvenv.cfg", "notes.ipynb", "secret.env")
BUILD = (
    "import sys; from hatchling import build as b;"
    "print(b.build_wheel(sys.argv[1])); print(b.build_sdist(sys.argv[1]))"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[list[str], list[str]]:
    """Names in the wheel and in the sdist, built in a copy of the checkout with strangers in it."""
    pytest.importorskip("hatchling", reason="hatchling is not installed (extra `dev`)")
    folder = tmp_path_factory.mktemp("built")
    listed = subprocess.run(
        ["git", "ls-files", "-zco", "--exclude-standard"], cwd=ROOT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("this is no git checkout: what belongs to it is not known")
    copy = folder / "copy"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    for name in STRAY:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("x")
    out = folder / "dist"
    out.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", BUILD, str(out)], cwd=copy, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    wheel, sdist = (out / name for name in ended.stdout.split())
    with zipfile.ZipFile(wheel) as file, tarfile.open(sdist) as archive:
        inside = [name.partition("/")[2] for name in archive.getnames()]
        return file.namelist(), inside


def test_the_wheel_has_the_package_alone(built):
    wheel, _ = built
    assert {name.partition("/")[0] for name in wheel} == {
        "freefloat",
        f"freefloat-{freefloat.__version__}.dist-info",
    }
    source = ROOT / "src" / "freefloat"
    own = {
        path.relative_to(ROOT / "src").as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert own <= set(wheel)
    assert not [name for name in wheel if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_the_sdist_has_the_checkout_and_no_strangers(built):
    _, sdist = built
    assert {"pyproject.toml", "README.md", "LICENSE", "src/freefloat/__init__.py"} <= set(sdist)
    assert "tests/test_packaging.py" in sdist and "docs/index.md" in sdist
    assert {"benchmark/bench.py", "campaigns/T1.toml", "recipe/recipe.yaml"} <= set(sdist)
    assert {"docs/style/site.css", "docs/images/report.png", "constraints.txt"} <= set(sdist)
    assert not set(STRAY) & set(sdist)
    assert not [name for name in sdist if name.startswith((".venv", "my_env", "build/", ".git/"))]


def test_the_version_is_one_everywhere():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited and cited[1] == freefloat.__version__
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", log, re.MULTILINE)
    assert released[:1] in ([], [freefloat.__version__])
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{freefloat.__version__}"' in recipe


def test_the_recipe_needs_what_the_project_needs():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    wanted = [re.sub(r"(?=[><=])", " ", one, count=1) for one in PROJECT["dependencies"]]
    assert not [one for one in wanted if f"- {one}\n" not in recipe]
    assert f"python {PROJECT['requires-python']}" in recipe


def test_python_m_is_the_command():
    ended = subprocess.run(
        [sys.executable, "-m", "freefloat", "--version"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert ended.stdout.strip() == freefloat.__version__


def test_completion_can_be_installed_for_the_shells(tmp_path, monkeypatch):
    from freefloat.cli.app import app

    for shell in ("bash", "zsh", "fish"):
        script = app.generate_completion(shell=shell, prog_name="freefloat")
        assert "identify" in script and "freefloat" in script


def test_links_of_constraints_name_no_address():
    text = Path(ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines]
    assert len(names) == len(set(names))  # two versions of one package cannot be installed


@pytest.mark.full
@pytest.mark.parametrize("extras", ["", "all"])
@pytest.mark.parametrize("version", CLAIMED)
def test_it_installs_and_works_on_every_python_that_is_claimed(version, extras, tmp_path):
    """From the sdist, in a clean environment, wherever there is such an interpreter."""
    from clean_installs import attempt, build

    python = shutil.which(f"python{version}")
    asked = [str(python), "-c", "import ensurepip"]
    if python is None or subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip(f"there is no python{version} with ensurepip on this machine")
    limits = ["-c", str(ROOT / "constraints.txt")]
    trial = attempt(python, extras, build(tmp_path), limits, tmp_path / "trial")
    assert not trial.failed, str(trial)


def test_every_extra_is_tried_in_clean_environments():
    """`tools/clean_installs.py` imports what each extra brings."""
    from clean_installs import MODULES, modules_of

    named = re.search(r"\[(.*)\]", PROJECT["optional-dependencies"]["all"][0])
    assert named and set(named[1].split(",")) == set(MODULES)
    assert modules_of("plot,sdp") == ["matplotlib", "cvxpy", "clarabel"] and not modules_of("")
