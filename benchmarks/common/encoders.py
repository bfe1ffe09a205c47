"""Cosines of text encoders: sentence-transformers, any plain transformer, SimCSE, files of word vectors.

Source of the settings: Li et al., Findings of ACL 2026, section 4.2.2 and appendix B (mean pooling over the last
hidden states; for word vectors over the tokens), and the authors' published code.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from nltk.tokenize import NLTKWordTokenizer

from semantic_metrics.core.batching import BATCH_SEQUENCES, text_chunks
from semantic_metrics.core.progress import progress_bar

Score = Callable[[list[str], list[str]], np.ndarray]
Encode = Callable[[list[str]], np.ndarray]

SIMCSE_TOKENS = 128  # the simcse package's default
_SIGNS = re.compile(r"[^\w\s'-]")  # the authors remove these before they look words up


class NotMeasured(Exception):
    """A metric cannot be measured here; the message is the reason, which is printed in its row."""


def unavailable(reason: str) -> Callable[..., NoReturn]:
    """A function in the place of one that loads a row: it raises NotMeasured, whatever it is called with."""

    def load(*_: object) -> NoReturn:
        raise NotMeasured(reason)

    return load


@contextmanager
def absence(model: str) -> Iterator[None]:
    """Turn the errors of loading a model into NotMeasured."""
    try:
        yield
    except (OSError, ValueError, ImportError, RuntimeError, KeyError, AttributeError) as error:
        reason = str(error).strip() or type(error).__name__
        raise NotMeasured(f"{model} does not load: {reason.splitlines()[0]}") from error


def cosine_of(encode: Encode) -> Score:
    """An encoder's cosine, in [-1, 1]; every distinct text is encoded once. 0, and masked, where one has no vector."""

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        if not candidates:
            return np.zeros(0)
        index = {text: i for i, text in enumerate(dict.fromkeys([*candidates, *references]))}
        vectors = np.asarray(encode(list(index)), dtype=np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        units = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        left = units[[index[text] for text in candidates]]
        right = units[[index[text] for text in references]]
        scores = np.clip(np.einsum("ij,ij->i", left, right), -1.0, 1.0)
        undefined = ~(left.any(axis=1) & right.any(axis=1))
        return np.ma.array(scores, mask=undefined) if undefined.any() else scores

    return score


def sentence_transformer(model: str, device: str | None = None, batch_size: int = BATCH_SEQUENCES) -> Score:
    """Cosine of a sentence-transformers model, or of a plain transformer with mean pooling over its last states.

    The model's own maximal length holds (256 word pieces for all-MiniLM-L6-v2), and no code of a repository is run
    (`trust_remote_code` stays off).

    Raises NotMeasured: the model does not load.
    """
    from sentence_transformers import SentenceTransformer

    with absence(model):
        encoder = SentenceTransformer(model, device=device)
    tokenizer = getattr(encoder, "tokenizer", None)
    if getattr(tokenizer, "pad_token", "") is None:  # GPT-2, LLaMA and others have no padding
        tokenizer.pad_token = tokenizer.eos_token

    def encode(texts: list[str]) -> np.ndarray:
        parts = []
        with progress_bar(len(texts), "text", "encoded") as bar:
            for chunk in text_chunks(texts):
                parts.append(encoder.encode(chunk, batch_size=batch_size, show_progress_bar=False))
                bar.update(len(chunk))
        return np.concatenate(parts)

    return cosine_of(encode)


def transformer(
    model: str, kind: str, device: str | None, outputs: int | None = None
) -> tuple[Any, Any, Callable[..., np.ndarray]]:
    """A tokeniser, its network, and a function that runs it on rows of texts.

    `kind` is the class of transformers that loads it. The function takes a list of tuples of texts (one, or a pair),
    what to take of an output, and options of the tokeniser; it returns a row for each.

    Raises NotMeasured: the model does not load, or has another number of outputs than `outputs`.
    """
    import torch
    import transformers

    with absence(model):
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        network = getattr(transformers, kind).from_pretrained(model).to(device or "cpu").eval()
    if outputs is not None and network.config.num_labels != outputs:
        raise NotMeasured(f"{model}: expected a model whose outputs are {outputs}, got {network.config.num_labels}")

    def run(rows: Sequence[tuple[str, ...]], take: Callable[[Any], Any], **options: object) -> np.ndarray:
        parts = []
        for i in range(0, len(rows), BATCH_SEQUENCES):
            sides = map(list, zip(*rows[i : i + BATCH_SEQUENCES], strict=True))
            inputs = tokenizer(*sides, truncation=True, padding=True, return_tensors="pt", **options)
            with torch.inference_mode():
                parts.append(take(network(**inputs.to(network.device))).double().cpu().numpy())
        return np.concatenate(parts)

    return tokenizer, network, run


def simcse(model: str, device: str | None = None) -> Score:
    """Cosine of a SimCSE model (the authors': princeton-nlp/sup-simcse-bert-base-uncased).

    A supervised model is read after the pooler, an unsupervised one (`unsup` in its name) before it, as the simcse
    package does.

    Raises NotMeasured: the model does not load.
    """
    run, before_pooler = transformer(model, "AutoModel", device)[2], "unsup" in Path(model).name

    def take(output: Any) -> Any:  # noqa: ANN401
        return output.last_hidden_state[:, 0] if before_pooler else output.pooler_output

    return cosine_of(lambda texts: run([(text,) for text in texts], take, max_length=SIMCSE_TOKENS))


def word_vectors(path: str) -> Score:
    """Cosine of mean word vectors, from a text file of `word number number ...` lines (GloVe, word2vec's text form).

    Texts are lower-cased and split by nltk's word tokeniser; unknown words are left out of the mean.

    Raises NotMeasured: the file is absent, or one of its lines has another form.
    """
    file = Path(path)
    if not file.is_file():
        raise NotMeasured(f"{path}: no such file")
    tokenize = NLTKWordTokenizer().tokenize

    def encode(texts: list[str]) -> np.ndarray:
        split = [tokenize(_SIGNS.sub("", text).lower()) for text in texts]
        vectors = read_vectors(file, {word for words in split for word in words})
        width = len(next(iter(vectors.values()), [0.0]))
        known = ([vectors[word] for word in words if word in vectors] for words in split)
        return np.array([np.mean(rows, axis=0) if rows else np.zeros(width) for rows in known])

    return cosine_of(encode)


def read_vectors(file: Path, wanted: set[str]) -> dict[str, np.ndarray]:
    """The vectors of the wanted words; the rest of the file, which may be large, is skipped.

    NotMeasured names a line that is too short, or in which a wanted word is not followed by numbers.
    """
    vectors: dict[str, np.ndarray] = {}
    width = None
    with file.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            parts = line.rstrip().split(" ")
            if number == 1 and len(parts) == 2:  # word2vec's header: rows and width
                continue
            width = width or len(parts) - 1
            word = " ".join(parts[:-width])  # a few of GloVe's words contain spaces
            try:
                if not word:
                    raise ValueError
                if word in wanted:
                    vectors[word] = np.array(parts[-width:], dtype=np.float64)
            except ValueError:
                raise NotMeasured(f"{file}, line {number}: expected a word and {width} numbers") from None
    return vectors
