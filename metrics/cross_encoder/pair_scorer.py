"""Logits of text pairs from a cross-encoder that sentence-transformers loads: each pair scored once, in batches.

In float32 the logits of a pair are those of `CrossEncoder.predict` on that pair alone, within rounding, for any batch
size and order. Strings like "[SEP]" in a text are plain text: they never stand for the token of that name.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from semantic_metrics.core.inputs import check_choice, check_whole
from semantic_metrics.cross_encoder.pair_checkpoint import (
    Tokens,
    label_names,
    load_encoder,
    positions,
    read_config,
    read_template,
    weight_files,
)
from semantic_metrics.cross_encoder.precision import PRECISIONS, convert

BATCH_SIZE = 64  # pairs in one pass, at most
# tokens in one pass at most, times the model's width; on a CPU, what its own cache holds is fastest
BATCH_VALUES = {"cpu": 1024 * 384, "other": 16384 * 384}
SHARE = 0.25  # of those tokens: from there on, a pass takes no shorter sequence in
PAIRS_AT_A_TIME = 16384  # tokenised at a time: bounds the memory too

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairLogits:
    """What a model says of n pairs.

    Attributes:
        values: (n, labels) float32 logits.
        truncated: (n,) bool, whether tokens of the pair were cut off.
    """

    values: np.ndarray
    truncated: np.ndarray


class PairScorer:
    """A cross-encoder and its tokeniser.

    Args:
        folder: a checkpoint in the format of transformers, with safetensors (or `pytorch_model.bin`, of which nothing
            but plain tensors is read). No code of a checkpoint is run.

    Attributes:
        config: its `config.json`.
        labels: names of its labels, in the order of the logits.
        longest: tokens of a pair, separators included, beyond which the model has no positions.
        max_length: tokens that count where nothing else is asked for: as the tokeniser says, `longest` at most.

    Raises:
        ValueError: the checkpoint is incomplete, damaged, lacks its head, or its tokeniser cannot do what is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.config = folder, read_config(folder)
        self.labels = label_names(self.config)
        encoder = load_encoder(folder)
        self.device, self.tokenizer = encoder.device, encoder.tokenizer
        model = encoder.model.eval()
        self._models = {"float32": model}
        if not self.tokenizer.is_fast or self.tokenizer.pad_token_id is None:
            raise ValueError(f"checkpoint {folder}: expected a fast tokeniser with a padding token")
        self.longest = positions(model)
        self.max_length = min(self.tokenizer.model_max_length, self.longest)
        self._backend = self.tokenizer.backend_tokenizer
        self._backend.no_padding()
        self._backend.no_truncation()
        self._backend.encode_special_tokens = True  # those in a text are split like any other characters
        self._template = read_template(folder, self._backend)
        self._added = self._backend.num_special_tokens_to_add(is_pair=True)
        self._special_ids = set(self.tokenizer.all_special_ids) - {self.tokenizer.unk_token_id}

    @cached_property
    def checkpoint_sha256(self) -> str:
        """Digest of the weights' files and of `config.json`."""
        digest = hashlib.sha256()
        for path in [*weight_files(self.folder), self.folder / "config.json"]:
            digest.update(path.read_bytes())
        return digest.hexdigest()

    @cached_property
    def tokenizer_sha256(self) -> str:
        """Digest of the tokeniser, padding and truncation left out."""
        return hashlib.sha256(self._backend.to_str().encode("utf-8")).hexdigest()

    def check_options(self, precision: str, max_length: int | None, batch_size: int, device: str | None) -> None:
        """See that `logits` can run with these.

        Raises:
            ValueError: an unknown precision or device, a length or size that is none, or int8 on another than the CPU.
        """
        check_choice("precision", precision, PRECISIONS)
        check_whole("batch_size", batch_size, 1)
        if max_length is not None:
            check_whole("max_length", max_length, self._added + 1, self.longest)
        if device is None:
            return
        try:
            place = torch.device(device)
            torch.zeros(1, device=place).tolist()
        except (RuntimeError, TypeError, AssertionError) as error:  # the last from torch built without that device
            reason = str(error).partition("\n")[0]
            raise ValueError(f"device: expected one that torch has here, as 'cpu', got {device!r} ({reason})") from None
        if precision == "int8" and place.type != "cpu":
            raise ValueError(f"device: expected 'cpu', the only one for precision 'int8', got {device!r}")

    def logits(
        self,
        pairs: list[Pair],
        precision: str = "float32",
        max_length: int | None = None,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
    ) -> PairLogits:
        """Logits of pairs; equal ones are scored once.

        Args:
            pairs: n pairs of texts, in the order in which the model reads them.
            precision: of PRECISIONS. bfloat16 and int8 (dynamic quantisation of the encoder's linear layers; CPU only)
                are faster and move the logits; in int8 they depend a little on the other pairs of a batch too.
            max_length: tokens of a pair that count, separators included; the longer text is cut first. None for the
                checkpoint's own.
            batch_size: pairs in one pass, at most.
            device: where the model runs; None for a GPU if there is one (the CPU for int8).

        Raises:
            ValueError: as `check_options`; logits that are not finite.
        """
        self.check_options(precision, max_length, batch_size, device)
        place = torch.device(device or ("cpu" if precision == "int8" else self.device))
        model = self._model(precision).to(place)
        index = {pair: i for i, pair in enumerate(sorted(set(pairs)))}  # sorted: batches are the same in any order
        distinct = list(index)
        parts = [
            self._score(model, distinct[i : i + PAIRS_AT_A_TIME], max_length or self.max_length, batch_size)
            for i in range(0, len(distinct), PAIRS_AT_A_TIME)
        ]
        values, truncated = (np.concatenate(column) for column in zip(*parts, strict=True))
        if not np.isfinite(values).all():  # a setting of the checkpoint can do so, and so can a precision
            raise ValueError(f"checkpoint {self.folder}: expected finite logits in {precision}, got inf or nan")
        position = [index[pair] for pair in pairs]
        return PairLogits(values[position], truncated[position])

    def _model(self, precision: str) -> PreTrainedModel:
        if precision not in self._models:
            self._models[precision] = convert(self._models["float32"], precision)
        return self._models[precision]

    def _score(
        self, model: PreTrainedModel, pairs: list[Pair], max_length: int, batch_size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        sequences, truncated = self._encode(pairs, max_length)
        values = np.empty((len(pairs), len(self.labels)), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda i: -len(sequences[i]))
        with torch.inference_mode():
            tokens = BATCH_VALUES.get(model.device.type, BATCH_VALUES["other"]) // model.config.hidden_size
            for chosen in _batches(order, sequences, batch_size, tokens):
                batch = self._pad([sequences[i] for i in chosen], model.device)
                values[chosen] = model(**batch).logits.float().cpu().numpy()
        return values, truncated

    def _encode(self, pairs: list[Pair], max_length: int) -> tuple[list[Tokens], np.ndarray]:
        """Pairs as one token sequence each, cut to `max_length`; (n,) bool, whether it was."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        single = dict(zip(texts, self._tokenize(texts), strict=True))
        room = max_length - self._added
        truncated = np.array([single[a][1] + single[b][1] > room for a, b in pairs])
        return [self._join([single[a], single[b]], room) for a, b in pairs], truncated

    def _tokenize(self, texts: list[str]) -> list[tuple[list[int], int]]:
        """Tokens of each text, as many as the model has positions for, and how many there were."""
        found = []
        for text, encoding in zip(texts, self._backend.encode_batch_fast(texts, add_special_tokens=False), strict=True):
            ids = encoding.ids
            # a sentencepiece vocabulary holds its separators as pieces, which plain text can match
            if not self._special_ids.isdisjoint(ids):
                ids = self._backend.encode(self._spaced(text), add_special_tokens=False).ids
            found.append((self._cut(ids, self.longest), len(ids)))
        return found

    def _join(self, texts: list[tuple[list[int], int]], room: int) -> Tokens:
        """Two texts and the separators; the longer text is cut first, as "longest_first" of tokenizers does."""
        kept = [length for _, length in texts]
        if sum(kept) > room:
            short, long = sorted((0, 1), key=kept.__getitem__)
            kept[short] = min(kept[short], room // 2)
            kept[long] = room - kept[short]
        return self._template.join(*(self._cut(ids, length) for (ids, _), length in zip(texts, kept, strict=True)))

    def _cut(self, ids: list[int], length: int) -> list[int]:
        return ids[-length:] if self.tokenizer.truncation_side == "left" and length else ids[:length]

    def _spaced(self, text: str) -> str:
        """The text with a space inside every special string, so that it is none."""
        if self._backend.normalizer is not None:
            text = self._backend.normalizer.normalize_str(text)
        for special in self.tokenizer.all_special_tokens:
            text = text.replace(special, f"{special[0]} {special[1:]}")
        return text

    def _pad(self, sequences: list[Tokens], device: torch.device) -> dict[str, torch.Tensor]:
        """Sequences as the model takes them, (n, longest) each."""
        width = max(map(len, sequences))
        ids = np.full((len(sequences), width), self.tokenizer.pad_token_id, dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            length = len(sequence)
            ids[row, :length], types[row, :length], mask[row, :length] = sequence.ids, sequence.types, 1
        batch = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
        names = self.tokenizer.model_input_names
        return {name: torch.from_numpy(values).to(device) for name, values in batch.items() if name in names}


def _batches(order: list[int], sequences: list[Tokens], batch_size: int, tokens: int) -> Iterator[list[int]]:
    """Indices, longest sequence first, in runs of at most `batch_size` sequences and about `tokens` tokens.

    A run ends where the next sequence is shorter, unless it holds next to nothing yet: little is padded.
    """
    begin = 0
    while begin < len(order):
        width = len(sequences[order[begin]])
        last = min(len(order), begin + min(batch_size, max(1, tokens // width)))
        end = begin + 1
        while end < last and (len(sequences[order[end]]) == width or (end - begin) * width < tokens * SHARE):
            end += 1
        yield order[begin:end]
        begin = end
