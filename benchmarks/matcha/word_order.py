r"""Does a metric see who did what to whom? Swapped roles against paraphrases that keep them, and PAWS.

    python -m benchmarks.matcha.word_order [--checkpoint [NAME=]CHECKPOINT]... [--data DATA]

Each item of `word_order.csv`, which was written for this project, has a reference, a paraphrase of it, and the
paraphrase's own words in an order that reverses the roles. A metric for which a text is a bag of tokens gives both the
same score: AUC 50, every pair a tie. With --data also `paws_wiki/dev.parquet` (Zhang et al., NAACL 2019), whose pairs
share most of their words: AUC of the paraphrases against the others.

Writes to --output: word_order.csv (figures, for all items and by kind), word_order_items.csv (every item's scores) and
report.txt (what is printed). Higher is better; figures are times 100.
"""

from pathlib import Path

import click
import numpy as np
import pandas as pd

from benchmarks.common import options
from benchmarks.common.baselines import Metric, matcha
from benchmarks.common.data_files import read_table
from benchmarks.common.encoders import NotMeasured, sentence_transformer
from benchmarks.common.own_metrics import NO_OPTIONS, Run, run_lines
from benchmarks.matcha.separation import intervals
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc, pairwise_accuracy

ITEMS = Path(__file__).with_name("word_order.csv")
PAWS = "paws_wiki/dev.parquet"
ALL, PAWS_KIND = "all", "PAWS"
TEXTS = ("reference", "paraphrase", "swap")
FIGURES = ["auc", "low", "high", "pairwise", "ties"]
_LABELS = {"auc": "AUC", "pairwise": "pairwise accuracy", "ties": "ties"}


def probe_items() -> pd.DataFrame:
    """The items: columns kind, reference, paraphrase and swap."""
    return pd.read_csv(ITEMS, keep_default_na=False)


def paws_pairs(data: Path) -> pd.DataFrame:
    """PAWS-Wiki's development split: columns sentence1, sentence2 and label (1: a paraphrase).

    Raises:
        ValueError: no such file, or one that lacks a column or a label.
    """
    path = data / PAWS
    if not path.is_file():
        raise ValueError(f"--data: expected {PAWS} below it, got no file {path}")
    frame = read_table(path)
    missing = {"sentence1", "sentence2", "label"} - set(frame.columns)
    if missing or set(frame["label"]) != {0, 1}:
        columns = ", ".join(frame.columns)
        raise ValueError(f"{path}: expected columns sentence1, sentence2 and label (0 and 1), got {columns}")
    return frame


def measure(metrics: list[Metric], items: pd.DataFrame, paws: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the items, and PAWS where it is given.

    Returns:
        The figures: columns metric, kind (of the items, ALL, or PAWS_KIND), n, auc, low and high (its 95% bootstrap
        interval), pairwise (share of items whose paraphrase is above the swap) and ties, times 100; and the items'
        scores: columns metric, kind, TEXTS, paraphrase_score and swap_score.

    Raises:
        NotMeasured: a metric does not load.
    """
    rows, scored = [], []
    loaded = [(metric, metric.load()) for metric in metrics]  # before anything is scored: a mistyped name costs nothing
    for metric, score in loaded:
        both = score([*items["paraphrase"], *items["swap"]], [*items["reference"], *items["reference"]])
        scores = items.assign(paraphrase_score=both[: len(items)], swap_score=both[len(items) :])
        for kind in [ALL, *items["kind"].unique()]:
            chosen = scores[scores["kind"].eq(kind) | (kind == ALL)]
            rows.append({"metric": metric.name, "kind": kind, **_item_figures(chosen)})
        if paws is not None:
            cosines = score(list(paws["sentence2"]), list(paws["sentence1"]))
            same = paws["label"].to_numpy() == 1
            figures = _auc(cosines[same], cosines[~same], paired=False)
            rows.append({"metric": metric.name, "kind": PAWS_KIND, "n": len(paws), **figures})
        scored.append(scores.assign(metric=metric.name))
    return pd.DataFrame(rows, columns=["metric", "kind", "n", *FIGURES]), pd.concat(scored, ignore_index=True)


def _item_figures(scores: pd.DataFrame) -> dict[str, float]:
    paraphrase, swap = scores["paraphrase_score"].to_numpy(), scores["swap_score"].to_numpy()
    figures = _auc(paraphrase, swap, paired=True)
    figures["pairwise"] = 100 * float(pairwise_accuracy(paraphrase, swap))
    return {"n": len(scores), **figures, "ties": 100 * float(np.mean(paraphrase == swap))}


def _auc(correct: np.ndarray, incorrect: np.ndarray, paired: bool) -> dict[str, float]:
    def statistic(first: np.ndarray, second: np.ndarray) -> Figures:
        return {"auc": auc(first, second)}

    low, high = intervals(statistic, correct, incorrect, paired, options.Bootstrap())["auc"]
    return {"auc": 100 * float(auc(correct, incorrect)), "low": 100 * low, "high": 100 * high}


def report(figures: pd.DataFrame) -> str:
    """The figures as text: all items and PAWS, then AUC by kind."""
    whole = figures[figures["kind"].isin((ALL, PAWS_KIND))].replace({"kind": {ALL: "role swaps"}})
    kinds = figures[~figures["kind"].isin((ALL, PAWS_KIND))]
    by_kind = kinds.pivot(index="metric", columns="kind", values="auc")
    by_kind = by_kind.loc[kinds["metric"].unique(), kinds["kind"].unique()].rename_axis(columns=None).reset_index()
    whole = whole.rename(columns={"kind": "set", **_LABELS})
    texts = [table.to_string(index=False, float_format="%.1f", na_rep="-") for table in (whole, by_kind)]
    return f"{texts[0]}\n\nAUC by kind of swap\n{texts[1]}"


def choose_metrics(checkpoints: tuple[str, ...], embsim: str, run: Run = NO_OPTIONS) -> list[Metric]:
    """EmbSim and the MATCHA checkpoints (`NAME=CHECKPOINT`, or named by the last part of the path), or the shipped one.

    Raises:
        ValueError: two have the same name.
    """
    named = [(f"MATCHA ({name})", source) for name, source in map(options.named_source, checkpoints)]
    metrics = [Metric("EmbSim", lambda: sentence_transformer(embsim, run.get("device")), published="EmbSim")]
    metrics += [matcha(source, name, run=run) for name, source in named or [("MATCHA", None)]]
    options.check_distinct([metric.name for metric in metrics])
    return metrics


@click.command()
@options.checkpoints("MATCHA")
@options.embsim()
@options.data(f"Folder that contains {PAWS}.")
@options.run
@options.output("results/word_order")
def main(checkpoint: tuple[str, ...], embsim: str, data: Path | None, run: Run, output: Path) -> None:
    """Tell swapped roles from paraphrases."""
    try:
        paws = None if data is None else paws_pairs(data)
        figures, items = measure(choose_metrics(checkpoint, embsim, run), probe_items(), paws)
    except (ValueError, NotMeasured) as error:
        raise click.UsageError(str(error)) from None
    output.mkdir(parents=True, exist_ok=True)
    figures.to_csv(output / "word_order.csv", index=False)
    items.to_csv(output / "word_order_items.csv", index=False)
    text = "\n".join([report(figures), *run_lines(run)])
    (output / "report.txt").write_text(text + "\n", encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()
