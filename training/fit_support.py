"""Fit the decision of `support` for a checkpoint, and store it there as support.json.

    python -m training.fit_support --data DATA --config pairs --backend openvino

Two logistic regressions: whether a source supports a claim, and whether it contradicts one that it does not support.
The first is fitted on sets that train no checkpoint, the second also on sets with refuted claims, which train some.
Three were written for this project (data/written_claims.json): sentences of summaries and of answers, half of them
wrong as those of language models are, and sentences whose right ones say in other words what follows from a source.
Each set counts the same, and so do its two classes, so that .5 means even. Prints, by 5-fold cross-validation with no
source in two folds, the balanced accuracy at .5 of each set, the share of each class that is judged rightly, and the
AUC; a text is as good as its lowest claim. Beside it stands the AUC of the NLI model alone, as SummaC-ZS takes it: the
highest entailment by a single sentence.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.metrics import recall_score, roc_auc_score

from semantic_metrics.stats.binary import folds_by_group
from semantic_metrics.support.decision import (
    CHECKPOINT_DIGITS,
    CONTRADICTED,
    FEATURES,
    NOT_FOUND,
    SUPPORTED,
    Decision,
    Logistic,
)
from semantic_metrics.support.judge import Reader, SupportOptions
from semantic_metrics.support.scoring import load_scorer, load_table
from training.data.run_arguments import add_run_arguments, make_parser, run_options
from training.data.sources import Table

UNSUPPORTED = "unsupported"  # contradicted or not found: the set does not say which
WICE, SHROOM = "wice", "shroom"
FOLDS = 5
PENALTY = 0.02  # of the squared coefficients of standardised features, beside the mean loss
MAX_AGREED = 1 / 3  # of raters who call a text a hallucination for it to be supported; as many for the opposite
ANY, POSITIVE, NEGATIVE, NONE = (None, None), (0, None), (None, 0), (0, 0)
Bounds = tuple[float | None, float | None]  # of a coefficient
OF_SUPPORT = {name: POSITIVE for name in FEATURES}
OF_SUPPORT |= {"short_contradiction": NEGATIVE, "long_lacks_number": NEGATIVE, "long": ANY}
OF_SUPPORT |= {"contradiction": NONE, "contradiction_of_nearest": NONE}
# sets with contradictions have other claims than those without: what tells the sets apart may not count
OF_CONTRADICTION = {name: POSITIVE if name.startswith("contradiction") else NONE for name in FEATURES}
WRITTEN = Path(__file__).parent / "data" / "written_claims.json"


@dataclass(frozen=True)
class ClaimSet:
    """A set of claims with sources.

    `label` and `verdicts` say which of SUPPORTED, CONTRADICTED, NOT_FOUND and UNSUPPORTED a row is, if any; `where` is
    that of `Table`; `unseen` says whether the set trains no checkpoint.
    """

    path: str
    label: str
    verdicts: dict[object, str]
    claim: str = "hypothesis"
    source: str = "premise"
    where: dict[str, list] = field(default_factory=dict)
    unseen: bool = True

    @property
    def name(self) -> str:
        """The set's folder."""
        return self.path.partition("/")[0]

    def read(self, data: Path, rows: int) -> pd.DataFrame:
        """At most `rows` rows, all of WiCE, with the columns claim, source and verdict. Raises ValueError: no file."""
        table = Table(self.path, where=self.where).read(data)
        labels = _ratings(table) if self.name == SHROOM else table[self.label]
        sources = table[self.source].map(lambda value: value if isinstance(value, str) else "\n".join(value))
        chosen = pd.DataFrame({"claim": table[self.claim], "source": sources, "verdict": labels.map(self.verdicts)})
        chosen = chosen.dropna(subset=["verdict"]).drop_duplicates(["claim", "source"])
        count = len(chosen) if self.name == WICE else min(rows, len(chosen))
        return chosen.sample(count, random_state=0).reset_index(drop=True)


def _ratings(table: pd.DataFrame) -> pd.Series:
    """0 and 1 where most raters of SHROOM agree, else 0.5; definitions are left out, as they are no claims."""
    share = table["p_hallucination"]
    agreed = pd.Series(np.select([share <= MAX_AGREED, share >= 1 - MAX_AGREED], [0, 1], 0.5), index=table.index)
    return agreed.where(table["task"] != "DM")


EITHER = {1: SUPPORTED, 0: UNSUPPORTED}
SUPPORTS = {"SUPPORTS": SUPPORTED, "REFUTES": CONTRADICTED}
IN_PART = {"supported": SUPPORTED, "partially_supported": NOT_FOUND, "not_supported": NOT_FOUND}
FULLY = {"Fully attributable": SUPPORTED, "Not fully attributable": UNSUPPORTED}
CLASSES = {"entailment": SUPPORTED, "neutral": NOT_FOUND, "contradiction": CONTRADICTED}
REFUTED = {"SUPPORTED": SUPPORTED, "REFUTED": UNSUPPORTED}
RATERS = {0: SUPPORTED, 1: UNSUPPORTED}
STANCES = {"completely-support": SUPPORTED, "refute": CONTRADICTED, "irrelevant": NOT_FOUND}
SETS = (
    ClaimSet(f"{WICE}/claim_documents_dev.parquet", "label", IN_PART, "claim", "evidence"),
    ClaimSet("attributionbench/dev.parquet", "label", EITHER, "claim", "evidence"),
    ClaimSet("begin/all.parquet", "begin_label", FULLY, "response", "knowledge"),
    ClaimSet("healthver/dev.parquet", "label", CLASSES),
    ClaimSet("covidfact/all.parquet", "label", REFUTED),
    ClaimSet(f"{SHROOM}/dev.parquet", "p_hallucination", RATERS, "candidate", "compare_to"),
    ClaimSet("nli_new_protocols/val.parquet", "label", CLASSES, where={"protocol": ["paragraph"]}),
    ClaimSet("factcheck_gpt/stance.parquet", "stance", STANCES, unseen=False),
    ClaimSet("fool_me_twice/dev.parquet", "label", SUPPORTS, unseen=False),
    ClaimSet("fever_symmetric/dev_v0.2.parquet", "fever_label", SUPPORTS, unseen=False),
)


def written_claims() -> list[pd.DataFrame]:
    """The sets that were written for this project, as `ClaimSet.read` gives them, with the columns of `read_claims`."""
    sets = json.loads(WRITTEN.read_text(encoding="utf-8"))
    tables = []
    for name, texts in sets.items():
        rows = [(claim, one["source"], verdict) for one in texts for claim, verdict in one["sentences"]]
        table = pd.DataFrame(rows, columns=["claim", "source", "verdict"])
        tables.append(table.assign(set=name, seen=False))
    return tables


@dataclass(frozen=True)
class Claims:
    """The claims of all sets: what the decision reads of each, and the text, `rows`, that it belongs to.

    `plain` is the highest entailment by a single sentence. The others are of the texts: name of the set, source,
    verdict, and whether the set trains a checkpoint.
    """

    features: np.ndarray
    plain: np.ndarray
    rows: np.ndarray
    sets: np.ndarray
    sources: np.ndarray
    verdicts: np.ndarray
    seen: np.ndarray

    def fit(self, kept: np.ndarray) -> Decision:
        """The decision fitted on texts, given by their indices.

        Of a text with several claims that is not supported nobody knows which one is wrong: it is left out.
        """
        alone = np.bincount(self.rows, minlength=len(self.sets)) == 1
        fitted = np.isin(np.arange(len(self.sets)), kept)
        supported = self.verdicts == SUPPORTED
        of_support = fitted & ~self.seen & (supported | alone)
        of_contradiction = fitted & alone & np.isin(self.verdicts, (CONTRADICTED, NOT_FOUND))
        return Decision(
            self._logistic(of_support, supported, OF_SUPPORT),
            self._logistic(of_contradiction, self.verdicts == CONTRADICTED, OF_CONTRADICTION),
        )

    def _logistic(self, chosen: np.ndarray, positive: np.ndarray, bounds: dict[str, Bounds]) -> Logistic:
        """A regression on the claims of chosen texts; each set and each class of it counts the same."""
        claims = chosen[self.rows]
        rows, labels = self.rows[claims], positive[self.rows[claims]]
        groups = pd.Series([f"{name} {label}" for name, label in zip(self.sets[rows], labels, strict=True)])
        weights = 1 / groups.map(groups.value_counts()).to_numpy()
        for value in (False, True):  # some sets have one class alone
            weights[labels == value] /= 2 * weights[labels == value].sum()
        return fit_logistic(self.features[claims], labels, weights, list(bounds.values()))

    def cross_validate(self) -> np.ndarray:
        """(texts,) the lowest support of each text's claims, by decisions that were fitted without its fold."""
        lowest = np.full(len(self.sets), np.inf)
        for kept, left in folds_by_group(self.verdicts == SUPPORTED, self.sources.tolist(), FOLDS, 0):
            claims = np.isin(self.rows, left)
            np.minimum.at(lowest, self.rows[claims], self.fit(kept).judge(self.features[claims])[:, 0])
        return lowest


def fit_logistic(features: np.ndarray, labels: np.ndarray, weights: np.ndarray, bounds: list[Bounds]) -> Logistic:
    """A logistic regression on (n, d) features, whose d coefficients have bounds; the (n,) weights are of sum 1."""
    means = weights @ features
    deviations = np.sqrt(weights @ (features - means) ** 2)
    deviations[deviations < 1e-9] = 1.0
    scaled, target = (features - means) / deviations, np.where(labels, 1.0, -1.0)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        margins = target * (values[0] + scaled @ values[1:])
        slopes = -weights * target / (1 + np.exp(np.clip(margins, -500, 500)))
        penalty = PENALTY * values[1:] @ values[1:]
        gradient = np.concatenate([[slopes.sum()], slopes @ scaled + 2 * PENALTY * values[1:]])
        return float(weights @ np.logaddexp(0, -margins) + penalty), gradient

    start = np.zeros(1 + features.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[ANY, *bounds]).x
    coefficients = found[1:] / deviations
    return Logistic(float(found[0] - means @ coefficients), tuple(coefficients.tolist()))


def read_claims(reader: Reader, data: Path, rows: int) -> Claims:
    """Let the model read at most `rows` texts of each set. Raises ValueError: a file of the data is missing."""
    tables = [one.read(data, rows).assign(set=one.name, seen=not one.unseen) for one in SETS]
    table = pd.concat([*tables, *written_claims()], ignore_index=True)
    features, owners, plain = [], [], []
    readings = reader.readings(table["claim"].tolist(), [[source] for source in table["source"]])
    for row, (_, found, _) in enumerate(readings):
        features += [one.features() for one in found]
        plain += [one.probabilities[one.singles, 0].max() for one in found]
        owners += [row] * len(found)
    kept = np.unique(owners)  # texts without a claim, such as a lone question, have none
    renumbered = np.searchsorted(kept, owners)
    columns = (table.loc[kept, name].to_numpy() for name in ("set", "source", "verdict", "seen"))
    return Claims(np.array(features), np.array(plain), renumbered, *columns)


def report(claims: Claims) -> None:
    """Print how well each set is judged."""
    lowest = claims.cross_validate()
    plain = np.full(len(claims.sets), np.inf)
    np.minimum.at(plain, claims.rows, claims.plain)
    for name in dict.fromkeys(claims.sets):
        rows = claims.sets == name
        supported = claims.verdicts[rows] == SUPPORTED
        right, wrong = (100 * recall_score(supported, lowest[rows] >= 0.5, pos_label=label) for label in (True, False))
        area, alone = (100 * roc_auc_score(supported, values[rows]) for values in (lowest, plain))
        accuracy = f"balanced accuracy {(right + wrong) / 2:.1f} (supported {right:.1f}, others {wrong:.1f})"
        figures = f"{accuracy}  AUC {area:.1f} (NLI alone {alone:.1f})"
        sys.stdout.write(f"{name:18} {rows.sum():5} texts  {figures}\n")


def main() -> None:
    """Command line."""
    parser = make_parser(__doc__, output=None)
    parser.add_argument("--config", help="Checkpoint: a shipped one's name, or a folder; default: pairs.")
    parser.add_argument("--rows", type=int, default=400, help="Most texts of a set; WiCE is read whole.")
    parser.add_argument("--dry-run", action="store_true", help="Print the figures and write nothing.")
    add_run_arguments(parser)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected --data or SEMANTIC_METRICS_DATA, got neither")
    try:
        scorer = load_scorer(arguments.config)
        options = SupportOptions(scorer.resolve(run_options(arguments)))
        claims = read_claims(Reader(scorer, load_table(), options), arguments.data, arguments.rows)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    report(claims)
    fitted = claims.fit(np.arange(len(claims.sets)))
    counts = ", ".join(f"{name} {number}" for name, number in pd.Series(claims.sets).value_counts().items())
    checkpoint = scorer.checkpoint_sha256[:CHECKPOINT_DIGITS]
    decision = Decision(fitted.support, fitted.contradiction, f"texts of {counts}", checkpoint)
    for name, regression in (("support", decision.support), ("contradiction", decision.contradiction)):
        values = ", ".join(f"{key} {value:+.3f}" for key, value in zip(FEATURES, regression.coefficients, strict=True))
        sys.stdout.write(f"{name}: intercept {regression.intercept:+.3f}, {values}\n")
    if not arguments.dry_run:
        decision.write(scorer.folder)
        sys.stdout.write(f"written to {scorer.folder}\n")


if __name__ == "__main__":
    main()
