"""The Positions tab: what its table and its curves can be asked for."""

from __future__ import annotations

from typing import Any

from translator.registry.field import Field, for_form

CURVES_AT_MOST = 12
"""Curves whose colours can be told apart."""
SAYS = (
    "Attention does not know where a token stands, so its position is added to its embedding. Each row of the table"
    " is one position. The paper uses sines and cosines of decreasing frequency, side by side (interleaved) or all "
    "sines before all cosines (concatenated); a table may also be learned."
)

TABLE = Field("table", "Table", "text", value="sinusoidal", says="sinusoidal, or the name of a checkpoint for its own")
LAYOUT = Field("layout", "Layout", "choice", ("interleaved", "concatenated"), value="interleaved")
POSITIONS = Field("positions", "Positions", "range", low=2, high=256, step=1, value=100, whole=True)
DIMENSIONS = Field("dimensions", "Dimensions", "range", low=2, high=512, step=2, value=32, whole=True)
CURVES = Field(
    "curves",
    "Curves of dimensions",
    "text",
    value="5, 6, 7, 8, 9",
    says=f"such as 5, 6, 10-12; {CURVES_AT_MOST} at most",
)
FIELDS = (TABLE, LAYOUT, POSITIONS, DIMENSIONS, CURVES)


def for_front_end() -> dict[str, Any]:
    """All of it as JSON: `web/src/protocol/registry.json`."""
    return {"says": SAYS, "curves_at_most": CURVES_AT_MOST, "fields": {each.name: for_form(each) for each in FIELDS}}
