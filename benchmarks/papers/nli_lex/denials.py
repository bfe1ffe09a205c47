r"""Two probes: answers that name the reference to deny, correct or list it, and answers with another number.

    python -m benchmarks denials [--checkpoint NAME] [--output FOLDER]

Both were written for this project, and half of their answers are correct. denials.csv has forms that no model is
trained on: each gives an incorrect answer ("Forget Leonardo, Michelangelo is what you want.") and a correct one in the
same words. In numbers.csv the reference is a year, a date, a count, an amount or an ordinal, and an answer has another
one, mostly near it, or the right one, also written otherwise. Rules on numbers in nli_lex tell most of these pairs
alone: the probe says how far the judge follows them, not how it does on all answers with numbers.

Judges: NLI+lex with the checkpoint's weights, its NLI model alone (entailment above 0.5), and token recall of the
reference above 0.5. Writes to --output: denials.csv and numbers.csv (accuracy by kind), denials_answers.csv and
numbers_answers.csv (every answer with its scores).
"""

from pathlib import Path

import click
import pandas as pd

from benchmarks.common import options
from benchmarks.common.own_metrics import Run, run_lines
from benchmarks.common.tables import markdown
from benchmarks.papers.nli_lex.judges import CORRECT_ABOVE, RECALL, token_recall
from benchmarks.papers.nli_lex.nli_checks import accuracy_table
from benchmarks.papers.nli_lex.nli_judges import NLI, NLI_LEX
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.features import RICH, extract, load_scorer
from semantic_metrics.nli_lex.weights import judge, read_weights

DENIALS, NUMBERS = "denials", "numbers"
TITLES = {DENIALS: "denials", NUMBERS: "changed numbers"}
JUDGES = (NLI_LEX["rich"], NLI, RECALL)
LABELS = {"correct": 1, "incorrect": 0}


def probe_answers(probe: str = DENIALS) -> pd.DataFrame:
    """A probe, columns question, reference, candidate, label (1 correct, 0 incorrect), kind and form."""
    path = Path(__file__).with_name(f"{probe}.csv")
    return pd.read_csv(path, dtype={"reference": str, "candidate": str}, keep_default_na=False)


def score(scorer: PairScorer, answers: pd.DataFrame, **run_options: object) -> pd.DataFrame:
    """Add a column of scores in [0, 1] for each of JUDGES; NLI+lex is missing where the checkpoint has no weights."""
    texts = (list(answers["question"]), list(answers["candidate"]), [[text] for text in answers["reference"]])
    run = RunOptions(**run_options)
    try:
        weights = read_weights(scorer.folder, "rich", scorer.checkpoint_sha256)
    except ValueError:
        features, columns = extract(scorer, *texts, features=("entailment",), run=run), {}
    else:
        features = extract(scorer, *texts, weights.template, weights.number_words, weights.features, run)
        columns = {NLI_LEX["rich"]: judge(weights, features).p}
    columns[NLI] = features.table[:, RICH.index("entailment")]
    columns[RECALL] = [token_recall(*pair) for pair in zip(answers["candidate"], answers["reference"], strict=True)]
    return answers.assign(**columns)


def judge_table(scored: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of each judge: columns judge, and those of `accuracy_table` with correct and incorrect."""
    names, kinds, labels = [name for name in JUDGES if name in scored], scored["kind"], scored["label"]
    right = {name: ((scored[name] > CORRECT_ABOVE) == (labels == 1)).to_numpy() for name in names}
    tables = {name: accuracy_table(right[name], kinds, labels, LABELS) for name in names}
    return (
        pd.concat(tables, names=["judge"]).reset_index(level=0).reset_index(drop=True).rename(columns={"n": "answers"})
    )


def denial_checks(scorer: PairScorer, **run_options: object) -> pd.DataFrame:
    """Accuracy on both probes as rows of a benchmark's checks: columns set, figure, value (times 100)."""
    rows = []
    for probe, title in TITLES.items():
        for row in judge_table(score(scorer, probe_answers(probe), **run_options)).itertuples():
            rows.append((f"{title}, {row.kind} ({row.answers} answers), {row.judge}", "accuracy", row.accuracy))
    return pd.DataFrame(rows, columns=["set", "figure", "value"])


@click.command()
@options.checkpoint("nli_lex, an NLI model")
@options.run
@options.output("results/denials")
def main(checkpoint: str | None, run: Run, output: Path) -> None:
    """Measure whether NLI+lex tells an answer that asserts the reference from one that mentions or changes it."""
    with options.invalid_input():
        scorer = load_scorer(checkpoint)
        scored = {probe: score(scorer, probe_answers(probe), **run) for probe in TITLES}
    output.mkdir(parents=True, exist_ok=True)
    for probe, title in TITLES.items():
        table = judge_table(scored[probe])
        scored[probe].to_csv(output / f"{probe}_answers.csv", index=False)
        table.to_csv(output / f"{probe}.csv", index=False)
        click.echo(f"{title}\n\n{markdown(table)}\n")
    click.echo("\n".join(run_lines(run)))
