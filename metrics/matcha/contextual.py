"""A contextual MATCHA: a transformer trained with the paper's loss, for users who can spend milliseconds on a text.

A text's vector is the mean of its tokens' last states, separators included, as in sentence-transformers, which loads
the same folder. Unlike the table's rows, a token's state depends on its neighbours: the order of words counts.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoModel, PreTrainedModel

from semantic_metrics.core.batching import TOKENIZED_AT_A_TIME, batches_by_length, max_tokens
from semantic_metrics.core.checkpoint_files import CONFIG, PROBE, WEIGHTS, check_sizes, refuse_damage
from semantic_metrics.core.inputs import invalid_input, quote
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.matcha.file_names import KIND, TOKENIZER
from semantic_metrics.matcha.table import TextVectors, TokenRows, load_tokenizer
from semantic_metrics.transformer.backends import UNSAVED, Forward, Transformer, default_device, without_bars
from semantic_metrics.transformer.openvino_model import Inputs

if TYPE_CHECKING:
    from tqdm import tqdm

MIN_LENGTH = 3  # tokens: the two separators and one of the text


@dataclass(frozen=True)
class ContextualConfig:
    """Entry "matcha" of a contextual checkpoint's `config.json`.

    Attributes:
        begin, end: ids of the separators around a text.
        unk_token: the tokeniser's token for unknown words.
        max_length: number of tokens of a text that count, separators included.
        ratings: knots of the map from cosines to ratings (`scoring.Ratings`); None if no map was fitted.
    """

    begin: int
    end: int
    unk_token: str | None
    max_length: int
    ratings: dict[str, list[float]] | None = None


class ContextualEncoder:
    """A transformer with its tokeniser; it has the methods of a `MatchaTable`.

    Args:
        model: returns the last state of each token.
        tokenizer: tokeniser of the model; it will read special strings in a text as plain text.
        config: settings of the two.
        folder: of the checkpoint; None if there is none.
    """

    metric = None  # the only one that a contextual checkpoint is measured for

    def __init__(
        self, model: PreTrainedModel, tokenizer: Tokenizer, config: ContextualConfig, folder: Path | None = None
    ) -> None:
        self.folder, self.tokenizer, self.config = folder, tokenizer, config
        self.transformer = Transformer(model.eval(), "last_hidden_state", self)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True
        self.unknown_id = None if config.unk_token is None else tokenizer.token_to_id(config.unk_token)
        self.checkpoint_sha256 = self.tokenizer_sha256 = UNSAVED

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.tokenizer.encode_special_tokens = True  # which a copy of a tokeniser forgets

    @classmethod
    def from_folder(cls, folder: Path) -> "ContextualEncoder":
        """Load `config.json`, `model.safetensors` and `tokenizer.json`; onto a GPU if there is one.

        Raises:
            ValueError: a file is missing, damaged, or does not fit the others; names the folder.
        """
        missing = [name for name in (WEIGHTS, TOKENIZER) if not (folder / name).is_file()]
        if missing:
            raise ValueError(f"checkpoint {folder}: expected {CONFIG}, {WEIGHTS} and {TOKENIZER}, missing {missing}")
        with refuse_damage(f"checkpoint {folder}: did not load"), without_bars():
            check_sizes(folder)
            stored = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            config = ContextualConfig(**stored[KIND])
            options = {"local_files_only": True, "trust_remote_code": False, "dtype": torch.float32}
            model, info = AutoModel.from_pretrained(
                str(folder), add_pooling_layer=False, output_loading_info=True, use_safetensors=True, **options
            )
            with safe_open(folder / WEIGHTS, "pt") as file:
                finite = all(bool(torch.isfinite(file.get_tensor(name)).all()) for name in file.keys())  # noqa: SIM118
        tokenizer = load_tokenizer(folder / TOKENIZER)
        if config.unk_token is not None and (
            not isinstance(config.unk_token, str) or tokenizer.token_to_id(config.unk_token) is None
        ):
            raise ValueError(
                f"checkpoint {folder}: unk_token: expected a token of the tokenizer, got {quote(config.unk_token)}"
            )
        if type(config.max_length) is not int or config.max_length < MIN_LENGTH:
            got = quote(config.max_length)
            raise ValueError(f"checkpoint {folder}: max_length: expected a whole number from {MIN_LENGTH}, got {got}")
        places = getattr(model.config, "max_position_embeddings", 2**31)  # tokens that the model has positions for
        rows, tokens = model.get_input_embeddings().num_embeddings, max(tokenizer.get_vocab().values(), default=0)
        if info["missing_keys"] or not finite or tokens >= rows or config.max_length > places:
            raise ValueError(
                f"checkpoint {folder}: expected all of its weights, finite, an embedding for each of {tokens + 1} "
                f"tokens and positions for {config.max_length}, missing {sorted(info['missing_keys'])[:3]}"
            )
        encoder = cls(model.to(default_device()), tokenizer, config, folder)
        digest = hashlib.sha256((folder / WEIGHTS).read_bytes())
        digest.update(json.dumps({key: stored[key] for key in sorted(stored) if key != KIND}).encode())
        encoder.checkpoint_sha256 = digest.hexdigest()
        encoder.tokenizer_sha256 = hashlib.sha256((folder / TOKENIZER).read_bytes()).hexdigest()
        with refuse_damage(f"checkpoint {folder}: did not load"):  # settings that only a pass of the model reads
            encoder.encode([PROBE])
        return encoder

    def signature_fields(self, run: RunOptions = DEFAULT_OPTIONS) -> dict[str, Any]:
        """Settings of the checkpoint, and how it runs, that can change a score, for the signature."""
        backend = {} if run.backend == "torch" else {"backend": run.backend}
        return {
            "checkpoint": self.checkpoint_sha256[:16],
            "tokenizer": self.tokenizer_sha256[:16],
            "dtype": run.precision,
            **backend,
            "unk": self.config.unk_token,
            "max_length": self.config.max_length,
        }

    def resolve(self, run: RunOptions) -> RunOptions:
        """The options with the precision that "auto" stands for, checked.

        Raises:
            InvalidInput: `max_length` is given, which the checkpoint settles, or `Transformer.resolve` refuses them.
        """
        if run.max_length is not None:
            raise invalid_input("max_length", f"expected None for a contextual checkpoint, got {run.max_length}")
        return self.transformer.resolve(run)

    def encode(self, texts: list[str], run: RunOptions = DEFAULT_OPTIONS) -> TextVectors:
        """Texts -> one vector each, in the order given; distinct texts are encoded once.

        A text without any known token has no vector. In float32, other texts in the call move a vector by 1e-5 at most.

        Raises:
            ValueError: `resolve` refuses the options, or the backend cannot run here.
        """
        run = self.resolve(run)
        forward = self.transformer.forward(run)
        index = {text: i for i, text in enumerate(sorted(set(texts)))}  # sorted: batches are the same in any order
        distinct = list(index)
        steps = range(0, len(distinct), TOKENIZED_AT_A_TIME)
        with progress_bar(len(distinct), "text") as bar:
            parts = [self._encode(distinct[i : i + TOKENIZED_AT_A_TIME], forward, run, bar) for i in steps]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        position = np.fromiter((index[text] for text in texts), dtype=np.int64, count=len(texts))
        return TextVectors(*(column[position] for column in columns))

    def _encode(
        self, texts: list[str], forward: Forward, run: RunOptions, bar: "tqdm"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ids = [e.ids for e in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        room = self.config.max_length - 2
        sequences = [[self.config.begin, *each[:room], self.config.end] for each in ids]
        device, width = self.transformer.device_of(run), self.transformer.config.hidden_size

        def mean_states(rows: list[int]) -> np.ndarray:
            inputs = _pad([sequences[i] for i in rows], device)
            mask = inputs["attention_mask"]
            sums = (forward(inputs).double() * mask[:, :, None]).sum(1)  # float64: the zeros of padding add nothing
            return (sums / mask.sum(1, keepdim=True)).cpu().numpy()

        lengths = [len(sequence) for sequence in sequences]
        batches = list(batches_by_length(lengths, max_tokens(device.type, width), run.batch_size))
        vectors = np.zeros((len(texts), width))
        for rows, means in zip(batches, self.transformer.map(mean_states, batches, run), strict=True):
            vectors[rows] = means
            bar.update(len(rows))
        defined = np.array([any(i != self.unknown_id for i in each) for each in ids], dtype=bool)
        vectors[~defined] = 0.0
        return vectors, defined, np.array([len(each) > room for each in ids], dtype=bool)

    def example(self) -> Inputs:
        """See `transformer.backends.Checkpoint`."""
        room = self.config.max_length - 2
        ids = self.tokenizer.encode(PROBE, add_special_tokens=False).ids[:room]
        sequences = [[self.config.begin, *part, self.config.end] for part in (ids, ids[:1])]
        return _pad(sequences, torch.device("cpu"))

    def token_rows(self, text: str, run: RunOptions = DEFAULT_OPTIONS) -> TokenRows:
        """The tokens' last states, whose mean is the text's vector; separators have no span."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        room = self.config.max_length - 2
        ids = [self.config.begin, *encoding.ids[:room], self.config.end]
        forward, device = self.transformer.forward(run), self.transformer.device_of(run)
        states = forward(_pad([ids], device))
        known = any(i != self.unknown_id for i in encoding.ids)
        weights = np.full(len(ids), known / len(ids))
        spans = [None, *encoding.offsets[:room], None]
        tokens = [self.tokenizer.id_to_token(i) or "" for i in ids]
        return TokenRows(tokens, spans, states[0].double().cpu().numpy(), weights)


def _pad(sequences: list[list[int]], device: torch.device) -> Inputs:
    """B lists of ids -> the model's inputs by name, (B, T) each."""
    width = max(map(len, sequences))
    ids = [each + [0] * (width - len(each)) for each in sequences]
    mask = [[1] * len(each) + [0] * (width - len(each)) for each in sequences]
    return {"input_ids": torch.tensor(ids, device=device), "attention_mask": torch.tensor(mask, device=device)}
