"""A seq2seq model of `transformers` by its name, from a folder or the hub: safetensors alone, no code of its own."""

from __future__ import annotations

from typing import Any

from translator.adapted.translator import AdaptedTranslator, adapt
from translator.checkpoints.store import choose_device
from translator.errors import CheckpointError, InputError, missing


def load_adapted(name: str, *, device: str = "auto", revision: str | None = None) -> AdaptedTranslator:
    """Load a model and its tokenizer with `transformers`, and `adapt` them.

    Args:
        name: a folder that `save_pretrained` wrote, or a hub id.
        device: as in `translator.load`.
        revision: of a hub id: a branch, a tag or a commit.
    Raises:
        CheckpointError: transformers is not installed, or there is no such model, or none with safetensors.
        InputError: the model is no encoder-decoder, or there is no such device.
    """
    try:
        import transformers
    except ImportError as error:
        raise CheckpointError(missing("transformers")) from error
    where: dict[str, Any] = {"revision": revision or "main", "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(name, **where)  # nosec B615 - the revision is the caller's
        if not getattr(config, "is_encoder_decoder", False):
            raise InputError(
                f"{name} is a {config.model_type} model without an encoder and a decoder; "
                "what can be shown are seq2seq models, such as T5, BART, Pegasus or MADLAD"
            )
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(  # nosec B615
            name, config=config, use_safetensors=True, attn_implementation="eager", **where
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **where)  # nosec B615
    except InputError:
        raise
    except (OSError, ValueError, KeyError, ImportError) as error:  # what it raises for a name, a layout or a package
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointError(f"transformers cannot load {name}: {reason[:300]}") from error
    label = name.rstrip("/").rpartition("/")[2]
    return adapt(model.to(choose_device(device)), tokenizer, name=label)
