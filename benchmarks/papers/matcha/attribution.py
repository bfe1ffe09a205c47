r"""Tables 1 and 9 and figure 7 of the MATCHA paper: how much the tokens of texts add to a score (appendix C).

    python -m benchmarks attribution --data FOLDER
        the shipped checkpoint and EmbSim, 200 rows each of SNLI, MultiNLI and TruthfulQA
    python -m benchmarks attribution --data FOLDER --limit 100 --bertscore distilbert-base-uncased \
        --encoder Mistral-7B=intfloat/e5-mistral-7b-instruct --checkpoint A=runs/a
        fewer rows, a further encoder, BERTScore, and another MATCHA checkpoint than the shipped one

A pair's attribution is the sum of its tokens' integrated gradients, the mean of both directions, times 100. As in the
paper the path begins at token id 0 in every place where the score is above 0, else at the other text. By completeness
the sum is the score minus the baseline's score, and it is computed as that: the limit of many points of the path, of
which the paper takes 50. BERTScore is its F1 without rescaling, by greedy alignment. MATCHA's second row is `exact`,
the shares that sum to the score itself. Table 1 and figure 7 are of one reference with a correct and an incorrect text.
Writes table9.csv, figure7.csv, figure7.html (the tokens in colours, of MATCHA) and report.txt to --output.

Source: Li et al., Findings of ACL 2026, appendix C; what it leaves open (128 tokens, the two baselines) is as in the
authors' published code.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import click
import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer

from benchmarks.common import options
from benchmarks.common.baselines import bertscore_layer, meteor, rouge
from benchmarks.common.encoders import NotMeasured, Score, absence, transformer, unavailable
from benchmarks.common.tables import Published, figures_text, write_output
from benchmarks.papers.matcha.report import PUBLISHED
from benchmarks.papers.matcha.sets import TITLES, TripletSet, load_sets
from semantic_metrics import load as load_metric
from semantic_metrics.cli.options import model_options
from semantic_metrics.core.progress import with_progress
from semantic_metrics.html.heat_map import heat_maps
from semantic_metrics.report import write_explanation
from semantic_metrics.report.page import MAX_WORDS

SETS = ("snli", "multinli", "truthfulqa")  # appendix C
ROWS = 200  # rows of each set, together the paper's 600
MAX_TOKENS = 128  # tokens of a text: the authors'
OVERALL = "Overall"
FIGURES = ("correct", "incorrect", "gap")
NOTES = [
    "mean sum of a pair's token attributions, both directions, times 100; gap: correct minus incorrect [95% bootstrap]",
    "published: 600 pairs that the paper does not list, 50 points of the path",
    "exact: shares that sum to the score, no baseline",
]

EXAMPLE = "Growth is not affected by caffeine consumption."  # the reference of table 1 and figure 7
EXAMPLE_TEXTS = {
    "correct": "Drinking coffee does not affect your growth.",
    "incorrect": "Drinking coffee will stunt your growth.",
}
EXAMPLE_NOTE = "score; sums of the attributions of the reference's and of the other text's tokens, times 100"

# candidate and reference -> the score, and the sums of the attributions of the candidate's and the reference's tokens
Attribution = Callable[[str, str], tuple[float, float, float]]
Entry = tuple[str, str | None, Callable[[], Attribution]]  # name, the paper's line beside it, and what loads it
Ids = list[int]
Scorer = tuple[Callable[[str], Ids], Callable[[Ids, Ids], float]]  # token ids of a text; the score of two texts' ids


@click.command()
@options.data("Folder of the evaluation sets.", required=True)
@click.option("--limit", default=ROWS, show_default=True, type=click.IntRange(1), help="Most rows of a set.")
@options.checkpoints("MATCHA")
@click.option("--encoder", multiple=True, help="[NAME=]FOLDER_OR_ID, repeatable; a plain encoder is mean-pooled.")
@options.embsim()
@options.model("bertscore", "distilbert-base-uncased")
@options.bertscore_layer
@model_options("device")
@options.seed
@options.output("results/attribution")
def main(data: Path, limit: int, seed: int, output: Path, **models: object) -> None:
    """Tables 1 and 9 and figure 7 of the MATCHA paper, published numbers beside."""
    with options.invalid_input():
        sets = load_sets(data, SETS)
        if not sets:
            raise ValueError(f"--data: expected the sets {', '.join(SETS)}, got {data} with none of them")
        entries = choose_entries(models)
    rows = sample(list(sets.values()), limit, seed)
    parts = []
    for entry in entries:
        options.progress(entry[0])
        parts.append(measure(entry, rows, seed))
    table = pd.concat(parts, ignore_index=True)
    example = example_table(entries)
    title = "Table 1 and figure 7, one reference with two texts"
    pictured = figures_text(title, example, "metric", ["pair", "figure"], notes=[EXAMPLE_NOTE])
    click.echo(write_output(output, f"{table_text(table, rows)}\n\n{pictured}", table9=table, figure7=example))
    colour_tokens(output / "figure7.html", checkpoints(models))
    options.progress(f"written to {output}")


def choose_entries(models: dict[str, object]) -> list[Entry]:
    """EmbSim, BERTScore where it has a model, the encoders, and two lines for each MATCHA checkpoint.

    Raises ValueError: a checkpoint does not load, or two entries have the same name.
    """
    device, bertscore, layer = models["run"].get("device"), models["bertscore"], models["bertscore_layer"]
    in_table = Published(PUBLISHED).metrics("9")
    entries = []
    for name, source in [("EmbSim", models["embsim"]), *map(options.named_source, models["encoder"])]:
        load = lambda source=source: sums(*cosine(source, device))  # noqa: E731
        entries.append((name, name if name in in_table else None, load))
    if bertscore is not None:
        entries.insert(1, ("BERTScore", "BERTScore", lambda: sums(*greedy(bertscore, layer, device))))
    for name, source in checkpoints(models):
        for way, attribution in matcha_attributions(source).items():
            entries.append((f"{name}{way}", None if way else "MATCHA", lambda attribution=attribution: attribution))
    options.check_distinct([name for name, _, _ in entries])
    return entries


def checkpoints(models: dict[str, object]) -> list[tuple[str, str | None]]:
    """Names of the MATCHA checkpoints in the tables, and what loads them; None for the shipped one."""
    given = [(f"MATCHA ({name})", source) for name, source in map(options.named_source, models["checkpoint"])]
    return given or [("MATCHA", None)]


def sample(sets: list[TripletSet], limit: int, seed: int) -> pd.DataFrame:
    """Rows of each set, drawn without replacement: columns key, reference, correct, incorrect."""
    rng = np.random.default_rng(seed)
    parts = []
    for one in sets:
        columns = {"reference": one.references, "correct": one.correct, "incorrect": one.incorrect}
        chosen = np.sort(rng.permutation(len(one))[:limit])
        parts.append(pd.DataFrame({"key": one.key, **columns}).iloc[chosen])
    return pd.concat(parts, ignore_index=True)


def measure(entry: Entry, rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Every figure of one line of the table, for each set and for all, times 100.

    Returns:
        Columns metric, set, figure, value, low, high (of the gap), published, n and reason (why there is no value).
    """
    name, beside, load = entry
    totals, reason = None, None
    try:
        attribute = load()
        texts = zip([*rows["correct"], *rows["incorrect"]], [*rows["reference"], *rows["reference"]], strict=True)
        sums_of_pairs = [np.mean(attribute(*pair)[1:]) for pair in with_progress(list(texts), "pair")]
        totals = 100 * np.array(sums_of_pairs).reshape(2, len(rows))
    except NotMeasured as absent:
        reason = str(absent)
    published, lines = Published(PUBLISHED), []
    for key in [*rows["key"].unique(), OVERALL]:
        chosen = np.flatnonzero((rows["key"] == key) | (key == OVERALL))
        title = TITLES.get(key, key)
        line = {"metric": name, "set": title, "n": len(chosen), "reason": reason}
        for figure in FIGURES:
            line |= {"figure": figure, "published": beside and published.get("9", title, beside, figure)}
            lines.append(line | ({} if totals is None else _figure(figure, *totals[:, chosen], seed)))
    return pd.DataFrame(lines, columns=["metric", "set", "figure", "value", "low", "high", "published", "n", "reason"])


def _figure(figure: str, correct: np.ndarray, incorrect: np.ndarray, seed: int) -> dict[str, float]:
    values = {"correct": correct, "incorrect": incorrect, "gap": correct - incorrect}[figure]
    mean = lambda rows: {figure: values[rows].mean(axis=-1)}  # noqa: E731
    cell = options.Bootstrap(seed).measure(mean, (len(values),), drawn=figure == "gap")[figure]
    return dict(zip(("value", "low", "high"), cell, strict=True))


def example_table(entries: list[Entry]) -> pd.DataFrame:
    """Table 1 and figure 7: EXAMPLE with each of EXAMPLE_TEXTS, times 100, by the entries, ROUGE-L and METEOR.

    Returns:
        Columns metric, pair, figure (score, reference, candidate), value, published and reason (why there is no value).
    """
    published, rows, missing = Published(PUBLISHED), [], (None, None, None)
    lexical = [("RL-F1", "RL-F1", lambda: score_alone(rouge("rougeL")))]
    lexical.append(("METEOR", "METEOR", lambda: score_alone(meteor())))
    absent = set(published.metrics("figure 7")) - {beside for _, beside, _ in [*lexical, *entries]}
    load = unavailable("not given, or no option of this command loads it")
    unknown = [(name, name, load) for name in published.metrics("figure 7") if name in absent]
    for name, beside, load in [*lexical, *entries, *unknown]:
        attribute, reason = None, None
        try:
            attribute = load()
        except NotMeasured as why:
            reason = str(why)
        for pair, text in EXAMPLE_TEXTS.items():
            values = missing if attribute is None else attribute(text, EXAMPLE)
            for figure, value in zip(("score", "candidate", "reference"), values, strict=True):
                printed = beside and published.get("figure 7", pair, beside, figure)
                row = {"metric": name, "pair": pair, "figure": figure, "published": printed, "reason": reason}
                rows.append(row | {"value": None if value is None else 100 * value})
    return pd.DataFrame(rows)


def colour_tokens(path: Path, checkpoints: list[tuple[str, str | None]]) -> None:
    """Write figure 7 as a page: what the tokens of EXAMPLE and of each of EXAMPLE_TEXTS add to a checkpoint's score."""
    maps = []
    for (row, source), (pair, text) in product(checkpoints, EXAMPLE_TEXTS.items()):
        explanation = load_metric("matcha", source, keep_in_memory=True).explain(text, EXAMPLE)
        title = f"{row}, {pair}, score {explanation['score']:.4f}"
        found = heat_maps(explanation, {"prediction": text, "reference": EXAMPLE}, MAX_WORDS)
        maps += [replace(one, name=f"{title}, {one.name}") for one in found]
    write_explanation(path, "Figure 7: what each token adds", "exact: the shares sum to the score", maps, "")


def score_alone(score: Score) -> Attribution:
    """A metric whose tokens have no attributions."""
    return lambda candidate, reference: (float(score([candidate], [reference])[0]), math.nan, math.nan)


def table_text(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    """The table as text: all rows with the published figures, then the gap on each set."""
    published, measured = Published(PUBLISHED), set(table["metric"])
    others = [
        {"metric": name, "set": OVERALL, "figure": figure, "published": published.get("9", OVERALL, name, figure)}
        for name in published.metrics("9")
        for figure in FIGURES
        if name not in measured
    ]
    overall = pd.concat([table[table["set"] == OVERALL], pd.DataFrame(others)], ignore_index=True)
    counts = {TITLES[key]: len(chosen) for key, chosen in rows.groupby("key", sort=False)}
    missing = [TITLES[key] for key in SETS if TITLES[key] not in counts]
    title = f"Table 9, attributions ({', '.join(f'{count} of {name}' for name, count in counts.items())})"
    notes = NOTES + ([f"missing: {', '.join(missing)}"] if missing else [])
    first = figures_text(title, overall, "metric", ["figure"], notes=notes)
    gaps = table[(table["figure"] == "gap") & (table["set"] != OVERALL)]
    return f"{first}\n\n{figures_text('Gap on each set', gaps, 'metric', ['set'])}"


def matcha_attributions(checkpoint: str | None) -> dict[str, Attribution]:
    """Two ways to attribute a checkpoint's scores, by what is added to its name; a ValueError if it does not load."""
    metric = load_metric("matcha", checkpoint, keep_in_memory=True)

    def explained(method: str) -> Attribution:
        def attribute(candidate: str, reference: str) -> tuple[float, float, float]:
            explanation = metric.explain(candidate, reference, method=method)
            return explanation["score"], explanation["prediction"]["total"], explanation["reference"]["total"]

        return attribute

    return {"": explained("integrated_gradients"), ", exact": explained("exact")}


def sums(tokenize: Callable[[str], Ids], score: Callable[[Ids, Ids], float]) -> Attribution:
    """The score of a pair minus that of where its path begins, in both directions."""

    def attribute(candidate: str, reference: str) -> tuple[float, float, float]:
        texts = tokenize(candidate), tokenize(reference)
        value, totals = score(*texts), []
        for ids, others in (texts, texts[::-1]):
            begin = [0] * len(ids) if value > 0 else [*others, *[0] * len(ids)][: len(ids)]
            totals.append(value - score(begin, others))
        return value, *totals

    return attribute


def cosine(model: str, device: str | None = None) -> Scorer:
    """The cosine of a sentence-transformers model, or of a plain transformer with mean pooling.

    No code of a repository is run (`trust_remote_code` stays off).

    Raises NotMeasured: the model does not load.
    """
    with absence(model):
        network = SentenceTransformer(model, device=device).eval()
        network.max_seq_length = min(network.max_seq_length or MAX_TOKENS, MAX_TOKENS)

    def encode(ids: Ids) -> torch.Tensor:
        rows = torch.tensor([ids], device=network.device)
        return network({"input_ids": rows, "attention_mask": torch.ones_like(rows)})["sentence_embedding"][0]

    @torch.inference_mode()
    def score(ids: Ids, others: Ids) -> float:
        return torch.cosine_similarity(encode(ids), encode(others), dim=0).item()

    return lambda text: network.preprocess([text])["input_ids"][0].tolist(), score


def greedy(model: str, layer: int | None = None, device: str | None = None) -> Scorer:
    """BERTScore's F1 without rescaling: each token is aligned with the other text's nearest one.

    Special tokens can be aligned with, but have no weight of their own, as in bert-score.

    Raises NotMeasured: the model does not load, or its layer is not known.
    """
    with absence(model):
        layer = bertscore_layer(model) if layer is None else layer
    if layer is None:
        raise NotMeasured(f"bert-score does not know which layer of {model} to take (--bertscore-layer N)")
    tokenizer, network, _ = transformer(model, "AutoModel", device)
    special = [tokenizer.cls_token_id, tokenizer.sep_token_id]

    def encode(ids: Ids) -> torch.Tensor:
        rows = torch.tensor([ids], device=network.device)
        states = network(rows, attention_mask=torch.ones_like(rows), output_hidden_states=True).hidden_states
        return torch.nn.functional.normalize(states[layer][0], dim=-1)

    @torch.inference_mode()
    def score(ids: Ids, others: Ids) -> float:
        cosines, sides = encode(ids) @ encode(others).T, []
        for near, side in ((cosines.amax(dim=1), ids), (cosines.amax(dim=0), others)):
            weights = torch.tensor([one not in special for one in side], device=near.device).to(near.dtype)
            sides.append(((near * weights).sum() / weights.sum().clamp(min=1)).item())
        return 2 * sides[0] * sides[1] / (sum(sides) or 1)

    return lambda text: tokenizer(text.strip(), truncation=True, max_length=MAX_TOKENS)["input_ids"], score
