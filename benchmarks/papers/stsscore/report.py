"""From STSScore's tables to files: CSV, text and the figures."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.tables import Published, figures_text, write_output
from benchmarks.papers.matcha.scoring import Scores, write_scores
from benchmarks.papers.stsscore.figures import draw, plans
from benchmarks.papers.stsscore.scorers import (
    AUTHORS,
    BERTSCORE,
    BLEU,
    PUBLISHED_PER_PAIR,
    SBERT,
    STSSCORE,
    WEAKER,
    PublishedScores,
)
from benchmarks.papers.stsscore.sets import ALL, HALVES, SYSTEMS, TITLES, UNSEEN, PairSet
from benchmarks.papers.stsscore.tables import CORRELATIONS, PUBLISHED, agreement_table, card_table, figure_table

CARD = "model_card.csv"  # read by training/cards.py
_LABELS = {"auc": "AUC", "neg_mean": "neg mean", "neg_sd": "neg sd", "pos_mean": "pos mean", "pos_sd": "pos sd"}
_PARTS = {
    ALL: "",
    UNSEEN: " without pairs that are elsewhere in STS-B or in --trained-on",
    SYSTEMS: " without reference A against itself",
}
_WITH_INTERVAL = ("r", "rho", "auc")
_HEADER = "Herbold, TMLR, times 100; (in brackets) what the paper prints, in two digits (83.00 is its .83)"
_NOTE = f"""[95% bootstrap intervals]: rows drawn independently; too narrow for WMT22, where systems share segments.
A row that says '{PUBLISHED_PER_PAIR}' holds the authors' own scores of each pair, put through this protocol.
Published of STSScore: RoBERTa-base, of the weaker backbone: BERT-base, of WMT22: all 30,000 rows.
Published of MRPC: GLUE's edition, whose signs are set apart by spaces."""


def write_report(
    metrics: list[Metric],
    sets: dict[str, PairSet],
    absent: dict[str, str],
    scores: Scores,
    published: PublishedScores,
    bootstrap: Bootstrap,
    output: Path,
    models: list[str],
    shipped: bool,
) -> str:
    """Compute every table and figure that the sets allow, write them to `output`, and return all tables as text.

    `absent` has the reason why a set is absent, `models` lines that name the checkpoints that were measured; `shipped`:
    whether the first checkpoint is the shipped one, whose model card gets its figures.
    """
    table = figure_table(metrics, sets, absent, scores, bootstrap)
    agreement = agreement_table(metrics, sets, scores, published)
    files = {**paper_tables(table, metrics), "agreement": agreement}
    if shipped:
        files[CARD.removesuffix(".csv")] = card_table(table, agreement, first_scorer(metrics))
    parts = [_HEADER, "\n".join([*models, *_data_lines(sets, absent)])]
    for key, title in TITLES.items():
        for part, words in _PARTS.items():
            lines = table[(table["set"] == title) & (table["part"] == part)]
            if not lines.empty:
                size = f"not measured: {absent[key]}" if key in absent else f"{lines['n'].max():.0f} rows"
                heading = f"Tables 1 to 3, {title}{words} ({size})"
                shown = lines.assign(reason=None) if key in absent else lines
                parts.append(figures_text(heading, shown, "metric", ["figure"], _LABELS, intervals=_WITH_INTERVAL))
    halves = table[table["part"].isin(HALVES)].assign(low=np.nan, high=np.nan, reason=None)
    halves = halves.assign(metric=halves["metric"] + ", " + halves["part"])
    for names in (CORRELATIONS, ("neg_mean", "pos_mean")):
        lines = halves[halves["figure"].isin(names)]
        lines = lines[lines["set"].isin(lines[lines["value"].notna()]["set"])]
        if not lines.empty:
            heading = "Table 4, halves by the length of sentence1 (strictly shorter than the median, the rest)"
            parts.append(figures_text(heading, lines, "metric", ["set", "figure"], _LABELS))
    parts.append(_agreement_text(agreement))
    output.mkdir(parents=True, exist_ok=True)
    write_scores(sets, scores, output)
    parts.append("\n".join(filter(None, (draw(plan, sets, scores, output) for plan in _plans(metrics)))))
    parts.append(f"{_NOTE}\nbootstrap: {bootstrap.resamples} resamples, seed {bootstrap.seed}")
    return write_output(output, "\n\n".join(filter(None, parts)), **files)


def first_scorer(metrics: list[Metric]) -> str:
    """Name of the checkpoint in the figures and in the ensemble."""
    return next(metric.name for metric in metrics if metric.group == "scorer" and metric.published == STSSCORE)


def _plans(metrics: list[Metric]) -> list[tuple]:
    baselines = [metric.name for metric in metrics if metric.published in (BLEU, BERTSCORE, SBERT)]
    scorer, names = first_scorer(metrics), [metric.name for metric in metrics]
    ensemble = tuple(metric.name for metric in metrics if metric.group == "ensemble")
    ensemble += (*(name for name in baselines if name != BLEU), scorer)
    return plans((*baselines, scorer), (WEAKER,) if WEAKER in names else (), ensemble)


def paper_tables(table: pd.DataFrame, metrics: list[Metric]) -> dict[str, pd.DataFrame]:
    """Tables 1 (all but backbone and ensembles), 2 (backbones), 3 (ensembles) and 4 (lengths) by their file's name."""
    whole, ensembles = ~table["part"].isin(HALVES), table["group"] == "ensemble"
    backbones = [metric.name for metric in metrics if metric.group == "scorer"]
    members = [metric.name for metric in metrics if metric.published in (BERTSCORE, SBERT)]
    halved = [metric.name for metric in metrics if metric.published == STSSCORE]
    kept = {
        "table1": whole & ~ensembles & (table["metric"] != WEAKER),
        "table2": whole & table["metric"].isin([*backbones, AUTHORS]),
        "table3": whole & (ensembles | table["metric"].isin([*members, first_scorer(metrics)])),
        "table4": table["part"].isin([ALL, *HALVES]) & table["metric"].isin(halved),
    }
    return {name: table[rows] for name, rows in kept.items()}


def _data_lines(sets: dict[str, PairSet], absent: dict[str, str]) -> list[str]:
    published, lines = Published(PUBLISHED), []
    for dataset in sets.values():
        median = published.get("A.3", dataset.title, "", "median")
        line = f"{dataset.title}: {len(dataset)} rows of {dataset.source}; "
        line += f"median length of sentence1 {dataset.median:.0f} (publ. {median:.0f})"
        if UNSEEN in dataset.parts:
            line += f"; {int((~dataset.parts[UNSEEN]).sum())} are elsewhere in STS-B or in --trained-on"
        lines.append(line)
    return lines + [f"{TITLES[key]}: not measured: {reason}" for key, reason in absent.items()]


def _agreement_text(agreement: pd.DataFrame) -> str:
    lines = [
        f"{row.metric}, {row.set}: r {row.r:.2f}, rho {row.rho:.2f} with {row.column}, {row.n} pairs; the largest "
        f"difference of a pair is {row.largest_difference:.2g} (not times 100)"
        for row in agreement.itertuples()
    ]
    return "\n".join([f"Against the authors' own scores ({PUBLISHED_PER_PAIR})", *lines]) if lines else ""
