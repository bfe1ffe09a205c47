"""A checkpoint small enough to make in every test run: the shape of a shipped one, with random vectors."""

from string import ascii_lowercase, digits

import evaluate
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from semantic_metrics.matcha.table import MatchaTable, TableConfig

WIDTH = 16
UNKNOWN = "[UNK]"
SPECIAL = ["[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]"]  # BERT's; no rule makes them special here
WORDS = ["the", "a", "dog", "man", "cat", "bites", "sleeps", "runs", "barks", "not", "no", "is", "awake", "asleep"]
NAMES = ["sep", "unk"]  # so that "[SEP]" as plain text is three known tokens
SIGNS = [*ascii_lowercase, *digits, *".,!?'-[]()", "日", "本", "é", "ß", "я", "🎉"]
# texts in these words
PREDICTIONS = ["the dog bites", "a man sleeps", "the cat is awake", "no dog barks"]
REFERENCES = ["a dog bites the man", "the man is asleep", "the cat is asleep", "the dog barks"]
SEVERAL = [["a dog bites", "the cat"], ["the man is asleep"], ["a dog", "the cat is awake", "awake cat"], ["no", "yes"]]


def small_tokenizer() -> Tokenizer:
    """Lower-casing WordPiece, like that of all-MiniLM-L6-v2, over some words, the letters and a few other signs."""
    endings = [f"##{sign}" for sign in [*ascii_lowercase, *digits, "ing", "ed"]]
    pieces = [*SPECIAL, *WORDS, *NAMES, *SIGNS, *endings]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def small_table(seed: int = 0, dtype: torch.dtype = torch.float16, **config: object) -> MatchaTable:
    """A table of normal numbers for `small_tokenizer`; `config` overrides the fields of TableConfig."""
    tokenizer = small_tokenizer()
    size = tokenizer.get_vocab_size()
    weights = torch.randn(size, WIDTH, generator=torch.Generator().manual_seed(seed)).to(dtype)
    return MatchaTable(weights.numpy(), tokenizer, TableConfig(size, WIDTH, **{"unk_token": UNKNOWN, **config}))


def compute(metric: evaluate.Metric, predictions: list[str], references: list, **options: object) -> dict:
    return metric.compute(predictions=predictions, references=references, **options)


def scores(metric: evaluate.Metric, predictions: list[str], references: list, **options: object) -> list[float]:
    return compute(metric, predictions, references, **options)["scores"]
