r"""Long texts judged sentence by sentence: claims against articles, planted errors, and speed.

    python -m benchmarks.long_texts --data FOLDER
        WiCE's development split: balanced accuracy by 5-fold cross-validation of the threshold, AUC, whether the shown
        place holds a supporting sentence; and the twenty summaries with a planted error
    python -m benchmarks.long_texts --data FOLDER --k all
        the same, reading every window; adds what fewer windows would have lost (some 25,000 pairs)
    python -m benchmarks.long_texts --planted-only
        only the twenty summaries, which need no data
    python -m benchmarks.long_texts --data FOLDER --newts
        also NEWTS: summaries of an article's topic and of another one, against a reference summary
    python -m benchmarks.long_texts --data FOLDER --speed --precision int8
        also the time for 100 articles of CNN and the Daily Mail (NEWTS) with summaries of three sentences

Thresholds and the size of windows were chosen on WiCE's development split. Published rows are of its test split.
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
from benchmarks.long_texts.claims import (
    JudgedClaims,
    best_threshold,
    claim_figures,
    judge_claims,
    load_claims,
    nearest_hits,
)
from benchmarks.long_texts.planted import find_planted, planted_lines
from benchmarks.long_texts.summaries import load_summaries, summary_figures
from semantic_metrics.consensus.parts import DEFAULT_CHECKPOINT
from semantic_metrics.core.checkpoint_files import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import ENTAILMENT
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.support.judge import NEAREST_WINDOWS, THRESHOLDS, Judge, SupportOptions
from semantic_metrics.support.sentences import sentence_spans

TITLE = "WiCE dev, supported against not or partially supported, times 100 [95% bootstrap intervals over claims]"
SPEED_ARTICLES, SPEED_SENTENCES = 100, 3


@click.command()
@options.data("Folder of the data sets; without it only the planted errors are judged.")
@options.checkpoint("consensus, or any folder of a cross-encoder with labels for NLI")
@click.option("--k", default=str(NEAREST_WINDOWS), show_default=True, help="Windows to read for each sentence, or all.")
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
        scorer = PairScorer(
            resolve_checkpoint(checkpoint, DEFAULT_CHECKPOINT, shipped_checkpoints(_has_nli), OTHER_WEIGHTS)
        )
        resolved = scorer.resolve(RunOptions(**run))
        chosen = SupportOptions(resolved, None if k == "all" else int(k))
        claims = None if data is None or planted_only else load_claims(data)
        summaries = load_summaries(data) if newts and data is not None else None
        articles = _articles(data) if speed and data is not None else None
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
    if summaries is not None:
        options.progress("summaries of NEWTS")
        figures = summary_figures(summaries, Judge(scorer, replace(chosen, coverage=True)), Bootstrap(seed, resamples))
        cells = [Row(name, [Cell(*figure)]) for name, figure in figures.items()]
        click.echo("\n" + render("NEWTS, AUC of summaries of the right topic, times 100", ["AUC"], cells))
    if articles is not None:
        click.echo("\n" + _time(Judge(scorer, replace(chosen, k=NEAREST_WINDOWS)), *articles))
    click.echo(f"\n{scorer.signature_fields()}, precision {resolved.precision}, backend {resolved.backend}, k {k}")


def _has_nli(config: dict) -> bool:
    return not ENTAILMENT.isdisjoint(str(label).lower() for label in config.get("id2label", {}).values())


def claims_table(judged: JudgedClaims, drawing: Bootstrap) -> str:
    """The table of WiCE with published rows, the threshold, and how often the shown places hold the evidence."""
    labels, rows, scores = judged.claims.labels, [], judged.scores()
    for name, values in scores.items():
        figures = claim_figures(values, labels, drawing).values()
        rows.append(Row(name, [Cell(*figure) for figure in figures]))
    published = Published("long_texts")
    for name in published.metrics("WiCE"):
        value = published.get("WiCE", "test", name, "balanced_accuracy")
        rows.append(Row(f"{name} (published, test split)", [Cell(published=value), Cell()]))
    first, values = next(iter(scores.items()))
    lines = [
        f"threshold of '{first}' on all {len(labels)} claims: {best_threshold(values, labels):.3f}",
        f"at the shipped threshold of {THRESHOLDS.support}: balanced accuracy "
        f"{100 * balanced_accuracy_score(labels, values >= THRESHOLDS.support):.1f}",
        *(
            f"supported claims with a supporting sentence in the first {count} places: {100 * hits.mean():.1f}% of "
            f"{len(hits)} [{', '.join(f'{100 * end:.1f}' for end in _interval(hits, drawing))}]"
            for count, hits in judged.hits().items()
        ),
        f"pairs read {sum(one.read for one in judged.judged):,}, left out {judged.windows_left_out:,}, "
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
