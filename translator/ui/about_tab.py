"""The About tab: the project, its models, data and references."""

from __future__ import annotations

import html
import re

import gradio as gr
from markdown_it import MarkdownIt

from translator import __version__
from translator.errors import TranslatorError
from translator.ui import frontend
from translator.ui.models import Models
from translator.ui.shortlist import Listed
from translator.ui.source import source_address
from translator.ui.translate_tab import direction_name


def about_tab(models: Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    with gr.Column(elem_id="about", elem_classes="tab-body"):
        for language in ("en", *frontend.LANGUAGES):  # styles show the one that the page speaks
            gr.Markdown(about(language, source_address()), elem_classes=f"only-{language}")
        gr.Markdown("## Model cards", elem_classes="model-cards")
        for direction, what in models.names.items():
            if isinstance(what, Listed) and not models.hub.is_here(direction):
                continue
            with gr.Accordion(direction_name(direction), open=False) as folded:
                card = gr.Markdown(elem_classes="card")  # takes HTML as well, and cleans it once more
            folded.expand(
                lambda direction=direction: model_card(models, direction),
                None,
                card,
                show_progress="hidden",
                api_visibility="private",
            )


def about(language: str, source: str) -> str:
    """What the project says of itself, as Markdown; lines about the address of its source only where it is known."""
    text = (frontend.ASSETS / "about" / f"{language}.md").read_text(encoding="utf-8")
    lines = [line for line in text.replace("VERSION", __version__).splitlines() if source or "SOURCE" not in line]
    return "\n".join(lines).replace("SOURCE", source)


def model_card(models: Models, direction: str) -> str:
    """A checkpoint's card as HTML, without its front matter, or why there is none.

    A stranger may have written it: markup in it stands as it was typed, and nothing is fetched or sent.
    """
    try:
        card = models.ask(direction, lambda model: model.bundle.card)
    except TranslatorError as error:
        return f"<p>{html.escape(str(error))}</p>"
    text = re.sub(r"\A---\n.*?\n---\n|<!--.*?-->", "", card, flags=re.DOTALL)
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text))
