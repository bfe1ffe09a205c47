r"""One table for every metric: does it notice one changed word, exchanged roles, a contradiction, a degree of likeness?

    python -m benchmarks.probes [--data DATA] [--metric [ROW=]NAME[:CHECKPOINT]]... [--nli [ROW=]CHECKPOINT]...

Without --data only the two probes of this project: `nli_lex/probe.csv` (one word exchanged) and `matcha/word_order.csv`
(roles exchanged). With it also PAWS-Wiki dev, the sets of the MATCHA paper and STS-B test, and the half of that paper's
ratings by people, as far as their files are there. The prediction is the hypothesis, paraphrase or second sentence; the
reference is the other text. Figures are AUC, how often a text that says the same scores above one that does not; the
gap between the mean scores of both (the paper's N-delta); Spearman's correlation with the ratings of STS-B; and
concordance (CCC) and Pearson's correlation with people's ratings; times 100 with 95% bootstrap intervals, higher is
better.

By default every shipped metric that scores texts without a question (a new one by itself), the `contextual` checkpoint
of `matcha`, and p_entailment - p_contradiction of the NLI model behind `nli_lex`. All scores are mapped from their
range to [0, 1], a cosine c to (c + 1) / 2; of the figures, only CCC and the gap depend on that. "as it is" is a cosine
that is not mapped.

Writes to --output: probes.csv (figures, those of the two probes by kind as well), probes_scores.csv (every pair's
scores) and report.txt (what is printed).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
import pandas as pd

from benchmarks.common import options
from benchmarks.common.encoders import Score
from benchmarks.common.options import Bootstrap
from benchmarks.common.own_metrics import NO_OPTIONS, Run, load_own, run_lines
from benchmarks.common.text_tables import Cell, Row, render
from benchmarks.matcha import word_order
from benchmarks.matcha.sets import FILES, TITLES, TripletSet, read_set
from benchmarks.matcha.word_order import paws_pairs, probe_items
from benchmarks.nli_lex.probe import ENTAILMENT, answer, probe_pairs
from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.nli_lex.features import load_scorer
from semantic_metrics.stats.agreement import concordance, pearson, spearman
from semantic_metrics.stats.bootstrap import Figures, rows_by_group
from semantic_metrics.stats.separation import auc, to_unit

WORDS, ROLES, PAWS, MULTINLI, STSB = "one word", "roles", "PAWS-Wiki dev", "MultiNLI matched", "STS-B test"
PEOPLE = "people's ratings"
AUC, GAP, SPEARMAN, CCC, PEARSON, NATIVE_CCC = "auc", "gap", "spearman", "ccc", "pearson", "ccc, as it is"
ALL = "all"
NLI_ROW = "NLI"  # p_entailment - p_contradiction
NLI_RANGE = (-1.0, 1.0)
CONTEXTUAL = "contextual=matcha:contextual"
_COLUMNS = ["metric", "set", "kind", "figure", "n", "value", "low", "high"]


@dataclass(frozen=True)
class Probe:
    """Pairs of texts and what is known of them.

    Attributes:
        name: heading of its column.
        references, candidates: n texts each.
        truth: (n,) 1 where the candidate says the same and 0 where not; or ratings.
        items: (n,) number of the item that a pair belongs to; pairs of one item are drawn together.
        kinds: n names of parts that are also reported alone; empty for none.
        figures: what is measured on it.
    """

    name: str
    references: list[str]
    candidates: list[str]
    truth: np.ndarray
    items: np.ndarray
    kinds: list[str] = field(default_factory=list)
    figures: tuple[str, ...] = (AUC,)


@dataclass(frozen=True)
class ProbedMetric:
    """A row of the table.

    Attributes:
        score: gives its scores, mapped to [0, 1].
        cosine: whether a score is a cosine before it is mapped.
    """

    score: Score
    cosine: bool = False


def own_probes() -> list[Probe]:
    """The two probes that this project wrote."""
    words, roles = probe_pairs(), probe_items()
    same = (words["label"] == ENTAILMENT).to_numpy(dtype=float)
    texts = [words[name].tolist() for name in ("premise", "hypothesis")]
    items = triplets(ROLES, *(roles[name].tolist() for name in ("reference", "paraphrase", "swap")))
    kinds = roles["kind"].tolist()
    return [
        Probe(WORDS, *texts, same, np.arange(len(words)) // 2, words["kind"].tolist()),
        Probe(ROLES, items.references, items.candidates, items.truth, items.items, [*kinds, *kinds]),
    ]


def triplets(name: str, references: list[str], correct: list[str], incorrect: list[str]) -> Probe:
    """A probe of references that have a correct and an incorrect candidate each."""
    truth, items = np.repeat([1.0, 0.0], len(references)), np.tile(np.arange(len(references)), 2)
    return Probe(name, [*references, *references], [*correct, *incorrect], truth, items)


def data_probes(data: Path) -> list[Probe]:
    """The sets of the data folder; the MultiNLI triplets and STS-B must be there, the others may be.

    Raises:
        ValueError: a file is missing or invalid.
    """
    for key in ("multinli", "stsb"):
        if not (data / FILES[key]).is_file():
            raise ValueError(f"--data: expected {FILES[key]} below it, got no file {data / FILES[key]}")
    rated = read_set("stsb", data / FILES["stsb"])
    probes = [
        *([_paws(data)] if (data / word_order.PAWS).is_file() else []),
        *(
            _labelled(read_set(key, data / FILES[key]))
            for key in TITLES
            if key in FILES and (data / FILES[key]).is_file()
        ),
        Probe(STSB, rated.references, rated.candidates, rated.ratings, np.arange(len(rated)), figures=(SPEARMAN,)),
    ]
    if (path := data / FILES["human"]).is_file():
        human = read_set("human", path)
        figures = (CCC, NATIVE_CCC, PEARSON)
        items = np.arange(len(human))
        probes.append(Probe(PEOPLE, human.references, human.candidates, human.ratings, items, figures=figures))
    return probes


def _paws(data: Path) -> Probe:
    paws = paws_pairs(data)
    texts = paws["sentence1"].tolist(), paws["sentence2"].tolist()
    return Probe(PAWS, *texts, paws["label"].to_numpy(dtype=float), np.arange(len(paws)))


def _labelled(chosen: TripletSet) -> Probe:
    """A set of the MATCHA paper: how its correct texts compare with its incorrect ones, and how far they lie apart."""
    name = MULTINLI if chosen.key == "multinli" else chosen.title
    references = [*chosen.references, *chosen.references_of_incorrect]
    truth, items = np.repeat([1.0, 0.0], len(chosen)), np.tile(np.arange(len(chosen)), 2)
    return Probe(name, references, [*chosen.correct, *chosen.incorrect], truth, items, figures=(AUC, GAP))


def text_metric(source: str, run: Run = NO_OPTIONS) -> ProbedMetric:
    """A metric of the package as `NAME` or `NAME:CHECKPOINT`, its scores mapped to [0, 1].

    Raises:
        ValueError: it does not load, or needs questions.
    """
    name, _, checkpoint = source.partition(":")
    if describe(name).takes_questions:
        raise ValueError(f"--metric: expected a metric that needs no questions, got {name}")
    metric, arguments = load_own(name, checkpoint or None, run)
    score_range = describe(name).score_range

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        scores = metric.compute(predictions=candidates, references=references, **arguments)["scores"]
        return to_unit(np.array(scores), score_range)

    return ProbedMetric(score, cosine=score_range[0] < 0)


def nli_metric(checkpoint: str | None, run: Run = NO_OPTIONS) -> Score:
    """p_entailment - p_contradiction of an NLI model, the reference as its premise, mapped to [0, 1]."""
    scorer = load_scorer(checkpoint)

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        pairs = pd.DataFrame({"premise": references, "hypothesis": candidates, "label": ENTAILMENT})
        return to_unit(answer(scorer, pairs, **run)["margin"].to_numpy(), NLI_RANGE)

    return score


def choose_metrics(metrics: tuple[str, ...], nli: tuple[str, ...], run: Run = NO_OPTIONS) -> dict[str, ProbedMetric]:
    """The metrics by the name of their row: those that are given, or all.

    Raises:
        ValueError: one does not load, or two have the same name.
    """
    models: list[tuple[str, str | None]] = list(map(options.named_source, nli))
    if not (metrics or nli):
        metrics = (*(name for name in text_metrics() if not describe(name).takes_questions), CONTEXTUAL)
        models.append((NLI_ROW, None))
    named = list(map(options.named_source, metrics))
    options.check_distinct([name for name, _ in (*named, *models)])
    chosen = {name: text_metric(source, run) for name, source in named}
    return chosen | {name: ProbedMetric(nli_metric(checkpoint, run)) for name, checkpoint in models}


def measure(
    metrics: dict[str, ProbedMetric], probes: list[Probe], bootstrap: Bootstrap
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score every pair once.

    Returns:
        The figures: columns metric, set, kind (ALL, or a kind of the probe), figure, n (pairs), value, low, high, times
        100; and the scores: columns set, kind, reference, candidate, truth and one for each metric.
    """
    rows, scored = [], []
    for probe in probes:
        kinds = np.array(probe.kinds or [ALL] * len(probe.truth))
        frame = pd.DataFrame({"set": probe.name, "kind": kinds, "reference": probe.references})
        frame = frame.assign(candidate=probe.candidates, truth=probe.truth)
        for name, metric in metrics.items():
            options.progress(f"{probe.name}: {name}")
            scores = metric.score(probe.candidates, probe.references)
            frame[name] = scores
            for kind in [ALL, *dict.fromkeys(probe.kinds)]:
                kept = (kinds == kind) | (kind == ALL)
                for figure in probe.figures:
                    native = figure == NATIVE_CCC and metric.cosine
                    values = 2 * scores[kept] - 1 if native else scores[kept]
                    measured = probe_figure(values, probe.truth[kept], probe.items[kept], figure, bootstrap)
                    rows.append({"metric": name, "set": probe.name, "kind": kind, "figure": figure, **measured})
        scored.append(frame)
    return pd.DataFrame(rows, columns=_COLUMNS), pd.concat(scored, ignore_index=True)


def probe_figure(
    scores: np.ndarray, truth: np.ndarray, items: Sequence[Hashable], figure: str, bootstrap: Bootstrap
) -> dict[str, float]:
    """A figure of n scores, with its interval over draws of whole items.

    Returns:
        n, value, low, high; the figures times 100. The ends are not a number where a draw has no figure, as in a small
        set whose drawn texts are all of one kind.
    """
    members, one = rows_by_group(items), _FIGURES[figure]
    rows_in_order, sizes = np.concatenate(members), np.array([len(rows) for rows in members])
    first_places = np.cumsum(sizes) - sizes  # where each item begins in `rows_in_order`

    def rows_of(draw: np.ndarray) -> np.ndarray:
        lengths = sizes[draw]
        shifts = np.repeat(first_places[draw] - np.cumsum(lengths) + lengths, lengths)
        return rows_in_order[shifts + np.arange(len(shifts))]

    def statistic(drawn: np.ndarray) -> Figures:
        chosen = map(rows_of, drawn)
        return {figure: np.array([one(scores[rows], truth[rows]) for rows in chosen])}

    low, high = bootstrap.intervals(statistic, (len(members),))[figure]
    return {"n": len(scores), "value": 100 * float(one(scores, truth)), "low": 100 * low, "high": 100 * high}


def _auc(scores: np.ndarray, truth: np.ndarray) -> float:
    return float(auc(scores[truth == 1], scores[truth == 0]))


def _gap(scores: np.ndarray, truth: np.ndarray) -> float:
    return float(scores[truth == 1].mean() - scores[truth == 0].mean())


_FIGURES = {AUC: _auc, GAP: _gap, SPEARMAN: spearman, CCC: concordance, NATIVE_CCC: concordance, PEARSON: pearson}


def report(figures: pd.DataFrame) -> str:
    """The figures of whole sets as a table."""
    whole = figures[figures["kind"] == ALL]
    columns = list(dict.fromkeys(zip(whole["set"], whole["figure"], strict=True)))
    labels = [f"{name}\n{figure}" for name, figure in columns]
    rows = []
    for metric in whole["metric"].unique():
        own = whole[whole["metric"] == metric].set_index(["set", "figure"])
        cells = [Cell(*map(float, own.loc[column, ["value", "low", "high"]])) for column in columns]
        rows.append(Row(metric, cells))
    return render("Probes, times 100 [95% interval]", labels, rows)


@click.command()
@options.data("Folder that holds PAWS-Wiki, the MultiNLI triplets, STS-B and people's ratings.")
@click.option("--metric", multiple=True, help="[ROW=]NAME[:CHECKPOINT] of a metric, repeatable; default: all shipped.")
@click.option("--nli", multiple=True, help="[ROW=]CHECKPOINT of an NLI model, repeatable; default: that of nli_lex.")
@options.run
@options.seed
@options.resamples
@options.output("results/probes")
def main(
    data: Path | None,
    metric: tuple[str, ...],
    nli: tuple[str, ...],
    run: Run,
    seed: int,
    resamples: int,
    output: Path,
) -> None:
    """Measure every metric on the probes."""
    try:
        probes = own_probes() + ([] if data is None else data_probes(data))
        figures, scores = measure(choose_metrics(metric, nli, run), probes, Bootstrap(seed, resamples))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    text = "\n".join([report(figures), *run_lines(run)])
    output.mkdir(parents=True, exist_ok=True)
    figures.to_csv(output / "probes.csv", index=False)
    scores.to_csv(output / "probes_scores.csv", index=False)
    (output / "report.txt").write_text(text + "\n", encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()
