"""A folded MATCHA checkpoint: one vector per token id, a text is the mean of its tokens' vectors (paper, eq. 4).

Scores are the same for any batch size, order and number of threads: a sum of float16 rows in float64 is exact, and
each cosine is taken from its own two rows, never from a matrix product. Nothing here needs torch.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save
from scipy.sparse import csr_array
from tokenizers import Encoding, Tokenizer

from semantic_metrics.core import process  # noqa: F401  (a loaded table answers after a fork)
from semantic_metrics.core.batching import text_chunks
from semantic_metrics.core.checkpoint_files import CONFIG, PROBE, WEIGHTS, describe_error, refuse_damage
from semantic_metrics.core.inputs import invalid_input, quote
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.matcha.file_names import TOKENIZER
from semantic_metrics.matcha.word_cache import WordCache, reads_words

TENSOR = "embedding.weight"  # the name that sentence-transformers' StaticEmbedding gives its table
MAX_SIZE = 2**31  # a larger size in a config is a mistake
PADDING = "<padding>"
SUMMED_TOKENS = 2**15  # summed at a time: bounds the rows that stand in memory in float64, changes no score


@dataclass(frozen=True)
class TableConfig:
    """The `config.json` of a folded checkpoint.

    Attributes:
        vocab_size: rows of the table, V.
        hidden_size: width of the table, D.
        pad_to: None averages over the text's own tokens, as eq. 4 does. The authors' code pads every text to this
            many tokens (512) and averages over all of them.
        pad_token_id: row of the padding token; only with `pad_to`.
        max_length: number of tokens of a text that count; None keeps them all.
        unk_token: the tokeniser's token for unknown words, left out of the mean; None if it has no such token.
        add_special_tokens: whether the tokeniser's own template is applied (in the authors' checkpoint, it is).
        source_sha256: digest of the files in the authors' format that the table was folded from; for the record.
        network: sizes of the network that was folded (`MatchaConfig`); for the record.
        ratings: knots of the map from cosines to ratings (`scoring.Ratings`); None if no map was fitted.
    """

    vocab_size: int
    hidden_size: int
    model_type: str = "matcha"
    pad_to: int | None = None
    pad_token_id: int | None = None
    max_length: int | None = None
    unk_token: str | None = None
    add_special_tokens: bool = False
    source_sha256: str | None = None
    network: dict[str, Any] = field(default_factory=dict)
    ratings: dict[str, list[float]] | None = None

    def __post_init__(self) -> None:
        if self.model_type != "matcha":
            raise ValueError(f"model_type: expected 'matcha', got {self.model_type!r}")
        for name in ("vocab_size", "hidden_size", "pad_to", "max_length"):
            value = getattr(self, name)
            optional = value is None and name in ("pad_to", "max_length")
            if not optional and (type(value) is not int or not 0 < value < MAX_SIZE):
                raise ValueError(f"{name}: expected a whole number above 0, got {value!r}")
        if type(self.add_special_tokens) is not bool:
            raise ValueError(f"add_special_tokens: expected true or false, got {self.add_special_tokens!r}")
        if self.pad_to is None:
            return
        if type(self.pad_token_id) is not int or not 0 <= self.pad_token_id < self.vocab_size:
            raise ValueError(f"pad_token_id: expected a row of the table, as pad_to is set, got {self.pad_token_id!r}")
        if self.max_length != self.pad_to:
            raise ValueError(f"max_length: expected pad_to ({self.pad_to}), got {self.max_length}")


@dataclass(frozen=True)
class TextVectors:
    """Encoded texts.

    Attributes:
        vectors: (n, D) float64, the mean of the tokens' rows; zeros for a text without any known token.
        defined: (n,) bool, whether the text has a vector.
        truncated: (n,) bool, whether tokens past `max_length` were left out.
    """

    vectors: np.ndarray
    defined: np.ndarray
    truncated: np.ndarray


@dataclass(frozen=True)
class TokenRows:
    """A text as the items whose weighted sum is its vector.

    Attributes:
        tokens: t strings.
        spans: (begin, end) of each token in the text; None for separators and padding.
        rows: (t, D) float64.
        weights: (t,) float64; all 0 for a text without a vector.
    """

    tokens: list[str]
    spans: list[tuple[int, int] | None]
    rows: np.ndarray
    weights: np.ndarray

    @property
    def vector(self) -> np.ndarray:
        """(D,) the text's vector."""
        return self.weights @ self.rows


class MatchaTable:
    """A (V, D) table of token vectors with its tokeniser.

    Args:
        weights: (V, D) float16 or float32.
        tokenizer: its ids are the rows.
        config: settings of the two.

    Raises:
        ValueError: the three do not fit together.
    """

    def __init__(self, weights: np.ndarray, tokenizer: Tokenizer, config: TableConfig) -> None:
        shape = (config.vocab_size, config.hidden_size)
        if weights.shape != shape:
            raise ValueError(f"weights: expected shape {shape} as the config says, got {weights.shape}")
        if weights.dtype not in (np.float16, np.float32):
            raise ValueError(f"weights: expected float16 or float32, got {weights.dtype}")
        if not np.isfinite(weights).all():
            raise ValueError("weights: expected finite numbers, got inf or nan")
        highest = max(tokenizer.get_vocab().values(), default=0)  # not their count: a vocabulary may have gaps
        if highest >= config.vocab_size:
            raise ValueError(f"tokenizer: expected ids below {config.vocab_size}, got {highest}")
        self.config, self.tokenizer, self.weights = config, tokenizer, weights
        self.unknown_id = None if config.unk_token is None else tokenizer.token_to_id(config.unk_token)
        if config.unk_token is not None and self.unknown_id is None:
            raise ValueError(f"unk_token: expected a token of the tokenizer, got {config.unk_token!r}")
        # only the config decides what is cut; padding by the tokeniser would make a score depend on its batch
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if config.max_length is not None:
            tokenizer.enable_truncation(config.max_length)
        whole = config.max_length is not None or config.add_special_tokens
        self._words = None if whole or not reads_words(tokenizer) else WordCache(tokenizer)

    @cached_property
    def checkpoint_sha256(self) -> str:
        """Digest of the weights' file as `save` writes it."""
        return hashlib.sha256(self._serialized()).hexdigest()

    @cached_property
    def tokenizer_sha256(self) -> str:
        """Digest of the tokenizer.json."""
        return hashlib.sha256(self.tokenizer.to_str(pretty=True).encode("utf-8")).hexdigest()

    def rows_of(self, ids: np.ndarray) -> np.ndarray:
        """(k,) ids -> (k, D) float64, the rows to sum; that of the unknown token, which no mean counts, is zero."""
        rows = self.weights[ids].astype(np.float64)
        if self.unknown_id is not None:
            rows[np.asarray(ids) == self.unknown_id] = 0.0
        return rows

    @classmethod
    def from_folder(cls, folder: Path) -> "MatchaTable":
        """Load `config.json`, `model.safetensors` and `tokenizer.json`.

        Raises:
            ValueError: a file is missing, damaged, or does not fit the others; names it.
        """
        folder = Path(folder)
        missing = [name for name in (CONFIG, WEIGHTS, TOKENIZER) if not (folder / name).is_file()]
        if missing:
            raise ValueError(f"checkpoint {folder}: expected {CONFIG}, {WEIGHTS} and {TOKENIZER}, missing {missing}")
        try:
            stored = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            config = TableConfig(**{f.name: stored[f.name] for f in fields(TableConfig) if f.name in stored})
            serialized = (folder / WEIGHTS).read_bytes()
            tensors = load(serialized)
            if TENSOR not in tensors:
                raise ValueError(f"{WEIGHTS}: expected a tensor named {TENSOR!r}, got none")
            table = cls(tensors[TENSOR], load_tokenizer(folder / TOKENIZER), config)
        except KeyError as error:  # of a type that numpy lacks
            raise ValueError(f"checkpoint {folder}: weights: expected float16 or float32, got {error}") from None
        except (ValueError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
            raise ValueError(f"checkpoint {folder}: {describe_error(error)}") from None
        table.checkpoint_sha256 = hashlib.sha256(serialized).hexdigest()
        table.tokenizer_sha256 = hashlib.sha256((folder / TOKENIZER).read_bytes()).hexdigest()
        return table

    def save(self, folder: Path) -> None:
        """Write the three files that `from_folder` reads."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WEIGHTS).write_bytes(self._serialized())
        (folder / CONFIG).write_text(json.dumps(asdict(self.config), indent=2) + "\n", encoding="utf-8")
        self.tokenizer.save(str(folder / TOKENIZER))

    def _serialized(self) -> bytes:
        return save({TENSOR: np.ascontiguousarray(self.weights)}, metadata={"format": "pt"})

    def tokenize(self, texts: list[str]) -> list[Encoding]:
        """Texts -> tokenizers' encodings, truncated to `max_length` if the checkpoint has one."""
        return self.tokenizer.encode_batch(texts, add_special_tokens=self.config.add_special_tokens)

    def encode(self, texts: list[str], run: RunOptions = DEFAULT_OPTIONS) -> TextVectors:
        """Texts -> one vector each, in the order given; distinct texts are encoded once."""
        index = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        parts = [self._encode_chunk(chunk) for chunk in list(text_chunks(list(index))) or [[]]]
        columns = parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]
        if len(index) == len(texts):
            return TextVectors(*columns)
        position = np.fromiter((index[text] for text in texts), dtype=np.int64, count=len(texts))
        return TextVectors(*(column[position] for column in columns))

    def _encode_chunk(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        flat, lengths, truncated = self._ids(texts)
        ends = lengths.cumsum()
        sums = self._sums(flat, lengths)
        if self.unknown_id is not None:
            unknown = np.concatenate([[0], (flat == self.unknown_id).cumsum()])
            lengths = lengths - (unknown[ends] - unknown[ends - lengths])
        vectors = self.mean(sums, lengths)
        return vectors, np.asarray(vectors.any(axis=1)), truncated

    def _ids(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Texts -> their (tokens,) ids, one after the other, (n,) how many each has, and (n,) whether it was cut."""
        truncated = np.zeros(len(texts), dtype=bool)
        if self._words is not None:
            return *self._words.ids(texts), truncated
        # encode_batch_fast leaves out the character offsets, which scores do not need
        encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=self.config.add_special_tokens)
        ids = [encoding.ids for encoding in encodings]
        lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        if self.config.max_length is not None:
            truncated[:] = [bool(encoding.overflowing) for encoding in encodings]
        return np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=int(lengths.sum())), lengths, truncated

    def _sums(self, flat: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """(tokens,) ids of n texts, one after the other, (n,) their lengths -> (n, D) sums of their rows, in order."""
        sums, ends = np.empty((len(lengths), self.config.hidden_size)), lengths.cumsum()
        begin = 0
        while begin < len(lengths):
            first = ends[begin] - lengths[begin]
            end = max(int(np.searchsorted(ends, first + SUMMED_TOKENS, side="right")), begin + 1)
            used, places = self._used(flat[first : ends[end - 1]])
            bounds = np.concatenate([[0], ends[begin:end] - first])
            # a matrix of ones, times the distinct rows: faster by far than to take the row of each token
            ones = csr_array((np.ones(len(places)), places, bounds), shape=(end - begin, len(used)))
            sums[begin:end] = ones @ self.rows_of(used)
            begin = end
        return sums

    def _used(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct ids, ascending, and the place of each id among them; faster than `np.unique`, which sorts."""
        seen = np.zeros(self.config.vocab_size, dtype=bool)
        seen[ids] = True
        return np.flatnonzero(seen), (np.cumsum(seen) - 1)[ids]

    def token_rows(self, text: str, run: RunOptions = DEFAULT_OPTIONS) -> TokenRows:
        """The tokens' rows, whose weighted sum is the text's vector; padding, if there is any, is the last of them."""
        (encoding,) = self.tokenize([text])
        ids, tokens = np.array(encoding.ids, dtype=np.int64), list(encoding.tokens)
        spans: list[tuple[int, int] | None] = list(encoding.offsets)
        known, pad_to = ids != self.unknown_id, self.config.pad_to
        weights = known / (pad_to or max(int(known.sum()), 1))
        if pad_to is not None and known.sum() < pad_to:
            assert self.config.pad_token_id is not None, "a checkpoint that pads has a token for it"
            ids = np.append(ids, self.config.pad_token_id)
            weights = np.append(weights, (pad_to - known.sum()) / pad_to)
            tokens.append(PADDING)
            spans.append(None)
        return TokenRows(tokens, spans, self.rows_of(ids), weights)

    def resolve(self, run: RunOptions) -> RunOptions:
        """The options, which a table has no use for.

        Raises:
            InvalidInput: one of them is not the default.
        """
        for item in fields(run):
            if (value := getattr(run, item.name)) != item.default:
                raise invalid_input(
                    item.name, f"expected {item.default!r}, as a table runs no model, got {quote(value)}"
                )
        return run

    def signature_fields(self, run: RunOptions = DEFAULT_OPTIONS) -> dict[str, Any]:
        """Settings of the checkpoint that can change a score, for the signature."""
        return {
            "checkpoint": self.checkpoint_sha256[:16],
            "tokenizer": self.tokenizer_sha256[:16],
            "dtype": str(self.weights.dtype),
            "pad_to": self.config.pad_to,
            "pad_id": self.config.pad_token_id,
            "unk": self.config.unk_token,
            "special_tokens": self.config.add_special_tokens,
            "max_length": self.config.max_length,
        }

    def mean(self, sums: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, D) sums of known tokens' rows, (n,) numbers of them -> (n, D) text vectors, padding included."""
        if self.config.pad_to is None:
            return np.divide(sums, np.maximum(known, 1)[:, None], out=sums)
        padding = self.rows_of(np.array([self.config.pad_token_id]))[0]
        return (sums + (self.config.pad_to - known)[:, None] * padding) / self.config.pad_to

    def to_sentence_transformer(self) -> object:
        """The same encoder as a `sentence_transformers.SentenceTransformer` (one `StaticEmbedding`, float32).

        Its cosines equal this table's within float32 rounding.

        Raises:
            ValueError: the checkpoint pads or truncates, which a StaticEmbedding cannot.
        """
        from sentence_transformers import SentenceTransformer

        try:
            from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        except ImportError:  # before sentence-transformers 6
            from sentence_transformers.models import StaticEmbedding

        if self.config.pad_to is not None or self.config.max_length is not None:
            raise ValueError("to_sentence_transformer: expected a checkpoint with pad_to and max_length null")
        embedding = StaticEmbedding(
            self.tokenizer, embedding_weights=self.rows_of(np.arange(len(self.weights))).astype(np.float32)
        )
        return SentenceTransformer(modules=[embedding], device="cpu")


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json.

    Raises:
        ValueError: it is damaged; names the file.
    """
    with refuse_damage(f"{path}: not a tokenizer"):
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.encode(PROBE)
    return tokenizer


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, D), (n, D) -> (n,) cosines in [-1, 1], row by row; 0 where either row is zero."""
    products = np.einsum("ij,ij->i", a, b)
    norms = np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))  # one root: equal rows give exactly 1
    return np.clip(np.divide(products, norms, out=np.zeros_like(products), where=norms > 0), -1.0, 1.0)
