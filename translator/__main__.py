"""The command line, `python -m translator COMMAND`, assembled from each part's `cli` module."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import translator
from translator.analysis import cli as analysis
from translator.checkpoints import cli as checkpoints
from translator.cluster import cli as cluster
from translator.errors import EXTRAS, InputError, TranslatorError, missing, visible
from translator.files import write_whole
from translator.registry import decoding
from translator.registry.lab import field
from translator.registry.options import flag, option
from translator.training import cli as training

if TYPE_CHECKING:
    from translator import Trace, Translator

FAILED = 2
DIRECTIONS = ("de-en", "en-zh")
"""The checkpoints that a live page is written with where none is named."""
INTERRUPTED = 130
CHUNK = 2**16
LONGEST = 2**20
"""Bytes of a line after which no more of it is kept: no text may have so many."""
DECODING = tuple(each for each in decoding.SETTINGS if each.kind != "pairs")
"""The decoding settings that can be typed."""
LANGUAGES = {
    "src": "source language code of a multilingual checkpoint (deu_Latn)",
    "tgt": "target language code of a multilingual checkpoint",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 2 for whatever was refused, 130 when interrupted."""
    _open_streams()
    try:
        try:
            args = _parser().parse_args(arguments)
            _set_threads(getattr(args, "threads", None))
            return args.run(args) or 0
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed its end
        return 0
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        print(f"translator: {missing(error.name)}", file=sys.stderr)
        return FAILED
    except (TranslatorError, OSError) as error:
        with contextlib.suppress(OSError):
            print(f"translator: {visible(str(error))}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _forget_unwritten()


def _open_streams() -> None:
    """What the caller has closed reads and writes nothing; what we print is UTF-8."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


def _forget_unwritten() -> None:
    """Python writes at its end what is left to write, and would complain once more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _parser() -> argparse.ArgumentParser:
    installed = Path(sys.argv[0]).stem == "attention-explorer"
    prog = "attention-explorer" if installed else "python -m translator"
    parser = argparse.ArgumentParser(prog=prog, description="Translate text and inspect attention.")
    parser.add_argument("--version", action="version", version=translator.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("translate", help="translate a text, or each line of standard input")
    command.add_argument("text", nargs="?", metavar="TEXT", help="text to translate (default: lines of standard input)")
    _add_model(command, required=True)
    command.set_defaults(run=_translate)

    command = commands.add_parser("trace", help="translate a text and save every attention map as .npz")
    command.add_argument("text", metavar="TEXT", help="text to translate")
    command.add_argument("--out", required=True, type=Path, metavar="FILE.npz", help="output file")
    _add_model(command, required=True)
    command.set_defaults(run=_trace)

    command = commands.add_parser("figure", help="draw attention as an interactive HTML page")
    command.add_argument("text", nargs="?", metavar="TEXT", help="text to translate, unless --trace is given")
    command.add_argument("--trace", type=Path, metavar="FILE.npz", help="draw a saved trace")
    command.add_argument("--out", required=True, type=Path, metavar="FILE.html", help="output file")
    command.add_argument("--kind", **option(field("norms", "kind")))
    command.add_argument("--layer", type=int, metavar="N", help="layer, from 1 (default: all layers and heads)")
    command.add_argument("--head", type=int, metavar="N", help="head, from 1")
    _add_model(command, required=False)
    command.set_defaults(run=_figure)

    command = commands.add_parser("export", help="write a gallery of translations, or the live page, as static files")
    command.add_argument("texts", nargs="*", metavar="TEXT", help="texts to translate (default: the page's examples)")
    command.add_argument("--live", action="store_true", help="export the page that translates in the browser")
    command.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: gallery; site with --live)")
    command.add_argument("--file", type=Path, metavar="FILE.txt", help="file with further texts, one per line")
    _add_model(command, required=False, many=True)
    command.set_defaults(run=_export)

    command = commands.add_parser("serve", help="start the web page")
    command.add_argument(
        "checkpoints",
        nargs="*",
        metavar="CHECKPOINT",
        help="checkpoints to list first: a folder, a name, or owner/name@revision",
    )
    command.add_argument(
        "--transformers", action="append", default=[], metavar="ID",
        help="a seq2seq model that transformers loads, a folder or a hub id; may be given again",
    )  # fmt: skip
    command.add_argument("--memory", type=float, metavar="GIB", help="what models may take (default: 2)")
    command.add_argument("--host", help="address to listen on (default: 127.0.0.1, or $GRADIO_SERVER_NAME)")
    command.add_argument("--port", type=int, help="port to listen on (default: 7860, or $GRADIO_SERVER_PORT)")
    command.add_argument(
        "--workers", type=int, metavar="N",
        help="processes that share the port and the weights (default: one per core, where memory allows; one in all on "
        "loopback, on a GPU, and where TRANSLATOR_HUB names models)",
    )  # fmt: skip
    command.add_argument(
        "--ray", nargs="?", const="local", metavar="ADDRESS",
        help="serve on Ray Serve, by up to --workers replicas: started here, or the cluster at HOST:PORT (extra: ray)",
    )  # fmt: skip
    command.add_argument(
        "--mcp", action="store_true", help="offer the endpoints as MCP tools (requires the package mcp)"
    )
    command.set_defaults(run=_serve)

    training.add_commands(commands)
    checkpoints.add_commands(commands)
    analysis.add_commands(commands)
    cluster.add_options(commands)
    return parser


def _add_model(command: argparse.ArgumentParser, *, required: bool, many: bool = False) -> None:
    """What every command that translates understands; a setting left out is the checkpoint's own."""
    said = "checkpoint: a name (de-en), a folder, or a hub id (owner/name)" + ("; repeatable" if many else "")
    command.add_argument("--model", required=required, action="append" if many else "store", help=said)
    command.add_argument("--revision", help="revision of a hub id: a commit (40 hex digits) or a branch")
    command.add_argument("--device", default="auto", help="device: auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="number of PyTorch threads")
    group = command.add_argument_group("decoding", "a setting left out is the checkpoint's own")
    for each in DECODING:
        group.add_argument(flag(each), **option(each, default=argparse.SUPPRESS))
    for name, text in LANGUAGES.items():
        command.add_argument(f"--{name}", default=argparse.SUPPRESS, help=text)


def _set_threads(count: int | None) -> None:
    if count is None:
        return
    most = 4 * (os.cpu_count() or 1)  # with tens of thousands OpenMP ends the process
    if not 1 <= count <= most:
        raise InputError(f"threads is {count}; it must be from 1 to {most}, four for each processor here")
    import torch

    torch.set_num_threads(count)


def _load(args: argparse.Namespace) -> tuple[Translator, dict[str, Any]]:
    """The translator asked for, and the settings given."""
    names = (*(each.name for each in DECODING), *LANGUAGES)
    settings = {name: getattr(args, name) for name in names if hasattr(args, name)}
    return translator.load(args.model, device=args.device, revision=args.revision), settings


def _translate(args: argparse.Namespace) -> int:
    engine, settings = _load(args)
    if args.text is not None:
        print(engine.translate_batch([args.text], refused=_refuse, **settings)[0])
        return 0
    number, notes = 0, 0
    for lines in _arriving_lines():
        texts = [_decoded(line) for line in lines]
        errors: dict[int, str] = {n: "it is not UTF-8" for n, text in enumerate(texts) if text is None}

        def refused(index: int, error: InputError, errors: dict[int, str] = errors) -> None:
            errors.setdefault(index, str(error))

        found = engine.translate_batch([text or "" for text in texts], refused=refused, **settings)
        for text in found:
            print(text.replace("\r", " ").replace("\n", " "))
        sys.stdout.flush()
        for index in sorted(errors):
            print(f"line {number + index + 1}: {visible(errors[index])}", file=sys.stderr)
        number, notes = number + len(lines), notes + len(errors)
    return FAILED if notes else 0


def _refuse(_: int, error: InputError) -> None:
    raise error


def _arriving_lines() -> Iterator[list[bytes]]:
    """Lines of standard input in groups, as they come: a file in large groups, a slow pipe line by line.

    Of a line that is far too long only as much is kept as shows that it is.
    """
    begun: list[bytes] = []
    kept = 0
    while block := os.read(sys.stdin.fileno(), CHUNK):
        first, *others = block.split(b"\n")
        if kept < LONGEST:
            begun.append(first)
            kept += len(first)
        if others:
            *lines, rest = others
            yield [b"".join(begun), *lines]
            begun, kept = [rest], len(rest)
    if kept:
        yield [b"".join(begun)]


def _decoded(line: bytes) -> str | None:
    """The text of a line; None if it is not UTF-8. One that was cut is refused for its length."""
    if len(line) >= LONGEST:
        return line.decode("utf-8", errors="replace")
    try:
        return line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        return None


def _trace(args: argparse.Namespace) -> None:
    engine, settings = _load(args)
    trace = engine.translate(args.text, **settings)
    trace.save(args.out)
    print(trace.translation)


def _figure(args: argparse.Namespace) -> None:
    if args.out.suffix != ".html":
        raise InputError(f"--out is {str(args.out)!r}; figures are written as .html")
    if (args.trace is None) == (args.text is None):
        raise InputError("give either a TEXT to translate or a --trace to draw")
    if args.text is not None and args.model is None:
        raise InputError("give --model, the checkpoint that translates the text")
    if args.trace is not None:
        trace = translator.Trace.load(args.trace)
    else:
        engine, settings = _load(args)
        trace = engine.translate(args.text, **settings)
    write_whole(args.out, _draw(trace, args).to_html(include_plotlyjs=True))


def _draw(trace: Trace, args: argparse.Namespace) -> Any:
    """A plotly figure: one head in full, or all heads at once where none is named."""
    import numpy as np

    from translator.figures.attention import attention_heatmap, head_mosaic

    weights = trace.weights(args.kind)
    possible = np.tri(weights.shape[-1], dtype=bool) if args.kind == "decoder" else None
    if args.layer is None and args.head is None:
        return head_mosaic(weights, possible=possible)
    layer, head = (
        _index(name, value, count)
        for name, value, count in (("layer", args.layer, weights.shape[0]), ("head", args.head, weights.shape[1]))
    )
    return attention_heatmap(
        weights[layer, head],
        [token.surface for token in trace.queries(args.kind)],
        [token.surface for token in trace.keys(args.kind)],
        predicts=None if args.kind == "encoder" else [token.surface for token in trace.tgt],
        possible=possible,
    )


def _index(name: str, value: int | None, count: int) -> int:
    if value is None or not 1 <= value <= count:
        raise InputError(f"{name} is {value}; this trace has {name}s 1 to {count}")
    return value - 1


def _export(args: argparse.Namespace) -> None:
    from translator.ui import frontend, gallery, session

    texts = [*args.texts, *(_lines(args.file) if args.file else [])]
    names: list[str] = args.model or []
    if texts and len(names) != 1:
        raise InputError("give --model, one checkpoint, that translates the sentences")

    def loaded(name: str) -> tuple[Translator, dict[str, Any]]:
        return _load(argparse.Namespace(**{**vars(args), "model": name}))

    if args.live:
        return _export_live([loaded(name)[0] for name in names or DIRECTIONS], texts, args.out or Path("site"))
    examples = [each for each in frontend.examples() if not names or each["direction"] in names]
    asked = [(names[0], text) for text in texts] or [(each["direction"], each["text"]) for each in examples]
    items = []
    for name in dict.fromkeys(name for name, _ in asked):
        engine, settings = loaded(name)
        for trace in (engine.translate(text, **settings) for model, text in asked if model == name):
            items.append((trace, session.payload_of(engine, trace, "f32")))
    for path in gallery.write_gallery(args.out or Path("gallery"), items):
        print(path)


def _export_live(models: list[Translator], texts: list[str], folder: Path) -> None:
    from translator.ui.live.site import write_site

    written = write_site(folder, models, texts=texts)
    print(folder / "index.html")
    print(f"{len(written)} files, {sum(path.stat().st_size for path in written) / 1e6:.1f} MB", file=sys.stderr)


def _lines(path: Path) -> list[str]:
    """The lines of a file that hold something."""
    from translator.text.lines import read_lines

    return [line for line in read_lines(path) if line.strip()]


def _serve(args: argparse.Namespace) -> None:
    from translator.ui.start import start

    models = {"transformers": args.transformers, "memory": args.memory}
    processes = {"workers": args.workers, "ray": args.ray}
    start(args.checkpoints, **models, **processes, host=args.host, port=args.port, mcp=args.mcp)


if __name__ == "__main__":
    sys.exit(main())
