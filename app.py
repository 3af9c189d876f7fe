"""Start the page: `python app.py [CHECKPOINT ...]`, or as a Hugging Face Space.

Checkpoints are folders, names or hub ids (owner/name@revision), shown before those in `checkpoints/`; a Space names
them in $TRANSLATOR_MODELS. $GRADIO_SERVER_NAME and $GRADIO_SERVER_PORT say where. With $TRANSLATOR_MCP=1 the endpoints
are tools of the Model Context Protocol too. `python -m translator serve` does the same.
"""

import gc
import os
import sys

gc.disable()  # until the page is up: among modules that all stay it took a quarter of the start
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two requests at once beat one on two threads; NumPy reads it once

from translator.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["serve", "--", *sys.argv[1:]]))
