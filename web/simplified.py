"""Write `translator/ui/live/simplified.json` from the dictionaries of the installed OpenCC, by its own tool."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import opencc

TARGET = Path(__file__).parents[1] / "translator" / "ui" / "live" / "simplified.json"
DICTIONARIES = ("CJK_Compatibility_Ideographs", "TSCharacters", "TSCharactersExt", "TSPhrases")
"""What the configuration t2s goes by, the strongest last."""


def pairs(name: str) -> list[tuple[str, str]]:
    """What a dictionary of OpenCC maps to what; where it offers several, the first."""
    library = Path(opencc.__file__).parent / "clib"
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "text"
        source = library / "share" / "opencc" / f"{name}.ocd2"
        tool = library / "bin" / "opencc_dict"
        subprocess.run([str(tool), "-i", str(source), "-o", str(out), "-f", "ocd2", "-t", "text"], check=True)
        lines = (line.split("\t") for line in out.read_text(encoding="utf-8").splitlines() if "\t" in line)
        return [(key, values.split(" ")[0]) for key, values in lines]


if __name__ == "__main__":
    table = {key: value for name in DICTIONARIES for key, value in pairs(name)}
    # A character that stays is left out; a phrase that stays keeps its characters from being converted.
    kept = {key: value for key, value in sorted(table.items()) if key != value or len(key) > 1}
    TARGET.write_text(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
