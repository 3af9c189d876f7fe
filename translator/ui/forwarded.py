"""Filtering of the forwarding and range headers that reach Gradio.

Gradio writes the address of the page, `root`, into what it answers, and takes it from whatever header names one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Scope = dict[str, Any]

HOSTS = "TRANSLATOR_HOSTS"
"""Environment variable: the names, separated by commas, under which the page answers besides loopback's own."""
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(?P<name>[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?")
_RANGE = re.compile(rb"bytes=(\d{1,18}-|-\d{1,18}|(?P<first>\d{1,18})-(?P<last>\d{1,18}))")
_PROXY = (b"x-forwarded-host", b"x-forwarded-proto")


@dataclass(frozen=True)
class Trust:
    """Whose word is taken for the page's address.

    Args:
        hosts: names that a `Host` header may hold, lower case and without a port; None for any name.
        proxied: whether a proxy stands in front, which says by X-Forwarded-Host and -Proto what it was asked for.
    """

    hosts: frozenset[str] | None = None
    proxied: bool = False

    @classmethod
    def of(cls, server_name: str | None, environ: Mapping[str, str] = os.environ) -> Trust:
        """What the environment says: proxies in $FORWARDED_ALLOW_IPS, names in $TRANSLATOR_HOSTS.

        A page on loopback that stands behind no proxy is called by no other name than loopback's, unless a strange
        site has its own name resolved to this machine.
        """
        proxied = bool(environ.get("FORWARDED_ALLOW_IPS", "").strip())
        named = {name.strip().lower() for name in environ.get(HOSTS, "").split(",") if name.strip()}
        on_loopback = (server_name or _LOOPBACK[1]) in (*_LOOPBACK, "::1")
        if named or (on_loopback and not proxied):
            return cls(frozenset({*named, *_LOOPBACK}), proxied)
        return cls(None, proxied)

    def knows(self, host: bytes) -> bool:
        """Whether a `Host` header names a host that this page may be called by."""
        found = _HOST.fullmatch(host.decode("latin-1"))
        return found is not None and (self.hosts is None or found["name"].lower() in self.hosts)

    def cleaned(self, scope: Scope) -> Scope:
        """`scope` without the headers that are not believed, and without ranges that Gradio fails at.

        A server may answer any range with the whole (RFC 9110, section 14.2).
        """
        kept = [(name, value) for name, value in scope.get("headers", ()) if self._keeps(name.lower(), value)]
        return {**scope, "headers": kept}

    def _keeps(self, name: bytes, value: bytes) -> bool:
        if name == b"range":
            found = _RANGE.fullmatch(value.strip())
            return found is not None and (found["first"] is None or int(found["first"]) <= int(found["last"]))
        return name != b"x-gradio-server" and (self.proxied or name not in _PROXY)


def host_of(scope: Scope) -> bytes:
    """The `Host` header of a request, b"" if there is none."""
    return next((value for name, value in scope.get("headers", ()) if name.lower() == b"host"), b"")
