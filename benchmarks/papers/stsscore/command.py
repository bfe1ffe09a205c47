r"""The STSScore benchmark: tables 1 to 4 and figures 1 to 13 of Herbold, TMLR, published numbers beside.

    python -m benchmarks stsscore --data FOLDER
        the shipped checkpoint, BLEU and S-BERT on all sets in the folder; BERTScore and the authors' own scorer have
        the scores that were published for each pair, and are labelled so
    python -m benchmarks stsscore --data FOLDER --checkpoint shipped=default --checkpoint WillHeld/roberta-base-stsb \
        --weaker runs/weaker/best --qqp hub --bertscore roberta-large --authors stsscore --trained-on pairs.parquet
        checkpoints (the first is that of the figures and of the ensemble), the ablation of backbones, QQP, BERTScore
        measured, the authors' scores from a checkout, and sets also without what a checkpoint was trained on

Writes to --output: table1.csv to table4.csv, agreement.csv, scores_SET.csv (every row's scores), report.txt (what is
printed) and figure1.png to figure13.png, all times 100; and model_card.csv, what the card of the shipped checkpoint
prints (`python -m training.cards model_cards/pairs --results OUTPUT`), where that is the first one.
"""

from pathlib import Path

import click

from benchmarks.common import options
from benchmarks.common.baselines import EMBSIM_HUB_ID, Metric, default_embsim
from benchmarks.common.encoders import sentence_transformer
from benchmarks.common.own_metrics import SHIPPED, fits_a_card
from benchmarks.papers.matcha.scoring import score_sets
from benchmarks.papers.stsscore import scorers as rows
from benchmarks.papers.stsscore.report import write_report
from benchmarks.papers.stsscore.scorers import STSSCORE, PublishedScores
from benchmarks.papers.stsscore.sets import FILES, TITLES, PairSet, Seen, load_pairs, read_qqp, stsb_splits


@click.command()
@options.data("Folder of the evaluation sets (benchmarks/papers/stsscore/sets.py).", required=True)
@click.option("--qqp", help="File of QQP (Quora's .tsv, .parquet, .csv, .jsonl), or `hub`.")
@click.option("--trained-on", multiple=True, type=options.FILE, help="Further pairs of its training, repeatable.")
@click.option("--authors", type=options.FOLDER, help="The authors' repository: scores/{stsb,mrpc,wmt22}.csv by row.")
@options.sets(TITLES)
@options.checkpoints("STSScore")
@click.option("--weaker", help="Checkpoint of a weaker backbone trained the same way, for the ablation.")
@options.embsim("sbert", "S-BERT")
@options.model("bertscore", "roberta-large; without it published scores are shown")
@options.bertscore_layer
@options.run
@options.drawing
@options.output("results/stsscore")
def main(
    data: Path,
    qqp: str | None,
    trained_on: tuple[Path, ...],
    authors: Path | None,
    sets: tuple[str, ...],
    bootstrap: options.Bootstrap,
    output: Path,
    **models: object,
) -> None:
    """Tables 1 to 4 and figures 1 to 13 of the STSScore paper, published numbers beside."""
    with options.invalid_input():
        scorers = choose_scorers(models)
        chosen, absent = gather(data, qqp, sets, trained_on)
        published = PublishedScores(data, authors, chosen)
    metrics = [*baselines(models, published), *scorers]
    metrics.append(published.metric(rows.AUTHORS, STSSCORE))
    scores = score_sets(metrics, chosen, options.progress)
    lines = [f"{scorer.name}: {scorer.signature}" for scorer in scorers]
    lines.append(f"{rows.SBERT}: {EMBSIM_HUB_ID if models['sbert'] == default_embsim() else models['sbert']}")
    second = rows.BERTSCORE if models["bertscore"] else rows.BERTSCORE_PUBLISHED
    members = [scorers[0].name, second, rows.SBERT]
    metrics.append(rows.add_ensemble(scores, chosen, members))
    lines.append(f"{rows.ENSEMBLE}: mean of {', '.join(members)}")
    first = options.named_source((models["checkpoint"] or ["default"])[0])[1]
    shipped = first in SHIPPED and fits_a_card(models["run"])
    click.echo(write_report(metrics, chosen, absent, scores, published, bootstrap, output, lines, shipped))
    options.progress(f"written to {output}")


def choose_scorers(models: dict[str, object]) -> list[Metric]:
    """The checkpoints, loaded, the weaker one last; a ValueError if one does not load or two have the same name."""
    given = [options.named_source(source) for source in models["checkpoint"] or ["shipped=default"]]
    named = [(f"{STSSCORE} ({name})", source) for name, source in given]
    options.check_distinct([name for name, _ in named])
    scorers = [rows.stsscore(source, name, run=models["run"]) for name, source in named]
    if models["weaker"] is not None:
        scorers.append(rows.stsscore(models["weaker"], rows.WEAKER, rows.PAPER_WEAKER, models["run"]))
    return scorers


def baselines(models: dict[str, object], published: PublishedScores) -> list[Metric]:
    """BLEU, BERTScore (published scores where no model is given) and S-BERT, in the paper's order."""
    model, layer, device = models["bertscore"], models["bertscore_layer"], models["run"].get("device")
    second = published.metric(rows.BERTSCORE_PUBLISHED, rows.BERTSCORE)
    if model is not None:
        second = Metric(rows.BERTSCORE, lambda: rows.bertscore(model, layer, device), published=rows.BERTSCORE)
    third = Metric(rows.SBERT, lambda: sentence_transformer(models["sbert"], device), published=rows.SBERT)
    return [Metric(rows.BLEU, lambda: rows.bleu, published=rows.BLEU), second, third]


def gather(
    data: Path, qqp: str | None, wanted: tuple[str, ...], trained_on: tuple[Path, ...]
) -> tuple[dict[str, PairSet], dict[str, str]]:
    """The sets to measure, by key, and why others are absent; a ValueError if one that is asked for is, or all are."""
    keys = [key for key in TITLES if key in wanted or not wanted]
    seen = Seen(stsb_splits(data), trained_on)
    sets, absent = load_pairs(data, keys, seen), {}
    for key in (key for key in keys if key not in sets):
        absent[key] = f"no file {data / FILES[key]}" if key in FILES else "not given (--qqp FILE, or --qqp hub)"
    if "qqp" in keys and qqp is not None:
        sets["qqp"] = read_qqp(qqp, seen)
        del absent["qqp"]
    if absent and (wanted or not sets):
        raise ValueError("; ".join(f"{key}: {reason}" for key, reason in absent.items()))
    return {key: sets[key] for key in keys if key in sets}, absent
