"""Triplets whose incorrect texts contradict, made by rules or found among the texts, for `train.py` (kind triplets).

    python -m training.data.contradictions --config training/configs/contradictions.yaml --data DATA \
        --output runs/contradictions.parquet

Writes the columns reference, correct, incorrect, rule, probability and source; prints what was kept and dropped. The
work is done by `semantic_metrics.contradictions`, which `semantic-metrics contradict` offers for any texts.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd

from semantic_metrics.contradictions import contradict, summary
from semantic_metrics.contradictions import mining as contradiction_mining
from training.data.config_files import read_yaml
from training.data.run_arguments import add_data_argument, add_run_arguments, run_options
from training.data.sources import Entry, check_columns, normalise, read_excluded, take_limit

COLUMNS = ["reference", "correct", "incorrect", "rule", "probability", "source"]
MINED = "mined"


@dataclass(frozen=True)
class ContradictionSource(Entry):
    """An entry of a config's `train` list; `limit` counts texts.

    Attributes:
        text: column of the texts to contradict.
        correct: column of texts that say the same; by default the text itself.
        rules: as `contradict` takes them; None for all.
        check: whether to keep only what the NLI model calls a contradiction. It does not notice exchanged roles: run
            the rule `role` alone, unchecked.
        mine: whether to find contradictions among the texts instead of making them.
        group: column of what the texts describe (an image); texts of one group are not mined for each other.
    """

    text: str = "text"
    correct: str | None = None
    rules: list[str] | None = None
    check: bool = True
    mine: bool = False
    group: str | None = None

    def read(self, data: Path | None, excluded: frozenset[str]) -> tuple[pd.DataFrame, Counter]:
        """Columns reference, correct and group, without texts of evaluation sets; and the counts.

        Raises:
            ValueError: the table or one of its columns is missing.
        """
        named = {"reference": self.text, "correct": self.correct or self.text, "group": self.group or self.text}
        rows = self.table.read(data, named.values())
        check_columns(rows, list(named.values()), self.name)
        kept = pd.DataFrame({name: rows[column].fillna("") for name, column in named.items()})
        counts = Counter(rows=len(kept))
        held_out = kept[["reference", "correct"]].map(normalise).isin(excluded).any(axis=1)
        counts["dropped: in an evaluation set"] = int(held_out.sum())
        kept = kept[~held_out].drop_duplicates("reference")
        counts["dropped: repeated"] = counts["rows"] - int(held_out.sum()) - len(kept)
        kept = take_limit(kept, self.limit, counts)
        return kept.reset_index(drop=True), counts


@dataclass(frozen=True)
class ContradictionConfig:
    """What is built.

    Attributes:
        train: the sources.
        exclude: tables with `columns` of texts that no triplet may contain.
        seed, per_text: as `contradict` takes them.
        threshold: least probability of a contradiction by the NLI model; mined ones have a threshold of their own.
    """

    train: list[ContradictionSource]
    exclude: list[dict] = field(default_factory=list)
    seed: int = 0
    per_text: int = 1
    threshold: float = 0.5


def build(
    config: ContradictionConfig, data: Path | None, run: Mapping[str, object] | None = None
) -> tuple[pd.DataFrame, dict[str, Counter]]:
    """All triplets, with the columns COLUMNS, and the counts of each source; `run` says how the NLI model runs.

    Raises:
        ValueError: a table or column is missing, or an option is out of range.
    """
    excluded = read_excluded(config.exclude, data)
    parts, counts = [], {}
    for source in config.train:
        rows, counts[source.name] = source.read(data, excluded)
        triplets = _mined(rows, run) if source.mine else _made(rows, config, source, counts[source.name], run)
        triplets = [triplet for triplet in triplets if normalise(triplet[2]) not in excluded]
        counts[source.name]["triplets"] = len(triplets)
        parts.append(pd.DataFrame([[*triplet, source.name] for triplet in triplets], columns=COLUMNS))
    return pd.concat(parts, ignore_index=True), counts


def _made(
    rows: pd.DataFrame,
    config: ContradictionConfig,
    source: ContradictionSource,
    counts: Counter,
    run: Mapping[str, object] | None,
) -> list[tuple]:
    given = {"seed": config.seed, "per_text": config.per_text, "threshold": config.threshold, "check": source.check}
    results = contradict(rows["reference"].tolist(), source.rules, **given, run=run)
    counts.update(summary(results))
    pairs = zip(results, rows["correct"], strict=True)
    return [(r.text, correct, one.text, one.rule, one.p) for r, correct in pairs for one in r.contradictions]


def _mined(rows: pd.DataFrame, run: Mapping[str, object] | None) -> list[tuple]:
    mined = contradiction_mining.mine(rows["reference"].tolist(), groups=rows["group"].tolist(), run=run)
    return [(one.text, rows["correct"][one.index], one.contradiction, MINED, one.p) for one in mined]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True, help="A YAML file; see ContradictionConfig.")
    add_data_argument(parser)
    parser.add_argument("--output", type=Path, required=True, help="Parquet file to write.")
    add_run_arguments(parser)
    arguments = parser.parse_args()
    try:
        run = asdict(run_options(arguments))
        triplets, counts = build(read_yaml(arguments.config, ContradictionConfig), arguments.data, run)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    sys.stdout.write("".join(f"{name}: {dict(count)}\n" for name, count in counts.items()))
    aside = arguments.output.with_name(f".{arguments.output.name}.partial")
    triplets.to_parquet(aside, index=False)
    aside.replace(arguments.output)


if __name__ == "__main__":
    main()
