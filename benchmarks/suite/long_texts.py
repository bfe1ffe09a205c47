r"""Long texts judged sentence by sentence: claims against whole articles (WiCE), and twenty planted errors.

    python -m benchmarks long_texts --data FOLDER
        WiCE's development split: balanced accuracy by 5-fold cross-validation of the threshold, AUC, whether the shown
        place holds a supporting sentence; and the twenty summaries with a planted error
    python -m benchmarks long_texts --data FOLDER --k all
        the same, reading every window (some 25,000 pairs)
    python -m benchmarks long_texts --planted-only
        only the twenty summaries, which need no data

WiCE is read from `wice/claim_documents_dev.parquet` with the columns claim, evidence (sentences of the article), label
and supporting (JSON: for each annotator's set the indices of its sentences). A claim that is supported in part counts
as not supported. Thresholds and the size of windows were chosen on this split; published rows are of its test split.
The summaries with one planted error each were written by hand for this benchmark.

Source: Kamoi et al., EMNLP 2023 (WiCE).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import click
import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from benchmarks.common import options
from benchmarks.common.data_files import read_table
from benchmarks.common.options import Bootstrap
from benchmarks.common.own_metrics import Run
from benchmarks.common.published import Published
from benchmarks.common.tables import figures_text
from semantic_metrics.consensus.parts import DEFAULT_CHECKPOINT
from semantic_metrics.core.checkpoint_files import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import ENTAILMENT
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import cosine
from semantic_metrics.stats.binary import folds_by_group
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc
from semantic_metrics.support.judge import (
    NEAREST_WINDOWS,
    THRESHOLDS,
    Judge,
    JudgedText,
    SupportOptions,
    Thresholds,
    support_of,
)
from semantic_metrics.support.sentences import Span
from semantic_metrics.support.word_share import word_shares

FILE = "wice/claim_documents_dev.parquet"
PLANTED = Path(__file__).with_name("planted.json")
SUPPORTED = "supported"
FOLDS = 5
PLACES = (1, 3)  # the shown places among which one should hold a supporting sentence
NEAREST = (1, 3, 8)  # windows that the cheap pass puts first
TITLE = "WiCE dev, supported against not or partially supported, times 100 [95% bootstrap intervals over claims]"


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


def load_claims(data: Path) -> Claims:
    """Read WiCE's development split.

    Raises:
        ValueError: the file is missing or cannot be read.
    """
    table = read_table(data / FILE)
    articles, supporting = [], []
    for sentences, sets in zip(table["evidence"], map(json.loads, table["supporting"]), strict=True):
        ends = np.cumsum([len(sentence) + 1 for sentence in sentences])
        spans = [(int(end) - 1 - len(sentence), int(end) - 1) for sentence, end in zip(sentences, ends, strict=True)]
        articles.append("\n".join(sentences))
        supporting.append([spans[i] for i in sorted(set(chain.from_iterable(sets)))])
    labels = (table["label"] == SUPPORTED).to_numpy()
    return Claims(table["claim"].tolist(), articles, labels, supporting)


@dataclass
class Recorder:
    """A `Support` that keeps, for each sentence, the shares and the model's opinion on each window."""

    seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def __call__(self, shares: np.ndarray, entailment: np.ndarray, contradiction: np.ndarray) -> np.ndarray:
        """The support of `support_of`."""
        self.seen.append((shares, entailment, contradiction))
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
        return {
            "sentence by sentence": self._lowest(support_of),
            "words alone": self._lowest(lambda shares, *_: shares),
            "entailment alone": self._lowest(lambda _, entailment, __: entailment),
        }

    def _lowest(self, support: Callable[..., np.ndarray]) -> np.ndarray:
        sentences = iter(self.recorder.seen)
        lowest = []
        for one in self.judged:
            values = [float(support(*next(sentences)).max(initial=0.0)) for _ in one.sentences]
            lowest.append(min(values, default=0.0))
        return np.array(lowest)

    def hits(self) -> dict[int, np.ndarray]:
        """Whether one of the first places shown for a supported claim holds a supporting sentence, by their number."""
        rows = [i for i in np.flatnonzero(self.claims.labels) if self.claims.supporting[i]]
        return {count: np.array([self._hit(i, count) for i in rows]) for count in PLACES}

    def _hit(self, row: int, count: int) -> bool:
        places = chain.from_iterable(one.places for one in self.judged[row].sentences)
        ranked = sorted(places, key=lambda place: -place.support)
        shown = list(dict.fromkeys((place.begin, place.end) for place in ranked))[:count]  # of all sentences together
        return _overlap(shown, self.claims.supporting[row])


def _overlap(shown: list[Span], evidence: list[Span]) -> bool:
    return any(a < end and begin < b for a, b in shown for begin, end in evidence)


def judge_claims(claims: Claims, scorer: PairScorer, chosen: SupportOptions) -> JudgedClaims:
    """Judge every claim against its article."""
    recorder = Recorder()
    judge = Judge(scorer, chosen, Thresholds(), recorder)
    return JudgedClaims(claims, list(judge.judge(claims.claims, [[text] for text in claims.articles])), recorder)


def nearest_hits(claims: Claims, judge: Judge) -> dict[str, dict[int, float]]:
    """How often the nearest windows of supported claims hold a supporting sentence, by what measures nearness.

    The judge cuts the articles into windows; its model reads nothing here.
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
            for count in NEAREST:
                hits[name][count].append(_overlap([places[i] for i in order[:count]], claims.supporting[row]))
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
    """Balanced accuracy by cross-validation and AUC of (n,) scores, times 100, with the ends of their intervals."""
    decisions = decide(scores, labels, drawing.seed)

    def statistic(rows: np.ndarray) -> Figures:
        draws = [(labels[one], decisions[one], scores[one]) for one in rows]
        return {
            "balanced accuracy": np.array([100 * balanced_accuracy_score(truth, said) for truth, said, _ in draws]),
            "AUC": np.array([100 * auc(values[truth], values[~truth]) for truth, _, values in draws]),
        }

    whole, ends = statistic(np.arange(len(labels))[None]), drawing.intervals(statistic, [len(labels)])
    return {name: (float(values[0]), *ends[name]) for name, values in whole.items()}


def claims_table(judged: JudgedClaims, drawing: Bootstrap) -> str:
    """The table of WiCE with published rows, the threshold, and how often the shown places hold the evidence."""
    labels, scores, published = judged.claims.labels, judged.scores(), Published("suite")
    rows = [
        {"row": name, "figure": figure, "value": value, "low": low, "high": high}
        for name, values in scores.items()
        for figure, (value, low, high) in claim_figures(values, labels, drawing).items()
    ]
    for name in published.metrics("WiCE"):
        value = published.get("WiCE", "test", name, "balanced_accuracy")
        rows.append({"row": f"{name} (published, test split)", "figure": "balanced accuracy", "published": value})
    first, values = next(iter(scores.items()))
    accuracy = 100 * balanced_accuracy_score(labels, values >= THRESHOLDS.support)
    lines = [
        f"threshold of '{first}' on all {len(labels)} claims: {best_threshold(values, labels):.3f}",
        f"at the shipped threshold of {THRESHOLDS.support}: balanced accuracy {accuracy:.1f}",
    ]
    for count, hits in judged.hits().items():
        low, high = drawing.intervals(lambda drawn, hits=hits: {"rate": hits[drawn].mean(axis=1)}, [len(hits)])["rate"]
        lines.append(
            f"supported claims with a supporting sentence in the first {count} places: {100 * hits.mean():.1f}% of "
            f"{len(hits)} [{100 * low:.1f}, {100 * high:.1f}]"
        )
    counts = [sum(getattr(one, name) for one in judged.judged) for name in ("read", "left_out", "truncated")]
    lines.append("pairs read {:,}, left out {:,}, truncated {}".format(*counts))
    lines += [
        f"QAGS, a set that is not here, {dataset}: correlation of {name} with people, published: "
        f"{published.get('QAGS', dataset, name, 'pearson')}"
        for name in published.metrics("QAGS")
        for dataset in ("XSum", "CNN/DM")
    ]
    return figures_text(TITLE, pd.DataFrame(rows), "row", ["figure"], notes=lines)


@dataclass(frozen=True)
class Planted:
    """A summary with one wrong sentence.

    Attributes:
        name: name of its source.
        source: the source.
        sentences: sentences of the summary.
        planted: index of the wrong one.
        kind: number, name, negation, swapped roles or invented.
        place: what the source says instead; None where it says nothing of it.
    """

    name: str
    source: str
    sentences: tuple[str, ...]
    planted: int
    kind: str
    place: str | None


@dataclass(frozen=True)
class Found:
    """What the judge made of a planted error."""

    planted: Planted
    judged: JudgedText

    @property
    def lowest(self) -> bool:
        """Whether the planted sentence has the lowest support, alone."""
        supports = [one.support for one in self.judged.sentences]
        wrong = supports.pop(self.planted.planted)
        return wrong < min(supports)

    @property
    def shown(self) -> bool | None:
        """Whether the first place shown for it overlaps what the source says instead; None where it says nothing."""
        if self.planted.place is None:
            return None
        begin = self.planted.source.index(self.planted.place)
        places = self.judged.sentences[self.planted.planted].places[:1]
        return _overlap([(one.begin, one.end) for one in places], [(begin, begin + len(self.planted.place))])


def load_planted() -> list[Planted]:
    """The twenty summaries."""
    return [
        Planted(one["name"], one["source"], tuple(row["sentences"]), row["planted"], row["kind"], row["place"])
        for one in json.loads(PLANTED.read_text(encoding="utf-8"))
        for row in one["summaries"]
    ]


def find_planted(scorer: PairScorer, chosen: SupportOptions) -> list[Found]:
    """Judge the twenty summaries."""
    planted = load_planted()
    texts, sources = [" ".join(one.sentences) for one in planted], [[one.source] for one in planted]
    judged = Judge(scorer, chosen).judge(texts, sources)
    return [Found(*pair) for pair in zip(planted, judged, strict=True)]


def planted_lines(found: list[Found]) -> list[str]:
    """The report: a line for each summary, and the totals."""
    lines = []
    for one in found:
        supports = " ".join(f"{sentence.support:.2f}" for sentence in one.judged.sentences)
        wrong = "lowest" if one.lowest else "NOT lowest"
        place = {None: "no place", True: "right place", False: "WRONG place"}[one.shown]
        kind = f"{one.planted.kind}, sentence {one.planted.planted + 1}"
        verdict = one.judged.sentences[one.planted.planted].verdict
        lines.append(f"{one.planted.name:10} {kind:26} {supports}  {wrong}, {verdict}, {place}")
    shown = [one.shown for one in found if one.shown is not None]
    flagged = sum(one.judged.sentences[one.planted.planted].verdict != "supported" for one in found)
    every = [sentence.verdict for one in found for sentence in one.judged.sentences]
    alarms = sum(verdict != "supported" for verdict in every) - flagged
    return [
        *lines,
        f"the planted sentence is the lowest in {sum(one.lowest for one in found)} of {len(found)}; "
        f"the first place shown is the right one in {sum(shown)} of {len(shown)}",
        f"verdicts other than supported: {flagged} of {len(found)} wrong sentences, "
        f"{alarms} of {len(every) - len(found)} right ones",
    ]


def _has_nli(config: dict) -> bool:
    return not ENTAILMENT.isdisjoint(str(label).lower() for label in config.get("id2label", {}).values())


@click.command()
@options.data("Folder of the data sets; without it only the planted errors are judged.")
@options.checkpoint("consensus, or any folder of a cross-encoder with labels for NLI")
@click.option("--k", default=str(NEAREST_WINDOWS), show_default=True, help="Windows to read for each sentence, or all.")
@click.option("--planted-only", is_flag=True, help="Leave WiCE out.")
@options.run
@options.seed
@options.resamples
def main(
    data: Path | None, checkpoint: str | None, k: str, planted_only: bool, run: Run, seed: int, resamples: int
) -> None:
    """How well long texts are judged sentence by sentence."""
    try:
        known = shipped_checkpoints(_has_nli)
        scorer = PairScorer(resolve_checkpoint(checkpoint, DEFAULT_CHECKPOINT, known, OTHER_WEIGHTS))
        resolved = scorer.resolve(RunOptions(**run))
        chosen = SupportOptions(resolved, None if k == "all" else int(k))
        claims = None if data is None or planted_only else load_claims(data)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    options.progress("planted errors")
    click.echo("\n".join(planted_lines(find_planted(scorer, chosen))))
    if claims is not None:
        options.progress("claims against articles")
        for name, hits in nearest_hits(claims, Judge(scorer, chosen)).items():
            shares = ", ".join(f"{count}: {100 * share:.1f}%" for count, share in hits.items())
            click.echo(f"supported claims with a supporting sentence in the windows nearest by {name}: {shares}")
        click.echo("\n" + claims_table(judge_claims(claims, scorer, chosen), Bootstrap(seed, resamples)))
    click.echo(f"\n{scorer.signature_fields()}, precision {resolved.precision}, backend {resolved.backend}, k {k}")
