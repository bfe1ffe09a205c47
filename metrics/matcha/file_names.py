"""Names in a checkpoint's folder, by which its kind is found before anything is imported that only one kind needs."""

import json
from pathlib import Path

from semantic_metrics.core.checkpoint_files import CONFIG

AUTHORS_CONFIG, AUTHORS_WEIGHTS = "model_config.json", "max_diff.pth"  # file names in Siran-Li/MATCHA
KIND = "matcha"  # key in the config.json of a contextual checkpoint
TOKENIZER = "tokenizer.json"


def is_contextual(folder: Path) -> bool:
    """Whether a folder holds a contextual checkpoint."""
    try:
        return KIND in json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError):  # a missing or damaged file is reported by who reads it
        return False
