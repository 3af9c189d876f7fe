"""The README's pictures and its animation, taken of the page: `python -m benchmarks.pictures` (`make assets`)."""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.page import OPTIONS, shipped_page
from benchmarks.shown import pick, settle, wait_translated
from translator.ui import frontend

OUT = Path(__file__).resolve().parents[1] / "docs" / "images"
LAPTOP: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
DRAWN = "#attention-detail .xtick"
FRAME = (1008, 630)
ANIMATION_BYTES = 1_500_000
SHARPEST = """() => {
  const { cross, tgt } = AttentionExplorer.trace();
  const sharp = ([l, h]) => cross[l][h].flat().reduce((sum, weight) => sum + weight * weight, 0);
  const all = cross.flatMap((layer, l) => layer.map((_, h) => [l, h]));
  const best = all.sort((a, b) => sharp(b) - sharp(a)).slice(0, 6);
  return [tgt.length, best.sort((a, b) => a[0] - b[0] || a[1] - b[1])];
}"""


def explorer(page: Page) -> None:
    """The page as it opens."""
    page.wait_for_selector(DRAWN)
    settle(page)


def german(page: Page) -> None:
    """Wait until the other direction's example is drawn."""
    text = next(each["text"] for each in frontend.examples() if each["direction"] == "de-en")
    wait_translated(page, text)
    explorer(page)


def lab(page: Page) -> None:
    """The switchboard after a run."""
    explorer(page)
    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-head").first.wait_for()
    page.locator(".lab-run").wait_for()
    settle(page)
    page.wait_for_function("!document.querySelector('.lab [aria-busy=true]')")


def lesson(page: Page) -> None:
    """The station on scores and weights."""
    explorer(page)
    page.get_by_role("tab", name="Lesson").click()
    page.get_by_text("From scores to weights").first.click()
    page.wait_for_selector("#lesson .main-svg, .lesson .main-svg")
    settle(page)


def animation(page: Page) -> None:
    """A translation token by token, then the heads that look at single words: docs/images/explorer.gif."""
    german(page)
    steps, tiles = page.evaluate(SHARPEST)
    states: list[tuple[dict[str, int], int]] = [({"step": step}, 350) for step in range(steps)]
    states += [({"layer": layer, "head": head}, 900) for layer, head in tiles]
    frames = []
    for state, _ in states:
        if "step" in state:
            page.locator("#step-slider").fill(str(state["step"] + 1))
        pick(page, layer=state.get("layer"), head=state.get("head"))
        settle(page)
        frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize(FRAME, Image.Resampling.LANCZOS))
    colours = frames[-1].quantize(colors=128)
    shown = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    path = OUT / "explorer.gif"
    durations = [milliseconds for _, milliseconds in states]
    shown[0].save(path, save_all=True, append_images=shown[1:], duration=durations, loop=0, optimize=True)
    if path.stat().st_size > ANIMATION_BYTES:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes, more than {ANIMATION_BYTES:,}")


SHOTS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "explorer-light": ("?direction=de-en", LAPTOP, german),
    "explorer-dark": ("?direction=de-en", {**LAPTOP, "color_scheme": "dark"}, german),
    "explorer-zh": ("", {**LAPTOP, "locale": "zh-CN"}, explorer),
    "explorer-phone": ("?direction=de-en", PHONE, german),
    "lab": ("", LAPTOP, lab),
    "lesson": ("", LAPTOP, lesson),
    "explorer.gif": ("?direction=de-en", LAPTOP, animation),
}


def main() -> None:
    """Serve the shipped checkpoints, take every picture, and stop."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--only", nargs="+", default=list(SHOTS), choices=list(SHOTS))
    args = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    with shipped_page() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=OPTIONS)
        for name in args.only:
            address, options, ready = SHOTS[name]
            context = browser.new_context(**options)
            page = context.new_page()
            page.set_default_timeout(120_000)
            page.goto(server.url + address)
            ready(page)
            if not Path(name).suffix:
                page.screenshot(path=OUT / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
