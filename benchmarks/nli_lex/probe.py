r"""Probes for what lexical overlap hides: pairs that differ in one word, and pairs whose roles are exchanged.

    python -m benchmarks.nli_lex.probe [--checkpoint NAME] [--output FOLDER]

256 pairs written for this project after the idea of Glockner et al., ACL 2018 ("Breaking NLI systems with sentences
that require simple lexical inferences"): hypernyms against siblings, synonyms against antonyms, numbers, negations.
Each row of `probe.csv` gives one pair that is entailed and one that is contradicted. A model passes a pair if it gives
the right one of these two labels the higher logit; chance is 50.

The 135 items of `benchmarks/matcha/word_order.csv` are read as NLI pairs too: a paraphrase is entailed, and the same
words with exchanged roles are not. Most exchanges contradict, but not all, so they are judged in two ways: by which of
the two logits is higher, and by whether entailment is the highest of all.

Writes to --output: nli_probe.csv (accuracy by kind), nli_probe_pairs.csv (every pair with its logits), nli_roles.csv
(AUC of p_entailment - p_contradiction, and accuracy, by kind) and nli_roles_pairs.csv.
"""

from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.special import softmax
from scipy.stats import binomtest

from benchmarks.common import options
from benchmarks.common.data_files import read_table
from benchmarks.common.own_metrics import Run, run_lines
from benchmarks.matcha.separation import intervals
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import class_labels, nli_labels
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.features import load_scorer
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc, pairwise_accuracy

PAIRS = Path(__file__).with_name("probe.csv")
ROLES = Path(__file__).parents[1] / "matcha" / "word_order.csv"
ENTAILMENT, CONTRADICTION = "entailment", "contradiction"
CLASSES = (ENTAILMENT, "neutral", CONTRADICTION)
NLI_SETS = {"MultiNLI matched": "mnli/dev_matched.parquet", "SNLI dev": "snli/dev.parquet"}
ALL = "all"


def probe_pairs() -> pd.DataFrame:
    """The pairs, columns kind, premise, hypothesis and label; an entailed and a contradicted one alternate."""
    rows = []
    for row in pd.read_csv(PAIRS, keep_default_na=False).itertuples():
        premise = _sentence(row.template, row.base)
        for word, label in ((row.same, ENTAILMENT), (row.other, CONTRADICTION)):
            rows.append((row.kind, premise, _sentence(row.template, word), label))
    return pd.DataFrame(rows, columns=["kind", "premise", "hypothesis", "label"])


def role_pairs() -> pd.DataFrame:
    """The role swaps in the columns of `probe_pairs`; a paraphrase and its swap alternate."""
    rows = []
    for row in pd.read_csv(ROLES, keep_default_na=False).itertuples():
        rows += [
            (row.kind, row.reference, row.paraphrase, ENTAILMENT),
            (row.kind, row.reference, row.swap, CONTRADICTION),
        ]
    return pd.DataFrame(rows, columns=["kind", "premise", "hypothesis", "label"])


def _sentence(template: str, words: str) -> str:
    text = template.format(words)
    return text[0].upper() + text[1:]


def answer(scorer: PairScorer, pairs: pd.DataFrame, **run_options: object) -> pd.DataFrame:
    """Add the logits of both labels, and what follows from them.

    `passed`: whether the right one is the higher (a tie is wrong); `margin`: p_entailment - p_contradiction;
    `entailed`: whether entailment is the highest of all labels. In a model with two labels, entailment and not, the
    second counts as contradiction.

    Args:
        scorer: an NLI model.
        pairs: result of `probe_pairs`.
        run_options: attributes of `RunOptions`.
    """
    entailment, contradiction = nli_labels(scorer.labels)
    if contradiction is None:
        if len(class_labels(scorer.labels)) != 2:
            raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
        contradiction = 1 - entailment
    texts = list(zip(pairs["premise"], pairs["hypothesis"], strict=True))
    logits = scorer.logits(texts, RunOptions(**run_options)).values.astype(np.float64)
    lead = logits[:, entailment] - logits[:, contradiction]
    passed = np.where(pairs["label"] == ENTAILMENT, lead > 0, lead < 0)
    classes = class_labels(scorer.labels)
    probabilities = np.zeros_like(logits)
    probabilities[:, classes] = softmax(logits[:, classes], axis=1)
    return pairs.assign(
        entailment=logits[:, entailment],
        contradiction=logits[:, contradiction],
        passed=passed,
        margin=probabilities[:, entailment] - probabilities[:, contradiction],
        entailed=probabilities.argmax(axis=1) == entailment,
    )


def accuracy_table(answers: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by kind and over all pairs, times 100.

    Returns:
        Columns kind, pairs, accuracy, low, high (Wilson's 95% interval), entailment, contradiction (accuracy on the
        pairs of that label).
    """
    rows = []
    for kind in [*answers["kind"].unique(), ALL]:
        pairs = answers if kind == ALL else answers[answers["kind"] == kind]
        interval = binomtest(int(pairs["passed"].sum()), len(pairs)).proportion_ci(method="wilson")
        row = {"kind": kind, "pairs": len(pairs), "accuracy": pairs["passed"].mean()}
        row |= {"low": interval.low, "high": interval.high}
        row |= {label: pairs[pairs["label"] == label]["passed"].mean() for label in (ENTAILMENT, CONTRADICTION)}
        rows.append(row)
    table = pd.DataFrame(rows)
    shares = ["accuracy", "low", "high", ENTAILMENT, CONTRADICTION]
    return table.assign(**{name: 100 * table[name] for name in shares})


def role_table(answers: pd.DataFrame) -> pd.DataFrame:
    """How well the role swaps are told from the paraphrases, by kind and over all, times 100.

    Returns:
        Columns kind, items, auc (of the margin), low, high (its 95% bootstrap interval), pairwise (share of items whose
        paraphrase has the higher margin), accuracy (as in `accuracy_table`), entailed and swaps_not_entailed (share of
        the paraphrases whose highest label is entailment, and of the swaps whose highest label is another).
    """

    def statistic(correct: np.ndarray, incorrect: np.ndarray) -> Figures:
        return {"auc": auc(correct, incorrect)}

    rows = []
    for kind in [ALL, *answers["kind"].unique()]:
        pairs = answers if kind == ALL else answers[answers["kind"] == kind]
        kept, swapped = (pairs[pairs["label"] == label] for label in (ENTAILMENT, CONTRADICTION))
        margins = kept["margin"].to_numpy(), swapped["margin"].to_numpy()
        low, high = intervals(statistic, *margins, True, options.Bootstrap())["auc"]
        row = {"auc": float(auc(*margins)), "low": low, "high": high, "pairwise": float(pairwise_accuracy(*margins))}
        row |= {"accuracy": pairs["passed"].mean(), "entailed": kept["entailed"].mean()}
        row["swaps_not_entailed"] = 1 - swapped["entailed"].mean()
        rows.append({"kind": kind, "items": len(kept)} | {name: 100 * value for name, value in row.items()})
    return pd.DataFrame(rows)


def checks(scorer: PairScorer, data: Path | None, **run_options: object) -> pd.DataFrame:
    """Accuracy of an NLI model on the probe, and on two known NLI sets, before it judges any answer.

    Args:
        scorer: an NLI model.
        data: folder with `mnli/dev_matched.parquet` and `snli/dev.parquet`, measured if they exist and the model has
            all three labels; None for the probe alone.
        run_options: attributes of `RunOptions`.

    Returns:
        Columns set, figure, value (times 100).

    Raises:
        ValueError: a file is invalid, or the model has no label for contradiction.
    """
    probe = accuracy_table(answer(scorer, probe_pairs(), **run_options))
    rows = [(f"probe, {row.kind} ({row.pairs} pairs)", "accuracy", row.accuracy) for row in probe.itertuples()]
    classes = class_labels(scorer.labels)
    names = [scorer.labels[i].lower() for i in classes]
    for title, file in NLI_SETS.items():
        if data is None or not (data / file).is_file() or set(names) != set(CLASSES):
            continue
        frame = read_table(data / file)
        if missing := {"premise", "hypothesis", "label"} - set(frame.columns):
            raise ValueError(f"{file}: expected columns premise, hypothesis and label, missing {sorted(missing)}")
        frame = frame[frame["label"].isin(CLASSES)]  # the other pairs have no majority label
        texts = list(zip(frame["premise"], frame["hypothesis"], strict=True))
        predicted = scorer.logits(texts, RunOptions(**run_options)).values[:, classes].argmax(axis=1)
        right = np.array(names, dtype=object)[predicted] == frame["label"].to_numpy(dtype=object)
        rows.append((f"{title} ({len(frame)} pairs)", "accuracy", 100 * right.mean()))
    return pd.DataFrame(rows, columns=["set", "figure", "value"])


@click.command()
@options.checkpoint("nli_lex, an NLI model")
@options.run
@options.output("results/nli_probe")
def main(checkpoint: str | None, run: Run, output: Path) -> None:
    """Measure whether an NLI model tells contradictions from entailments where one word, or the order, decides."""
    try:
        scorer = load_scorer(checkpoint)
        answers, roles = (answer(scorer, pairs, **run) for pairs in (probe_pairs(), role_pairs()))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    tables = {"nli_probe": (answers, accuracy_table(answers)), "nli_roles": (roles, role_table(roles))}
    output.mkdir(parents=True, exist_ok=True)
    for name, (pairs, table) in tables.items():
        pairs.to_csv(output / f"{name}_pairs.csv", index=False)
        table.to_csv(output / f"{name}.csv", index=False)
    for title, name in (("One word exchanged", "nli_probe"), ("Roles exchanged", "nli_roles")):
        click.echo(f"{title}\n{tables[name][1].to_string(index=False, float_format='%.1f')}\n")
    for line in run_lines(run):
        click.echo(line)


if __name__ == "__main__":
    main()
