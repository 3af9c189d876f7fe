"""Start the page: `python app.py`, or as a Hugging Face Space.

$GRADIO_SERVER_NAME and $GRADIO_SERVER_PORT say where.
"""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two requests at once beat one on two threads

from translator.ui.serve import serve
from translator.ui.session import Models


def main() -> None:
    """Build the page and serve it; the models load behind it, and a missing one is said on the page."""
    serve(
        Models(),
        server_name=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        server_port=int(os.environ.get("GRADIO_SERVER_PORT", "7860")),
    )


if __name__ == "__main__":
    main()
