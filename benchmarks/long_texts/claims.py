"""WiCE: claims of Wikipedia against the whole articles that they cite, and how well the judge tells supported ones.

Read from `wice/claim_documents_dev.parquet` with the columns claim, evidence (sentences of the article), label and
supporting (JSON: for each annotator's set the indices of its sentences). A claim that is supported in part counts as
not supported. Source: Kamoi et al., EMNLP 2023.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from benchmarks.common.data_files import read_table
from benchmarks.common.options import Bootstrap
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import cosine
from semantic_metrics.stats.binary import folds_by_group
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc
from semantic_metrics.support.judge import Judge, JudgedText, SupportOptions, Thresholds, support_of
from semantic_metrics.support.sentences import Span
from semantic_metrics.support.word_share import word_shares

FILE = "wice/claim_documents_dev.parquet"
SUPPORTED = "supported"
FOLDS = 5
PLACES = (1, 3)  # the shown places among which one should hold a supporting sentence
NEAREST = (1, 3, 8)  # windows that the cheap pass puts first


@dataclass(frozen=True)
class Claims:
    """Claims with their articles.

    Attributes:
        claims: n sentences.
        articles: n texts, a line for each sentence of the set.
        labels: (n,) bool, whether the article supports the whole claim.
        supporting: for each claim the places in the article of all sentences that an annotator found supporting.
    """

    claims: list[str]
    articles: list[str]
    labels: np.ndarray
    supporting: list[list[Span]]


@dataclass
class Recorder:
    """A `Support` that keeps what it gets: for each sentence the shares and the model's opinion on each window."""

    shares: list[np.ndarray] = field(default_factory=list)
    entailment: list[np.ndarray] = field(default_factory=list)
    contradiction: list[np.ndarray] = field(default_factory=list)

    def __call__(self, shares: np.ndarray, entailment: np.ndarray, contradiction: np.ndarray) -> np.ndarray:
        """The support of `support_of`."""
        for kept, values in (
            (self.shares, shares),
            (self.entailment, entailment),
            (self.contradiction, contradiction),
        ):
            kept.append(values)
        return support_of(shares, entailment, contradiction)


@dataclass(frozen=True)
class JudgedClaims:
    """Claims with what the judge made of them.

    Attributes:
        claims: the claims.
        judged: n judged texts.
        recorder: the opinions on each of their sentences, the windows in the order of the cheap pass.
    """

    claims: Claims
    judged: list[JudgedText]
    recorder: Recorder

    def scores(self) -> dict[str, np.ndarray]:
        """(n,) scores of the claims by row of the table: of the lowest sentence, as a claim is supported or not."""
        kept, rows = self.recorder, {}
        rows["sentence by sentence"] = self._lowest(support_of)
        rows["the model at half weight"] = self._lowest(partial(support_of, weight=0.5))
        rows["less the worst contradiction by a window"] = self._lowest(_less_contradiction)
        rows["words alone"] = self._lowest(lambda shares, *_: shares)
        rows["entailment alone"] = self._lowest(lambda _, entailment, __: entailment)
        rows["entailment less contradiction"] = self._lowest(lambda _, yes, no: yes - no)
        longest = max(map(len, kept.shares), default=0)
        for count in (1, 2, 4, 8, 16, 32):
            if count < longest:
                rows[f"the nearest {count} windows"] = self._lowest(support_of, lambda _, count=count: count)
        if self.windows_left_out == 0:
            rows["the nearest fifth"] = self._lowest(support_of, lambda all_of_them: int(np.ceil(all_of_them / 5)))
        return rows

    @property
    def windows_left_out(self) -> int:
        """Pairs of a sentence and a window that were not read."""
        return sum(one.left_out for one in self.judged)

    def _lowest(self, support: object, count: object = None) -> np.ndarray:
        begin, lowest = 0, []
        for one in self.judged:
            values = [np.inf]
            for i in range(begin, begin + len(one.sentences)):
                shares, yes, no = (part[i] for part in (*vars(self.recorder).values(),))
                read = slice(None if count is None else count(len(shares)))
                values.append(float(support(shares[read], yes[read], no[read]).max(initial=0.0)))
            begin += len(one.sentences)
            lowest.append(min(values) if len(values) > 1 else 0.0)
        return np.array(lowest)

    def hits(self) -> dict[int, np.ndarray]:
        """Whether one of the first places shown for a supported claim holds a supporting sentence, by their number."""
        rows = [i for i in np.flatnonzero(self.claims.labels) if self.claims.supporting[i]]
        return {count: np.array([self._hit(i, count) for i in rows]) for count in PLACES}

    def _hit(self, row: int, count: int) -> bool:
        places = chain.from_iterable(one.places for one in self.judged[row].sentences)
        ranked = sorted(places, key=lambda place: -place.support)
        shown = list(dict.fromkeys((place.begin, place.end) for place in ranked))[:count]  # of all sentences together
        return any(a < end and begin < b for a, b in shown for begin, end in self.claims.supporting[row])


def _less_contradiction(shares: np.ndarray, entailment: np.ndarray, contradiction: np.ndarray) -> np.ndarray:
    """A support that every window may lower, not only the one that supports most."""
    return support_of(shares, entailment, contradiction) * (1 - (shares * contradiction).max(initial=0.0))


def load_claims(data: Path) -> Claims:
    """Read the set.

    Raises:
        ValueError: the file is missing or cannot be read.
    """
    table = read_table(data / FILE)
    articles, supporting = [], []
    for sentences, sets in zip(table["evidence"], map(json.loads, table["supporting"]), strict=True):
        ends = np.cumsum([len(sentence) + 1 for sentence in sentences])
        spans = [(int(end) - 1 - len(sentence), int(end) - 1) for sentence, end in zip(sentences, ends, strict=True)]
        articles.append("\n".join(sentences))
        supporting.append([spans[i] for i in sorted({i for one in sets for i in one})])
    labels = (table["label"] == SUPPORTED).to_numpy()
    return Claims(table["claim"].tolist(), articles, labels, supporting)


def judge_claims(claims: Claims, scorer: PairScorer, options: SupportOptions) -> JudgedClaims:
    """Judge every claim against its article."""
    recorder = Recorder()
    judge = Judge(scorer, options, Thresholds(), recorder)
    judged = list(judge.judge(claims.claims, [[article] for article in claims.articles]))
    return JudgedClaims(claims, judged, recorder)


def nearest_hits(claims: Claims, judge: Judge) -> dict[str, dict[int, float]]:
    """How often the nearest windows hold a supporting sentence, by what measures nearness and by their number.

    Args:
        claims: the claims; only supported ones count.
        judge: cuts the articles into windows; its model reads nothing here.
    """
    table = load_checkpoint(None)
    hits: dict[str, dict[int, list[bool]]] = {name: {count: [] for count in NEAREST} for name in ("words", "matcha")}
    for row in np.flatnonzero(claims.labels):
        document = judge.document(claims.articles[row])
        places = [document.window(i) for i in range(len(document.windows))]
        vectors = table.encode([claims.claims[row], *(document.text[begin:end] for begin, end in places)]).vectors
        nearness = {
            "words": word_shares(claims.claims[row], document.stems, document.windows),
            "matcha": cosine(np.repeat(vectors[:1], len(places), axis=0), vectors[1:]),
        }
        for name, values in nearness.items():
            order = np.argsort(-values, kind="stable")
            evidence = claims.supporting[row]
            overlaps = [any(a < places[i][1] and places[i][0] < b for a, b in evidence) for i in order]
            for count in NEAREST:
                hits[name][count].append(any(overlaps[:count]))
    return {name: {count: float(np.mean(values)) for count, values in kept.items()} for name, kept in hits.items()}


def best_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """The score from which texts count as supported, so that the balanced accuracy is highest: between two scores."""
    values = np.unique(scores)
    cuts = np.concatenate([[values[0]], (values[1:] + values[:-1]) / 2])
    positive = (scores[labels][:, None] >= cuts).mean(axis=0)
    negative = (scores[~labels][:, None] < cuts).mean(axis=0)
    return float(cuts[(positive + negative).argmax()])


def decide(scores: np.ndarray, labels: np.ndarray, seed: int) -> np.ndarray:
    """(n,) decisions, each by a threshold that was chosen on the other folds."""
    decisions = np.zeros(len(labels), dtype=bool)
    for kept, left in folds_by_group(labels, list(map(str, range(len(labels)))), FOLDS, seed):
        decisions[left] = scores[left] >= best_threshold(scores[kept], labels[kept])
    return decisions


def claim_figures(scores: np.ndarray, labels: np.ndarray, drawing: Bootstrap) -> dict[str, tuple[float, float, float]]:
    """Balanced accuracy by cross-validation and AUC, times 100, each with the ends of its interval.

    Args:
        scores: (n,) scores of claims.
        labels: (n,) bool.
        drawing: how intervals are drawn; its seed also draws the folds.
    """
    decisions = decide(scores, labels, drawing.seed)

    def statistic(rows: np.ndarray) -> Figures:
        draws = [(labels[one], decisions[one], scores[one]) for one in rows]
        return {
            "balanced_accuracy": np.array([100 * balanced_accuracy_score(truth, said) for truth, said, _ in draws]),
            "auc": np.array([100 * auc(values[truth], values[~truth]) for truth, _, values in draws]),
        }

    whole, ends = statistic(np.arange(len(labels))[None]), drawing.intervals(statistic, [len(labels)])
    return {name: (float(values[0]), *ends[name]) for name, values in whole.items()}
