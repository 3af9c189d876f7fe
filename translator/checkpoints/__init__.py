"""Checkpoints: a folder of verified files, or the same folder on the Hugging Face hub, as a `Bundle`."""

from translator.checkpoints.bundle import Bundle
from translator.checkpoints.manifest import seal
from translator.checkpoints.save import save_bundle
from translator.checkpoints.store import load_bundle

__all__ = ["Bundle", "load_bundle", "save_bundle", "seal"]
