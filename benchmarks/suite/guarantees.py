r"""What holds of every score, and by how much it is violated at worst, beside metrics that people use today.

    python -m benchmarks guarantees [--metric [ROW=]NAME[:CHECKPOINT]]... [--pairs 64]

Each metric scores pairs of texts that differ in one word (`nli_lex/one_word.csv`), a metric of questions the sample
answers. The largest violation of each property is printed, in the metric's own units:

* self: how far the score of a text with itself lies from the highest score;
* orders: how far the scores of a pair and of its reverse differ;
* rows reversed: how far a score changes when the rows of the call are reversed;
* alone: how far a score changes when its row is the only one of the call;
* again: how far a second, equal call differs;
* golden: how far scores differ from those recorded for the same signature (tests/golden/scores.json); blank where none
  are.

Writes to --output: guarantees.csv, and report.txt (what is printed).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from benchmarks.common import baselines, encoders, options
from benchmarks.common.encoders import NotMeasured, Score
from benchmarks.common.own_metrics import NO_OPTIONS, Run, load_own, run_lines
from benchmarks.common.tables import write_output
from benchmarks.papers.nli_lex.nli_checks import one_word_pairs
from semantic_metrics.core.contract import TextMetric, describe

ROOT = Path(__file__).parents[2]
ANSWERS = ROOT / "metrics" / "samples" / "answers.csv"
GOLDEN = ROOT / "tests" / "golden" / "scores.json"
GOLDEN_QUESTION = "What is true?"  # for a metric of questions
# each metric with each shipped checkpoint that it has
SHIPPED = ("consensus", "consensus:large", "matcha", "matcha:contextual", "nli_lex", "nli_lex:large")
SHIPPED += ("stsscore", "stsscore:large", "support", "support:large")
PAIRS = 64
ALONE = 16  # rows that are scored one by one as well
PROPERTIES = ("self", "orders", "rows reversed", "alone", "again")
SHOWN_EXACTLY = 1e-3  # smaller violations are rounding: their size says it


@dataclass(frozen=True)
class Subject:
    """What is measured: a function that gives n scores for n rows, its rows, and its highest score.

    Rows have the columns predictions, references and, for a metric of questions, questions. `golden` is the largest
    distance from recorded scores, None where none are recorded.
    """

    name: str
    score: Callable[[pd.DataFrame], np.ndarray]
    rows: pd.DataFrame
    top: float = 1.0
    golden: float | None = None


def sample_rows(pairs: int, questions: bool = False) -> pd.DataFrame:
    """Pairs of texts that differ in one word, every so many of the probe; or the sample answers to questions."""
    if questions:
        columns = {"answer": "predictions", "reference": "references", "question": "questions"}
        return pd.read_csv(ANSWERS, dtype=str).rename(columns=columns)[list(columns.values())].head(pairs)
    texts = one_word_pairs().rename(columns={"hypothesis": "predictions", "premise": "references"})
    chosen = np.linspace(0, len(texts) - 1, min(pairs, len(texts))).round().astype(int)
    return texts[["predictions", "references"]].iloc[chosen].reset_index(drop=True)


def own_metric(name: str, source: str, pairs: int, run: Run = NO_OPTIONS) -> Subject:
    """A metric of the package as `NAME` or `NAME:CHECKPOINT`."""
    (metric, arguments), description = load_own(source, run), describe(source.partition(":")[0])
    result, recorded = _golden(metric, arguments, description.takes_questions)
    golden = None if recorded is None else float(np.abs(np.subtract(recorded, result["scores"])).max())

    def score(rows: pd.DataFrame) -> np.ndarray:
        return np.array(metric.compute(**rows.to_dict("list"), **arguments)["scores"])

    return Subject(name, score, sample_rows(pairs, description.takes_questions), description.score_range[1], golden)


def golden_result(source: str) -> tuple[Mapping[str, Any], list[float] | None]:
    """What a metric, as `NAME` or `NAME:CHECKPOINT`, returns for the recorded pairs, and the scores recorded for it."""
    return _golden(*load_own(source), describe(source.partition(":")[0]).takes_questions)


def _golden(metric: TextMetric, arguments: Run, takes_questions: bool) -> tuple[Mapping[str, Any], list[float] | None]:
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))
    predictions, references = map(list, zip(*stored["pairs"], strict=True))
    asked = {"questions": [GOLDEN_QUESTION] * len(predictions)} if takes_questions else {}
    result = metric.compute(predictions=predictions, references=references, **asked, **arguments)
    return result, stored["scores"].get(result["signature"])


def peers(pairs: int, device: str | None) -> list[Subject]:
    """ROUGE-1, a cosine and BERTScore, whose scores go up to 1; the last two where their model is at hand."""
    model, rows = baselines.default_embsim(), sample_rows(pairs)

    def peer(name: str, score: Score) -> Subject:
        return Subject(name, lambda rows: np.asarray(score(*(list(rows[column]) for column in rows))), rows)

    chosen = [peer("ROUGE-1", baselines.rouge("rouge1"))]
    try:
        chosen.append(peer("cosine (all-MiniLM-L6-v2)", encoders.sentence_transformer(model, device)))
        chosen.append(peer("BERTScore (all-MiniLM-L6-v2)", baselines.bertscore(model, None, device)))
    except NotMeasured as error:
        click.echo(f"not measured: {error}", err=True)
    return chosen


def violations(subject: Subject) -> dict[str, float]:
    """The largest violation of each of PROPERTIES."""
    rows, scores = subject.rows, subject.score(subject.rows)
    texts = pd.concat([rows, rows.assign(predictions=rows["references"]), rows.assign(references=rows["predictions"])])
    own = texts[texts["predictions"] == texts["references"]].drop_duplicates()
    swapped = rows.assign(predictions=rows["references"], references=rows["predictions"])
    alone = [subject.score(rows.iloc[[i]])[0] for i in range(min(ALONE, len(rows)))]
    compared = {
        "self": (subject.score(own), subject.top),
        "orders": (subject.score(swapped), scores),
        "rows reversed": (subject.score(rows[::-1])[::-1], scores),
        "alone": (alone, scores[: len(alone)]),
        "again": (subject.score(rows), scores),
    }
    return {name: float(np.abs(np.subtract(*sides)).max()) for name, sides in compared.items()}


def measure(subjects: list[Subject]) -> pd.DataFrame:
    """A row for each subject: its name, number of pairs, and largest violations."""
    rows = [(subject.name, len(subject.rows), *violations(subject).values(), subject.golden) for subject in subjects]
    return pd.DataFrame(rows, columns=["metric", "n", *PROPERTIES, "golden"])


def _shown(value: float | None) -> str:
    if value is None or np.isnan(value):
        return ""
    if value == 0:
        return "0"
    return f"{value:.3f}" if value >= SHOWN_EXACTLY else f"{value:.0e}"


@click.command()
@click.option("--metric", multiple=True, help="[ROW=]NAME[:CHECKPOINT] of a metric, repeatable; default: all shipped.")
@click.option("--pairs", default=PAIRS, show_default=True, type=click.IntRange(1), help="Pairs to score.")
@options.run
@options.output("results/guarantees")
def main(metric: tuple[str, ...], pairs: int, run: Run, output: Path) -> None:
    """Measure what holds of every score."""
    with options.invalid_input():
        own = [own_metric(*options.named_source(source), pairs, run) for source in metric or SHIPPED]
        figures = measure([*own, *peers(pairs, run.get("device"))])
    shown = figures.drop(columns="n").set_index("metric").rename_axis(None).map(_shown)
    text = "\n".join([shown.to_string(col_space=15), *run_lines(run)])
    click.echo(write_output(output, text, guarantees=figures))
