r"""Every metric of the package beside ROUGE-L, token F1, a cosine, BERTScore and BLEURT, on texts that people evaluate.

    python -m benchmarks side_by_side --data DATA --bertscore FOLDER [--sets COCO-Caption]... [--rows 300]
        all texts (some 24,000), or those of some sets, or a sample of about 300 of each

BERTScore runs with the model of --bertscore (all-mpnet-base-v2 is meant) and stands beside what papers print for
theirs; of BLEURT, whose weights are not here, published figures are shown. Of several references the best counts. Of
WiCE's articles `consensus` reads each sentence of a claim against the whole article (`support`).

Writes to --output: figures.csv, report.txt (what is printed), speed.csv and scores_drawn.csv, which
`python -m benchmarks pictures` draws.
"""

from pathlib import Path

import click

from benchmarks.common import options
from benchmarks.common.own_metrics import Run
from benchmarks.common.tables import write_output
from benchmarks.suite import tables
from benchmarks.suite.columns import OURS, baselines, own_column, score_all
from benchmarks.suite.texts import KINDS, load_texts


@click.command()
@options.data("Folder of the data sets.", required=True)
@options.sets(KINDS)
@click.option("--rows", type=click.IntRange(10), help="Texts of each set, drawn at random; default: all.")
@click.option("--bertscore", help="Folder or Hub id of BERTScore's model; default: all-MiniLM-L6-v2.")
@options.bertscore_layer
@options.run
@options.drawing
@options.output("results/side_by_side")
def main(
    data: Path,
    sets: tuple[str, ...],
    rows: int | None,
    bertscore: str | None,
    bertscore_layer: int | None,
    run: Run,
    bootstrap: options.Bootstrap,
    output: Path,
) -> None:
    """The metrics of the package beside those that are usually taken."""
    with options.invalid_input():
        texts, absent = load_texts(data, sets)
        chosen = [
            *baselines(bertscore, bertscore_layer, run.get("device")),
            *(own_column(name, source, run) for name, source in OURS.items()),
        ]
    drawn = [one.sample(rows, bootstrap.seed) for one in texts]
    output.mkdir(parents=True, exist_ok=True)  # before hours of scoring, not after
    scores = score_all(chosen, drawn, options.progress)
    options.progress("intervals")
    figures = tables.figure_table(chosen, drawn, scores, bootstrap)
    lines = [f"* {line}" for line in tables.notes(figures, chosen, absent, rows)]
    text = "\n".join([tables.whole_table(figures), "", *lines])
    every_score = tables.score_table(chosen, drawn, scores)
    speeds = tables.speed_table(chosen, drawn, scores)
    click.echo(write_output(output, text, figures=figures, speed=speeds, scores_drawn=every_score))
    options.progress(f"written to {output}")
