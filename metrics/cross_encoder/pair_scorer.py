"""Logits of text pairs from a cross-encoder: each pair scored once, in batches.

In float32 the logits of a pair are those of `CrossEncoder.predict` on that pair alone, within rounding, for any batch
size and order. Strings like "[SEP]" in a text are plain text: they never become the token of that name.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tokenizers import Encoding
from transformers import PreTrainedModel

from semantic_metrics.core.batching import TOKENIZED_AT_A_TIME, batches_by_length, max_tokens
from semantic_metrics.core.checkpoint_files import PROBE, refuse_damage, resolve_checkpoint, shipped_checkpoints
from semantic_metrics.core.inputs import check_whole, quote
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.cross_encoder import pair_checkpoint
from semantic_metrics.cross_encoder.heads import ENTAILMENT, nli_labels
from semantic_metrics.transformer.backends import Forward, Transformer
from semantic_metrics.transformer.first_token import read_first_token
from semantic_metrics.transformer.openvino_model import Inputs

if TYPE_CHECKING:
    from tqdm import tqdm

DEFAULT_CHECKPOINT = "pairs"  # of every metric that reads pairs

Pair = tuple[str, str]
Span = tuple[int, int]  # begin and end


@dataclass(frozen=True)
class PairLogits:
    """Output of a model for n pairs."""

    values: np.ndarray  # (n, labels) float32 logits
    truncated: np.ndarray  # (n,) bool, whether tokens of the pair were cut off


class PairScorer:
    """A cross-encoder and its tokeniser.

    Args:
        folder: a checkpoint in the format of transformers, with safetensors (or `pytorch_model.bin`, from which only
            plain tensors are read). No code of a checkpoint is run.
        metric: whose measured drifts `precision="auto"` goes by; None for those of all metrics.

    Attributes:
        config: contents of its `config.json`.
        labels: names of its labels, in the order of the logits.
        longest: largest number of tokens in a pair, separators included, for which the model has positions.
        max_length: tokens of a pair that count by default: the tokeniser's limit, but at most `longest`.
        template: how the tokeniser joins two texts.
        special_ids: ids of the special tokens except the unknown one; a text never gives any of them.
        checkpoint_sha256: digest of the weights' files and of `config.json`.

    Raises:
        ValueError: the checkpoint is incomplete or damaged, lacks its head, or its tokeniser is of the wrong kind.
    """

    def __init__(self, folder: Path, metric: str | None = None) -> None:
        self.folder, self.metric, self.config = folder, metric, pair_checkpoint.read_config(folder)
        self.labels = pair_checkpoint.label_names(self.config)
        with refuse_damage(f"checkpoint {folder}: did not load"):
            self._load(folder)
            # now, as the folder may have other weights later
            self.checkpoint_sha256 = pair_checkpoint.checkpoint_digest(folder)
            self.logits([(PROBE, "a")])  # reads what only a pass of the model reads

    def _load(self, folder: Path) -> None:
        self.tokenizer, model = pair_checkpoint.load_encoder(folder)
        model = read_first_token(model.eval())
        self._transformer = Transformer(model, "logits", self)
        if not self.tokenizer.is_fast or self.tokenizer.pad_token_id is None:
            raise ValueError(f"checkpoint {folder}: expected a fast tokeniser with a padding token")
        self.longest = pair_checkpoint.positions(model)
        self.max_length = min(self.tokenizer.model_max_length, self.longest)
        self._backend = self.tokenizer.backend_tokenizer
        self._backend.no_padding()
        self._backend.no_truncation()
        self._backend.encode_special_tokens = True  # those in a text are split like any other characters
        unknown = getattr(self._backend.model, "unk_token", None)
        if unknown is not None and self._backend.token_to_id(unknown) is None:
            raise ValueError(f"checkpoint {folder}: expected a tokeniser with its unknown token, got none {unknown!r}")
        self.template = pair_checkpoint.read_template(folder, self._backend)
        self._added = self._backend.num_special_tokens_to_add(is_pair=True)
        if type(self.max_length) is not int or self.max_length <= self._added:
            got = quote(self.tokenizer.model_max_length)
            raise ValueError(f"checkpoint {folder}: expected a model_max_length above {self._added} tokens, got {got}")
        self.special_ids = set(self.tokenizer.all_special_ids) - {self.tokenizer.unk_token_id}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._backend.encode_special_tokens = True  # which a copy of a tokeniser forgets

    @cached_property
    def tokenizer_sha256(self) -> str:
        """Digest of the tokeniser, padding and truncation left out."""
        return hashlib.sha256(self._backend.to_str().encode("utf-8")).hexdigest()

    def signature_fields(self) -> dict[str, str]:
        """Settings of a metric's signature that identify the checkpoint."""
        return {"checkpoint": self.checkpoint_sha256[:16], "tokenizer": self.tokenizer_sha256[:16]}

    def resolve(self, options: RunOptions) -> RunOptions:
        """The options, checked, with this checkpoint's `max_length` if they name none and the precision of "auto"."""
        if options.max_length is None:
            options = replace(options, max_length=self.max_length)
        else:
            check_whole("max_length", options.max_length, self._added + 1, self.longest)
        return self._transformer.resolve(options)

    def logits(self, pairs: list[Pair], options: RunOptions = DEFAULT_OPTIONS) -> PairLogits:
        """Logits of n pairs of texts, in the order in which the model reads them; a ValueError if one is not finite."""
        options = self.resolve(options)
        forward = self._transformer.forward(options)
        index = {pair: i for i, pair in enumerate(sorted(set(pairs)))}  # sorted: batches are the same in any order
        distinct = list(index)
        chunks = (distinct[i : i + TOKENIZED_AT_A_TIME] for i in range(0, len(distinct), TOKENIZED_AT_A_TIME))
        with progress_bar(len(distinct), "pair") as bar:
            parts = [self._score(forward, chunk, options, bar) for chunk in chunks]
        values, truncated = (np.concatenate(column) for column in zip(*parts, strict=True))
        if not np.isfinite(values).all():  # a setting of the checkpoint can do so, and so can a precision
            raise ValueError(f"checkpoint {self.folder}: expected finite logits in {options.precision}, got inf or nan")
        position = [index[pair] for pair in pairs]
        return PairLogits(values[position], truncated[position])

    def model(self, options: RunOptions = DEFAULT_OPTIONS) -> PreTrainedModel:
        """The model in the precision and on the device of the options."""
        return self._transformer.model(options)

    def example(self) -> Inputs:
        """See `transformer.backends.Checkpoint`."""
        return self.pad(self.encode([(PROBE, "a"), ("a", "a")], self.max_length)[0], torch.device("cpu"))

    def _score(
        self, forward: Forward, pairs: list[Pair], options: RunOptions, bar: "tqdm"
    ) -> tuple[np.ndarray, np.ndarray]:
        sequences, truncated = self.encode(pairs, options.max_length)
        device = self._transformer.device_of(options)
        tokens = max_tokens(device.type, self._transformer.config.hidden_size)

        def score(batch: list[int]) -> np.ndarray:
            return forward(self.pad([sequences[i] for i in batch], device)).float().cpu().numpy()

        batches = list(batches_by_length([len(sequence) for sequence in sequences], tokens, options.batch_size))
        values = np.empty((len(pairs), len(self.labels)), dtype=np.float32)
        for batch, logits in zip(batches, self._transformer.map(score, batches, options), strict=True):
            values[batch] = logits
            bar.update(len(batch))
        return values, truncated

    def room(self, max_length: int | None = None) -> int:
        """Tokens that the two texts of a pair may have together, of `max_length` (None: the checkpoint's own limit)."""
        return (max_length or self.max_length) - self._added

    def encode_text(self, text: str) -> Encoding:
        """The tokens of a text, without separators and uncut."""
        return self._backend.encode(text, add_special_tokens=False)

    def is_unread(self, one: str, other: str) -> bool:
        """Whether two texts differ for the model in unknown tokens or not at all, or one is mostly unknown."""
        if one.isascii() and other.isascii():
            return False
        unknown = self.tokenizer.unk_token_id
        both = [self.encode_text(text).ids for text in (one, other)]
        known = [[token for token in ids if token != unknown] for ids in both]
        mostly = any(2 * len(some) < len(ids) for some, ids in zip(known, both, strict=True))
        return mostly or known[0] == known[1]

    def token_spans(self, text: str) -> list[Span]:
        """Begin and end of each token of a text that has characters."""
        return [(begin, end) for begin, end in self.encode_text(text).offsets if end > begin]

    def encode(self, pairs: list[Pair], max_length: int | None) -> tuple[list[pair_checkpoint.Tokens], np.ndarray]:
        """Tokenise n pairs, each cut to `max_length` tokens (None: the checkpoint's own), separators included.

        Returns:
            n token sequences, and (n,) bool: whether the pair was cut.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        single = dict(zip(texts, self._tokenize(texts), strict=True))
        room = self.room(max_length)
        truncated = np.array([single[a][1] + single[b][1] > room for a, b in pairs])
        return [self._join([single[a], single[b]], room) for a, b in pairs], truncated

    def _tokenize(self, texts: list[str]) -> list[tuple[list[int], int]]:
        """Token ids of each text, at most `longest`, and how many there were before that cut."""
        tokenized = []
        for text, encoding in zip(texts, self._backend.encode_batch_fast(texts, add_special_tokens=False), strict=True):
            ids = encoding.ids
            # a sentencepiece vocabulary has its separators as pieces, which plain text can match
            if not self.special_ids.isdisjoint(ids):
                ids = self.encode_text(self.break_special(text)).ids
            tokenized.append((self._cut(ids, self.longest), len(ids)))
        return tokenized

    def _join(self, texts: list[tuple[list[int], int]], room: int) -> pair_checkpoint.Tokens:
        """Two texts and the separators; the longer text is cut first, as "longest_first" of tokenizers does."""
        lengths = [length for _, length in texts]
        if sum(lengths) > room:
            short, long = sorted((0, 1), key=lengths.__getitem__)
            lengths[short] = min(lengths[short], room // 2)
            lengths[long] = room - lengths[short]
        return self.template.join(*(self._cut(ids, length) for (ids, _), length in zip(texts, lengths, strict=True)))

    def _cut(self, ids: list[int], length: int) -> list[int]:
        return ids[-length:] if self.tokenizer.truncation_side == "left" and length else ids[:length]

    def break_special(self, text: str) -> str:
        """The text, normalised, with a space inside every special string, so that it is plain text."""
        if self._backend.normalizer is not None:
            text = self._backend.normalizer.normalize_str(text)
        for special in self.tokenizer.all_special_tokens:
            text = text.replace(special, f"{special[0]} {special[1:]}")
        return text

    def pad(self, sequences: list[pair_checkpoint.Tokens], device: torch.device) -> Inputs:
        """Inputs of the model by name, each (n, tokens of the longest sequence)."""
        width = max(map(len, sequences))
        ids = np.full((len(sequences), width), self.tokenizer.pad_token_id, dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            length = len(sequence)
            ids[row, :length], types[row, :length], mask[row, :length] = sequence.ids, sequence.types, 1
        batch = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
        names = self.tokenizer.model_input_names
        return {name: torch.from_numpy(values).to(device) for name, values in batch.items() if name in names}


def load_nli_scorer(name: str | Path | None, metric: str) -> PairScorer:
    """Load an NLI model for a metric.

    `name` is None for the shipped checkpoint, a folder, or what `resolve_checkpoint` takes. A ValueError says that the
    checkpoint is missing or damaged, or has no label for entailment; it lists its labels.
    """
    name = f"{name}/" if isinstance(name, Path) else name
    shipped = shipped_checkpoints(lambda config: not ENTAILMENT.isdisjoint(_labels(config)))
    folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, shipped, pair_checkpoint.OTHER_WEIGHTS)
    pair_checkpoint.check_labels(folder, pair_checkpoint.read_config(folder), nli_labels)
    return PairScorer(folder, metric)


def _labels(config: dict[str, Any]) -> Iterator[str]:
    return (str(label).lower() for label in config.get("id2label", {}).values())
