"""From STSScore's tables to files: CSV, text and the figures."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.common.text_tables import Cell, Row, render
from benchmarks.matcha.scoring import Scores, write_scores
from benchmarks.stsscore.figures import Plan, draw, plans
from benchmarks.stsscore.scorers import (
    AUTHORS,
    BERTSCORE,
    BLEU,
    PUBLISHED_PER_PAIR,
    SBERT,
    STSSCORE,
    WEAKER,
    PublishedScores,
)
from benchmarks.stsscore.sets import ALL, CLASSES, HALVES, SYSTEMS, TITLES, UNSEEN, PairSet
from benchmarks.stsscore.tables import CLASS_FIGURES, CORRELATIONS, PUBLISHED, agreement_table, card_table, figure_table

CARD = "model_card.csv"  # read by training/cards.py
_LABELS = {"r": "r", "rho": "rho", "auc": "AUC"}
_LABELS |= {"neg_mean": "neg mean", "neg_sd": "neg sd", "pos_mean": "pos mean", "pos_sd": "pos sd"}
_PARTS = {
    UNSEEN: "without pairs that are elsewhere in STS-B or in --trained-on",
    SYSTEMS: "without reference A against itself",
}
_WITH_INTERVAL = ("r", "rho", "auc")
_HEADER = "Herbold, TMLR, times 100. 'publ.' is what the paper prints, in two digits (83.00 is its .83)"
_NOTE = f"""[95% bootstrap intervals]: rows drawn independently; too narrow for WMT22, where systems share segments.
A row that says '{PUBLISHED_PER_PAIR}' holds the authors' own scores of each pair, put through this protocol.
publ. of STSScore is of RoBERTa-base, of the weaker backbone of BERT-base, and WMT22's is of all 30,000 rows.
publ. of MRPC is of GLUE's edition, whose signs are set apart by spaces."""

_BOOTSTRAP = "bootstrap: {0.resamples} resamples, seed {0.seed}"

Key = dict[str, str]


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
    """Compute every table and figure that the sets allow, and write them to `output`.

    Args:
        metrics: metrics in the order of the tables.
        sets: sets by key.
        absent: by key, the reason why a set is absent.
        scores: scores of the metrics on the sets.
        published: the authors' scores.
        bootstrap: how intervals are drawn.
        output: folder to write to; created.
        models: lines that name the checkpoints that were measured.
        shipped: whether the first checkpoint is the shipped one, whose model card gets its figures.

    Returns:
        The report: all tables as text.
    """
    output.mkdir(parents=True, exist_ok=True)
    table = figure_table(metrics, sets, absent, scores, bootstrap)
    write_tables(table, metrics, output)
    write_scores(sets, scores, output)
    agreement = agreement_table(metrics, sets, scores, published)
    agreement.to_csv(output / "agreement.csv", index=False)
    if shipped:
        card_table(table, agreement, first_scorer(metrics)).to_csv(output / CARD, index=False)
    parts = [_HEADER, "\n".join([*models, *_data_lines(sets, absent)])]
    parts += [_correlation_text(table), *(_class_text(table, key, absent.get(key)) for key in CLASSES)]
    parts += [_halves_text(table), _agreement_text(agreement), _zeros(sets, scores)]
    not_drawn = [draw(plan, sets, scores, output) for plan in _plans(metrics)]
    parts += ["\n".join(filter(None, not_drawn)), f"{_NOTE}\n{_BOOTSTRAP.format(bootstrap)}"]
    report = "\n\n".join(part for part in parts if part)
    (output / "report.txt").write_text(report + "\n", encoding="utf-8")
    return report


def first_scorer(metrics: list[Metric]) -> str:
    """Name of the checkpoint in the figures and in the ensemble."""
    return next(metric.name for metric in metrics if metric.group == "scorer" and metric.published == STSSCORE)


def _plans(metrics: list[Metric]) -> list[Plan]:
    baselines = [metric.name for metric in metrics if metric.published in (BLEU, BERTSCORE, SBERT)]
    scorer, names = first_scorer(metrics), [metric.name for metric in metrics]
    weaker = (WEAKER,) if WEAKER in names else ()
    ensemble = tuple(metric.name for metric in metrics if metric.group == "ensemble")
    ensemble += (*(name for name in baselines if name != BLEU), scorer)
    return plans((*baselines, scorer), weaker, ensemble)


def write_tables(table: pd.DataFrame, metrics: list[Metric], output: Path) -> None:
    """Write tables 1 (all but backbone and ensembles), 2 (backbones), 3 (ensembles), 4 (lengths) as CSV."""
    whole = ~table["part"].isin(HALVES)
    backbones = [metric.name for metric in metrics if metric.group == "scorer"]
    members = [metric.name for metric in metrics if metric.published in (BERTSCORE, SBERT)]
    ensembles = table["group"] == "ensemble"
    halved = [metric.name for metric in metrics if metric.published == STSSCORE]
    kept = {
        "table1": whole & ~ensembles & (table["metric"] != WEAKER),
        "table2": whole & table["metric"].isin([*backbones, AUTHORS]),
        "table3": whole & (ensembles | table["metric"].isin([*members, first_scorer(metrics)])),
        "table4": table["part"].isin([ALL, *HALVES]) & table["metric"].isin(halved),
    }
    for name, rows in kept.items():
        table[rows].to_csv(output / f"{name}.csv", index=False)


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


def _block(title: str, table: pd.DataFrame, rows: dict[str, Key], columns: dict[str, Key], silent: bool) -> str:
    """A table as text: one row and one column for each filter.

    Args:
        title: first line.
        table: figures from `figure_table`.
        rows: filters by name.
        columns: filters by label.
        silent: whether to leave out the reason why nothing was measured.
    """
    indexed = table.set_index(["metric", "part", "set", "figure"])
    lines = []
    for name, key in rows.items():
        places = [{**key, **column} for column in columns.values()]
        figures = [indexed.loc[[(p["metric"], p["part"], p["set"], p["figure"])]].iloc[0] for p in places]
        measured = [pd.notna(row["value"]) for row in figures]
        reason = None if any(measured) or silent else figures[0]["reason"]
        cells = [Cell.of(row, p["figure"] in _WITH_INTERVAL) for row, p in zip(figures, places, strict=True)]
        lines.append(Row(name, cells, reason))
    return render(title, list(columns), lines)


def _correlation_text(table: pd.DataFrame) -> str:
    """Correlations of the rated sets: all rows, and without those that a reader may want to leave out."""
    rated = [title for key, title in TITLES.items() if key not in CLASSES and (table["set"] == title).any()]
    rows = {name: {"metric": name} for name in table["metric"].unique()}
    blocks = []
    if rated:
        columns = {
            f"{title}\n{figure}": {"set": title, "part": ALL, "figure": figure}
            for title in rated
            for figure in CORRELATIONS
        }
        blocks.append(_block("Tables 1 to 3, correlation with human labels", table, rows, columns, silent=False))
    for title in rated:
        for part, words in _PARTS.items():
            lines = table[(table["set"] == title) & (table["part"] == part)]
            if not lines.empty:
                columns = {_LABELS[f]: {"set": title, "part": part, "figure": f} for f in CORRELATIONS}
                heading = f"{title} {words} ({lines['n'].iloc[0]:.0f} rows)"
                blocks.append(_block(heading, table, rows, columns, silent=False))
    return "\n\n".join(blocks)


def _class_text(table: pd.DataFrame, key: str, reason: str | None) -> str:
    """Class means, standard deviations and AUC of a set, with and without the pairs that were trained on."""
    blocks = []
    for part in (ALL, UNSEEN):
        lines = table[(table["set"] == TITLES[key]) & (table["part"] == part)]
        if lines.empty:
            continue
        rows = {name: {"metric": name} for name in lines["metric"].unique()}
        columns = {_LABELS[f]: {"set": TITLES[key], "part": part, "figure": f} for f in CLASS_FIGURES}
        size = f"not measured: {reason}" if reason else f"{lines['n'].iloc[0]:.0f} rows"
        title = f"Tables 1 to 3, {' '.join(filter(None, (TITLES[key], _PARTS.get(part))))} ({size})"
        blocks.append(_block(title, lines, rows, columns, silent=reason is not None))
    return "\n\n".join(blocks)


def _halves_text(table: pd.DataFrame) -> str:
    """Table 4: STSScore by the length of sentence1; intervals are in table4.csv."""
    kept = table[table["part"].isin(HALVES)].assign(low=np.nan, high=np.nan)
    rows = {f"{name}, {part}": {"metric": name, "part": part} for name in kept["metric"].unique() for part in HALVES}
    blocks = []
    for figures, what in ((CORRELATIONS, "correlation with human labels"), (("neg_mean", "pos_mean"), "class means")):
        lines = kept[kept["figure"].isin(figures)]
        measured = lines[lines["value"].notna()]["set"].unique()
        columns = {f"{title}\n{_LABELS[f]}": {"set": title, "figure": f} for title in measured for f in figures}
        if columns:
            title = f"Table 4, halves by the length of sentence1 (strictly shorter than the median, the rest): {what}"
            blocks.append(_block(title, lines, rows, columns, silent=True))
    return "\n\n".join(blocks)


def _agreement_text(agreement: pd.DataFrame) -> str:
    lines = [
        f"{row.metric}, {row.set}: r {row.r:.2f}, rho {row.rho:.2f} with {row.column}, {row.n} pairs; the largest "
        f"difference of a pair is {row.largest_difference:.2g} (not times 100)"
        for row in agreement.itertuples()
    ]
    return "\n".join([f"Against the authors' own scores ({PUBLISHED_PER_PAIR})", *lines]) if lines else ""


def _zeros(sets: dict[str, PairSet], scores: Scores) -> str:
    if "stsb" not in sets or (scored := scores.rated.get((BLEU, "stsb"))) is None:
        return ""
    return f"BLEU is exactly 0 for {100 * float((scored == 0).mean()):.1f}% of the pairs of {sets['stsb'].title}"
