"""Each claim of a text judged by its source: supported, contradicted or not found, and where the source says so.

A claim is compared with passages of its source: single sentences, neighbours, and distant sentences that are put
together. `Judge` takes any cross-encoder with labels for NLI that has a fitted decision.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import numpy as np
from typing_extensions import Required, TypedDict

from semantic_metrics.core.inputs import References, check_choice, check_whole, invalid_input, quote
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.core.signature import no_score_change
from semantic_metrics.core.threshold import ResultOptions
from semantic_metrics.cross_encoder.heads import nli_labels, nli_probabilities
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.cross_encoder.sentences import cut_long
from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.quantities import rules
from semantic_metrics.quantities.manners import without_thoughts
from semantic_metrics.support.claims import Claim, clauses, plain_text, read_claims
from semantic_metrics.support.decision import (
    CONTRADICTED,
    FEATURES,
    NOT_FOUND,
    SKIPPED,
    SUPPORTED,
    Decision,
    counted,
    how_long,
    log_odds,
    verdict_of,
)
from semantic_metrics.support.evidence import Document, Overlap, Passage, Source

SENTENCES_READ = 8  # of the source, alone, for each claim by default
PLACES = 3  # of a source that a result lists for each claim
SAYS_IT = 0.5  # probability from which a single sentence comes before those that are nearer
PAIRS_AT_A_TIME = 4096  # bounds the memory, changes no score
CACHED_DOCUMENTS = 16  # sources that several texts share are split once


@dataclass(frozen=True)
class SupportOptions(ResultOptions):
    """Settings of one call."""

    run: RunOptions = DEFAULT_OPTIONS  # how the cross-encoder runs, with its `max_length`
    # sentences of the source that it reads for each claim, and passages of several in proportion; None for all
    k: int | None = SENTENCES_READ
    # whether the references' sentences are looked for in the prediction as well
    coverage: bool = no_score_change(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is not None:
            check_whole("k", self.k, 1)
        check_choice("coverage", self.coverage, (False, True))


@dataclass(frozen=True)
class Place:
    """A sentence of a source beside a claim."""

    reference: int  # index of the source among those of the text
    # begin, end: characters of the source
    begin: int
    end: int
    text: str  # those characters
    # entailment, contradiction: probabilities by the model, which reads this sentence alone; None if it did not
    entailment: float | None
    contradiction: float | None


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence and what its source says of it."""

    text: str  # the sentence; a part of one that is longer than the model reads
    # begin, end: its characters in the whole text
    begin: int
    end: int
    support: float | None  # probability that the source supports it, in [0, 1]; None for one that is skipped
    contradiction: float | None  # probability that the source contradicts it, in [0, 1]; None for one that is skipped
    verdict: str  # one of VERDICTS
    places: list[Place]  # the sentences of the source behind the verdict, the one that decides first
    read: int = 0  # number of passages that the model read
    unread: bool = False  # whether the model cannot read what tells it from the nearest passage

    def to_dict(self) -> dict[str, Any]:
        """The sentence as a result has it."""
        return {name: value for name, value in asdict(self).items() if name not in ("read", "unread")}


@dataclass(frozen=True)
class JudgedText:
    """A text judged against its sources."""

    sentences: list[JudgedSentence]  # in their order; none for a text without a letter or digit
    truncated: int = 0  # number of pairs that were cut

    @property
    def supports(self) -> list[float]:
        """The support of each sentence that is not skipped."""
        return [one.support for one in self.sentences if one.support is not None]

    @property
    def score(self) -> float:
        """Mean support; 0 without sentences."""
        return float(np.mean(self.supports)) if self.supports else 0.0

    @property
    def minimum(self) -> float:
        """Lowest support; 0 without sentences."""
        return min(self.supports, default=0.0)

    @property
    def unsupported(self) -> int:
        """How many sentences are contradicted or not found."""
        return sum(one.verdict in (CONTRADICTED, NOT_FOUND) for one in self.sentences)

    @property
    def read(self) -> int:
        """Pairs of a sentence and a passage that the model read."""
        return sum(one.read for one in self.sentences)


@dataclass
class Reading:
    """A claim and what the model reads for it."""

    claim: Claim  # the claim
    source: Source  # its source
    overlap: Overlap  # what they share
    passages: list[Passage]  # the passages, single sentences first
    repeating: set[int]  # the sentences in them that say the claim, but for its writing
    # those that have another quantity than the claim, where no sentence of the source has the claim's
    conflicting: set[int]
    probabilities: np.ndarray  # (passages, 2) of entailment and contradiction, once they are read
    unread: bool = False  # whether the passage that decides differs from the claim in what the model cannot read
    weakest: float = 1.0  # entailment of the clause that has the lowest; 1 for a claim of one clause

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Inputs of the model: the passages, their quantities as the claim writes them, each with the claim."""
        return [self._pair(one, self.claim.text) for one in self.passages]

    def _pair(self, passage: Passage, text: str) -> tuple[str, str]:
        return rules.as_read(" ".join(self.source.texts[i] for i in passage), text)

    def clause_pairs(self) -> list[list[tuple[str, str]]]:
        """For each clause of a claim of several: the passage with the highest entailment, and the nearest sentence."""
        if self.repeated:
            return []
        passages = dict.fromkeys([self.passages[int(self.probabilities[:, 0].argmax())], self.passages[0]])
        return [[self._pair(passage, clause) for passage in passages] for clause in clauses(self.claim.text)]

    def apply_rules(self, unread: np.ndarray) -> None:
        """A passage that repeats the claim entails it; one that has it with another quantity contradicts it.

        `unread` is (passages,) bool, those that differ from the claim in what the model cannot read; they say nothing.
        """
        self.unread = not self.repeated and bool(unread[self.probabilities[:, 0].argmax()])
        self.probabilities[unread] = 0.0
        for row, passage in enumerate(self.passages):
            if self.repeating.intersection(passage):  # a model alone may see a contradiction in what is repeated
                self.probabilities[row] = 1.0, 0.0
            elif self.conflicting.intersection(passage):
                self.probabilities[row] = 0.0, 1.0

    @property
    def repeated(self) -> bool:
        """Whether the source says the claim, but for its writing."""
        return bool(self.repeating)

    @property
    def singles(self) -> np.ndarray:
        """(passages,) bool, which are single sentences."""
        return np.array([len(one) == 1 for one in self.passages])

    def features(self) -> np.ndarray:
        """(len(FEATURES),) what the decision reads; see `decision.FEATURES`."""
        shares = np.array([self.overlap.share(one) for one in self.passages])
        neighbours = np.array([self.source.is_run(one) for one in self.passages])
        entailment, contradiction = log_odds(self.probabilities).T
        faded = log_odds(counted(shares) * self.probabilities[:, 1])
        contradicting = faded[self.singles].max()
        weakest = min(entailment.max(), float(log_odds(np.array(self.weakest))))
        long = how_long(len(self.source.texts))
        values = {
            "short_entailment_of_one": (1 - long) * entailment[self.singles].max(),
            "short_entailment_of_neighbours": (1 - long) * entailment[neighbours].max(),
            "short_entailment_of_joined": (1 - long) * entailment[self.singles | ~neighbours].max(),
            "short_entailment_of_clauses": (1 - long) * weakest,
            "short_contradiction": (1 - long) * contradicting,
            "long_entailment_of_clauses": long * weakest,
            "long_share": long * shares.max(),
            "long_lacks_number": long * self.overlap.lacks_number,
            "long": long,
            "contradiction": contradicting,
            "contradiction_of_nearest": contradiction[0],  # the nearest single sentence is first
        }
        return np.array([values[name] for name in FEATURES], dtype=float)

    def places(self, verdict: str) -> list[Place]:
        """The sentences of the source that decide, the first one first.

        They are those of the passage that speaks most for the verdict, those first that say so on their own, then the
        nearest, then the next single sentences; where nothing is found, those that share most with the claim.
        """
        shares = np.array([self.overlap.share(one) for one in self.passages])
        entailment, contradiction = self.probabilities.T
        alone = {one[0]: row for row, one in enumerate(self.passages) if len(one) == 1}
        weight = {SUPPORTED: entailment, CONTRADICTED: shares * contradiction}.get(verdict, np.zeros(len(shares)))
        nearness = self.overlap.nearness

        def rank(sentence: int) -> tuple[float, float]:
            sure = weight[alone[sentence]] if sentence in alone else 0.0
            return (sure if sure >= SAYS_IT else 0.0, nearness[sentence])

        decisive = self.passages[int(weight.argmax())] if weight.any() else ()
        first = sorted(decisive, key=rank, reverse=True)
        others = sorted((one for one in alone if one not in decisive), key=rank, reverse=True)
        return [self._place(one, alone.get(one)) for one in [*first, *others][:PLACES]]

    def _place(self, sentence: int, row: int | None) -> Place:
        values = (None, None) if row is None else self.probabilities[row].tolist()
        return Place(*self.source.places[sentence], self.source.texts[sentence], *values)


class Reader:
    """Finds what a source may say of each claim of a text, and lets the model read it.

    Args:
        scorer: a cross-encoder with labels for NLI; it reads a passage as premise and a claim as hypothesis.
        table: MATCHA's table, which helps to choose the passages.
        options: settings.

    Raises:
        ValueError: the cross-encoder lacks a label for entailment, or `max_length` has no room for two texts.
    """

    def __init__(self, scorer: PairScorer, table: MatchaTable, options: SupportOptions) -> None:
        nli_labels(scorer.labels)
        self.scorer, self.table, self.options = scorer, table, options
        self._room = scorer.room(options.run.max_length)
        if self._room < 2:
            raise invalid_input("max_length", f"expected room for two texts, got {quote(options.run.max_length)}")
        self._document = lru_cache(CACHED_DOCUMENTS)(self._read_document)

    def _read_document(self, text: str) -> Document:
        """A source; half of what the model reads is a passage's at least, the rest the claim's."""
        return Document.read(text, self.scorer.token_spans, self._room // 2, self.table)

    def readings(self, texts: list[str], sources: list[list[str]]) -> Iterator[tuple[list[Claim], list[Reading], int]]:
        """Readings of n texts, each with a list of one source or more.

        Yields:
            For each text its claims, the readings of those that are judged (none where the source has no sentence), and
            the number of pairs that were cut.
        """
        batch: list[tuple[list[Claim], list[Reading]]] = []
        waiting = 0  # pairs in the batch
        with progress_bar(len(texts), "text") as bar:
            for i, (text, others) in enumerate(zip(texts, sources, strict=True), 1):
                batch.append(self._prepare(text, others))
                waiting += sum(len(one.passages) for one in batch[-1][1])
                if i < len(texts) and waiting < PAIRS_AT_A_TIME:
                    continue
                cut = iter(self._read([one for _, readings in batch for one in readings]))
                for claims, readings in batch:
                    yield claims, readings, sum(islice(cut, len(readings)))
                bar.update(len(batch))
                batch, waiting = [], 0

    def _prepare(self, text: str, others: list[str]) -> tuple[list[Claim], list[Reading]]:
        """The claims of a text, and the readings of those that are judged."""
        source = Source([self._document(other) for other in others])
        claims = list(self._claims(text))
        judged = [one for one in claims if not one.skipped] if source.texts else []
        vectors: Iterable[np.ndarray] = self.table.encode([one.text for one in judged]).vectors if judged else []
        return claims, [self._reading(*pair, source) for pair in zip(judged, vectors, strict=True)]

    def _claims(self, text: str) -> Iterator[Claim]:
        """The claims of a text, those that the model cannot read whole in pieces."""
        longest = self._room - self._room // 2
        for claim in read_claims(text):
            if claim.skipped or len(self.scorer.token_spans(claim.text)) <= longest:
                yield claim
                continue
            spans, _ = cut_long(text, [(claim.begin, claim.end)], self.scorer.token_spans, longest)
            pieces = ((begin, end, text[begin:end]) for begin, end in spans)
            yield from (Claim(*piece, plain_text(piece[-1])) for piece in pieces)

    def _reading(self, claim: Claim, vector: np.ndarray, source: Source) -> Reading:
        overlap = source.overlap(claim.text, vector)
        room = self._room - len(self.scorer.token_spans(claim.text))
        passages = source.passages(overlap, self.options.k, room)
        used = sorted(set(chain.from_iterable(passages)))
        repeating = {i for i in used if rules.repeats(source.texts[i], claim.text)}
        conflicting = {i for i in used if rules.contradicted_by(claim.text, [source.texts[i]], source.texts)}
        return Reading(claim, source, overlap, passages, repeating, conflicting, np.zeros((len(passages), 2)))

    def _read(self, readings: list[Reading]) -> list[int]:
        """Let the model read; the number of cut pairs of each reading."""
        pairs = list(chain.from_iterable(one.pairs for one in readings))
        probabilities, truncated = np.zeros((len(pairs), 2)), np.zeros(len(pairs), dtype=bool)
        for begin in range(0, len(pairs), PAIRS_AT_A_TIME):  # one long text alone may have many more
            part = slice(begin, begin + PAIRS_AT_A_TIME)
            logits = self.scorer.logits(pairs[part], self.options.run)
            probabilities[part] = nli_probabilities(logits.values, self.scorer.labels)
            truncated[part] = logits.truncated
        cut, begin = [], 0
        for one in readings:
            part = slice(begin, begin + len(one.passages))
            one.probabilities[:] = probabilities[part]
            one.apply_rules(np.array([self.scorer.is_unread(*pair) for pair in pairs[part]], dtype=bool))
            cut.append(int(truncated[part].sum()))
            begin = part.stop
        self._read_clauses(readings)
        return cut

    def _read_clauses(self, readings: list[Reading]) -> None:
        """Let the model read the clauses of claims that have several; none is cut, as the whole claim has room."""
        asked = [(one, clause) for one in readings for clause in one.clause_pairs()]
        if not asked:
            return
        logits = self.scorer.logits([pair for _, clause in asked for pair in clause], self.options.run)
        entailments = iter(nli_probabilities(logits.values, self.scorer.labels)[:, 0].tolist())
        for one, clause in asked:
            one.weakest = min(one.weakest, max(islice(entailments, len(clause))))


class Judge(Reader):
    """Judges texts claim by claim, by a fitted decision."""

    def __init__(self, scorer: PairScorer, table: MatchaTable, decision: Decision, options: SupportOptions) -> None:
        super().__init__(scorer, table, options)
        self.decision = decision

    def judge(self, texts: list[str], sources: list[list[str]]) -> Iterator[JudgedText]:
        """Judge n texts in their order, each against its sources, which count as one; a terminal shows the progress."""
        for claims, readings, truncated in self.readings(texts, sources):
            judged = iter(self._sentences(readings))
            sentences = []
            for one in claims:
                place = one.written, one.begin, one.end
                if one.skipped:
                    sentences.append(JudgedSentence(*place, None, None, SKIPPED, []))
                else:
                    nothing = JudgedSentence(*place, 0.0, 0.0, NOT_FOUND, [])
                    sentences.append(next(judged) if readings else nothing)
            yield JudgedText(sentences, truncated)

    def _sentences(self, readings: list[Reading]) -> Iterator[JudgedSentence]:
        if not readings:
            return
        judged = self.decision.judge(np.array([one.features() for one in readings]))
        for reading, (support, contradiction) in zip(readings, judged.tolist(), strict=True):
            if reading.repeated:
                support, contradiction = 1.0, 0.0
            support = min(support, rules.LIMITS[rules.UNREAD]) if reading.unread else support
            verdict, claim = verdict_of(support, contradiction), reading.claim
            judged_claim = claim.written, claim.begin, claim.end, support, contradiction, verdict
            yield JudgedSentence(*judged_claim, reading.places(verdict), len(reading.passages), reading.unread)


class Result(TypedDict, total=False):
    """The result of `compute`; which keys there are depends on its arguments."""

    support: Required[float]
    scores: list[float]
    minimums: list[float]
    unsupported: list[int]
    sentences: list[list[dict[str, Any]]]
    coverage: list[float]
    missing: list[list[dict[str, Any]]]
    signature: str
    undefined: int
    truncated: int
    passages_read: int
    unread: int
    thoughts: int


def result_of(judge: Judge, predictions: list[str], references: References) -> Result:
    """The result of `compute` for n predictions judged against their references, without the signature."""
    sources = [one if isinstance(one, list) else [one] for one in references]
    predictions, thoughts = without_thoughts(predictions)
    judged = list(judge.judge(predictions, sources))
    result: Result = {"support": float(np.mean([one.score for one in judged]))}
    if judge.options.output == "mean":
        return result
    result |= {
        "scores": [one.score for one in judged],
        "minimums": [one.minimum for one in judged],
        "unsupported": [one.unsupported for one in judged],
        "sentences": [[sentence.to_dict() for sentence in one.sentences] for one in judged],
    }
    undefined = sum(not one.read for one in judged)
    if judge.options.coverage:
        result["coverage"], result["missing"], counts = _coverage(judge, predictions, sources)
        judged += counts
    result |= {
        "undefined": undefined,
        "truncated": sum(one.truncated for one in judged),
        "passages_read": sum(one.read for one in judged),
        "unread": rules.count_unread(rules.UNREAD_RULING for text in judged for one in text.sentences if one.unread),
        "thoughts": thoughts,
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
        supports[row] += one.supports
        lacking = (sentence for sentence in one.sentences if sentence.verdict in (CONTRADICTED, NOT_FOUND))
        missing[row] += [{"reference": number, **sentence.to_dict()} for sentence in lacking]
    means = [float(np.mean(values)) if values else 0.0 for values in supports]
    return means, missing, judged
