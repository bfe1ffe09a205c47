"""A teacher's judgements of pairs, stored without their texts: a digest of each pair, and its logits in float16.

What takes hours to compute is small enough to be committed (16 bytes a pair), and a student is trained without the
teacher.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

KEYS, LOGITS, ABOUT = "keys", "logits", "about"
SUFFIX = ".safetensors"


def pair_keys(pairs: list[tuple[str, str]]) -> np.ndarray:
    """(n,) uint64, a digest of each pair's texts, in their order: 8 bytes of BLAKE2b."""
    digests = (hashlib.blake2b(b"\0".join(text.encode() for text in pair), digest_size=8).digest() for pair in pairs)
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


@dataclass(frozen=True)
class TeacherLogits:
    """Logits of n pairs: (n,) uint64 `pair_keys`, (n, outputs) values, names of the outputs, sha256 of the teachers.

    `scale` is what the raw score of similarity is divided by, or "sigmoid"; None where no output is a similarity.
    Each pair is judged once; releases of a teacher that follow one another judge what those before left over.
    """

    keys: np.ndarray
    values: np.ndarray
    outputs: tuple[str, ...]
    scale: float | str | None
    teachers: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> "TeacherLogits":
        """The logits of a file. Raises ValueError: the file is missing or damaged."""
        try:
            with safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                keys, values = file.get_tensor(KEYS), file.get_tensor(LOGITS)
                outputs, scale, teachers = json.loads(about[ABOUT])
                return cls(keys, values, tuple(outputs), scale, tuple(teachers))
        except (OSError, KeyError, TypeError, ValueError, SafetensorError) as error:
            raise ValueError(f"logits: expected a file that label_pairs wrote, got {path} ({error})") from None

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        about = {ABOUT: json.dumps([self.outputs, self.scale, self.teachers])}
        new = path.with_name(path.name + ".new")
        save_file({KEYS: self.keys, LOGITS: self.values.astype(np.float16)}, new, about)
        new.replace(path)

    def with_more(self, more: "TeacherLogits") -> "TeacherLogits":
        """These logits and, behind them, those of other pairs. Raises ValueError: their teacher has other outputs."""
        if (more.outputs, more.scale) != (self.outputs, self.scale):
            mine, other = ([*each.outputs, each.scale] for each in (self, more))
            raise ValueError(f"--teacher: expected outputs and scale {mine}, as the pairs before, got {other}")
        keys, values = np.concatenate([self.keys, more.keys]), np.concatenate([self.values, more.values])
        return replace(self, keys=keys, values=values, teachers=tuple(dict.fromkeys(self.teachers + more.teachers)))

    def of(self, keys: np.ndarray) -> np.ndarray:
        """(m, outputs) float32 logits of m pairs; NaN for a pair that is not among these."""
        if not len(self.keys):
            return np.full((len(keys), len(self.outputs)), np.nan, np.float32)
        order = np.argsort(self.keys)
        places = np.searchsorted(self.keys, keys, sorter=order)
        rows = order[np.minimum(places, len(order) - 1)]
        found = self.values[rows].astype(np.float32)
        found[self.keys[rows] != keys] = np.nan
        return found
