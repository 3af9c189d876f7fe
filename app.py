"""Start the page: `python app.py [CHECKPOINT ...]`, or as a Hugging Face Space.

Checkpoints are folders, names or hub ids (owner/name@revision), shown before those in `checkpoints/`; a Space names
them in $TRANSLATOR_MODELS. $GRADIO_SERVER_NAME and $GRADIO_SERVER_PORT say where. With $TRANSLATOR_MCP=1 the endpoints
are tools of the Model Context Protocol too.
"""

import gc
import os
import sys

gc.disable()  # until the page is up: among modules that all stay it took a quarter of the start
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two requests at once beat one on two threads

from translator.checkpoints.shelf import offered
from translator.errors import TranslatorError
from translator.ui.models import DIRECTIONS, Models
from translator.ui.serve import serve


def main(named: list[str]) -> None:
    """Build the page and serve it; the models load behind it, and a missing one is said on the page."""
    try:
        serve(
            Models(offered(named or os.environ.get("TRANSLATOR_MODELS", "").split(), DIRECTIONS)),
            mcp=os.environ.get("TRANSLATOR_MCP") == "1",
            server_name=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
            server_port=int(os.environ.get("GRADIO_SERVER_PORT", "7860")),
        )
    except TranslatorError as error:
        print(f"translator: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
