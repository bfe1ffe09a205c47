r"""A probe for what lexical overlap hides: pairs that differ in one word, which decides between yes and no.

    python -m benchmarks.nli_lex.probe [--checkpoint NAME] [--output FOLDER]

256 pairs written for this project after the idea of Glockner et al., ACL 2018 ("Breaking NLI systems with sentences
that require simple lexical inferences"): hypernyms against siblings, synonyms against antonyms, numbers, negations.
Each row of `probe.csv` gives one pair that is entailed and one that is contradicted. A model passes a pair where
the logit of the right one of these two labels is the higher; chance is 50.

Writes to --output: nli_probe.csv (accuracy by kind) and nli_probe_pairs.csv (every pair with its logits).
"""

from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from benchmarks.matcha.sets import read_table
from semantic_metrics.cross_encoder.pair_scorer import PairScorer, RunOptions
from semantic_metrics.nli_lex.features import load_scorer, nli_labels

PAIRS = Path(__file__).with_name("probe.csv")
ENTAILMENT, CONTRADICTION = "entailment", "contradiction"
CLASSES = (ENTAILMENT, "neutral", CONTRADICTION)
NLI_SETS = {"MultiNLI matched": "mnli/dev_matched.parquet", "SNLI dev": "snli/dev.parquet"}
ALL = "all"


def probe_pairs() -> pd.DataFrame:
    """The pairs: columns kind, premise, hypothesis and label, an entailed one and a contradicted one in turn."""
    rows = []
    for row in pd.read_csv(PAIRS, keep_default_na=False).itertuples():
        premise = _sentence(row.template, row.base)
        for word, label in ((row.same, ENTAILMENT), (row.other, CONTRADICTION)):
            rows.append((row.kind, premise, _sentence(row.template, word), label))
    return pd.DataFrame(rows, columns=["kind", "premise", "hypothesis", "label"])


def _sentence(template: str, words: str) -> str:
    text = template.format(words)
    return text[0].upper() + text[1:]


def answer(scorer: PairScorer, pairs: pd.DataFrame, **options: object) -> pd.DataFrame:
    """Add the logits of both labels and whether the right one is the higher (a tie is wrong).

    Of a model with two labels, entailment and not, the second stands for a contradiction.

    Args:
        scorer: an NLI model.
        pairs: from `probe_pairs`.
        options: attributes of `RunOptions`.
    """
    entailment, contradiction = nli_labels(scorer.labels)
    if contradiction is None:
        if len(scorer.labels) != 2:
            raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
        contradiction = 1 - entailment
    texts = list(zip(pairs["premise"], pairs["hypothesis"], strict=True))
    logits = scorer.logits(texts, RunOptions(**options)).values.astype(np.float64)
    lead = logits[:, entailment] - logits[:, contradiction]
    passed = np.where(pairs["label"] == ENTAILMENT, lead > 0, lead < 0)
    return pairs.assign(entailment=logits[:, entailment], contradiction=logits[:, contradiction], passed=passed)


def accuracy_table(found: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by kind and of all pairs, times 100.

    Returns:
        Columns kind, pairs, accuracy, low, high (Wilson's 95% interval), entailment, contradiction (accuracy on the
        pairs of that label).
    """
    rows = []
    for kind in [*found["kind"].unique(), ALL]:
        held = found if kind == ALL else found[found["kind"] == kind]
        interval = binomtest(int(held["passed"].sum()), len(held)).proportion_ci(method="wilson")
        row = {"kind": kind, "pairs": len(held), "accuracy": held["passed"].mean()}
        row |= {"low": interval.low, "high": interval.high}
        row |= {label: held[held["label"] == label]["passed"].mean() for label in (ENTAILMENT, CONTRADICTION)}
        rows.append(row)
    table = pd.DataFrame(rows)
    shares = ["accuracy", "low", "high", ENTAILMENT, CONTRADICTION]
    return table.assign(**{name: 100 * table[name] for name in shares})


def checks(scorer: PairScorer, data: Path | None, **options: object) -> pd.DataFrame:
    """What an NLI model can do before any answer is judged: the probe, and accuracy on two known sets.

    Args:
        scorer: an NLI model.
        data: folder with `mnli/dev_matched.parquet` and `snli/dev.parquet`; those that are there are measured, where
            the model has all three labels. None for the probe alone.
        options: attributes of `RunOptions`.

    Returns:
        Columns set, figure, value (times 100).

    Raises:
        ValueError: a file is not what it should be, or the model has no label for contradiction.
    """
    probe = accuracy_table(answer(scorer, probe_pairs(), **options))
    rows = [(f"probe, {row.kind} ({row.pairs} pairs)", "accuracy", row.accuracy) for row in probe.itertuples()]
    names = [label.lower() for label in scorer.labels]
    for title, file in NLI_SETS.items():
        if data is None or not (data / file).is_file() or set(names) != set(CLASSES):
            continue
        frame = read_table(data / file)
        if missing := {"premise", "hypothesis", "label"} - set(frame.columns):
            raise ValueError(f"{file}: expected columns premise, hypothesis and label, missing {sorted(missing)}")
        frame = frame[frame["label"].isin(CLASSES)]  # others had no majority
        texts = list(zip(frame["premise"], frame["hypothesis"], strict=True))
        said = scorer.logits(texts, RunOptions(**options)).values.argmax(axis=1)
        right = np.array(names, dtype=object)[said] == frame["label"].to_numpy(dtype=object)
        rows.append((f"{title} ({len(frame)} pairs)", "accuracy", 100 * right.mean()))
    return pd.DataFrame(rows, columns=["set", "figure", "value"])


@click.command()
@click.option("--checkpoint", help="An NLI model: a folder or a Hub id; by default the shipped one.")
@click.option("--device", help="Where it runs, as cpu or cuda.")
@click.option("--output", default="results/nli_probe", show_default=True, type=click.Path(path_type=Path))
def main(checkpoint: str | None, device: str | None, output: Path) -> None:
    """Tell contradictions from entailments where one word decides."""
    try:
        found = answer(load_scorer(checkpoint), probe_pairs(), device=device)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    table = accuracy_table(found)
    output.mkdir(parents=True, exist_ok=True)
    found.to_csv(output / "nli_probe_pairs.csv", index=False)
    table.to_csv(output / "nli_probe.csv", index=False)
    click.echo(table.to_string(index=False, float_format="%.1f"))


if __name__ == "__main__":
    main()
