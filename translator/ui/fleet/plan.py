"""What a fleet of replicas serves, and how many there may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from translator.checkpoints.shelf import offered
from translator.errors import InputError
from translator.rules import keep, keep_whole, require
from translator.ui.models import DIRECTIONS, MEMORY, Models
from translator.ui.shortlist import allowed
from translator.ui.start import HOST, room_of

MOST = 4096
"""Replicas at most."""


@dataclass(frozen=True)
class Plan:
    """The arguments of an application of Ray Serve, checked.

    Args:
        checkpoints, transformers: as `shelf.offered` takes them; every machine finds them under these names.
        memory: GiB that a replica's models may take. None: $TRANSLATOR_MEMORY, or 2.
        host: where Serve's proxies listen; on loopback the page answers to loopback's names only.
        replicas: how many there may be.
    Raises:
        InputError: a value is of another kind or out of range, or $TRANSLATOR_HUB lets visitors fetch models, which a
            fleet does not.
        CheckpointError: something named is no checkpoint that a page may load.
    """

    checkpoints: Sequence[str] = ()
    transformers: Sequence[str] = ()
    memory: float | None = None
    host: str = HOST
    replicas: int = 1

    def __post_init__(self) -> None:
        for name in ("checkpoints", "transformers"):
            value = getattr(self, name)
            listed = isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)
            require(listed, name, value, "a list of names")
            keep(self, name, tuple(value))
        number = isinstance(self.memory, (int, float)) and not isinstance(self.memory, bool)
        require(self.memory is None or number, "memory", self.memory, "GiB, such as 2 or 0.5")
        require(isinstance(self.host, str) and bool(self.host), "host", self.host, "an address, such as 127.0.0.1")
        keep_whole(self, "replicas", 1, MOST)
        allowed(self.host, workers=2)
        self.offered()
        room_of(self.memory)

    @classmethod
    def of(cls, args: Mapping[str, Any]) -> Plan:
        """The plan that a Serve config's `args` are.

        Raises:
            InputError: a name is unknown; and as the plan itself.
        """
        known = [field.name for field in fields(cls)]
        for name in args:
            if name not in known:
                raise InputError(f"there is no argument {name!r:.80}; there are {', '.join(known)}")
        return cls(**args)

    def offered(self) -> dict[str, Any]:
        """The checkpoints by the names that the page shows."""
        return offered(self.checkpoints, DIRECTIONS, self.transformers)

    def models(self) -> Models:
        """The models of one replica, none of them loaded."""
        room = room_of(self.memory)
        return Models(self.offered(), memory=room or MEMORY, largest=room)
