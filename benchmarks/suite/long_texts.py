r"""Long texts judged sentence by sentence: claims against whole articles (WiCE), and twenty planted errors.

    python -m benchmarks long_texts --data FOLDER [--k all]
        WiCE's development split: balanced accuracy at .5, AUC, and whether the shown places hold a supporting sentence;
        and the twenty summaries with a planted error; --k all reads every sentence of the articles
    python -m benchmarks long_texts
        only the twenty summaries, which were written for this benchmark and need no data

WiCE is read from `wice/claim_documents_dev.parquet` with the columns claim, evidence (sentences of the article), label
and supporting (JSON: for each annotator's set the indices of its sentences). A claim that is supported in part counts
as not supported. The shipped decision was fitted on this split among others, so its figures here are a little too good:
`python -m training.fit_support` prints those by cross-validation. Published rows are of the test split.

Source: Kamoi et al., EMNLP 2023 (WiCE).
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click
import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from benchmarks.common import options
from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.own_metrics import Run
from benchmarks.common.tables import Published, figures_text, read_table
from semantic_metrics.cli.check import sentences_to_read
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.sentences import Span
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc
from semantic_metrics.support.decision import SUPPORTED
from semantic_metrics.support.judge import SENTENCES_READ, Judge, JudgedText, Place, SupportOptions
from semantic_metrics.support.scoring import SupportScoring

FILE = "wice/claim_documents_dev.parquet"
PLANTED = Path(__file__).with_name("planted.json")
PLACES = (1, 3)  # the shown places of a sentence among which one should hold a supporting sentence
ENDS = ("value", "low", "high")
TITLE = "WiCE dev, supported against not or partially supported, times 100 [95% bootstrap intervals over claims]"


@dataclass(frozen=True)
class Claims:
    """n claims with their articles (a line for each sentence of the set), and whether these support the whole claim.

    `supporting` has for each claim the places in the article of all sentences that an annotator found supporting.
    """

    claims: list[str]
    articles: list[str]
    labels: np.ndarray
    supporting: list[list[Span]]


def load_claims(data: Path) -> Claims:
    """Read WiCE's development split; a ValueError if the file is missing or cannot be read."""
    table = read_table(data / FILE)
    articles, supporting = [], []
    for sentences, sets in zip(table["evidence"], map(json.loads, table["supporting"]), strict=True):
        ends = np.cumsum([len(sentence) + 1 for sentence in sentences])
        spans = [(int(end) - 1 - len(sentence), int(end) - 1) for sentence, end in zip(sentences, ends, strict=True)]
        articles.append("\n".join(sentences))
        supporting.append([spans[i] for i in sorted(set(chain.from_iterable(sets)))])
    labels = (table["label"] == "supported").to_numpy()
    return Claims(table["claim"].tolist(), articles, labels, supporting)


def evidence_hits(claims: Claims, judged: list[JudgedText], count: int) -> np.ndarray:
    """Whether the first `count` places shown for a sentence hold a supporting one, for each supported claim."""
    rows = [i for i in np.flatnonzero(claims.labels) if claims.supporting[i]]
    places = ([place for one in judged[row].sentences for place in one.places[:count]] for row in rows)
    return np.array([_overlap(shown, claims.supporting[row]) for shown, row in zip(places, rows, strict=True)])


def _overlap(places: Iterable[Place], spans: list[Span]) -> bool:
    return any(place.begin < end and begin < place.end for place in places for begin, end in spans)


def claim_figures(scores: np.ndarray, labels: np.ndarray, drawing: Bootstrap) -> dict[str, Cell]:
    """Balanced accuracy at .5 and AUC of (n,) scores, times 100, with the ends of their intervals."""

    def statistic(rows: np.ndarray) -> Figures:
        draws = [(labels[one], scores[one]) for one in rows]
        return {
            "balanced accuracy": np.array([100 * balanced_accuracy_score(truth, kept >= 0.5) for truth, kept in draws]),
            "AUC": np.array([100 * auc(kept[truth], kept[~truth]) for truth, kept in draws]),
        }

    return drawing.measure(statistic, [len(labels)])


def claims_table(claims: Claims, judged: list[JudgedText], drawing: Bootstrap) -> str:
    """The table of WiCE (a claim is supported as its least supported sentence is) with published rows, and evidence."""
    figures = claim_figures(np.array([one.minimum for one in judged]), claims.labels, drawing)
    rows = [{"row": "support", "figure": name, **dict(zip(ENDS, cell, strict=True))} for name, cell in figures.items()]
    published = Published("suite")
    for name in published.metrics("WiCE"):
        value = published.get("WiCE", "test", name, "balanced_accuracy")
        rows.append({"row": f"{name} (published, test split)", "figure": "balanced accuracy", "published": value})
    lines = []
    for count in PLACES:
        hits = evidence_hits(claims, judged, count)
        low, high = drawing.intervals(lambda drawn, hits=hits: {"rate": hits[drawn].mean(axis=1)}, [len(hits)])["rate"]
        share = f"{100 * hits.mean():.1f}% of {len(hits)} [{100 * low:.1f}, {100 * high:.1f}]"
        lines.append(f"supported claims with a supporting sentence in the first {count} places: {share}")
    lines.append(f"pairs read {sum(one.read for one in judged):,}, truncated {sum(one.truncated for one in judged)}")
    return figures_text(TITLE, pd.DataFrame(rows), "row", ["figure"], notes=lines)


@dataclass(frozen=True)
class Planted:
    """A summary with one wrong sentence: the name of its source, the source, sentences, and the wrong one's index.

    `place` is what the source says instead; None where it says nothing of it.
    """

    name: str
    source: str
    sentences: list[str]
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
        supports = self.judged.supports
        wrong = supports.pop(self.planted.planted)
        return wrong < min(supports)

    @property
    def verdict(self) -> str:
        """The verdict on the planted sentence."""
        return self.judged.sentences[self.planted.planted].verdict

    @property
    def called(self) -> bool:
        """Whether it is other than supported."""
        return self.verdict != SUPPORTED

    @property
    def shown(self) -> bool | None:
        """Whether the first place shown for it overlaps what the source says instead; None where it says nothing."""
        if self.planted.place is None:
            return None
        begin = self.planted.source.index(self.planted.place)
        places = self.judged.sentences[self.planted.planted].places[:1]
        return _overlap(places, [(begin, begin + len(self.planted.place))])


def load_planted() -> list[Planted]:
    """The twenty summaries."""
    sources = json.loads(PLANTED.read_text(encoding="utf-8"))
    return [Planted(one["name"], one["source"], **row) for one in sources for row in one["summaries"]]


def find_planted(judge: Judge) -> list[Found]:
    """Judge the twenty summaries."""
    planted = load_planted()
    texts, sources = [" ".join(one.sentences) for one in planted], [[one.source] for one in planted]
    return [Found(*pair) for pair in zip(planted, judge.judge(texts, sources), strict=True)]


def planted_lines(found: list[Found]) -> list[str]:
    """The report: a line for each summary, one for each kind of error, and the totals."""
    lines = []
    for one in found:
        supports = " ".join(f"{sentence.support:.2f}" for sentence in one.judged.sentences)
        wrong = "lowest" if one.lowest else "NOT lowest"
        place = {None: "no place", True: "right place", False: "WRONG place"}[one.shown]
        kind = f"{one.planted.kind}, sentence {one.planted.planted + 1}"
        lines.append(f"{one.planted.name:10} {kind:26} {supports}  {wrong}, {one.verdict}, {place}")
    for kind, number in Counter(one.planted.kind for one in found).items():
        of_kind = [one for one in found if one.planted.kind == kind]
        called = sum(one.called for one in of_kind)
        lines.append(f"{kind}: lowest {sum(one.lowest for one in of_kind)}, called {called} of {number}")
    shown = [one.shown for one in found if one.shown is not None]
    flagged = sum(one.called for one in found)
    every = [sentence.verdict for one in found for sentence in one.judged.sentences]
    alarms = sum(verdict != SUPPORTED for verdict in every) - flagged
    return [
        *lines,
        f"the planted sentence is the lowest in {sum(one.lowest for one in found)} of {len(found)}; "
        f"the first place shown is the right one in {sum(shown)} of {len(shown)}",
        f"verdicts other than supported: {flagged} of {len(found)} wrong sentences, "
        f"{alarms} of {len(every) - len(found)} right ones",
    ]


@click.command()
@options.data("Folder of the data sets; without it only the planted errors are judged.")
@options.checkpoint("support")
@click.option("--k", default=str(SENTENCES_READ), show_default=True, help="Sentences of a source to read, or all.")
@options.run
@options.drawing
def main(data: Path | None, checkpoint: str | None, k: str, run: Run, bootstrap: options.Bootstrap) -> None:
    """How well long texts are judged sentence by sentence."""
    with options.invalid_input():
        count = sentences_to_read(k)
        support = SupportScoring.from_checkpoint(checkpoint)
        judge = support.judge(SupportOptions(support.scorer.resolve(RunOptions(**run)), count))
        claims = None if data is None else load_claims(data)
    options.progress("planted errors")
    click.echo("\n".join(planted_lines(find_planted(judge))))
    if claims is not None:
        options.progress("claims against articles")
        judged = list(judge.judge(claims.claims, [[article] for article in claims.articles]))
        click.echo("\n" + claims_table(claims, judged, bootstrap))
    click.echo("\n" + support.signature(k=count, **run))
