"""A studio that runs in a thread, and a headless Chromium that opens it and reports complaints."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import chromium

from freefloat.studio import messages
from freefloat.studio.access import access_of
from freefloat.studio.studio_app import Studio

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
)  # fmt: skip
PATIENCE = 120.0  # [s]: two cores may be busy with other tests


class RunningStudio:
    """A studio in a thread of this process."""

    def __init__(self, folder: Path, **options) -> None:
        self.studio = Studio(access_of(None, None), port=0, folder=folder, **options)
        self.thread = threading.Thread(target=self.studio.run, daemon=True)
        self.thread.start()

    @property
    def state(self):
        return self.studio.state

    def wait(self, is_so: Callable, seconds: float = PATIENCE) -> None:
        """Until something is so of the state."""
        end = time.monotonic() + seconds
        while not is_so(self.state):
            assert time.monotonic() < end, f"not so after {seconds} s: {self.state.notice}"
            assert self.thread.is_alive(), "the studio ended"
            time.sleep(0.02)

    def do(self, message: object) -> None:
        """Ask for work, and wait until it is over."""
        before = self.state.notice.number
        self.studio.ask(message)
        self.wait(lambda state: state.notice.number > before and state.job is None)

    def close(self) -> None:
        self.studio.stop()
        self.thread.join(30.0)
        assert not self.thread.is_alive()
        assert not self.studio.n_broken, self.state.notice


class StudioPage:
    """A page of the studio in a browser: what it complained about, and what it asked others for."""

    def __init__(self, context, address: str) -> None:
        self.address = address
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(180_000)  # two cores may be busy with other tests
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._note)
        # without a graphics card the scene is drawn by the processor: as coarsely as can be
        self.page.goto(address + ("&" if "?" in address else "?") + "fixedDpr=0.05")
        self.page.get_by_text("freefloat studio").first.wait_for(timeout=60_000)

    def _hear(self, message) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _note(self, request) -> None:
        if not request.url.startswith((self.address.split("?")[0], "blob:", "data:")):
            self.outside.append(request.url)

    def require_quiet(self) -> None:
        """No complaint on the console, no request to anybody else."""
        assert self.complaints == []
        assert self.outside == []

    def open_tab(self, title: str) -> None:
        self.page.get_by_role("tab", name=title, exact=True).click()

    def press(self, label: str) -> None:
        found = self.page.get_by_role("button", name=label, exact=True)
        found.locator("visible=true").first.click()

    def see(self, text: str, seconds: float = 60.0) -> None:
        """Wait until a text is on the page."""
        self.page.get_by_text(text).first.wait_for(timeout=1000.0 * seconds)


@pytest.fixture
def running(tmp_path) -> Iterator[Callable[..., RunningStudio]]:
    """Starts studios, and ends them."""
    open_ones: list[RunningStudio] = []

    def start(**options) -> RunningStudio:
        made = RunningStudio(options.pop("folder", tmp_path), **options)
        open_ones.append(made)
        return made

    yield start
    for one in open_ones:
        one.close()


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """A headless Chromium."""
    path = chromium()
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        yield made
        made.close()


@pytest.fixture
def visit_studio(browser) -> Iterator[Callable[..., StudioPage]]:
    """Opens pages; at the end none of them may have complained or asked others for anything."""
    contexts, pages = [], []

    def visit(running_studio: RunningStudio, width: int = 1280, height: int = 800) -> StudioPage:
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        pages.append(StudioPage(context, running_studio.studio.address))
        return pages[-1]

    yield visit
    for context in contexts:
        context.close()
    for page in pages:
        page.require_quiet()


@pytest.fixture(scope="session")
def desk(tmp_path_factory) -> Iterator[RunningStudio]:
    """One studio for all tests: whoever opens a model begins anew."""
    made = RunningStudio(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def shared_page(browser, desk) -> Iterator[StudioPage]:
    """One page for all tests."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield StudioPage(context, desk.studio.address)
    context.close()


@pytest.fixture
def page(shared_page) -> Iterator[StudioPage]:
    """The page, which may not have complained or asked others for anything in a test."""
    yield shared_page
    shared_page.require_quiet()


@pytest.fixture
def opened(desk) -> RunningStudio:
    """The studio with the small planar robot open."""
    desk.do(messages.OpenModelFile("planar-capture"))
    return desk
