"""The option `--ray` of translate, evaluate, profile, align-bench and arena, and what goes with it."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translator.errors import InputError

if TYPE_CHECKING:
    from translator.cluster.job import Job

Run = Callable[[argparse.Namespace], int | None]


def add_options(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Give the five commands their options; without `--ray` each runs as it did."""
    for name, run in RUNS.items():
        command = commands.choices[name]
        group = command.add_argument_group("corpus work on Ray", "on this machine or on many (extra: ray)")
        group.add_argument(
            "--ray", nargs="?", const="local", metavar="ADDRESS",
            help="run on Ray: started here, or the cluster at HOST:PORT (auto: the one that runs here)",
        )  # fmt: skip
        group.add_argument("--workers", type=int, metavar="N", help="actors, of --threads each (default: all there is)")
        group.add_argument("--shard", type=int, metavar="N", help="records that an actor takes at a time")
        group.add_argument(
            "--parts", type=Path, metavar="DIR", help="folder for the output in parts, which the same command resumes"
        )
        group.add_argument(
            "--columns", metavar="NAMES", help="columns to read, separated by commas: names, or numbers from 1 of lines"
        )
        if name == "translate":
            group.add_argument("--data", type=Path, metavar="FILE", help="texts: lines, gzipped or not, or .parquet")
            group.add_argument("--key", metavar="COLUMN", help="column whose value stands before each translation")
        names = ("workers", "shard", "parts", "columns", *(("data", "key") if name == "translate" else ()))
        command.set_defaults(run=_either(run, command.get_default("run"), names))


def _either(on_ray: Run, plain: Run, names: tuple[str, ...]) -> Run:
    """`on_ray` where `--ray` is given, else `plain`, to which the options called `names` say nothing."""

    def run(args: argparse.Namespace) -> int | None:
        if args.ray is not None:
            return on_ray(args)
        for name in names:
            if getattr(args, name) is not None:
                raise InputError(f"--{name} goes with --ray")
        return plain(args)

    return run


def _translate(args: argparse.Namespace) -> int:
    from translator.cluster.job import job
    from translator.cluster.work import Translating
    from translator.registry.decoding import SETTINGS

    if args.text is not None or args.data is None:
        raise InputError("with --ray the texts are those of a file: give --data, and no TEXT")
    known = (*(each.name for each in SETTINGS), "src", "tgt")
    settings = {name: getattr(args, name) for name in known if hasattr(args, name)}
    with _folder(args) as folder:
        with job(args, folder) as running:
            running.engine.translate_batch([], **settings)  # a wrong setting is refused before the long part
            names = _names(args.columns) or (("text",) if _is_parquet(args.data) else ())
            if args.key is not None:
                names = (args.key, *(names or ("2" if args.key == "1" else "1",)))
            work = Translating(settings, keyed=args.key is not None)
            done = running.run("translate", args.data, work, names, settings=settings)
            refused = [(first + n, why) for first, part in done.values() for n, why in part["refused"]]
        if args.parts is None:
            done.print_lines()
    for number, why in refused:
        print(f"line {number + 1}: {why}", file=sys.stderr)
    return 2 if refused else 0


def _evaluate(args: argparse.Namespace) -> None:
    from translator.cluster.job import job
    from translator.cluster.work import Evaluating
    from translator.training.cli import SETTINGS, tell
    from translator.training.evaluate import joined

    settings: dict[str, Any] = {name: getattr(args, name) for name in SETTINGS if hasattr(args, name)}
    names = [path.name.split(".")[0] for path in args.files]
    if len(set(names)) < len(names) and args.parts is not None:
        raise InputError("two files have the same name, by which their parts are kept; rename one")
    with _folder(args) as folder, job(args, folder) as running:
        running.engine.translate_batch([], **settings)
        found = []
        for n, (name, path) in enumerate(zip(names, args.files, strict=True)):
            work = Evaluating(str(path), settings, bare=args.columns is not None or _is_parquet(path))
            place = name if args.parts is not None else str(n)
            done = running.run("evaluate", path, work, _columns(args, path, work), place=place, settings=settings)
            parts = [part for _, part in done.values()]
            found.append(joined(parts, name, running.engine.languages[1], done.seconds()))
    tell(running.engine, found, settings, args.json)


def _profile(args: argparse.Namespace) -> None:
    from dataclasses import replace

    from translator.analysis.cli.corpora import tell_profile
    from translator.analysis.gold import shipped_gold
    from translator.analysis.profile import alignment_table, profile_of
    from translator.analysis.tally import Tally
    from translator.checkpoints.destination import own_folder
    from translator.cluster.job import job
    from translator.cluster.work import Profiling

    with _folder(args) as folder, job(args, folder) as running:
        own_folder(running.engine.bundle)
        work = Profiling(str(args.data))
        done = running.run("profile", args.data, work, _columns(args, args.data, work), limit=args.limit)
        profile = profile_of(running.engine, Tally.of(part for _, part in done.values()), args.data.name)
        if shipped_gold(running.engine.languages) is not None:
            profile = replace(profile, alignment=alignment_table(_bench(running, None, "alignment")))
    tell_profile(running.engine, profile)


def _align_bench(args: argparse.Namespace) -> None:
    from translator.analysis.cli.corpora import tell_bench
    from translator.analysis.profile import stored_profile
    from translator.cluster.job import job

    with _folder(args) as folder, job(args, folder) as running:
        profile = stored_profile(running.engine)  # a damaged one is refused before the long part
        bench = _bench(running, args.gold, "")
    tell_bench(running.engine, bench, profile, own=args.gold is not None)


def _bench(running: Job, own: Path | None, place: str) -> Any:
    """The bench over a file of pairs, or the shipped set: a set as JSON, or columns source, target and links."""
    from translator.analysis.bench import LinkCounts, bench_of
    from translator.analysis.gold import FOLDER, read_gold
    from translator.cluster.work import Aligning

    languages = running.engine.languages
    path = own or FOLDER / f"{'-'.join(languages)}.json"
    if own is None and not path.is_file():
        raise InputError(f"there is no hand-aligned set for {'-'.join(languages)}; give one with --gold")
    if path.suffix == ".json":
        read_gold(path).check(languages, running.engine.name)
    work = Aligning(str(path), languages)
    done = running.run("align-bench", path, work, _columns(running.args, path, work) if own else (), place=place)
    return bench_of(path.name.split(".")[0], LinkCounts.of(part for _, part in done.values()))


def _arena(args: argparse.Namespace) -> None:
    from translator.analysis.arena import table_of
    from translator.analysis.cli.measure import DEPTH, tell_arena
    from translator.checkpoints.destination import own_folder
    from translator.cluster.job import job
    from translator.cluster.work import Judging

    with _folder(args) as folder, job(args, folder) as running:
        own_folder(running.engine.bundle)
        work = Judging(str(args.data), DEPTH)
        done = running.run("arena", args.data, work, _columns(args, args.data, work), limit=args.limit)
        found = [each for _, part in done.values() for each in part["judged"]]
        methods = table_of(found)
    tell_arena(running.engine, args.data.name, methods, len(found))


@contextlib.contextmanager
def _folder(args: argparse.Namespace) -> Iterator[Path]:
    """The folder for the parts, a passing one where none is named. Results are printed when Ray is gone."""
    with contextlib.ExitStack() as stack:
        yield args.parts or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parts")))


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _columns(args: argparse.Namespace, path: Path, work: Any) -> tuple[str, ...]:
    """The columns asked for, else a Parquet file's by their names, else all of a line."""
    return _names(args.columns) or (work.columns if _is_parquet(path) else ())


RUNS: dict[str, Run] = {
    "translate": _translate,
    "evaluate": _evaluate,
    "profile": _profile,
    "align-bench": _align_bench,
    "arena": _arena,
}
