r"""What an NLI model, and the judge made of it, make of texts written for this project, and of two known sets.

    python -m benchmarks denials [--checkpoint NAME] [--output FOLDER]
        the answers of denials.csv, numbers.csv and yes_or_no.csv alone; `nli_lex` measures all of it

one_word.csv: 256 pairs after the idea of Glockner et al., ACL 2018 ("Breaking NLI systems with sentences that require
simple lexical inferences"): hypernyms against siblings, synonyms against antonyms, numbers, negations. Each row gives
one pair that is entailed and one that is contradicted. A model passes a pair if it gives the right one of these two
labels the higher logit; chance is 50.

denials.csv, numbers.csv, yes_or_no.csv: answers, half of them correct (60 of 160), judged by NLI+lex with the
checkpoint's weights, by its NLI model alone (feature `entailment` above 0.5), and by token recall of the reference
above 0.5. Those of denials.csv name the reference to deny, correct or list it, in forms that no model is trained on:
each gives an incorrect answer ("Forget Leonardo, Michelangelo is what you want.") and a correct one in the same words.
In numbers.csv the reference is a year, a date, a count, an amount or an ordinal, and an answer has another one, mostly
near it, or the right one, also written otherwise. Rules on numbers in nli_lex tell most of these pairs alone: the
probe says how far the judge follows them, not how it does on all answers with numbers. In yes_or_no.csv 120 answers
say yes or no in other words ("The water was ice cold." to "Is the pool heated?"), and 40 are about something else;
each has both as its reference in turn.

`denials` writes to --output, for each of the three: NAME.csv (accuracy by kind) and NAME_answers.csv (every answer with
its scores).
"""

from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.special import softmax
from scipy.stats import binomtest

from benchmarks.common import options
from benchmarks.common.own_metrics import Run, run_lines
from benchmarks.common.tables import markdown, read_table
from benchmarks.papers.nli_lex.judges import CORRECT_ABOVE, RECALL, token_recall
from benchmarks.papers.nli_lex.nli_judges import NLI, NLI_LEX
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import class_labels, nli_labels
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.features import RICH, extract, load_scorer
from semantic_metrics.nli_lex.weights import judge, read_weights

PAIRS = Path(__file__).with_name("one_word.csv")
ENTAILMENT, CONTRADICTION = "entailment", "contradiction"
CLASSES = (ENTAILMENT, "neutral", CONTRADICTION)
NLI_SETS = {"MultiNLI matched": "mnli/dev_matched.parquet", "SNLI dev": "snli/dev.parquet"}
ALL = "all"
DENIALS, NUMBERS, YES_OR_NO = "denials", "numbers", "yes_or_no"
TITLES = {DENIALS: "denials", NUMBERS: "changed numbers", YES_OR_NO: "yes or no in other words"}
JUDGES = (NLI_LEX["rich"], NLI, RECALL)
LABELS = {"correct": 1, "incorrect": 0}


def one_word_pairs() -> pd.DataFrame:
    """The pairs, columns kind, premise, hypothesis and label; an entailed and a contradicted one alternate."""
    rows = []
    for row in pd.read_csv(PAIRS, keep_default_na=False).itertuples():
        base, same, other = (_sentence(row.template, words) for words in (row.base, row.same, row.other))
        rows += [(row.kind, base, same, ENTAILMENT), (row.kind, base, other, CONTRADICTION)]
    return pd.DataFrame(rows, columns=["kind", "premise", "hypothesis", "label"])


def _sentence(template: str, words: str) -> str:
    return (text := template.format(words))[0].upper() + text[1:]


def answer(scorer: PairScorer, pairs: pd.DataFrame, **run_options: object) -> pd.DataFrame:
    """Add `passed`, whether the right one of both labels has the higher logit (a tie is wrong), and `margin`.

    `margin` is p_entailment - p_contradiction. In a model with two labels, entailment and not, the second counts as
    contradiction; a ValueError says that another has no label for it. `pairs` has the columns of `one_word_pairs`.
    """
    entailment, contradiction = nli_labels(scorer.labels)
    classes = class_labels(scorer.labels)
    if contradiction is None:
        if len(classes) != 2:
            raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
        contradiction = 1 - entailment
    texts = list(zip(pairs["premise"], pairs["hypothesis"], strict=True))
    logits = scorer.logits(texts, RunOptions(**run_options)).values.astype(np.float64)
    lead = logits[:, entailment] - logits[:, contradiction]
    probabilities = np.zeros_like(logits)
    probabilities[:, classes] = softmax(logits[:, classes], axis=1)
    passed = np.where(pairs["label"] == ENTAILMENT, lead > 0, lead < 0)
    return pairs.assign(passed=passed, margin=probabilities[:, entailment] - probabilities[:, contradiction])


def accuracy_table(right: np.ndarray, kinds: pd.Series, labels: pd.Series, names: Mapping[str, object]) -> pd.DataFrame:
    """Accuracy by kind and over all rows, times 100: columns kind, n, accuracy, low, high (Wilson's 95% interval).

    Takes (n,) whether a row is judged rightly, n kinds, n labels, and a label by the name of a further column, with the
    accuracy on its rows.
    """
    rows = []
    for kind in [*kinds.unique(), ALL]:
        own = np.ones(len(kinds), dtype=bool) if kind == ALL else (kinds == kind).to_numpy()
        interval = binomtest(int(right[own].sum()), int(own.sum())).proportion_ci(method="wilson")
        shares = {"accuracy": right[own].mean(), "low": interval.low, "high": interval.high}
        for name, label in names.items():
            judged = right[own & (labels == label).to_numpy()]
            shares[name] = judged.mean() if len(judged) else np.nan
        rows.append({"kind": kind, "n": int(own.sum())} | {name: 100 * share for name, share in shares.items()})
    return pd.DataFrame(rows)


def checks(scorer: PairScorer, data: Path | None, **run_options: object) -> pd.DataFrame:
    """Accuracy of an NLI model on the pairs, and on two known NLI sets: columns set, figure, value (times 100).

    The sets are measured if `data` has them and the model has all three labels.
    """
    answered = answer(scorer, one_word_pairs(), **run_options)
    table = accuracy_table(answered["passed"].to_numpy(), answered["kind"], answered["label"], {})
    rows = [(f"probe, {row.kind} ({row.n} pairs)", "accuracy", row.accuracy) for row in table.itertuples()]
    classes = class_labels(scorer.labels)
    names = [scorer.labels[i].lower() for i in classes]
    for title, file in NLI_SETS.items():
        if data is None or not (data / file).is_file() or set(names) != set(CLASSES):
            continue
        frame = read_table(data / file, "premise", "hypothesis", "label")
        frame = frame[frame["label"].isin(CLASSES)]  # the other pairs have no majority label
        texts = list(zip(frame["premise"], frame["hypothesis"], strict=True))
        predicted = scorer.logits(texts, RunOptions(**run_options)).values[:, classes].argmax(axis=1)
        right = np.array(names, dtype=object)[predicted] == frame["label"].to_numpy(dtype=object)
        rows.append((f"{title} ({len(frame)} pairs)", "accuracy", 100 * right.mean()))
    return pd.DataFrame(rows, columns=["set", "figure", "value"])


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
    """Accuracy on the probes as rows of a benchmark's checks: columns set, figure, value (times 100)."""
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
