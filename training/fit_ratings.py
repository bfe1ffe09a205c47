"""Fit the map from cosines to ratings that `compute(..., calibrated=True)` uses, and store it in a checkpoint.

    python -m training.fit_ratings --checkpoint runs/contextual/checkpoint --data DATA

Isotonic regression (scikit-learn) on STS-B's training pairs, with people's scores, and on the NLI pairs that
checkpoints are selected by (SNLI test, MultiNLI mismatched, LingNLI validation), where a contradiction is rated 0 and
an entailment 1.
Prints the concordance with STS-B's development split before and after.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression

from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.contextual import KIND
from semantic_metrics.matcha.scoring import Ratings
from semantic_metrics.matcha.table import cosine
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.separation import COSINE, to_unit
from training.data.run_arguments import add_run_arguments, make_parser, run_options

MAX_KNOTS = 33  # quantiles of all cosines, unweighted; with more, the map follows the noise of single pairs
NLI = tuple(f"nli_triplets/{name}.parquet" for name in ("snli_test", "mnli_dev_mismatched", "lingnli_val"))
STSB = ("stsb/train.parquet", "stsb/dev.parquet")
TOP_SCORE = 5.0  # highest rating of STS-B


def read_pairs(data: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs to fit on, and STS-B's development split; columns a, b and rating.

    The pairs to fit on also have a column weight, by which all graded pairs together count as much as all NLI pairs.
    """
    train, dev = (pd.read_parquet(data / path) for path in STSB)
    graded, development = (
        pd.DataFrame({"a": t.sentence1, "b": t.sentence2, "rating": t.score / TOP_SCORE}) for t in (train, dev)
    )
    parts = []
    for path in NLI:
        rows = pd.read_parquet(data / path)
        for column, rating in (("correct_answer", 1.0), ("incorrect_answer", 0.0)):
            parts.append(pd.DataFrame({"a": rows.premise, "b": rows[column], "rating": rating}))
    nli = pd.concat(parts)
    return pd.concat([graded.assign(weight=1.0), nli.assign(weight=len(graded) / len(nli))]), development


def fit_ratings(scores: np.ndarray, ratings: np.ndarray, weights: np.ndarray) -> Ratings:
    """The monotone map of weighted least squares, with at most MAX_KNOTS knots."""
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, ratings, weights)
    knots = np.unique(np.quantile(scores, np.linspace(0, 1, MAX_KNOTS)).round(6))
    return Ratings(tuple(knots.tolist()), tuple(fitted.predict(knots).round(6).tolist()))


def main() -> None:
    """Command line."""
    parser = make_parser(__doc__, output=None)
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="Checkpoint folder; its config.json is rewritten."
    )
    add_run_arguments(parser)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected --data or SEMANTIC_METRICS_DATA, got neither")
    try:
        run = run_options(arguments)
        encoder = load_checkpoint(f"{arguments.checkpoint.resolve()}/")
        run = encoder.resolve(run)
        pairs, development = read_pairs(arguments.data)
    except (OSError, ValueError) as error:
        parser.error(str(error))

    def score(rows: pd.DataFrame) -> np.ndarray:
        return cosine(*(encoder.encode(rows[name].tolist(), run).vectors for name in ("a", "b")))

    fitted = fit_ratings(score(pairs), pairs.rating.to_numpy(), pairs.weight.to_numpy())
    scores, people = score(development), development.rating.to_numpy()
    scaled = {"rescaled": to_unit(scores, COSINE), "unscaled": scores, "calibrated": fitted(scores)}
    figures = ", ".join(f"{name} {100 * concordance(values, people):.2f}" for name, values in scaled.items())
    sys.stdout.write(f"{len(pairs)} pairs; STS-B dev, CCC: {figures}\n")
    path = arguments.checkpoint / "config.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    (stored.get(KIND) or stored)["ratings"] = {"cosines": list(fitted.cosines), "ratings": list(fitted.ratings)}
    path.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
