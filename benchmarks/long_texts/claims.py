"""WiCE: claims of Wikipedia against the whole articles that they cite, and how well the judge tells supported ones.

Read from `wice/claim_documents_dev.parquet` with the columns claim, evidence (sentences of the article), label and
supporting (JSON: for each annotator's set the indices of its sentences). A claim that is supported in part counts as
not supported. Source: Kamoi et al., EMNLP 2023.
"""

import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from benchmarks.common.data_files import read_table
from benchmarks.common.options import Bootstrap
from semantic_metrics.stats.binary import folds_by_group
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc
from semantic_metrics.support.judge import Judge, JudgedText
from semantic_metrics.support.sentences import Span

FILE = "wice/claim_documents_dev.parquet"
SUPPORTED = "supported"
FOLDS = 5
PLACES = (1, 3)  # of a sentence, among which one should hold a supporting sentence


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


@dataclass(frozen=True)
class JudgedClaims:
    """Claims with what the judge made of them.

    Attributes:
        claims: the claims.
        judged: n judged texts.
    """

    claims: Claims
    judged: list[JudgedText]

    @property
    def scores(self) -> np.ndarray:
        """(n,) support of the lowest sentence of each claim, as a claim is supported or not."""
        return np.array([one.minimum for one in self.judged])

    def hits(self) -> dict[int, np.ndarray]:
        """Whether one of the first places shown for a supported claim holds a supporting sentence, by their number."""
        rows = [i for i in np.flatnonzero(self.claims.labels) if self.claims.supporting[i]]
        return {count: np.array([self._hit(i, count) for i in rows]) for count in PLACES}

    def _hit(self, row: int, count: int) -> bool:
        places = chain.from_iterable(one.places[:count] for one in self.judged[row].sentences)
        evidence = self.claims.supporting[row]
        return any(place.begin < end and begin < place.end for place in places for begin, end in evidence)


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


def judge_claims(claims: Claims, judge: Judge) -> JudgedClaims:
    """Judge every claim against its article."""
    return JudgedClaims(claims, list(judge.judge(claims.claims, [[article] for article in claims.articles])))


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
