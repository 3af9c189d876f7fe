"""The built files of the page are those that its sources in `web/` give."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from translator.ui import frontend

WEB = Path(__file__).resolve().parents[2] / "web"


def test_the_built_files_are_what_the_sources_give(tmp_path: Path) -> None:
    command = [sys.executable, str(WEB / "npm.py"), "--silent", "run", "build", "--", "--out", str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*"))
    live = ["live/early.js", "live/page.css", "live/page.js", "live/sw.js", "live/worker.js"]
    assert names == ["embed.js", "explorer.css", "explorer.js", *live, "notebook.js"]
    for name in names:
        fresh, kept = (folder / name for folder in (tmp_path, frontend.STATIC))
        assert fresh.read_bytes() == kept.read_bytes(), f"{kept} is not what web/ gives; run `make web`"


def test_the_script_can_stand_in_a_page() -> None:
    assert "</script" not in frontend.script() and "</style" not in frontend.style()


def test_no_style_depends_on_whether_any_element_of_a_name_is_inside() -> None:
    """WebKit works out the whole page's styles anew whenever such an element comes or goes: 40 ms for each button."""
    sheets = sorted((WEB / "src").rglob("*.css"))
    assert sheets
    costly = [path.name for path in sheets if re.search(r":has\(\s*[a-z]+\s*\)", path.read_text(encoding="utf-8"))]
    assert not costly
