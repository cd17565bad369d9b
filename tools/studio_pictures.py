"""Pictures of the studio for the documents: every tab, by a headless Chromium.

    python tools/studio_pictures.py --out docs/images
    python tools/studio_pictures.py --out build/pictures --all     # light and dark, two sizes

Without a graphics card the scene is drawn by the processor, which takes a while.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable
from pathlib import Path

SIZES = ((1280, 800), (1920, 1080))
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
SETTLED = 4.0  # [s] until a page has drawn what it was told


def main() -> None:
    """Drive a studio through the job and take a picture of every tab."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--model", default="spatial-capture")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    looks = [(size, dark) for size in SIZES for dark in (False, True)] if given.all else []
    take_pictures(given.out, given.model, looks or [(SIZES[0], False)], has_names=bool(looks))


def take_pictures(out: Path, model: str, looks: list, *, has_names: bool) -> None:
    """One run through the job; at every tab a picture for every look."""
    from playwright.sync_api import sync_playwright

    from freefloat.studio import messages
    from freefloat.studio.access import access_of
    from freefloat.studio.studio_app import Studio

    studio = Studio(access_of(None, None), port=0, folder=out)
    thread = threading.Thread(target=studio.run, daemon=True)
    thread.start()

    def do(*asked: object) -> None:
        for message in asked:
            before = studio.state.notice.number
            studio.ask(message)
            while studio.state.notice.number == before or studio.state.job is not None:
                time.sleep(0.1)
        print(studio.state.notice.title, flush=True)

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)

        def shoot(name: str, tab: str) -> None:
            for (width, height), is_dark in looks:
                studio._set_theme(is_dark)
                context = browser.new_context(viewport={"width": width, "height": height})
                page = context.new_page()
                page.goto(studio.address)
                page.get_by_role("tab", name=tab, exact=True).click(timeout=120_000)
                time.sleep(SETTLED)
                for close in page.locator(".mantine-Notification-closeButton").all():
                    close.click(timeout=120_000)
                time.sleep(1.0)
                look = f"_{width}_{'dark' if is_dark else 'light'}" if has_names else ""
                path = out / f"studio_{name}{look}.png"
                page.screenshot(path=path, timeout=180_000)
                compress(path)
                context.close()

        _walk(studio, do, shoot, model, out, messages)
        browser.close()
    studio.stop()
    thread.join(10.0)


def _walk(studio, do: Callable, shoot: Callable, model: str, out: Path, m) -> None:
    do(m.OpenModelFile("servicer"))
    shoot("model", "Model")
    do(m.OpenModelFile(model))
    studio.ask(m.ChooseParameters(("target.*", "bus.mass", "bus.m[xyz]")))
    do(m.Check(), m.DesignMotion(30.0, seconds=5.0, seed=1))
    shoot("plan", "Plan")
    do(m.Simulate(1, name="first flight"))
    studio.ask(m.ShowMotion("flight", time=12.0))
    shoot("flight", "Flight")
    do(m.OpenPlanFile("", 30.0, 5), m.Simulate(2, name="second flight"), m.Check("flight"))
    do(m.Identify(("first flight",)))
    studio.ask(m.CompareModels(True))
    shoot("identify", "Identify")
    studio.ask(m.CompareModels(False))
    do(m.Validate("second flight"))
    studio.ask(m.ShowMotion("verdict", time=12.0))
    shoot("verdict", "Verdict")
    studio.ask(m.ChooseParameters(("target.*",)))
    studio.ask(m.FollowLive(flight="first flight", speed=0.0))
    while studio.state.live is None or studio.state.live.is_running:
        time.sleep(0.2)
    shoot("live", "Live")


def compress(path: Path) -> None:
    """Fewer colours: a quarter of the bytes, and nothing that a reader would miss."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(200, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
