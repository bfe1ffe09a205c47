"""What an NLI model makes of pairs that differ in one word, and of two known sets, before it judges anything.

The 256 pairs of `one_word.csv` were written for this project after the idea of Glockner et al., ACL 2018 ("Breaking NLI
systems with sentences that require simple lexical inferences"): hypernyms against siblings, synonyms against antonyms,
numbers, negations. Each row gives one pair that is entailed and one that is contradicted. A model passes a pair if it
gives the right one of these two labels the higher logit; chance is 50.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax
from scipy.stats import binomtest

from benchmarks.common.tables import read_table
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import class_labels, nli_labels
from semantic_metrics.cross_encoder.pair_scorer import PairScorer

PAIRS = Path(__file__).with_name("one_word.csv")
ENTAILMENT, CONTRADICTION = "entailment", "contradiction"
CLASSES = (ENTAILMENT, "neutral", CONTRADICTION)
NLI_SETS = {"MultiNLI matched": "mnli/dev_matched.parquet", "SNLI dev": "snli/dev.parquet"}
ALL = "all"


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
        shares |= {name: right[own & (labels == label).to_numpy()].mean() for name, label in names.items()}
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
