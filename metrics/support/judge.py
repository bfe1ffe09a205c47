"""Long texts judged sentence by sentence: what a source supports, what it contradicts, and where it says so.

Each sentence of a text is compared with windows of its source, at most three sentences each. The words that they share
choose the k windows that the cross-encoder reads; `Judge` takes any cross-encoder with labels for NLI.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
from typing_extensions import Required, TypedDict

from semantic_metrics.core.inputs import References, check_choice, check_whole, invalid_input, quote
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.core.signature import no_score_change
from semantic_metrics.cross_encoder.heads import nli_labels, nli_probabilities
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.quantities.rules import as_read, contradicted_by, repeats
from semantic_metrics.support.sentences import Span, cut_long, sentence_spans, window_spans
from semantic_metrics.support.word_share import stems, word_shares

Support = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

SUPPORTED, CONTRADICTED, SILENT = "supported", "contradicted", "silent"
VERDICTS = (SUPPORTED, CONTRADICTED, SILENT)
NEAREST_WINDOWS = 8  # read for each sentence by default
WINDOW_SENTENCES = 3  # a claim often needs two or three sentences of evidence; longer places help no reader
WINDOW_TOKENS = 80  # about 60 words
MODEL_WEIGHT = 1.0  # of the model's opinion beside the words: below 1, a negation of the source has some support
PLACES = 3  # of a source that a result lists for each sentence
PAIRS_AT_A_TIME = 4096  # bounds the memory, changes no score
CACHED_DOCUMENTS = 16  # sources that several texts share are split once


@dataclass(frozen=True)
class Thresholds:
    """Where one verdict ends and another begins.

    Attributes:
        support: a sentence is supported from this support on.
        contradiction: a sentence is contradicted from this contradiction on, if that exceeds its support.
    """

    support: float = 0.2
    contradiction: float = 0.4


THRESHOLDS = Thresholds()  # `python -m benchmarks long_texts` prints what WiCE's development split would choose


@dataclass(frozen=True)
class SupportOptions:
    """Settings of one call that judges sentence by sentence.

    Attributes:
        run: how the cross-encoder runs, with its `max_length`.
        k: windows that it reads for each sentence; None for all.
        coverage: whether the references' sentences are looked for in the prediction as well.
        output: "all" or "mean".
        progress: whether bars are shown.

    Raises:
        InvalidInput: a value is not allowed.
    """

    run: RunOptions = DEFAULT_OPTIONS
    k: int | None = NEAREST_WINDOWS
    coverage: bool = no_score_change(False)
    output: str = no_score_change("all")
    progress: bool = no_score_change(True)

    def __post_init__(self) -> None:
        if self.k is not None:
            check_whole("k", self.k, 1)
        check_choice("coverage", self.coverage, (False, True))
        check_choice("output", self.output, ("all", "mean"))
        check_choice("progress", self.progress, (False, True))


@dataclass(frozen=True)
class Place:
    """A window of a source beside a sentence.

    Attributes:
        reference: index of the source among those of the text.
        begin, end: characters of the source.
        text: those characters.
        support, contradiction: of the sentence by this window, in [0, 1].
    """

    reference: int
    begin: int
    end: int
    text: str
    support: float
    contradiction: float


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence and what its source says of it.

    Attributes:
        text: the sentence; a part of one that is longer than the model reads.
        begin, end: its characters in the whole text.
        support: highest support by a window, in [0, 1].
        contradiction: highest contradiction by a window, in [0, 1].
        verdict: one of VERDICTS.
        places: the windows behind the verdict, the one that decides first; they do not overlap.
        read: number of windows that the model read.
    """

    text: str
    begin: int
    end: int
    support: float
    contradiction: float
    verdict: str
    places: list[Place]
    read: int

    def to_dict(self) -> dict[str, Any]:
        """What a result has of the sentence."""
        return {name: value for name, value in asdict(self).items() if name != "read"}


@dataclass(frozen=True)
class JudgedText:
    """A text judged against its sources.

    Attributes:
        sentences: in their order; none for a text without a letter or digit.
        left_out: pairs of a sentence and a window that were not read, because the words had put others first.
        truncated: number of pairs that were cut.
    """

    sentences: list[JudgedSentence]
    left_out: int
    truncated: int

    @property
    def score(self) -> float:
        """Mean of the sentences' support; 0 without sentences."""
        return float(np.mean([sentence.support for sentence in self.sentences])) if self.sentences else 0.0

    @property
    def minimum(self) -> float:
        """Lowest support of a sentence; 0 without sentences."""
        return min((sentence.support for sentence in self.sentences), default=0.0)

    @property
    def read(self) -> int:
        """Pairs of a sentence and a window that the model read."""
        return sum(sentence.read for sentence in self.sentences)


@dataclass(frozen=True)
class Document:
    """A text in sentences and windows.

    Attributes:
        text: the whole text.
        sentences: begin and end of each.
        windows: the first sentence of each window, and the one after its last.
    """

    text: str
    sentences: list[Span]
    windows: list[Span]

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The stems of each sentence."""
        return [stems(self.text[begin:end]) for begin, end in self.sentences]

    @cached_property
    def sentence_texts(self) -> list[str]:
        """The text of each sentence, taken once."""
        return [self.text[begin:end] for begin, end in self.sentences]

    @cached_property
    def window_texts(self) -> list[str]:
        """The text of each window, taken once for all sentences that are compared with it."""
        return [self.text[slice(*self.window(index))] for index in range(len(self.windows))]

    def repeats(self, index: int, sentence: str) -> bool:
        """Whether a sentence of a window is this one, but for white space and how its numbers are written."""
        first, end = self.windows[index]
        return any(repeats(self.text[slice(*span)], sentence) for span in self.sentences[first:end])

    def contradicts(self, index: int, sentence: str) -> bool:
        """Whether a sentence of a window has another quantity than this one where its words are the same.

        "In 2010 he won 5 games. In 2011 he won 6 games." says the second sentence, and does not contradict it.
        """
        first, end = self.windows[index]
        return contradicted_by(sentence, self.sentence_texts[first:end], self.sentence_texts)

    def window(self, index: int) -> Span:
        """Begin and end of a window in the text."""
        first, end = self.windows[index]
        return self.sentences[first][0], self.sentences[end - 1][1]


@dataclass(frozen=True)
class _Task:
    """A sentence and the windows that the model reads for it."""

    text: str
    span: Span
    windows: list[tuple[int, Span, str]]  # index of the source, place in it, text
    shares: np.ndarray
    repeated: list[bool]  # whether a window says the sentence word for word
    contradicted: list[bool]  # whether it says it with other numbers


def support_of(
    shares: np.ndarray, entailment: np.ndarray, contradiction: np.ndarray, weight: float = MODEL_WEIGHT
) -> np.ndarray:
    """How far windows support a sentence, in [0, 1].

    The share of its words that a window has, times the NLI model's opinion, entailment minus contradiction, mapped to
    [0, 1] where its weight is 1. Words alone cannot see a negation or who did what; the model alone is misled by
    evidence that covers a part of a long sentence.

    Args:
        shares: (n,) from `word_shares`.
        entailment: (n,) probabilities.
        contradiction: (n,) probabilities.
        weight: of the model's opinion, from 0 (words alone) to 1.
    """
    return shares * (1 + weight * (entailment - contradiction)) / (1 + weight)


def verdict_of(support: float, contradiction: float, thresholds: Thresholds = THRESHOLDS) -> str:
    """The verdict on a sentence, one of VERDICTS, from its highest support and its highest contradiction."""
    if contradiction >= thresholds.contradiction and contradiction > support:
        return CONTRADICTED
    return SUPPORTED if support >= thresholds.support else SILENT


class Judge:
    """Judges texts sentence by sentence.

    Args:
        scorer: a cross-encoder with labels for NLI; it reads a window as premise and a sentence as hypothesis.
        options: settings.
        thresholds: where verdicts begin.
        support: how the shares of words and the model's opinion make the support; see `support_of`.

    Attributes:
        document: function from a source to its sentences and windows; it keeps the last few.

    Raises:
        ValueError: the cross-encoder lacks a label for entailment.
    """

    def __init__(
        self,
        scorer: PairScorer,
        options: SupportOptions,
        thresholds: Thresholds = THRESHOLDS,
        support: Support = support_of,
    ) -> None:
        nli_labels(scorer.labels)
        self.scorer, self.options, self.thresholds, self._support = scorer, options, thresholds, support
        self._room = scorer.room(options.run.max_length)
        if self._room < 2:
            raise invalid_input("max_length", f"expected room for two texts, got {quote(options.run.max_length)}")
        self.document = lru_cache(CACHED_DOCUMENTS)(self._read)

    def _read(self, text: str) -> Document:
        """A source; half of what the model reads is a window's, the rest the sentence's."""
        longest = self._room // 2
        sentences, sizes = cut_long(text, sentence_spans(text), self.scorer.token_spans, longest)
        return Document(text, sentences, window_spans(sizes, min(WINDOW_TOKENS, longest), WINDOW_SENTENCES))

    def judge(self, texts: list[str], sources: list[list[str]]) -> Iterator[JudgedText]:
        """Judge n texts, each against its sources, which count as one.

        Args:
            texts: n texts.
            sources: n lists of one text or more.

        Yields:
            n judged texts, in their order. A terminal shows the progress.
        """
        rows: list[list[_Task]] = []
        left_out: list[int] = []
        waiting = 0  # pairs in `rows`
        with progress_bar(len(texts), "text") as bar:
            for i, (text, others) in enumerate(zip(texts, sources, strict=True)):
                tasks, skipped = self._tasks(text, [self.document(other) for other in others])
                rows.append(tasks)
                left_out.append(skipped)
                waiting += sum(len(task.windows) for task in tasks)
                if i + 1 == len(texts) or waiting >= PAIRS_AT_A_TIME:
                    yield from self._score(rows, left_out)
                    bar.update(len(rows))
                    rows, left_out, waiting = [], [], 0

    def _tasks(self, text: str, documents: list[Document]) -> tuple[list[_Task], int]:
        spans, _ = cut_long(text, sentence_spans(text), self.scorer.token_spans, self._room - self._room // 2)
        places = [(source, window) for source, one in enumerate(documents) for window in range(len(one.windows))]
        kept = len(places) if self.options.k is None else min(self.options.k, len(places))
        tasks = []
        for begin, end in spans:
            sentence = text[begin:end]
            parts = [word_shares(sentence, one.stems, one.windows) for one in documents if one.windows]
            shares = np.concatenate(parts) if parts else np.zeros(0)
            nearest = np.argsort(-shares, kind="stable")[:kept]  # of equal ones the first in the source
            windows, repeated, contradicted = [], [], []
            for source, window in (places[i] for i in nearest):
                one = documents[source]
                windows.append((source, one.window(window), one.window_texts[window]))
                repeated.append(one.repeats(window, sentence))
                contradicted.append(one.contradicts(window, sentence))
            tasks.append(_Task(sentence, (begin, end), windows, shares[nearest], repeated, contradicted))
        return tasks, len(spans) * (len(places) - kept)

    def _score(self, rows: list[list[_Task]], left_out: list[int]) -> Iterator[JudgedText]:
        tasks = list(chain.from_iterable(rows))
        # the model reads a number of the window as the sentence writes it
        pairs = [as_read(window, task.text) for task in tasks for _, _, window in task.windows]
        probabilities, truncated = np.zeros((len(pairs), 2)), np.zeros(len(pairs), dtype=bool)
        for begin in range(0, len(pairs), PAIRS_AT_A_TIME):  # one long text alone may have many more
            part = slice(begin, begin + PAIRS_AT_A_TIME)
            logits = self.scorer.logits(pairs[part], self.options.run)
            probabilities[part] = nli_probabilities(logits.values, self.scorer.labels)
            truncated[part] = logits.truncated
        probabilities[[flag for task in tasks for flag in task.contradicted]] = 0.0, 1.0
        repeated = np.fromiter(chain.from_iterable(task.repeated for task in tasks), dtype=bool, count=len(pairs))
        probabilities[repeated] = 1.0, 0.0  # a model alone may see a contradiction in a sentence that is repeated
        begin = 0
        for row, skipped in zip(rows, left_out, strict=True):
            sentences, first = [], begin
            for task in row:
                end = begin + len(task.windows)
                sentences.append(self._sentence(task, *probabilities[begin:end].T))
                begin = end
            yield JudgedText(sentences, skipped, int(truncated[first:begin].sum()))

    def _sentence(self, task: _Task, entailment: np.ndarray, contradiction: np.ndarray) -> JudgedSentence:
        support, against = self._support(task.shares, entailment, contradiction), task.shares * contradiction
        highest, worst = float(support.max(initial=0.0)), float(against.max(initial=0.0))
        verdict = verdict_of(highest, worst, self.thresholds)
        order = np.argsort(-(against if verdict == CONTRADICTED else support), kind="stable")
        places: list[Place] = []
        for i in order:
            source, (begin, end), text = task.windows[i]
            apart = all(source != one.reference or end <= one.begin or begin >= one.end for one in places)
            if apart and len(places) < PLACES:
                places.append(Place(source, begin, end, text, float(support[i]), float(against[i])))
        return JudgedSentence(task.text, *task.span, highest, worst, verdict, places, len(task.windows))


class Result(TypedDict, total=False):
    """What `compute` returns; which keys there are depends on its arguments."""

    support: Required[float]
    scores: list[float]
    minimums: list[float]
    sentences: list[list[dict[str, Any]]]
    coverage: list[float]
    missing: list[list[dict[str, Any]]]
    signature: str
    undefined: int
    truncated: int
    windows_read: int
    windows_left_out: int


def result_of(judge: Judge, predictions: list[str], references: References) -> Result:
    """What `compute` returns of predictions judged against references, without the signature.

    Args:
        judge: the judge.
        predictions: n texts.
        references: n texts, or n lists of texts.
    """
    sources = [one if isinstance(one, list) else [one] for one in references]
    judged = list(judge.judge(predictions, sources))
    result: Result = {"support": float(np.mean([one.score for one in judged]))}
    if judge.options.output == "mean":
        return result
    result |= {
        "scores": [one.score for one in judged],
        "minimums": [one.minimum for one in judged],
        "sentences": [[sentence.to_dict() for sentence in one.sentences] for one in judged],
    }
    undefined = sum(not one.read for one in judged)
    if judge.options.coverage:
        result["coverage"], result["missing"], counts = _coverage(judge, predictions, sources)
        judged += counts
    result |= {
        "undefined": undefined,
        "truncated": sum(one.truncated for one in judged),
        "windows_read": sum(one.read for one in judged),
        "windows_left_out": sum(one.left_out for one in judged),
    }
    return result


def _coverage(
    judge: Judge, predictions: list[str], sources: list[list[str]]
) -> tuple[list[float], list[list[dict[str, Any]]], list[JudgedText]]:
    """How far each prediction covers its references: the mean support of their sentences, and those without."""
    owners = [row for row, texts in enumerate(sources) for _ in texts]
    judged = list(judge.judge(list(chain.from_iterable(sources)), [[predictions[row]] for row in owners]))
    supports: list[list[float]] = [[] for _ in predictions]
    missing: list[list[dict[str, Any]]] = [[] for _ in predictions]
    numbers = chain.from_iterable(range(len(texts)) for texts in sources)
    for row, number, one in zip(owners, numbers, judged, strict=True):
        supports[row] += [sentence.support for sentence in one.sentences]
        lacking = (sentence for sentence in one.sentences if sentence.verdict != SUPPORTED)
        missing[row] += [{"reference": number, **sentence.to_dict()} for sentence in lacking]
    means = [float(np.mean(values)) if values else 0.0 for values in supports]
    return means, missing, judged
