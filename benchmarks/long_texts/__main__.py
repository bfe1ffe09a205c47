r"""Long texts judged sentence by sentence: claims against articles, planted errors, and speed.

    python -m benchmarks.long_texts --data FOLDER
        WiCE's development split: balanced accuracy by 5-fold cross-validation of the threshold, AUC, whether the shown
        place holds a supporting sentence; and the twenty summaries with a planted error
    python -m benchmarks.long_texts --data FOLDER --k all
        the same, reading every sentence of the articles
    python -m benchmarks.long_texts --planted-only
        only the twenty summaries, which need no data
    python -m benchmarks.long_texts --data FOLDER --newts
        also NEWTS: summaries of an article's topic and of another one, against a reference summary
    python -m benchmarks.long_texts --data FOLDER --speed --precision int8
        also the time for 100 articles of CNN and the Daily Mail (NEWTS) with summaries of three sentences

The decision is fitted on WiCE's development split among others (`python -m training.fit_support` prints what it reaches
there by cross-validation). Published rows are of the test split.
"""

import time
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
from sklearn.metrics import balanced_accuracy_score

from benchmarks.common import options
from benchmarks.common.data_files import read_table
from benchmarks.common.options import Bootstrap
from benchmarks.common.own_metrics import Run
from benchmarks.common.published import Published
from benchmarks.common.text_tables import Cell, Row, render
from benchmarks.long_texts.claims import JudgedClaims, best_threshold, claim_figures, judge_claims, load_claims
from benchmarks.long_texts.planted import find_planted, planted_lines
from benchmarks.long_texts.summaries import load_summaries, summary_figures
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.support.judge import SENTENCES_READ, Judge, SupportOptions
from semantic_metrics.support.scoring import SupportScoring
from semantic_metrics.support.sentences import sentence_spans

TITLE = "WiCE dev, supported against not or partially supported, times 100 [95% bootstrap intervals over claims]"
SPEED_ARTICLES, SPEED_SENTENCES = 100, 3


@click.command()
@options.data("Folder of the data sets; without it only the planted errors are judged.")
@options.checkpoint("consensus, or any folder of a cross-encoder with labels for NLI")
@click.option(
    "--k",
    default=str(SENTENCES_READ),
    show_default=True,
    help="Sentences of the source to read, or all.",
)
@click.option("--planted-only", is_flag=True, help="Leave WiCE out.")
@click.option("--newts", is_flag=True, help="Also judge the summaries of NEWTS (some 8,000 pairs).")
@click.option("--speed", is_flag=True, help="Also time articles of NEWTS.")
@options.run
@options.seed
@options.resamples
def main(
    data: Path | None,
    checkpoint: str | None,
    k: str,
    planted_only: bool,
    newts: bool,
    speed: bool,
    run: Run,
    seed: int,
    resamples: int,
) -> None:
    """How well long texts are judged sentence by sentence."""
    try:
        support = SupportScoring.from_checkpoint(checkpoint)
        resolved = support.scorer.resolve(RunOptions(**run))
        chosen = SupportOptions(resolved, None if k == "all" else int(k))
        judge = support.judge(chosen)
        claims = None if data is None or planted_only else load_claims(data)
        summaries = load_summaries(data) if newts and data is not None else None
        articles = _articles(data) if speed and data is not None else None
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    options.progress("planted errors")
    click.echo("\n".join(planted_lines(find_planted(judge))))
    if claims is not None:
        options.progress("claims against articles")
        click.echo("\n" + claims_table(judge_claims(claims, judge), Bootstrap(seed, resamples)))
    if summaries is not None:
        options.progress("summaries of NEWTS")
        figures = summary_figures(summaries, support.judge(replace(chosen, coverage=True)), Bootstrap(seed, resamples))
        cells = [Row(name, [Cell(*figure)]) for name, figure in figures.items()]
        click.echo("\n" + render("NEWTS, AUC of summaries of the right topic, times 100", ["AUC"], cells))
    if articles is not None:
        click.echo("\n" + _time(judge, *articles))
    click.echo(f"\n{support.signature(**run)}, precision {resolved.precision}, backend {resolved.backend}, k {k}")


def claims_table(judged: JudgedClaims, drawing: Bootstrap) -> str:
    """The table of WiCE with published rows, the threshold, and how often the shown places hold the evidence."""
    labels, scores = judged.claims.labels, judged.scores
    figures = claim_figures(scores, labels, drawing).values()
    rows = [Row("support", [Cell(*figure) for figure in figures])]
    published = Published("long_texts")
    for name in published.metrics("WiCE"):
        value = published.get("WiCE", "test", name, "balanced_accuracy")
        rows.append(Row(f"{name} (published, test split)", [Cell(published=value), Cell()]))
    lines = [
        f"threshold on all {len(labels)} claims: {best_threshold(scores, labels):.3f}",
        f"at .5: balanced accuracy {100 * balanced_accuracy_score(labels, scores >= 0.5):.1f}",
        *(
            f"supported claims with a supporting sentence in the first {count} places: {100 * hits.mean():.1f}% of "
            f"{len(hits)} [{', '.join(f'{100 * end:.1f}' for end in _interval(hits, drawing))}]"
            for count, hits in judged.hits().items()
        ),
        f"pairs read {sum(one.read for one in judged.judged):,}, "
        f"truncated {sum(one.truncated for one in judged.judged)}",
        *(
            f"QAGS, a set that is not here, {dataset}: correlation of {name} with people, published: "
            f"{published.get('QAGS', dataset, name, 'pearson')}"
            for name in published.metrics("QAGS")
            for dataset in ("XSum", "CNN/DM")
        ),
    ]
    return render(TITLE, ["balanced accuracy", "AUC"], rows, lines)


def _interval(hits: np.ndarray, drawing: Bootstrap) -> tuple[float, float]:
    return drawing.intervals(lambda rows: {"rate": hits[rows].mean(axis=1)}, [len(hits)])["rate"]


def _articles(data: Path) -> tuple[list[str], list[str]]:
    """Articles and the first sentences of their summaries."""
    table = read_table(data / "newts/test.parquet").drop_duplicates("article").head(SPEED_ARTICLES)
    summaries = []
    for text in table["summary1"]:
        spans = sentence_spans(text)[:SPEED_SENTENCES]
        summaries.append(text[: spans[-1][1]])
    return summaries, table["article"].tolist()


def _time(judge: Judge, summaries: list[str], articles: list[str]) -> str:
    begin = time.perf_counter()
    judged = list(judge.judge(summaries, [[article] for article in articles]))
    seconds = time.perf_counter() - begin
    read = sum(one.read for one in judged)
    sentences = np.mean([len(sentence_spans(article)) for article in articles])
    return f"{len(articles)} articles of {sentences:.0f} sentences: {seconds:.1f} s, {read:,} pairs read"


if __name__ == "__main__":
    main()
