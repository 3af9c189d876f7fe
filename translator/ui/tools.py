"""The public endpoints as tools of the Model Context Protocol, stateless."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from translator.errors import InputError
from translator.ui.exchange import Exchange
from translator.ui.fields import Kind
from translator.ui.handlers import Handler
from translator.ui.job import CALLER, Caller
from translator.ui.limits import named

_TYPES: dict[Kind, str] = {
    "text": "string",
    "typed": "string",
    "number": "number",
    "flag": "boolean",
    "settings": "object",
}


def check_package() -> None:
    """Make sure that the protocol's package is there.

    Raises:
        InputError: it is not; the message has the remedy.
    """
    if find_spec("mcp") is None:
        raise InputError("the Model Context Protocol needs one package more: pip install 'mcp>=1.21,<2'")


def _silence() -> None:
    """Keep the protocol's package from logging: it logs messages that it cannot read, and so what was typed.

    Most of it logs by loggers below "mcp", which have no level of their own; its sessions log by the root logger.
    """
    import mcp

    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    package = str(Path(mcp.__file__).parent)
    logging.getLogger().addFilter(lambda record: not record.pathname.startswith(package))


class Tools:
    """An ASGI application that speaks the protocol; `run` has to be entered before the first request."""

    def __init__(self, exchange: Exchange, endpoints: Mapping[str, Handler]) -> None:
        from mcp import types
        from mcp.server.lowlevel import Server
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        _silence()
        server: Any = Server("attention-explorer")

        @server.list_tools()  # type: ignore[untyped-decorator]
        async def list_tools() -> list[types.Tool]:
            return [
                types.Tool(name=name, description=each.about, inputSchema=_schema(each))
                for name, each in endpoints.items()
            ]

        @server.call_tool(validate_input=False)  # type: ignore[untyped-decorator]
        async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
            if name not in endpoints:
                raise InputError(f"there is no such tool; there are {', '.join(sorted(endpoints))}")
            named(arguments, endpoints[name].fields)
            found = await exchange.answer(endpoints[name], arguments, CALLER.get() or Caller())
            value = orjson.loads(found)
            return [types.TextContent(type="text", text=value if isinstance(value, str) else found.decode())]

        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    def run(self) -> AbstractAsyncContextManager[None]:
        """Answer requests within this context."""
        return self._manager.run()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._manager.handle_request(scope, receive, send)


def _schema(handler: Handler) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: {"type": _TYPES[field.kind]} for field in handler.fields},
        "required": [field.name for field in handler.fields if field.needed],
    }
