"""What plotly.js draws of hostile tokens, in a real browser."""

from pathlib import Path

import numpy as np
import plotly
import pytest

from translator.figures.attention import attention_heatmap
from translator.figures.label import plain

TOKENS = [
    "<s>",
    "</s>",
    "<b>x</b>",
    "<a href='x'>",
    "&lt;",
    "%{x}",
    "$x$ $y$",
    "",
    " ",
    "2024-01-01",
    "the",
    "the",
    "书",
    "<img src=x>",
]


@pytest.mark.browser
def test_every_tick_reads_as_the_token(tmp_path, browser):
    figure = attention_heatmap(np.full((len(TOKENS),) * 2, 0.1), TOKENS, TOKENS, predicts=TOKENS)
    script = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    drawing = figure.to_json().replace("</", "<\\/")
    page_file = tmp_path / "page.html"
    page_file.write_text(
        f"<meta charset=utf-8><div id=plot></div><script>{script}</script>"
        f"<script>const f = {drawing};"
        "Plotly.newPlot('plot', f.data, f.layout, {typesetMath: false, displaylogo: false})</script>",
        encoding="utf-8",
    )
    page = browser.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    page.wait_for_selector(".y2tick text")
    for axis in ("xtick", "ytick", "y2tick"):
        shown = page.eval_on_selector_all(f".{axis} text", "nodes => nodes.map(node => node.textContent)")
        assert shown == [plain(token) for token in TOKENS]
    assert page.locator("#plot a[href], #plot img").count() == 0 and len(requests) == 1
    page.close()
