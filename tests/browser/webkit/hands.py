"""Playwright's keyboard and mouse by the actions of WebDriver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.keys import Keys

if TYPE_CHECKING:
    from tests.browser.webkit.page import Page

KEYS = {
    **{each: getattr(Keys, each.upper()) for each in ("Enter", "Escape", "Tab", "Home", "End", "Shift", "Alt", "Meta")},
    **{f"Arrow{each}": getattr(Keys, f"ARROW_{each.upper()}") for each in ("Left", "Right", "Up", "Down")},
    "Control": Keys.CONTROL,
    "ControlOrMeta": Keys.CONTROL,
    "Backspace": Keys.BACKSPACE,
    "Delete": Keys.DELETE,
    "PageDown": Keys.PAGE_DOWN,
    "PageUp": Keys.PAGE_UP,
    "Space": " ",
}


class _Hand:
    def __init__(self, page: Page) -> None:
        self._page = page

    def _actions(self) -> Any:
        return ActionBuilder(self._page.here(), duration=0)


class Keyboard(_Hand):
    def press(self, keys: str, **_: Any) -> None:
        names = ["+"] if keys == "+" else keys.split("+")
        actions = self._actions()
        codes = [KEYS.get(each, each) for each in names]
        for code in codes:
            actions.key_action.key_down(code)
        for code in reversed(codes):
            actions.key_action.key_up(code)
        actions.perform()

    def down(self, key: str) -> None:
        actions = self._actions()
        actions.key_action.key_down(KEYS.get(key, key))
        actions.perform()

    def up(self, key: str) -> None:
        actions = self._actions()
        actions.key_action.key_up(KEYS.get(key, key))
        actions.perform()

    def type(self, text: str, **_: Any) -> None:
        for each in text:
            self.press(each)


class Mouse(_Hand):
    at = (0.0, 0.0)

    def move(self, x: float, y: float, *, steps: int = 1) -> None:
        fromx, fromy = self.at
        for step in range(1, steps + 1):
            actions = self._actions()
            there = fromx + (x - fromx) * step / steps, fromy + (y - fromy) * step / steps
            actions.pointer_action.move_to_location(round(there[0]), round(there[1]))
            actions.perform()
        self.at = x, y

    def down(self, **_: Any) -> None:
        actions = self._actions()
        actions.pointer_action.pointer_down()
        actions.perform()

    def up(self, **_: Any) -> None:
        actions = self._actions()
        actions.pointer_action.pointer_up()
        actions.perform()

    def click(self, x: float, y: float, *, times: int = 1, modifiers: Sequence[str] = ()) -> None:
        for key in modifiers:
            self._page.keyboard.down(key)
        actions = self._actions()  # in one go, so that nothing moves meanwhile
        actions.pointer_action.move_to_location(round(x), round(y))
        for _ in range(times):
            actions.pointer_action.pointer_down()
            actions.pointer_action.pointer_up()
        actions.perform()
        self.at = x, y
        for key in modifiers:
            self._page.keyboard.up(key)
