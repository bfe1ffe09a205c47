r"""The STSScore benchmark: tables 1 to 4 and figures 1 to 13 of Herbold, TMLR, published numbers beside.

    python -m benchmarks.stsscore --data FOLDER
        the shipped checkpoint, BLEU and S-BERT on all sets that the folder holds; for BERTScore and the authors' own
        scorer what they published of each pair stands in, and is labelled so
    python -m benchmarks.stsscore --data FOLDER --weaker runs/weaker/best --qqp quora_duplicate_questions.tsv
        with the ablation of backbones, and QQP (`--qqp hub` downloads it)
    python -m benchmarks.stsscore --data FOLDER --checkpoint shipped=default --checkpoint WillHeld/roberta-base-stsb \
        --bertscore roberta-large --device cuda
        checkpoints beside one another (the first is that of the figures and of the ensemble), BERTScore measured
    python -m benchmarks.stsscore --data FOLDER --trained-on pairs.parquet
        MRPC and STS-B also without what a checkpoint was trained on beyond STS-B

Writes to --output: table1.csv to table4.csv, agreement.csv, scores_SET.csv (every row's scores), report.txt (what is
printed) and figure1.png to figure13.png, all times 100; and model_card.csv, what the card of the shipped checkpoint
prints (`python -m training.cards model_cards/stsscore --results OUTPUT`), where that is the first one.
"""

from collections.abc import Callable
from pathlib import Path

import click
import pandas as pd

from benchmarks.common.baselines import EMBSIM_HUB_ID, Metric, default_embsim
from benchmarks.common.encoders import NotMeasured, sentence_transformer
from benchmarks.common.options import Bootstrap
from benchmarks.common.scoring import score_sets
from benchmarks.stsscore.report import write_report
from benchmarks.stsscore.scorers import (
    AUTHORS,
    BERTSCORE,
    BERTSCORE_PUBLISHED,
    BLEU,
    ENSEMBLE,
    PAPER_WEAKER,
    SBERT,
    STSSCORE,
    TWO_MEMBERS,
    WEAKER,
    PublishedScores,
    Scorer,
    add_ensemble,
    bertscore,
    bleu,
    stsscore,
)
from benchmarks.stsscore.sets import (
    TITLES,
    PairSet,
    Seen,
    expected_file,
    hub_pairs,
    hub_stsb,
    load_pairs,
    read_qqp,
    stsb_splits,
)
from semantic_metrics.stats.bootstrap import RESAMPLES

HUB = "hub"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_MODELS = {
    "--checkpoint": {"multiple": True, "help": "[NAME=]CHECKPOINT of STSScore; the shipped one by default."},
    "--weaker": {"help": "CHECKPOINT of a weaker backbone trained the same way, for the ablation."},
    "--sbert": {"default": default_embsim, "show_default": "all-MiniLM-L6-v2", "help": "Model of the S-BERT row."},
    "--bertscore": {"help": "Model of BERTScore, the paper's is roberta-large; without it published scores stand in."},
    "--bertscore-layer": {"type": int, "help": "Its layer, where not bert-score's own choice."},
    "--device": {"help": "Where models run: cpu, cuda, mps."},
    "--precision": {"type": click.Choice(["float32", "bfloat16", "int8"]), "help": "Of STSScore; float32 by default."},
}


def _model_options(command: Callable) -> Callable:
    for name, settings in reversed(_MODELS.items()):
        command = click.option(name, **settings)(command)
    return command


@click.command()
@click.option("--data", type=_FOLDER, envvar="SEMANTIC_METRICS_DATA", help="Folder (benchmarks/stsscore/sets.py).")
@click.option("--from-hub", is_flag=True, help="Take STS-B, MRPC and QQP from the Hub instead.")
@click.option("--qqp", help="FILE of QQP (Quora's .tsv, .parquet, .csv, .jsonl), or `hub`.")
@click.option("--trained-on", multiple=True, type=_FILE, help="Further pairs that the checkpoint has seen.")
@click.option("--sets", multiple=True, type=click.Choice(list(TITLES)), help="What to measure; all by default.")
@_model_options
@click.option("--seed", default=0, show_default=True, help="Of the bootstrap.")
@click.option("--resamples", default=RESAMPLES, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), default="results/stsscore", show_default=True
)
def main(
    data: Path | None,
    from_hub: bool,
    qqp: str | None,
    trained_on: tuple[Path, ...],
    sets: tuple[str, ...],
    seed: int,
    resamples: int,
    output: Path,
    **models: object,
) -> None:
    """Tables 1 to 4 and figures 1 to 13 of the STSScore paper, published numbers beside."""
    if data is None and not from_hub:
        raise click.UsageError("--data: expected a folder (SEMANTIC_METRICS_DATA can name it), or --from-hub")
    folder = None if from_hub else data
    try:
        scorers = choose_scorers(models)
        found, absent = gather(folder, HUB if from_hub and qqp is None else qqp, sets, trained_on)
        published = PublishedScores(data)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    metrics = [*baselines(models, published), *(scorer.metric for scorer in scorers)]
    metrics.append(published.metric(AUTHORS, STSSCORE, STSSCORE))
    scores = score_sets(metrics, found, _progress)
    lines = [line for scorer in scorers for line in scorer.lines()]
    lines.append(f"{SBERT}: {EMBSIM_HUB_ID if models['sbert'] == default_embsim() else models['sbert']}")
    for name, members in ensembles(scorers[0].metric.name, models["bertscore"] is not None).items():
        metrics.append(add_ensemble(scores, found, members, name))
        lines.append(f"{name}: mean of {', '.join(members)}")
    settings = Bootstrap(seed, resamples)
    shipped = scorers[0].shipped
    click.echo(write_report(metrics, found, absent, scores, published, settings, output, lines, shipped))
    _progress(f"written to {output}")


def _progress(line: str) -> None:
    click.echo(line, err=True)


def choose_scorers(models: dict[str, object]) -> list[Scorer]:
    """The STSScore checkpoints that the options ask for, loaded; the weaker backbone is the last.

    Raises:
        ValueError: one does not load, or two have the same name.
    """
    options = {key: models[key] for key in ("device", "precision") if models[key] is not None}
    named = [given.partition("=") for given in models["checkpoint"] or ["shipped=default"]]
    given = [(f"{STSSCORE} ({name if sign else Path(name).name})", source or name) for name, sign, source in named]
    names = [name for name, _ in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"expected names that differ (NAME=CHECKPOINT gives one), got {', '.join(twice)} twice")
    found = [stsscore(source, name, **options) for name, source in given]
    if models["weaker"] is not None:
        found.append(stsscore(models["weaker"], WEAKER, PAPER_WEAKER, **options))
    return found


def baselines(models: dict[str, object], published: PublishedScores) -> list[Metric]:
    """BLEU, BERTScore (published scores stand in where no model is given) and S-BERT, in the paper's order."""
    model, layer, device = models["bertscore"], models["bertscore_layer"], models["device"]
    if model is None:
        second = published.metric(BERTSCORE_PUBLISHED, BERTSCORE, BERTSCORE)
    else:
        second = Metric(BERTSCORE, lambda: bertscore(model, layer, device), published=BERTSCORE)
    third = Metric(SBERT, lambda: sentence_transformer(models["sbert"], device), published=SBERT)
    return [Metric(BLEU, lambda: bleu, published=BLEU), second, third]


def ensembles(scorer: str, measured: bool) -> dict[str, list[str]]:
    """Names of the members of each ensemble.

    Args:
        scorer: name of the checkpoint in them.
        measured: whether BERTScore is measured here. Else published scores stand in, of which there are none of MRPC
            and QQP: an ensemble without it is added.
    """
    if measured:
        return {ENSEMBLE: [scorer, BERTSCORE, SBERT]}
    return {ENSEMBLE: [scorer, BERTSCORE_PUBLISHED, SBERT], TWO_MEMBERS: [scorer, SBERT]}


def gather(
    data: Path | None, qqp: str | None, wanted: tuple[str, ...], trained_on: tuple[Path, ...]
) -> tuple[dict[str, PairSet], dict[str, str]]:
    """The sets to measure, by key, in the paper's order, and why others are absent.

    Args:
        data: folder of the sets; None takes them from the Hub.
        qqp: file of QQP, HUB, or None.
        wanted: keys of the sets; empty for all.
        trained_on: files of further pairs that the checkpoint has seen.

    Raises:
        ValueError: a set that was asked for by `wanted` or `qqp` cannot be had, or none can.
    """
    keys = [key for key in TITLES if key in wanted or not wanted]
    found, absent = {}, {}
    try:
        stsb = hub_stsb() if data is None else stsb_splits(data)
    except NotMeasured as reason:
        raise ValueError(f"stsb: {reason}; it tells which pairs were trained on") from reason
    seen = Seen(stsb, trained_on)
    for key in keys:
        try:
            found[key] = _one_set(key, data, qqp, stsb, seen)
        except NotMeasured as reason:
            absent[key] = str(reason)
    failed = [f"{key}: {absent[key]}" for key in keys if key in absent and (wanted or not found)]
    if "qqp" in absent and qqp == HUB and data is not None:
        failed.append(f"qqp: {absent['qqp']}")
    if failed:
        raise ValueError("; ".join(dict.fromkeys(failed)))
    return found, absent


def _one_set(key: str, data: Path | None, qqp: str | None, stsb: dict[str, pd.DataFrame], seen: Seen) -> PairSet:
    if key == "qqp" and qqp not in (None, HUB):
        if not Path(qqp).is_file():
            raise ValueError(f"--qqp: expected a file or `{HUB}`, got {qqp!r}")
        return read_qqp(Path(qqp), seen)
    if key == "qqp" and qqp is None:
        raise NotMeasured(f"not given (--qqp FILE, or --qqp {HUB})")
    if data is None or key == "qqp":
        return hub_pairs(key, stsb, seen)
    found = load_pairs(data, (key,), seen)
    if key not in found:
        raise NotMeasured(f"no file {data / expected_file(key)}")
    return found[key]


if __name__ == "__main__":
    main()
