"""Write what is made of `translator/registry`: `src/protocol/registry.json` for the front end, and docs/settings.md.

Run it after a change of the registry: `python web/registry.py`, then `npm run build`. A test holds both fresh.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from translator.registry.document import document, front_end

ROOT = Path(__file__).resolve().parents[1]


def written() -> dict[Path, str]:
    """Each file with its text."""
    values = json.dumps(front_end(), indent=2, ensure_ascii=False) + "\n"
    return {ROOT / "web/src/protocol/registry.json": values, ROOT / "docs/settings.md": document()}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
