"""Playwright's locators, and what may be expected of them, as far as these tests use them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from playwright.sync_api import TimeoutError as Late

if TYPE_CHECKING:
    from tests.browser.webkit.page import Page

Step = dict[str, Any]
_FILL = """
const node = find.one(given[0]), text = given[1];
node.focus();
if (node.matches('textarea, input:not([type]), input[type=text], input[type=search]')) {
    node.select();
    document.execCommand(...(text ? ['insertText', false, text] : ['delete'])); // trusted, as a person's
} else {
    node.value = text;
    for (const kind of ['input', 'change']) node.dispatchEvent(new Event(kind, { bubbles: true }));
}
"""
_SELECT = """
const node = find.one(given[0]), { value, index, label } = given[1];
const at = [...node.options].findIndex((each, i) => i === index || each.value === value || each.label === label);
if (at < 0) throw new Error('there is no such option');
node.selectedIndex = at;
for (const kind of ['input', 'change']) node.dispatchEvent(new Event(kind, { bubbles: true }));
"""
_SPOT = """
const node = find.one(given[0]), at = given[1];
if (!find.visible(node) || node.disabled) return null;
const seen = node.getBoundingClientRect();
if (seen.top < 0 || seen.bottom > innerHeight) node.scrollIntoView({ block: 'center', behavior: 'instant' });
const before = node.getBoundingClientRect();
await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
const { left, top, width, height } = node.getBoundingClientRect();
if (left !== before.left || top !== before.top) return null; // it moves
const x = left + (at ? at.x : width / 2), y = top + (at ? at.y : height / 2);
const hit = document.elementFromPoint(x, y);
const meets = hit && (node.contains(hit) || hit.contains(node) && hit.closest('label, button, a') === hit
    || node.closest('label')?.contains(hit));
if (!meets) node.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
return meets ? [x, y] : null;
"""


def _wanted(text: Any, exact: bool = False) -> Step:
    if isinstance(text, re.Pattern):
        return {"regex": [text.pattern, "i" if text.flags & re.IGNORECASE else ""]}
    return {"text": text, "exact": exact}


def parsed(selector: str) -> list[Step]:
    """The steps of a selector."""
    steps: list[Step] = []
    for part in selector.split(" >> "):
        if part.startswith("nth="):
            steps.append({"kind": "nth", "nth": int(part[4:])})
        elif part == "visible=true":
            steps.append({"kind": "visible"})
        elif part.startswith("text="):
            text = part[5:]
            quoted = text[:1] in "'\"" and text[-1:] == text[:1]
            steps.append({"kind": "text", **_wanted(text[1:-1] if quoted else text, exact=quoted)})
        else:
            steps.append({"kind": "css", "css": part})
    return steps


class Locator:
    """How elements are found; they are looked for anew whenever something is asked."""

    def __init__(self, page: Page, steps: list[Step]) -> None:
        self.page, self._steps = page, steps

    def _and(self, *steps: Step) -> Locator:
        return Locator(self.page, [*self._steps, *steps])

    def locator(self, selector: str, *, has_text: Any = None, has: Locator | None = None) -> Locator:
        found = self._and(*parsed(selector))
        found = found if has_text is None else found.filter(has_text=has_text)
        return found if has is None else found._and({"kind": "has", "steps": has._steps})

    def filter(self, *, has_text: Any) -> Locator:
        return self._and({"kind": "filter", **_wanted(has_text)})

    def get_by_role(self, role: str, *, name: Any = None, exact: bool = False) -> Locator:
        return self._and({"kind": "role", "role": role, "name": None if name is None else _wanted(name, exact)})

    def get_by_text(self, text: Any, *, exact: bool = False) -> Locator:
        return self._and({"kind": "text", **_wanted(text, exact)})

    def get_by_label(self, text: Any, *, exact: bool = False) -> Locator:
        return self._and({"kind": "label", **_wanted(text, exact)})

    def nth(self, at: int) -> Locator:
        return self._and({"kind": "nth", "nth": at})

    @property
    def first(self) -> Locator:
        return self.nth(0)

    @property
    def last(self) -> Locator:
        return self.nth(-1)

    # What is asked of them.

    def _ask(self, body: str, *given: Any) -> Any:
        return self.page.run(body, self._steps, *given)

    def _asked_once(self, text: str, *given: Any) -> Any:
        """Of the first, once it is there."""
        self.wait_for(state="attached")
        return self._ask(f"const node = find.one(given[0]); {text}", *given)

    def count(self) -> int:
        return int(self._ask("return find.all(given[0]).length"))

    def all(self) -> list[Locator]:
        return [self.nth(at) for at in range(self.count())]

    def evaluate(self, text: str, arg: Any = None) -> Any:
        self.wait_for(state="attached")
        return self.page.asked(text, "find.one(given[0]), given[1]", self._steps, arg)

    def evaluate_all(self, text: str) -> Any:
        return self.page.asked(text, "find.all(given[0])", self._steps)

    def inner_text(self) -> str:
        return str(self._asked_once("return node.innerText ?? node.textContent"))

    def text_content(self) -> str:
        return str(self._asked_once("return node.textContent"))

    def all_text_contents(self) -> list[str]:
        return list(self._ask("return find.all(given[0]).map(each => each.textContent)"))

    def all_inner_texts(self) -> list[str]:
        return list(self._ask("return find.all(given[0]).map(each => each.innerText)"))

    def input_value(self) -> str:
        return str(self._asked_once("return node.value"))

    def get_attribute(self, name: str) -> str | None:
        found = self._asked_once("return node.getAttribute(given[1])", name)
        return None if found is None else str(found)

    def bounding_box(self) -> dict[str, float] | None:
        found: dict[str, float] | None = self._asked_once(
            "const { x, y, width, height } = node.getBoundingClientRect();return width ? { x, y, width, height } : null"
        )
        return found

    def is_visible(self) -> bool:
        return bool(self._ask("return find.all(given[0]).slice(0, 1).some(find.visible)"))

    def is_hidden(self) -> bool:
        return not self.is_visible()

    def is_checked(self) -> bool:
        return bool(self._asked_once("return node.checked"))

    def wait_for(self, *, state: str = "visible", timeout: float | None = None) -> None:
        there = {"attached": "all.length", "detached": "!all.length", "visible": "all.slice(0, 1).some(find.visible)"}
        holds = there.get(state, "!all.slice(0, 1).some(find.visible)")
        ask = f"const all = find.all(given[0]); return !!({holds})"
        self.page.until(lambda: self._ask(ask), f"{self._steps} to be {state}", timeout)

    # What is done to the first.

    def _spot(self, position: dict[str, float] | None = None, timeout: float | None = None) -> tuple[float, float]:
        x, y = self.page.until(lambda: self._ask(_SPOT, position), f"{self._steps} to be within reach", timeout)
        return x, y

    def click(self, *, position: Any = None, modifiers: Any = (), timeout: float | None = None, **_: Any) -> None:
        self.page.mouse.click(*self._spot(position, timeout), modifiers=modifiers)

    def tap(self) -> None:
        self.page.touchscreen.tap(*self._spot())

    def dblclick(self, *, position: Any = None) -> None:
        self.page.mouse.click(*self._spot(position), times=2)

    def hover(self, *, position: Any = None, **_: Any) -> None:
        self.page.mouse.move(*self._spot(position))

    def fill(self, text: str) -> None:
        self.wait_for()
        self._ask(_FILL, text)

    def focus(self) -> None:
        self._asked_once("node.focus()")

    def press(self, key: str) -> None:
        self.focus()
        self.page.keyboard.press(key)

    def press_sequentially(self, text: str, **_: Any) -> None:
        self.focus()
        self.page.keyboard.type(text)

    def select_option(self, value: Any = None, *, index: int | None = None, label: Any = None) -> None:
        self.wait_for(state="attached")
        self._ask(_SELECT, {"value": value, "index": -1 if index is None else index, "label": label})

    def set_checked(self, checked: bool, *, force: bool = False) -> None:
        if self.is_checked() == checked:
            return
        if force:
            self._asked_once("node.click()")
        else:
            self.click()

    def check(self, *, force: bool = False) -> None:
        self.set_checked(True, force=force)

    def uncheck(self) -> None:
        self.set_checked(False)

    def scroll_into_view_if_needed(self) -> None:
        self._asked_once("node.scrollIntoView({ block: 'nearest', behavior: 'instant' })")


_NODE = "const all = find.all(given[0]), node = all[0]; return "
_TELLS: dict[str, str] = {
    "to_have_text": f"{_NODE} find.plain(node.innerText ?? node.textContent)",
    "to_contain_text": f"{_NODE} find.plain(node.innerText ?? node.textContent)",
    "to_have_value": f"{_NODE} node.value",
    "to_have_count": f"{_NODE} all.length",
    "to_have_attribute": f"{_NODE} node.getAttribute(given[1])",
    "to_have_class": f"{_NODE} node.getAttribute('class')",
    "to_contain_class": f"{_NODE} [...node.classList]",
    "to_be_visible": f"{_NODE} !!node && find.visible(node)",
    "to_be_hidden": f"{_NODE} !node || !find.visible(node)",
    "to_be_disabled": f"{_NODE} node.disabled || node.getAttribute('aria-disabled') === 'true'",
    "to_be_editable": f"{_NODE} !!node && !node.disabled && !node.readOnly",
    "to_be_focused": f"{_NODE} node === document.activeElement",
    "to_be_empty": f"{_NODE} !(node.value ?? node.textContent)",
    "to_be_checked": f"{_NODE} node.checked",
}
LISTS = ("to_have_text", "to_contain_text")


class Expected:
    """`to_…` and `not_to_…` wait until what is said holds."""

    def __init__(self, locator: Locator, said: str | None = None) -> None:
        self._locator, self._said = locator, said

    def __getattr__(self, name: str) -> Callable[..., None]:
        wanted = name.removeprefix("not_")
        ask = _TELLS[wanted]

        def holds(*given: Any, timeout: float | None = None, **_: Any) -> None:
            *more, value = given or (True,)
            found: list[Any] = [None]
            asked = ask
            if isinstance(value, list) and wanted in LISTS:
                asked = "return find.all(given[0]).map(each => find.plain(each.innerText ?? each.textContent))"

            def look() -> bool:
                found[0] = self._locator._ask(asked, *more)
                return _like(wanted, found[0], value) != (name != wanted)

            try:
                self._locator.page.until(look, name, timeout)
            except Late:
                raise AssertionError(f"{self._said or ''} {name} {given}: {found[0]!r}") from None

        return holds


def _like(name: str, found: Any, value: Any) -> bool:
    if isinstance(value, list) and name in LISTS:
        return len(found) == len(value) and all(_like(name, *each) for each in zip(found, value, strict=True))
    if isinstance(value, re.Pattern):
        return isinstance(found, str) and value.search(found) is not None
    if name in LISTS:
        plain = " ".join(str(value).split())
        return found is not None and (plain == found if name == "to_have_text" else plain in found)
    if name == "to_contain_class":
        return value in found
    return bool(found == value)
