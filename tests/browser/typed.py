"""A sentence typed by a person, and a colour as a person sees it."""

from __future__ import annotations

from playwright.sync_api import Page

SEEN = """selector => {  // the colour behind the letters, as it is painted on the page
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    const style = getComputedStyle(document.querySelector(selector));
    const page = getComputedStyle(document.body).getPropertyValue('--page');
    for (const [colour, alpha] of [[page, 1], [style.backgroundColor, style.opacity]]) {
        Object.assign(canvas, { fillStyle: colour, globalAlpha: alpha });
        canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].map(each => Math.round(each / 4));
}"""


def type_into(page: Page, text: str) -> None:
    """Replace the sentence as a person does: select all, type."""
    page.click("#source-text textarea")
    page.keyboard.press("ControlOrMeta+a")
    if text:
        page.keyboard.type(text)
    else:
        page.keyboard.press("Delete")
