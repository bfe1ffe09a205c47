r"""The strategies of table 10 of Li et al., Findings of ACL 2026, each trained for a small budget on the data at hand.

    python -m benchmarks ablation --data DATA --authors MATCHA --seed 42 --seed 43 --seed 44
        on the authors' own rows (authors.py says what MATCHA holds), COCO without the captions that are trained on
    python -m benchmarks ablation --data FOLDER --sets-from DATA \
        --config training/configs/matcha/paper.yaml --budget 20000

contrastive: the sources whose incorrect texts contradict, alone; random: the others alone; sequential: one source after
another; curriculum: the same, those with random incorrect texts first; interleaved: batches of all in turn. The last
step counts. With several seeds the report has means with 95% intervals (Student's t): they cover the run's randomness,
not the data's. A small budget on other data can test the paper's ordering, not reach its figures.

--resume keeps the strategies of an interrupted call that are trained. Writes to --output: ablation.csv (of all seeds),
report.txt (what is printed), and a folder SEED/STRATEGY for each run.
"""

from dataclasses import replace
from pathlib import Path

import click
import pandas as pd
from scipy.stats import t as student_t

from benchmarks.common import options
from benchmarks.common.baselines import matcha
from benchmarks.common.own_metrics import check_run, run_lines
from benchmarks.common.tables import Published, figures_text, write_output
from benchmarks.papers.matcha.agreement import OVERALL
from benchmarks.papers.matcha.authors import Authors
from benchmarks.papers.matcha.report import LABELS, PUBLISHED
from benchmarks.papers.matcha.scoring import Scores, score_sets
from benchmarks.papers.matcha.sets import TITLES, UNSEEN_COCO, EvaluationSet, TripletSet, load_sets
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.bootstrap import LEVEL
from semantic_metrics.stats.separation import COSINE, separation, to_unit
from training.data.config_files import read_yaml
from training.matcha.config import STRATEGIES, TrainConfig
from training.matcha.initial_model import TRANSFORMER
from training.train import CONFIGS, Run

TABLE = "10"
ORDER = ("contrastive", "random", "sequential", "curriculum", "interleaved")  # as in the paper
SETS = (*(name for name in TITLES if name != "mednli"), "human")
MEAN = "mean"  # over the sets
FIGURES = ("wasserstein", "n_delta", "macro_f1", "auc")
CCC = {"ccc": "CCC", "ccc_unscaled": "CCC, unscaled"}
_AUTHORS_NOTE = "the rows are the authors' own, those of COCO without captions that are trained on"
_PUBLISHED_NOTE = "published: 15 epochs on the paper's own fifteen sets; CCC with all 600 ratings of the study"


def train_strategy(
    config: TrainConfig, strategy: str, budget: int, data: Path, output: Path, resume: bool = False
) -> Path:
    """Train one strategy, or with `resume` what is left of it; returns the checkpoint of its last step."""
    every = max(budget, config.save_every)  # only the last step is validated, so that it is kept
    one = replace(config, name=f"{config.name}-{strategy}", strategy=strategy, steps=budget, epochs=None)
    Run(replace(one, validate_every=every, save_every=every), data, output).train(resume)
    return output / "checkpoint"


def ablation_table(names: list[str], sets: dict[str, EvaluationSet], scores: Scores) -> pd.DataFrame:
    """Every figure of every strategy, times 100: columns set, strategy, figure, value, published, n.

    `ccc` is computed from the scores rescaled to [0, 1] by (s + 1) / 2, `ccc_unscaled` from the cosines as they are.
    The set MEAN has the means over the sets.
    """
    published, rows = Published(PUBLISHED), []
    for one in sets.values():
        for name in names:
            if isinstance(one, TripletSet):
                figures, title = separation(*scores.sides(name, one.key), COSINE, one.paired), one.title
                values = {figure: float(figures[figure]) for figure in FIGURES}
            else:
                cosines, title = scores.rated[name, one.key], OVERALL
                scalings = {"ccc": to_unit(cosines, COSINE), "ccc_unscaled": cosines}
                values = {key: 100 * float(concordance(scaled, one.ratings)) for key, scaled in scalings.items()}
            for figure, value in values.items():
                row = {"set": title, "strategy": name, "figure": figure, "value": value}
                rows.append(row | {"published": published.get(TABLE, title, name, figure), "n": len(one)})
    return pd.DataFrame([*rows, *_means(pd.DataFrame(rows))])


def _means(table: pd.DataFrame) -> list[dict]:
    """The mean of each figure over the sets with correct and incorrect texts, for each strategy."""
    rows = []
    for (strategy, figure), own in table[table["figure"].isin(FIGURES)].groupby(["strategy", "figure"], sort=False):
        published = own["published"].astype(float).mean(skipna=False)  # only where the paper has all of these sets
        row = {"set": MEAN, "strategy": strategy, "figure": figure, "value": own["value"].mean(), "n": own["n"].sum()}
        rows.append(row | {"published": None if pd.isna(published) else published})
    return rows


def over_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Mean of each figure over the seeds, with a 95% t-interval; `table` has tables of `ablation_table` and their seed.

    Returns:
        Columns set, strategy, figure, value, low, high, published, n, seeds (how many).
    """
    keys = ["set", "strategy", "figure"]
    groups = table.groupby(keys, sort=False)
    means = groups[["value", "published", "n"]].mean().assign(seeds=groups["seed"].nunique())
    half = groups["value"].sem() * student_t.ppf((1 + LEVEL) / 2, means["seeds"] - 1)
    return means.assign(low=means["value"] - half, high=means["value"] + half).reset_index()


def authors_sets(folder: Path, data: Path) -> dict[str, TripletSet]:
    """The authors' own rows by key; those of COCO without the captions that `data` has for training."""
    sets = Authors(folder, data).sets
    if (unseen := sets.pop(UNSEEN_COCO, None)) is not None:
        sets["coco"] = replace(unseen, key="coco")
    return sets


def report(table: pd.DataFrame, budget: int) -> str:
    """The table as text: Wasserstein distances and CCC beside the published ones, then the other figures."""
    seeds = int(table["seeds"].max())
    steps = f"{budget} steps each" + (f", mean of {seeds} seeds [95% interval over the seeds]" if seeds > 1 else "")
    parts = []
    for figure in FIGURES:
        kept = (table["figure"] == figure) | ((figure == FIGURES[0]) & table["figure"].isin(CCC))
        lines = table[kept].assign(set=table["set"].where(~table["figure"].isin(CCC), table["figure"].map(CCC)))
        title = f"Table 10, {LABELS[figure]}, times 100, {steps}"
        parts.append(figures_text(title, lines, "strategy", ["set"]))
    return "\n\n".join([*parts, _PUBLISHED_NOTE])


@click.command()
@options.data("Folder of the data that the config reads.", required=True)
@click.option("--sets-from", type=options.FOLDER, help="Folder of the evaluation sets; default: --data.")
@click.option("--authors", type=options.FOLDER, help="The authors' repository, or its rows as parquet: for their rows.")
@click.option(
    "--config",
    type=options.FILE,
    default=CONFIGS / "matcha" / "ablation.yaml",
    help="Config to train; its strategy and its steps are replaced; default: training/configs/matcha/ablation.yaml.",
)
@click.option("--budget", type=click.IntRange(1), help="Optimiser steps of each strategy; default: the config's.")
@click.option("--strategy", "chosen", multiple=True, type=click.Choice(ORDER), help="Repeatable; default: all.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0), help="Seed, repeatable; default: the config's.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted call with the same options ended.")
@options.run
@options.output("results/ablation")
def main(
    data: Path,
    sets_from: Path | None,
    authors: Path | None,
    config: Path,
    budget: int | None,
    chosen: tuple[str, ...],
    seeds: tuple[int, ...],
    resume: bool,
    run: dict[str, object],
    output: Path,
) -> None:
    """Train every strategy of table 10 and print the table, published figures beside.

    --device, --precision, --backend, --batch-size and --workers are of the scoring of transformers, not of training.
    """
    names = [name for name in ORDER if name in (chosen or STRATEGIES)]
    with options.invalid_input():
        check_run(run)  # before anything is trained
        settings = read_yaml(config, TrainConfig)
        budget = budget or settings.steps
        if budget is None:
            raise ValueError(f"--budget: expected steps, since {config} counts epochs")
        for name in names:
            replace(settings, strategy=name)  # checks the config before anything is trained
        sets = load_sets(sets_from or data, SETS) | ({} if authors is None else authors_sets(authors, data))
        if not sets:
            raise ValueError(f"--data: expected evaluation sets (benchmarks/papers/matcha/sets.py), got {data}")
        tables = []
        for seed in dict.fromkeys(seeds or (settings.seed,)):
            seeded, folder = replace(settings, seed=seed), output / str(seed)
            paths = {name: train_strategy(seeded, name, budget, data, folder / name, resume) for name in names}
            metrics = [matcha(str(path), name, run=run) for name, path in paths.items()]
            one = ablation_table(names, sets, score_sets(metrics, sets, options.progress)).assign(seed=seed)
            one.to_csv(folder / "ablation.csv", index=False)
            tables.append(one)
    table = pd.concat(tables, ignore_index=True)
    runs_model = (settings.network or {}).get("kind") == TRANSFORMER
    notes = [_AUTHORS_NOTE] * (authors is not None) + (run_lines(run) if runs_model else [])
    text = "\n".join([report(over_seeds(table), budget), *notes])
    click.echo(write_output(output, text, ablation=table))
