"""A teacher's judgements of pairs, stored without their texts: a digest of each pair, and its logits in float16.

What takes hours to compute is small enough to be committed (16 bytes a pair), and a student is trained without the
teacher.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

KEYS, LOGITS, OUTPUTS, TEACHER = "keys", "logits", "outputs", "teacher"


def pair_keys(pairs: list[tuple[str, str]]) -> np.ndarray:
    """(n,) uint64, a digest of each pair's texts, in their order: 8 bytes of BLAKE2b."""
    digests = (hashlib.blake2b(b"\0".join(text.encode() for text in pair), digest_size=8).digest() for pair in pairs)
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


@dataclass(frozen=True)
class TeacherLogits:
    """Logits of n pairs.

    Attributes:
        keys: (n,) uint64, as `pair_keys` makes them.
        values: (n, outputs) float16.
        outputs: names of the outputs.
        teacher: sha256 of the weights that gave them.
    """

    keys: np.ndarray
    values: np.ndarray
    outputs: tuple[str, ...]
    teacher: str

    @classmethod
    def read(cls, path: Path) -> "TeacherLogits":
        """The logits of a file.

        Raises:
            ValueError: the file is missing or damaged.
        """
        try:
            with safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                keys, values = file.get_tensor(KEYS), file.get_tensor(LOGITS)
                return cls(keys, values, tuple(about[OUTPUTS].split(",")), about[TEACHER])
        except (OSError, KeyError, SafetensorError) as error:
            raise ValueError(f"logits: expected a file that label_pairs wrote, got {path} ({error})") from None

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        about = {OUTPUTS: ",".join(self.outputs), TEACHER: self.teacher}
        new = path.with_name(path.name + ".new")
        save_file({KEYS: self.keys, LOGITS: self.values}, new, about)
        new.replace(path)

    def with_more(self, keys: np.ndarray, values: np.ndarray) -> "TeacherLogits":
        """These logits and those of other pairs behind them; values are rounded to float16."""
        both = np.concatenate([self.values, values.astype(np.float16)])
        return TeacherLogits(np.concatenate([self.keys, keys]), both, self.outputs, self.teacher)

    def of(self, keys: np.ndarray) -> np.ndarray:
        """(m, outputs) float32 logits of m pairs; NaN for a pair that is not among these."""
        order = np.argsort(self.keys)
        places = np.searchsorted(self.keys, keys, sorter=order)
        rows = order[np.minimum(places, len(order) - 1)]
        found = self.values[rows].astype(np.float32)
        found[self.keys[rows] != keys] = np.nan
        return found
