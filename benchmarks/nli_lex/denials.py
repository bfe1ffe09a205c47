r"""Two probes: answers that name the reference to deny, correct or list it, and answers with another number.

    python -m benchmarks.nli_lex.denials [--checkpoint NAME] [--output FOLDER]

denials.csv has answers to questions written for this project (denial_questions.csv), in the forms of the part `probe`
of training/data/denial_forms.yaml: no model is trained on these forms, or on these questions. Each form gives an
incorrect answer ("Forget Leonardo, Michelangelo is what you want.") and a correct one in the same words, so half of the
answers are correct and chance is 50. An answer that leaves open which of several guesses is right is incorrect.

numbers.csv has answers to other such questions (number_questions.csv), whose reference is a year, a date, a count, an
amount or an ordinal: half of them have another number, most of them near it ("1911" for "1912"), half the right one,
also written otherwise ("nineteen twelve") or, where it is long, rounded. An answer is the number alone, the number in a
form of the part `probe`, or a sentence with other numbers. A rule of nli_lex (`number_conflict`) was written with such
answers in mind, and tells most of these pairs alone: the probe says how far the judge follows it, not how it does on
all answers with numbers.

Judges: NLI+lex with the checkpoint's weights, its NLI model alone (entailment above 0.5), and token recall of the
reference above 0.5. --write makes both files again from the forms and the questions.

Writes to --output: denials.csv and numbers.csv (accuracy by kind), denials_answers.csv and numbers_answers.csv (every
answer with its scores).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    from training.data.denial_forms import Form

FOLDER = Path(__file__).parent
DENIALS, NUMBERS = "denials", "numbers"
TITLES = {DENIALS: "denials", NUMBERS: "changed numbers"}
QUESTIONS = {DENIALS: FOLDER / "denial_questions.csv", NUMBERS: FOLDER / "number_questions.csv"}
FORMS_PER_QUESTION = 4
SENTENCE = "sentence"  # the kind of questions whose answers have other numbers besides
ALL = "all"
LABELS = {"correct": 1, "incorrect": 0}
JUDGES = (NLI_LEX["rich"], NLI, RECALL)


def build_answers(probe: str = DENIALS) -> pd.DataFrame:
    """A probe from its forms and questions: each question answered wrongly and rightly in the same forms."""
    from training.data.denial_forms import NUMBER, read_forms  # needs the extra `train`

    forms = [form for form in read_forms("probe") if (form.kind == NUMBER) == (probe == NUMBERS)]
    texts = {"reference": str, "also": str, "wrong": str, "other": str}
    questions = pd.read_csv(QUESTIONS[probe], dtype=texts, keep_default_na=False)
    answers = _denial_answers if probe == DENIALS else _number_answers
    rows = [row for i, question in enumerate(questions.itertuples()) for row in answers(i, question, forms)]
    return pd.DataFrame(rows, columns=["question", "reference", "candidate", "label", "kind", "form"])


def _denial_answers(i: int, row: NamedTuple, forms: list["Form"]) -> Iterator[tuple]:
    """The answers to a question in the next FORMS_PER_QUESTION forms."""
    says = {"says": row.says, "denies": row.denies}
    for k in range(FORMS_PER_QUESTION):
        form = forms[(FORMS_PER_QUESTION * i + k) % len(forms)]
        for label, text in enumerate(_fill(form, row, (row.reference, row.wrong, row.other), **says)):
            yield row.question, row.reference, text, label, form.kind, form.name


def _number_answers(i: int, row: NamedTuple, forms: list["Form"]) -> Iterator[tuple]:
    """The answers to a question: one pair in a form, one of the answer alone; sentences are always alone.

    The first pair has the reference and `other`, the second `also`, which is the same number, and `wrong`.
    """
    form = forms[i % len(forms)]
    alone = form.alone()
    first, second = (alone, form) if i % 2 and row.kind != SENTENCE else (form, alone)
    for own, right, wrong in ((first, row.reference, row.other), (second, row.also, row.wrong)):
        for label, text in enumerate(_fill(own, row, (right, wrong, ""))):
            yield row.question, row.reference, text, label, row.kind, own.name


def _fill(form: "Form", row: NamedTuple, answers: tuple[str, str, str], **statements: str) -> tuple[str, str]:
    """The incorrect and the correct answer to a question in a form, given the right answer and two wrong ones."""
    from training.data.denial_forms import AnsweredQuestion, question_type

    asked = AnsweredQuestion(row.question, *answers, question_type(row.question), bool(row.past), **statements)
    return form.fill(asked, correct=False), form.fill(asked, correct=True)


def probe_answers(probe: str = DENIALS) -> pd.DataFrame:
    """A probe, columns question, reference, candidate, label (1 correct, 0 incorrect), kind and form."""
    return pd.read_csv(_file(probe), dtype={"reference": str, "candidate": str}, keep_default_na=False)


def _file(probe: str) -> Path:
    return FOLDER / f"{probe}.csv"


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
    """Accuracy on both probes as rows of a benchmark's checks: columns set, figure, value (times 100)."""
    rows = []
    for probe, title in TITLES.items():
        table = accuracy_table(score(scorer, probe_answers(probe), **run_options))
        for row in table.itertuples():
            rows.append((f"{title}, {row.kind} ({row.answers} answers), {row.judge}", row.accuracy))
    return pd.DataFrame([(title, "accuracy", value) for title, value in rows], columns=["set", "figure", "value"])


@click.command()
@options.checkpoint("nli_lex, an NLI model")
@options.run
@options.output("results/denials")
@click.option("--write", is_flag=True, help="Make denials.csv and numbers.csv again, and stop.")
def main(checkpoint: str | None, run: Run, output: Path, write: bool) -> None:
    """Measure whether NLI+lex tells an answer that asserts the reference from one that mentions or changes it."""
    if write:
        for probe in TITLES:
            build_answers(probe).to_csv(_file(probe), index=False, lineterminator="\n")
        return
    try:
        scorer = load_scorer(checkpoint)
        scored = {probe: score(scorer, probe_answers(probe), **run) for probe in TITLES}
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    output.mkdir(parents=True, exist_ok=True)
    for probe, title in TITLES.items():
        table = accuracy_table(scored[probe])
        scored[probe].to_csv(output / f"{probe}_answers.csv", index=False)
        table.to_csv(output / f"{probe}.csv", index=False)
        click.echo(f"{title}\n{table.to_string(index=False, float_format='%.1f')}\n")
    click.echo("\n".join(run_lines(run)))


if __name__ == "__main__":
    main()
