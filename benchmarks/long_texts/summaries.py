"""NEWTS: summaries, or descriptions, of the topic of a reference summary, told from those of another topic.

Read from `matcha_eval/newts.parquet` with the columns reference, correct, reference_of_incorrect and incorrect, as the
MATCHA paper evaluates it. Most of the correct ones describe the topic and do not say what the reference says.
"""

from pathlib import Path

import numpy as np

from benchmarks.common.data_files import read_table
from benchmarks.common.options import Bootstrap
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc
from semantic_metrics.support.judge import Judge, result_of

FILE = "matcha_eval/newts.parquet"


def load_summaries(data: Path) -> dict[str, list[str]]:
    """The columns of the set.

    Raises:
        ValueError: the file is missing or cannot be read.
    """
    table = read_table(data / FILE)
    return {name: table[name].tolist() for name in ("reference", "correct", "reference_of_incorrect", "incorrect")}


def summary_figures(
    texts: dict[str, list[str]], judge: Judge, drawing: Bootstrap
) -> dict[str, tuple[float, float, float]]:
    """AUC of three scores, times 100, each with the ends of its interval.

    Args:
        texts: result of `load_summaries`.
        judge: a judge that measures coverage.
        drawing: how intervals are drawn.

    Returns:
        `support` of the summary by the reference, `coverage` of the reference, and their `mean`.
    """
    both = texts["correct"] + texts["incorrect"], texts["reference"] + texts["reference_of_incorrect"]
    result = result_of(judge, *both)
    scores = {"support": np.array(result["scores"]), "coverage": np.array(result["coverage"])}
    scores["mean"] = (scores["support"] + scores["coverage"]) / 2
    sizes = [len(texts["correct"]), len(texts["incorrect"])]

    def statistic(correct: np.ndarray, incorrect: np.ndarray) -> Figures:
        return {
            name: np.array(
                [100 * auc(values[a], values[sizes[0] + b]) for a, b in zip(correct, incorrect, strict=True)]
            )
            for name, values in scores.items()
        }

    whole, ends = statistic(*(np.arange(size)[None] for size in sizes)), drawing.intervals(statistic, sizes)
    return {name: (float(values[0]), *ends[name]) for name, values in whole.items()}
