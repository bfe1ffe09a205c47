r"""One table for every metric: does it notice one changed word, exchanged roles, a contradiction, a degree of likeness?

    python -m benchmarks probes [--data DATA] [--metric [ROW=]NAME[:CHECKPOINT]]... [--nli [ROW=]CHECKPOINT]...

Without --data only the two probes of this project: `one_word.csv` and `word_order.csv` (roles exchanged; a metric for
which a text is a bag of tokens is at 50). With it also PAWS-Wiki dev, the sets of the MATCHA paper, STS-B test, that
paper's ratings by people, and texts of three sentences of which one is contradicted (`joined_texts`). Figures are
AUC, the gap between the mean scores of texts that say the same and of others (the paper's N-delta), and correlations
and concordance (CCC) with ratings, times 100 with 95% bootstrap intervals, of scores mapped to [0, 1]: a cosine c to
(c + 1) / 2, but where a figure says "as it is".

Writes to --output: probes.csv (figures, those of the two probes by kind as well), probes_scores.csv (every pair's
scores) and report.txt (what is printed).
"""

from pathlib import Path

import click
import pandas as pd

from benchmarks.common import options
from benchmarks.common.own_metrics import NO_OPTIONS, Run, run_lines, without_questions
from benchmarks.common.tables import figures_text, write_output
from benchmarks.papers.nli_lex.judges import Judged
from benchmarks.suite.columns import Column, baselines, nli_column, own_column, score_all
from benchmarks.suite.tables import ALL, figure_table
from benchmarks.suite.texts import TextSet, joined_texts, own_texts, pair_texts
from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.stats.separation import to_unit

NLI_ROW = "NLI"  # p_entailment - p_contradiction
CONTEXTUAL = "contextual=matcha:contextual"


def choose_columns(metrics: tuple[str, ...], nli: tuple[str, ...], run: Run = NO_OPTIONS) -> list[Column]:
    """The metrics that are given, or all; a ValueError if one is unknown or needs questions, or two have one name."""
    models: list[tuple[str, str | None]] = list(map(options.named_source, nli))
    if not (metrics or nli):
        metrics = (*(name for name in text_metrics() if not describe(name).takes_questions), CONTEXTUAL)
        models.append((NLI_ROW, None))
    named = list(map(options.named_source, metrics))
    options.check_distinct([name for name, _ in (*named, *models)])
    for _, source in named:
        without_questions(source)
    return [own_column(*one, run) for one in named] + [nli_column(name, checkpoint, run) for name, checkpoint in models]


def score_rows(columns: list[Column], sets: list[TextSet], scores: Judged) -> pd.DataFrame:
    """Every pair's scores on [0, 1]: columns set, kind, reference, candidate, truth and one for each metric."""
    parts = []
    for texts in sets:
        frame = pd.DataFrame({"set": texts.title, "kind": list(texts.parts) or ALL, "truth": texts.truth})
        frame = frame.assign(reference=[text for (text,) in texts.references], candidate=texts.candidates)
        for column in columns:
            frame[column.name] = to_unit(scores.verdicts[column.name, texts.title].scores, column.bounds)
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


@click.command()
@options.data("Folder that holds PAWS-Wiki, the MultiNLI triplets, STS-B and people's ratings.")
@click.option("--metric", multiple=True, help="[ROW=]NAME[:CHECKPOINT] of a metric, repeatable; default: all shipped.")
@click.option("--nli", multiple=True, help="[ROW=]CHECKPOINT of an NLI model, repeatable; default: that of nli_lex.")
@click.option("--baselines", "with_baselines", is_flag=True, help="Also ROUGE-L, token F1, a cosine and BERTScore.")
@options.run
@options.drawing
@options.output("results/probes")
def main(
    data: Path | None,
    metric: tuple[str, ...],
    nli: tuple[str, ...],
    with_baselines: bool,
    run: Run,
    bootstrap: options.Bootstrap,
    output: Path,
) -> None:
    """Measure every metric on the probes."""
    with options.invalid_input():
        sets = own_texts() + ([] if data is None else [*pair_texts(data), *joined_texts(data)])
        columns = choose_columns(metric, nli, run)
        columns += baselines(None, None, run.get("device")) if with_baselines else []
        scores = score_all(columns, sets, options.progress)
        if scores.reasons:
            raise ValueError("; ".join(dict.fromkeys(scores.reasons.values())))
    figures = figure_table(columns, sets, scores, bootstrap, published=False)
    figures = figures.assign(kind=figures["part"]).drop(columns=["part", "reason"])
    whole = figures[figures["kind"] == ALL]
    table = figures_text("Probes, times 100 [95% interval]", whole, "metric", ["set", "figure"])
    scored = score_rows(columns, sets, scores)
    click.echo(write_output(output, "\n".join([table, *run_lines(run)]), probes=figures, probes_scores=scored))
