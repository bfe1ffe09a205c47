"""How fast NLI+lex is: each precision beside a plain loop over the same pairs, and a model of the paper's size.

    python -m benchmarks.speed nli_lex --data FOLDER --trained-on runs/judged/train.parquet [--output FILE.json]

On answers of EVOUNA NQ that the model reads whole, evenly spaced. The loop calls transformers for one pair at a time,
in both directions, with the same checkpoint; its time is without the lexical features, the metric's is with them.
Random weights in the shape of DeBERTa-v3-large, the paper's model, are read by the metric's own scorer, on fewer
answers.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
)

from benchmarks.common.timing import machine, medians
from benchmarks.nli_lex.__main__ import leave_out
from benchmarks.nli_lex.judges import count_parameters
from benchmarks.nli_lex.sets import TITLES, load_judged
from semantic_metrics import load
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.cross_encoder.precision import PRECISIONS
from semantic_metrics.nli_lex.features import TEMPLATE, nli_labels
from semantic_metrics.nli_lex.windows import Windows

SET = "evouna"
ANSWERS = 1000
LARGE_SHARE = 0.04  # of the answers, for the large model: it takes seconds for each
DEBERTA_V3_LARGE = (24, 1024)  # layers, width (He et al. 2021, table 2)
HEAD_WIDTH, INNER, BUCKETS = 64, 4, 256  # of every DeBERTa-v3
REPEATS = 3


@dataclass(frozen=True)
class Answers:
    """Answers that the model reads whole, one reference each."""

    questions: list[str]
    answers: list[str]
    references: list[str]
    labels: np.ndarray

    def first(self, count: int) -> "Answers":
        """So many of them, evenly spaced."""
        kept = np.linspace(0, len(self.labels) - 1, min(count, len(self.labels))).astype(int)
        columns = (self.questions, self.answers, self.references)
        return Answers(*([column[i] for i in kept] for column in columns), self.labels[kept])


@dataclass(frozen=True)
class Side:
    """One way to judge the answers.

    Attributes:
        name: the loop, a precision of the metric, or the large model.
        parameters: of the model.
        answers: how many were judged.
        answers_per_second: a median.
        times_loop: how many times the loop's speed.
        times_float32: how many times the metric's own in float32.
        largest_drift: of an entailment probability, from the loop's; None for another model.
        accuracy: of the judgements; None for the loop, which makes none, and for random weights.
    """

    name: str
    parameters: int
    answers: int
    answers_per_second: float
    times_loop: float
    times_float32: float
    largest_drift: float | None
    accuracy: float | None


def read_answers(data: Path, scorer: PairScorer, trained_on: tuple[Path, ...] = ()) -> Answers:
    """Answers of EVOUNA NQ with one reference, read in one window, to questions that no file of `trained_on` holds.

    Raises:
        ValueError: the data folder does not hold them.
    """
    sets, absent = load_judged(data, [SET])
    if SET in absent:
        raise ValueError(f"data: {absent[SET]}")
    found, windows = leave_out(sets, trained_on)[SET], Windows(scorer, TEMPLATE, None)
    rows = [
        i
        for i in range(len(found))
        if len(found.references[i]) == 1
        and found.candidates[i].strip()
        and len(windows.read(found.questions[i], found.candidates[i], found.references[i][0]).premises) == 1
    ]
    texts = (found.questions, found.candidates, [group[0] for group in found.references])
    return Answers(*([column[i] for i in rows] for column in texts), found.labels[rows])


def loop(scorer: PairScorer) -> Callable[[Answers], np.ndarray]:
    """Entailment probabilities by transformers alone, one pair at a time, each also turned round as the metric does."""
    tokenizer = AutoTokenizer.from_pretrained(scorer.folder)
    model = AutoModelForSequenceClassification.from_pretrained(scorer.folder, dtype=torch.float32).eval()
    entailment, _ = nli_labels(scorer.labels)

    def score(held: Answers) -> np.ndarray:
        found = []
        with torch.inference_mode():
            for question, answer, reference in zip(held.questions, held.answers, held.references, strict=True):
                premise, hypothesis = (f"{question.strip()} {text.strip()}".strip() for text in (answer, reference))
                there, _ = (
                    model(**tokenizer(*pair, truncation=True, return_tensors="pt")).logits.softmax(dim=1)
                    for pair in ((premise, hypothesis), (hypothesis, premise))
                )
                found.append(there[0, entailment].item())
        return np.array(found)

    return score


def random_deberta(folder: Path, tokenizer_of: Path, layers: int, width: int) -> Path:
    """Write a DeBERTa-v3 with random weights and the tokeniser of another checkpoint."""
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_of)
    torch.manual_seed(0)
    config = DebertaV2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // HEAD_WIDTH,
        intermediate_size=INNER * width,
        relative_attention=True,
        position_buckets=BUCKETS,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        type_vocab_size=0,
        pad_token_id=tokenizer.pad_token_id,
        id2label={0: "entailment", 1: "not_entailment"},
        label2id={"entailment": 0, "not_entailment": 1},
    )
    DebertaV2ForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def compare(checkpoint: str | None, held: Answers, weights: Path | None, repeats: int) -> list[Side]:
    """Time the loop and every precision on the same answers.

    Raises:
        ValueError: no such checkpoint, or no weights.
    """
    metric = load("nli_lex", checkpoint)
    one_by_one, parameters = loop(metric.scorer), count_parameters(str(metric.scorer.folder))
    columns = {"predictions": held.answers, "references": held.references, "questions": held.questions}

    def run(precision: str) -> Callable[[], dict]:
        return lambda: metric.compute(**columns, precision=precision, weights=weights, device="cpu")

    timed = medians([lambda: one_by_one(held), *map(run, PRECISIONS)], repeats)
    (loop_seconds, expected), (float32_seconds, _) = timed[:2]
    count = len(held.labels)
    sides = [Side("loop", parameters, count, count / loop_seconds, 1.0, float32_seconds / loop_seconds, 0.0, None)]
    for name, (seconds, found) in zip(PRECISIONS, timed[1:], strict=True):
        drift = float(np.abs(np.array(found["entailment"]) - expected).max())
        accuracy = float(np.mean(np.array(found["correct"]) == held.labels))
        speeds = (count / seconds, loop_seconds / seconds, float32_seconds / seconds)
        sides.append(Side(name, parameters, count, *speeds, drift, accuracy))
    return sides


def time_large(folder: Path, held: Answers, sides: list[Side]) -> Side:
    """The large model, read by the metric's scorer in float32 and in both directions."""
    scorer = PairScorer(folder)
    premises, hypotheses = (
        [f"{question} {text}" for question, text in zip(held.questions, texts, strict=True)]
        for texts in (held.answers, held.references)
    )
    pairs = list(zip(premises, hypotheses, strict=True)) + list(zip(hypotheses, premises, strict=True))
    seconds, _ = medians([lambda: scorer.logits(pairs, device="cpu")], 1)[0]
    speed = len(held.labels) / seconds
    ratios = [speed / side.answers_per_second for side in sides[:2]]
    name = "large, float32"
    return Side(name, count_parameters(str(folder)), len(held.labels), speed, *ratios, None, None)


def _show(sides: list[Side]) -> None:
    titles = ("parameters", "answers", "answers/s", "x loop", "x float32", "largest drift", "accuracy")
    click.echo(f"  {'':<14}" + "".join(f"{title:>14}" for title in titles))
    for side in sides:
        drift = "-" if side.largest_drift is None else f"{side.largest_drift:.1e}"
        accuracy = "-" if side.accuracy is None else f"{side.accuracy:.4f}"
        click.echo(
            f"  {side.name:<14}{side.parameters / 1e6:>13.0f}M{side.answers:>14}{side.answers_per_second:>14.1f}"
            f"{side.times_loop:>14.2f}{side.times_float32:>14.3f}{drift:>14}{accuracy:>14}"
        )


@click.command("nli_lex")
@click.option("--data", type=click.Path(path_type=Path), envvar="SEMANTIC_METRICS_DATA", required=True, help="Folder.")
@click.option(
    "--trained-on",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Files with questions whose answers are left out.",
)
@click.option("--checkpoint", help="As config_name of evaluate.load; the embedded one if left out.")
@click.option("--weights", type=click.Path(path_type=Path), help="File of weights, if not the checkpoint's own.")
@click.option("--answers", default=ANSWERS, type=click.IntRange(2), show_default=True, help="Answers, at most.")
@click.option("--repeats", default=REPEATS, type=click.IntRange(1), show_default=True, help="Times are medians of.")
@click.option(
    "--shape", type=(int, int), default=DEBERTA_V3_LARGE, show_default=True, help="Layers and width of random weights."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the figures to this JSON file too.")
def nli_lex(
    data: Path,
    trained_on: tuple[Path, ...],
    checkpoint: str | None,
    weights: Path | None,
    answers: int,
    repeats: int,
    shape: tuple[int, int],
    output: Path | None,
) -> None:
    """NLI+lex: each precision beside one pair at a time, and beside a large model."""
    described = machine()
    try:
        scorer = load("nli_lex", checkpoint).scorer
        held = read_answers(data, scorer, trained_on).first(answers)
        click.echo(f"{len(held.labels)} answers of {TITLES[SET]}, {described['torch_threads']} threads\n")
        sides = compare(checkpoint, held, weights, repeats)
        with tempfile.TemporaryDirectory() as folder:
            large = random_deberta(Path(folder), scorer.folder, *shape)
            sides.append(time_large(large, held.first(max(2, int(LARGE_SHARE * len(held.labels)))), sides))
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    _show(sides)
    click.echo(f"\nThe metric in float32 beside the large model: {1 / sides[-1].times_float32:.1f} times the answers/s")
    if output is not None:
        record = {
            "command": " ".join(["python -m benchmarks.speed", *sys.argv[1:]]),
            "machine": described,
            "repeats": repeats,
            "set": TITLES[SET],
            "sides": [asdict(side) for side in sides],
        }
        output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
