"""Publishing to the Hugging Face hub: a checkpoint as a model, this repository as a Space."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from translator.checkpoints.bundle import CARD, OPTIONAL, REQUIRED, check_licence
from translator.checkpoints.manifest import read_json, seal
from translator.checkpoints.shelf import MANIFEST, conversion, is_foreign
from translator.checkpoints.store import load_bundle, whole_folder
from translator.errors import CheckpointError, InputError, TranslatorError
from translator.resources import PACKAGE

MODEL_FILES = (*REQUIRED, *OPTIONAL, MANIFEST)
SPACE_FILES = (
    "README.md",
    "LICENSE*",
    "NOTICE*",
    "app.py",
    "requirements.txt",
    "packages.txt",
    "translator/**",
    "assets/**",
    "checkpoints/**",
)
log = logging.getLogger(__name__)
NEVER = ("**/__pycache__/**", "**/.*", ".*/**", "**/.*/**", "**/*.pyc")
METRICS = {"bleu": "bleu", "chrf": "chrf"}
R = TypeVar("R")


def push(
    folder: str | Path,
    repository: str,
    *,
    scores: Path | None = None,
    datasets: Sequence[str] = (),
    licence: str | None = None,
    private: bool = False,
) -> str:
    """Publish a checkpoint as the model `repository` ("owner/name"), made if it is not there; returns the commit's URL.

    What is uploaded was loaded first: weights as safetensors, config, vocabularies, manifest, and the card with
    what it lacks of metadata (language, licence, task, datasets, metrics, results).

    Args:
        scores: what `evaluate --json` wrote, for the results.
        datasets: hub ids of the training data.
        licence: of the weights, as the hub writes it, where the card names none.
    Raises:
        InputError: `scores` or `licence` is not of its kind, or the card names another licence.
        CheckpointError: the folder is no whole checkpoint of ours.
        TranslatorError: the hub refuses, or cannot be reached.
    """
    folder = whole_folder(Path(folder).expanduser())
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is not a folder; give the folder of a checkpoint")
    if is_foreign(folder):
        raise CheckpointError(f"{folder} is of another format; convert it first: {conversion(folder)}")
    bundle = load_bundle(folder, device="cpu")
    languages = [bundle.info.src_language, bundle.info.tgt_language]
    card = with_metadata(bundle.card, languages, repository.rsplit("/", 1)[-1], scores, datasets, licence)
    with tempfile.TemporaryDirectory() as place:
        fresh = Path(place)
        for name in MODEL_FILES:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, fresh / name)
        (fresh / CARD).write_text(card, encoding="utf-8")
        seal(fresh)
        return _upload(fresh, repository, "model", MODEL_FILES, f"Publish {bundle.info.name}", private=private)


def space(repository: str, *, root: str | Path | None = None, private: bool = False) -> str:
    """Publish this repository as the Space `repository`, or update it; returns the commit's URL.

    Only what the app needs is uploaded; weights above the hub's limit go through its large-file storage by
    themselves. What the Space holds of these files and the repository does not is removed there.

    Raises:
        InputError: `root` is no checkout of this project.
        TranslatorError: the hub refuses, or cannot be reached.
    """
    root = Path(root) if root is not None else PACKAGE.parent
    for name in ("app.py", "README.md", "requirements.txt"):
        if not (root / name).is_file():
            raise InputError(f"{root / name} is missing; publish a Space from a checkout of the project")
    if not (root / "README.md").read_text(encoding="utf-8").startswith("---\n"):
        raise InputError(f"{root / 'README.md'} has no front matter; a Space needs it (title, sdk, app_file)")
    return _upload(root, repository, "space", SPACE_FILES, "Update the Space", private=private, space_sdk="gradio")


def static_space(folder: str | Path, repository: str, *, private: bool = False) -> str:
    """Publish what `export --live` wrote as the static Space `repository`, or update it; returns the commit's URL.

    A static Space is files alone, so that it needs no plan. What it holds and the folder does not is removed there.

    Raises:
        InputError: `folder` is no exported site.
        TranslatorError: the hub refuses, or cannot be reached.
    """
    folder = Path(folder)
    for name in ("index.html", "manifest.json", "README.md"):
        if not (folder / name).is_file():
            said = "write the site first: python -m translator export --live"
            raise InputError(f"{folder / name} is missing; {said} --out {folder}")
    if "\nsdk: static\n" not in (folder / "README.md").read_text(encoding="utf-8"):
        raise InputError(f"{folder / 'README.md'} does not say `sdk: static`; remove it and write the site again")
    return _upload(folder, repository, "space", ("**",), "Update the live page", private=private, space_sdk="static")


def with_metadata(
    card: str,
    languages: list[str],
    name: str,
    scores: Path | None = None,
    datasets: Sequence[str] = (),
    licence: str | None = None,
) -> str:
    """The card with the metadata that it lacks; what it says already stays.

    Raises:
        InputError: `scores` is not what `evaluate --json` writes, `licence` is no name of the hub's, or the card
            names another one.
    """
    from huggingface_hub import ModelCard

    try:
        model_card = ModelCard(card, ignore_metadata_errors=False)
    except ValueError as error:
        raise CheckpointError(f"the card of {name} has unreadable metadata: {error}") from error
    data = model_card.data
    defaults: dict[str, Any] = {
        "language": languages,
        "license": licence,
        "pipeline_tag": "translation",
        "datasets": list(datasets) or None,
        "metrics": list(METRICS.values()),
        "tags": ["translation", "transformer", "attention"],
    }
    for key, value in defaults.items():
        if value is not None and getattr(data, key, None) in (None, []):
            setattr(data, key, value)
    named = getattr(data, "license", None)
    if licence is not None and check_licence(licence) != named:
        raise InputError(f"the card of {name} says that the licence is {named}, not {licence}; correct the card")
    if named is None:
        log.warning("the card of %s names no licence, so it may not be used; name one by --licence", name)
    if scores is not None:
        vars(data).update(eval_results=_results(scores, languages), model_name=name)
    return f"---\n{data.to_yaml()}\n---\n{model_card.text}"


def _results(path: Path, languages: list[str]) -> list[Any]:
    from huggingface_hub import EvalResult

    tests = read_json(path, 2**20).get("tests")
    try:
        return [
            EvalResult(
                task_type="translation",
                task_name=f"Translation {'-'.join(languages)}",
                dataset_type=test["name"],
                dataset_name=test["name"],
                metric_type=metric,
                metric_value=float(test[key]),
            )
            for test in tests or ()
            for key, metric in METRICS.items()
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not what `evaluate --json` writes: {error}") from error


def _upload(folder: Path, repository: str, kind: str, files: Sequence[str], message: str, **settings: Any) -> str:
    from huggingface_hub import HfApi

    api = HfApi()
    _asked(repository, lambda: api.create_repo(repository, repo_type=kind, exist_ok=True, **settings))
    commit = _asked(
        repository,
        lambda: api.upload_folder(
            repo_id=repository,
            repo_type=kind,
            folder_path=folder,
            allow_patterns=list(files),
            ignore_patterns=list(NEVER),
            delete_patterns=list(files),
            commit_message=message,
        ),
    )
    return str(commit.commit_url)


def _asked(repository: str, ask: Callable[[], R]) -> R:
    """What the hub answers, its refusals in our own words."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    # The library's HTTP client differs by its version; what is raised for a lost connection is a base of its error.
    lost = [kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError" and issubclass(kind, Exception)]
    failed: tuple[type[Exception], ...] = (OSError, ValueError, *lost)
    try:
        return ask()
    except HFValidationError as error:
        raise InputError(f"{repository!r} is not a repository id; it must be OWNER/NAME") from error
    except HfHubHTTPError as error:
        raise TranslatorError(
            f"the hub refused {repository}: {error}; log in with `hf auth login`, or set HF_TOKEN to one that may write"
        ) from error
    except failed as error:
        raise TranslatorError(f"{repository} could not be published: {error}") from error
