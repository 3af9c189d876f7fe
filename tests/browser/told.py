"""What a page says of itself where its test failed: a clock that ran out tells nothing of what was waited for."""

from __future__ import annotations

import json

from playwright.sync_api import Error, Page, Request

from benchmarks.shown import SHOWN

PATIENCE = 5_000
_STATE = f"""() => ({{
    address: location.href,
    shown: {SHOWN},
    fields: [...document.querySelectorAll('textarea')].map(each => [each.closest('[id]')?.id, each.value]),
    notices: [...document.querySelectorAll('.notice')].map(each => each.textContent),
    classes: document.body.className,
    visibility: document.visibilityState,
}})"""


class Told:
    """A page that is watched from its beginning."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._said: list[str] = []
        self._open: list[Request] = []
        page.on("console", lambda message: self._said.append(message.text))
        page.on("pageerror", lambda error: self._said.append(str(error)))
        page.on("request", lambda request: self._open.append(request))
        for ended in ("requestfinished", "requestfailed"):
            page.on(ended, self._end)

    def _end(self, request: Request) -> None:
        if request in self._open:
            self._open.remove(request)

    def __str__(self) -> str:
        try:
            self._page.wait_for_function("true", timeout=PATIENCE, polling=100)
            state = json.dumps(self._page.evaluate(_STATE), ensure_ascii=False, indent=1)
        except Error as error:
            state = f"it does not answer: {error}"
        waits = "\n".join(f"{each.method} {each.url} {each.post_data or ''}"[:300] for each in self._open)
        return f"{state}\nnot ended:\n{waits}\nconsole:\n" + "\n".join(self._said[-10:])
