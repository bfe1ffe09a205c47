"""A contextual MATCHA: a transformer trained with the paper's loss, for users who can spend milliseconds on a text.

A text's vector is the mean of its tokens' last states, separators included, as in sentence-transformers, which loads
the same folder. Unlike the table's rows, a token's state depends on its neighbours: the order of words counts.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoModel, PreTrainedModel

from semantic_metrics.core.batching import TOKENIZED_AT_A_TIME, batches_by_length, max_tokens
from semantic_metrics.core.checkpoint_files import PROBE, check_sizes, refuse_damage
from semantic_metrics.core.forks import check_device
from semantic_metrics.core.inputs import quote
from semantic_metrics.core.resolve import CONFIG, WEIGHTS
from semantic_metrics.matcha.table import TOKENIZER, TextVectors, TokenRows, load_tokenizer

KIND = "matcha"  # key of config.json
MIN_LENGTH = 3  # tokens: the two separators and one of the text


@dataclass(frozen=True)
class ContextualConfig:
    """Entry "matcha" of a contextual checkpoint's `config.json`.

    Attributes:
        begin, end: ids of the separators around a text.
        unk_token: the tokeniser's token for unknown words.
        max_length: number of tokens of a text that count, separators included.
        ratings: knots of the map from cosines to ratings (`ratings.Ratings`); None if no map was fitted.
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
    """

    def __init__(self, model: PreTrainedModel, tokenizer: Tokenizer, config: ContextualConfig) -> None:
        self.model, self.tokenizer, self.config = model.eval(), tokenizer, config
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True
        self.unknown_id = None if config.unk_token is None else tokenizer.token_to_id(config.unk_token)
        self.checkpoint_sha256 = self.tokenizer_sha256 = "unsaved"

    @classmethod
    def from_folder(cls, folder: Path) -> "ContextualEncoder":
        """Load `config.json`, `model.safetensors` and `tokenizer.json`; onto a GPU if there is one.

        Raises:
            ValueError: a file is missing, damaged, or does not fit the others; names the folder.
        """
        missing = [name for name in (WEIGHTS, TOKENIZER) if not (folder / name).is_file()]
        if missing:
            raise ValueError(f"checkpoint {folder}: expected {CONFIG}, {WEIGHTS} and {TOKENIZER}, missing {missing}")
        with refuse_damage(f"checkpoint {folder}: did not load"):
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
        encoder = cls(model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer, config)
        digest = hashlib.sha256((folder / WEIGHTS).read_bytes())
        digest.update(json.dumps({key: stored[key] for key in sorted(stored) if key != KIND}).encode())
        encoder.checkpoint_sha256 = digest.hexdigest()
        encoder.tokenizer_sha256 = hashlib.sha256((folder / TOKENIZER).read_bytes()).hexdigest()
        with refuse_damage(f"checkpoint {folder}: did not load"):  # settings that only a pass of the model reads
            encoder.encode([PROBE])
        return encoder

    def signature_fields(self) -> dict[str, object]:
        """Settings of the checkpoint that can change a score, for the signature."""
        return {
            "checkpoint": self.checkpoint_sha256[:16],
            "tokenizer": self.tokenizer_sha256[:16],
            "dtype": "float32",
            "unk": self.config.unk_token,
            "max_length": self.config.max_length,
        }

    def encode(self, texts: list[str]) -> TextVectors:
        """Texts -> one vector each, in the order given; distinct texts are encoded once.

        A text without any known token has no vector. Other texts in the call move a vector by 1e-5 at most.
        """
        index = {text: i for i, text in enumerate(sorted(set(texts)))}  # sorted: batches are the same in any order
        distinct = list(index)
        steps = range(0, len(distinct), TOKENIZED_AT_A_TIME)
        parts = [self._encode(distinct[i : i + TOKENIZED_AT_A_TIME]) for i in steps]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        position = np.fromiter((index[text] for text in texts), dtype=np.int64, count=len(texts))
        return TextVectors(*(column[position] for column in columns))

    def _encode(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ids = [e.ids for e in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        room = self.config.max_length - 2
        sequences = [[self.config.begin, *each[:room], self.config.end] for each in ids]
        vectors = np.zeros((len(texts), self.model.config.hidden_size))
        tokens = max_tokens(self.model.device.type, self.model.config.hidden_size)
        for rows in batches_by_length([len(sequence) for sequence in sequences], tokens):
            states, mask = self._states([sequences[i] for i in rows])
            sums = (states.double() * mask[:, :, None]).sum(1)  # float64: the zeros of padding add nothing
            vectors[rows] = (sums / mask.sum(1, keepdim=True)).cpu().numpy()
        defined = np.array([any(i != self.unknown_id for i in each) for each in ids], dtype=bool)
        vectors[~defined] = 0.0
        return vectors, defined, np.array([len(each) > room for each in ids], dtype=bool)

    @torch.inference_mode()
    def _states(self, sequences: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """B lists of ids -> (B, T, D) last states, (B, T) mask of the tokens."""
        check_device(self.model.device)
        width = max(map(len, sequences))
        ids = torch.tensor([each + [0] * (width - len(each)) for each in sequences], device=self.model.device)
        mask = torch.tensor([[1] * len(each) + [0] * (width - len(each)) for each in sequences], device=ids.device)
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask

    def token_rows(self, text: str) -> TokenRows:
        """The tokens' last states, whose mean is the text's vector; separators have no span."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        room = self.config.max_length - 2
        ids = [self.config.begin, *encoding.ids[:room], self.config.end]
        states, _ = self._states([ids])
        known = any(i != self.unknown_id for i in encoding.ids)
        weights = np.full(len(ids), known / len(ids))
        spans = [None, *encoding.offsets[:room], None]
        return TokenRows([self.tokenizer.id_to_token(i) for i in ids], spans, states[0].double().cpu().numpy(), weights)
