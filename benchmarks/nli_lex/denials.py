r"""A probe for assertion and mention: answers that name the reference to deny, correct or list it, and right ones.

    python -m benchmarks.nli_lex.denials [--checkpoint NAME] [--output FOLDER]

denials.csv has answers to questions written for this project (denial_questions.csv), in the forms of the part `probe`
of training/data/denial_forms.yaml: no model is trained on these forms, or on these questions. Each form gives an
incorrect answer ("Forget Leonardo, Michelangelo is what you want.") and a correct one in the same words, so half of the
answers are correct and chance is 50. An answer that leaves open which of several guesses is right is incorrect.

Judges: NLI+lex with the checkpoint's weights, its NLI model alone (entailment above 0.5), and token recall of the
reference above 0.5. --write makes denials.csv again from the forms and the questions.

Writes to --output: denials.csv (accuracy by kind) and denials_answers.csv (every answer with its scores).
"""

from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from benchmarks.common import options
from benchmarks.common.own_metrics import Run, run_lines
from benchmarks.nli_lex.judges import CORRECT_ABOVE, RECALL, token_recall
from benchmarks.nli_lex.nli_judges import NLI, NLI_LEX
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.features import RICH, extract, load_scorer
from semantic_metrics.nli_lex.weights import judge, read_weights

ANSWERS = Path(__file__).with_name("denials.csv")
QUESTIONS = Path(__file__).with_name("denial_questions.csv")
FORMS_PER_QUESTION = 4
ALL = "all"
LABELS = {"correct": 1, "incorrect": 0}
JUDGES = (NLI_LEX["rich"], NLI, RECALL)


def build_answers() -> pd.DataFrame:
    """The probe from its forms and questions: each question in the next FORMS_PER_QUESTION forms, wrong and right."""
    from training.data.denial_forms import AnsweredQuestion, question_type, read_forms  # needs the extra `train`

    forms, rows = read_forms("probe"), []
    table = pd.read_csv(QUESTIONS, dtype={"reference": str, "wrong": str, "other": str}, keep_default_na=False)
    for i, row in enumerate(table.itertuples()):
        texts = (row.reference, row.wrong, row.other)
        kind = question_type(row.question)
        asked = AnsweredQuestion(row.question, *texts, kind, bool(row.past), row.says, row.denies)
        for k in range(FORMS_PER_QUESTION):
            form = forms[(FORMS_PER_QUESTION * i + k) % len(forms)]
            for label in (0, 1):
                rows.append((row.question, row.reference, form.fill(asked, bool(label)), label, form.kind, form.name))
    return pd.DataFrame(rows, columns=["question", "reference", "candidate", "label", "kind", "form"])


def probe_answers() -> pd.DataFrame:
    """The probe, columns question, reference, candidate, label (1 correct, 0 incorrect), kind and form."""
    return pd.read_csv(ANSWERS, dtype={"reference": str, "candidate": str}, keep_default_na=False)


def score(scorer: PairScorer, answers: pd.DataFrame, **run_options: object) -> pd.DataFrame:
    """Add a column of scores in [0, 1] for each of JUDGES; NLI+lex is missing if the checkpoint has no weights for it.

    Args:
        scorer: an NLI model.
        answers: result of `probe_answers`.
        run_options: attributes of `RunOptions`.
    """
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


def accuracy_table(scored: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of each judge by kind and over all answers, times 100.

    Returns:
        Columns judge, kind, answers, accuracy, low, high (Wilson's 95% interval), correct, incorrect (accuracy on the
        answers with that label).
    """
    rows = []
    for name in (name for name in JUDGES if name in scored):
        right = (scored[name] > CORRECT_ABOVE) == (scored["label"] == 1)
        for kind in [*scored["kind"].unique(), ALL]:
            own = np.ones(len(scored), dtype=bool) if kind == ALL else (scored["kind"] == kind).to_numpy()
            interval = binomtest(int(right[own].sum()), int(own.sum())).proportion_ci(method="wilson")
            row = {"judge": name, "kind": kind, "answers": own.sum(), "accuracy": right[own].mean()}
            row |= {"low": interval.low, "high": interval.high}
            labels = {"correct": 1, "incorrect": 0}
            rows.append(
                row | {label: right[own & (scored["label"] == value)].mean() for label, value in labels.items()}
            )
    table = pd.DataFrame(rows)
    shares = ["accuracy", "low", "high", *LABELS]
    return table.assign(**{name: 100 * table[name] for name in shares})


def denial_checks(scorer: PairScorer, **run_options: object) -> pd.DataFrame:
    """Accuracy on the probe as rows of a benchmark's checks: columns set, figure, value (times 100)."""
    table = accuracy_table(score(scorer, probe_answers(), **run_options))
    rows = [(f"denials, {row.kind} ({row.answers} answers), {row.judge}", row.accuracy) for row in table.itertuples()]
    return pd.DataFrame([(title, "accuracy", value) for title, value in rows], columns=["set", "figure", "value"])


@click.command()
@options.checkpoint("nli_lex, an NLI model")
@options.run
@options.output("results/denials")
@click.option("--write", is_flag=True, help="Make denials.csv again, and stop.")
def main(checkpoint: str | None, run: Run, output: Path, write: bool) -> None:
    """Measure whether NLI+lex tells an answer that asserts the reference from one that only mentions it."""
    if write:
        build_answers().to_csv(ANSWERS, index=False, lineterminator="\n")
        return
    try:
        scored = score(load_scorer(checkpoint), probe_answers(), **run)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    table = accuracy_table(scored)
    output.mkdir(parents=True, exist_ok=True)
    scored.to_csv(output / "denials_answers.csv", index=False)
    table.to_csv(output / "denials.csv", index=False)
    click.echo("\n".join([table.to_string(index=False, float_format="%.1f"), *run_lines(run)]))


if __name__ == "__main__":
    main()
