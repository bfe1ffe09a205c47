r"""Table 9 of the MATCHA paper: how much the tokens of correct and of incorrect pairs add to a score (appendix C).

    python -m benchmarks.matcha.attribution --data FOLDER
        the shipped checkpoint and EmbSim, 200 rows each of SNLI, MultiNLI and TruthfulQA
    python -m benchmarks.matcha.attribution --data FOLDER --limit 20 --encoder GTE=thenlper/gte-large \
        --checkpoint A=runs/a
        fewer rows, a further encoder, and another MATCHA checkpoint than the shipped one

A pair's attribution is the sum of its tokens' integrated gradients, the mean of both directions, times 100. As in the
paper the path has 50 points and begins at token id 0 in every place where the score is above 0, else at the other text.
By completeness the sum is the score minus the baseline's; `error` is the mean distance from that. MATCHA has two more
rows: the integral in closed form, and `exact`, the shares that sum to the score itself.

Writes table9.csv and table9.txt to --output.

Source: Li et al., Findings of ACL 2026, appendix C; the settings that it leaves open (50 points of the Gauss-Legendre
rule, 128 tokens, the two baselines) are those of the authors' published code and of captum, which it calls.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import evaluate
import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer

from benchmarks.common import options
from benchmarks.common.encoders import NotMeasured, absence
from benchmarks.common.published import Published
from benchmarks.common.text_tables import Cell, Row, render
from benchmarks.matcha.report import PUBLISHED
from benchmarks.matcha.sets import TITLES, TripletSet, load_sets
from semantic_metrics import load as load_metric
from semantic_metrics.stats.bootstrap import bootstrap

SETS = ("snli", "multinli", "truthfulqa")  # appendix C
ROWS = 200  # rows of each set, together the paper's 600
POINTS = 50  # points of a path: captum's default, and the authors'
MAX_TOKENS = 128  # tokens of a text: the authors'
BATCH_TOKENS = 4096  # tokens in one pass: bounds the memory
OVERALL = "Overall"
FIGURES = ("correct", "incorrect", "gap", "error")
NOTES = [
    "mean sum of a pair's token attributions, both directions, times 100; gap: correct minus incorrect [95% bootstrap]",
    "published: 600 pairs that the paper does not list; error: mean |sum - (score - baseline score)|",
    "closed form: the same integral without points; exact: shares that sum to the score, no baseline",
]
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(POINTS)  # on [-1, 1]
GRID, WEIGHTS = (_POINTS + 1) / 2, _WEIGHTS / 2

# (candidate, reference) -> the sum of its tokens' attributions, mean of both directions, and the sum's error
Attribution = Callable[[str, str], tuple[float, float]]


@dataclass(frozen=True)
class Entry:
    """A line of the table.

    Attributes:
        name: name of the line.
        published: the paper's line beside it; None for none.
        load: returns the attribution, or raises NotMeasured.
    """

    name: str
    published: str | None
    load: Callable[[], Attribution]


@click.command()
@options.data("Folder of the evaluation sets.", required=True)
@click.option(
    "--limit", default=ROWS, show_default=True, type=click.IntRange(1), help="Largest number of rows of a set."
)
@options.checkpoints("MATCHA")
@options.encoders
@options.embsim()
@options.device
@options.seed
@options.output("results/attribution")
def main(
    data: Path,
    limit: int,
    checkpoint: tuple[str, ...],
    encoder: tuple[str, ...],
    embsim: str,
    device: str | None,
    seed: int,
    output: Path,
) -> None:
    """Table 9 of the MATCHA paper, published numbers beside."""
    try:
        sets = load_sets(data, SETS)
        if not sets:
            raise ValueError(f"--data: expected the sets {', '.join(SETS)}, there is none of them in {data}")
        entries = choose_entries(checkpoint, encoder, embsim, device)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(write_table(entries, sample(list(sets.values()), limit, seed), seed, output))
    options.progress(f"written to {output}")


def choose_entries(
    checkpoints: tuple[str, ...], encoders: tuple[str, ...], embsim: str, device: str | None
) -> list[Entry]:
    """EmbSim, the encoders, and three lines for each MATCHA checkpoint.

    Raises:
        ValueError: a checkpoint does not load, or two entries have the same name.
    """
    named = [("EmbSim", embsim, "EmbSim"), *((*options.named_source(given), None) for given in encoders)]
    entries = [
        Entry(name, published, lambda source=source: encoder_attribution(source, device))
        for name, source, published in named
    ]
    given = [(f"MATCHA ({name})", source) for name, source in map(options.named_source, checkpoints)]
    for name, source in given or [("MATCHA", None)]:
        for way, attribution in matcha_attributions(source).items():
            published = None if way else "MATCHA"
            entries.append(Entry(f"{name}{way}", published, lambda attribution=attribution: attribution))
    options.check_distinct([entry.name for entry in entries])
    return entries


def write_table(entries: list[Entry], rows: pd.DataFrame, seed: int, output: Path) -> str:
    """Measure every line of the table and write it to a folder, as CSV and as the text that is returned."""
    parts = []
    for entry in entries:
        options.progress(entry.name)
        parts.append(measure(entry, rows, seed))
    table = pd.concat(parts, ignore_index=True)
    counts = {TITLES[key]: len(chosen) for key, chosen in rows.groupby("key", sort=False)}
    text = table_text(table, counts, [TITLES[key] for key in SETS if TITLES[key] not in counts])
    output.mkdir(parents=True, exist_ok=True)
    table.to_csv(output / "table9.csv", index=False)
    (output / "table9.txt").write_text(text + "\n", encoding="utf-8")
    return text


def sample(sets: list[TripletSet], limit: int, seed: int) -> pd.DataFrame:
    """Rows of each set, drawn without replacement: columns key, reference, correct, incorrect."""
    rng = np.random.default_rng(seed)
    parts = []
    for one in sets:
        chosen = np.sort(rng.permutation(len(one))[:limit])
        columns = {"reference": one.references, "correct": one.correct, "incorrect": one.incorrect}
        rows = {name: [texts[i] for i in chosen] for name, texts in columns.items()}
        parts.append(pd.DataFrame({"key": one.key, **rows}))
    return pd.concat(parts, ignore_index=True)


def measure(entry: Entry, rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Every figure of one line of the table, for each set and for all.

    Returns:
        Columns metric, set, figure, value, low, high, published, n and reason (why there is no value).
    """
    values, reason = {}, None
    try:
        attribute = entry.load()
        for side in ("correct", "incorrect"):
            values[side] = np.array([attribute(a, b) for a, b in zip(rows[side], rows["reference"], strict=True)])
    except NotMeasured as absent:
        values, reason = {}, str(absent)
    published, lines = Published(PUBLISHED), []
    for key in [*rows["key"].unique(), OVERALL]:
        chosen = np.flatnonzero((rows["key"] == key) | (key == OVERALL))
        title = TITLES.get(key, key)
        figures = _figures(values["correct"][chosen], values["incorrect"][chosen], seed) if values else {}
        for figure in FIGURES:
            value, low, high = figures.get(figure, (None, None, None))
            beside = published.get("9", title, entry.published, figure) if entry.published else None
            line = {"metric": entry.name, "set": title, "figure": figure, "value": value, "low": low, "high": high}
            lines.append({**line, "published": beside, "n": len(chosen), "reason": reason})
    return pd.DataFrame(lines)


def _figures(correct: np.ndarray, incorrect: np.ndarray, seed: int) -> dict[str, tuple]:
    """(n, 2) sums and errors of the correct and of the incorrect pairs -> figures, with an interval for the gap."""
    a, b = 100 * correct[:, 0], 100 * incorrect[:, 0]
    drawn = bootstrap(lambda rows: {"gap": (a[rows] - b[rows]).mean(axis=-1)}, (len(a),), seed)
    errors = 100 * np.concatenate([correct[:, 1], incorrect[:, 1]])
    plain = {"correct": a.mean(), "incorrect": b.mean(), "error": errors.mean()}
    return {"gap": ((a - b).mean(), *drawn["gap"])} | {key: (float(value), None, None) for key, value in plain.items()}


def table_text(table: pd.DataFrame, counts: dict[str, int], missing: list[str]) -> str:
    """The table as text: all rows with the published figures, then the gap on each set."""
    names, published = list(table["metric"].unique()), Published(PUBLISHED)
    overall = _rows(table, names, [(OVERALL, figure) for figure in FIGURES])
    for name in published.metrics("9"):
        if name not in names:
            cells = [Cell(published=published.get("9", OVERALL, name, figure)) for figure in FIGURES]
            overall.append(Row(name, cells, "published only"))
    rows = ", ".join(f"{count} of {title}" for title, count in counts.items())
    notes = NOTES + ([f"missing: {', '.join(missing)}"] if missing else [])
    first = render(f"Table 9, attributions ({rows})", list(FIGURES), overall, notes)
    gaps = _rows(table, names, [(title, "gap") for title in counts])
    return f"{first}\n\n{render('Gap on each set', list(counts), gaps)}"


def _rows(table: pd.DataFrame, names: list[str], keys: list[tuple[str, str]]) -> list[Row]:
    lines, rows = table.set_index(["metric", "set", "figure"]), []
    for name in names:
        figures = [lines.loc[(name, *key)] for key in keys]
        rows.append(Row(name, [Cell.of(figure) for figure in figures], figures[0]["reason"]))
    return rows


def matcha_attributions(checkpoint: str | None) -> dict[str, Attribution]:
    """Three ways to attribute a checkpoint's scores, by what is added to its name.

    Raises:
        ValueError: the checkpoint does not load.
    """
    metric = load_metric("matcha", checkpoint, keep_in_memory=True)

    def explained(method: str) -> Attribution:
        def attribute(candidate: str, reference: str) -> tuple[float, float]:
            explanation = metric.explain(candidate, reference, method=method)
            sides = [explanation[side] for side in ("prediction", "reference")]
            expected = [explanation["score"] - side.get("baseline_score", 0.0) for side in sides]
            totals = [side["total"] for side in sides]
            # a text without a vector has no path: its score and attributions are 0
            errors = np.abs(np.subtract(totals, expected)) if any(totals) else np.zeros(2)
            return float(np.mean(totals)), float(np.mean(errors))

        return attribute

    ways = {", closed form": explained("integrated_gradients"), ", exact": explained("exact")}
    return {"": lambda candidate, reference: _matcha_points(metric, candidate, reference), **ways}


def _matcha_points(metric: evaluate.Metric, candidate: str, reference: str) -> tuple[float, float]:
    """The authors' sum over points of a path, here a straight line of the text's mean vector."""
    encoded = metric.encoder.encode([candidate, reference])
    if not encoded.defined.all():
        return 0.0, 0.0
    pairs = [(encoded.vectors[0], encoded.vectors[1]), (encoded.vectors[1], encoded.vectors[0])]
    score = _cosine(*pairs[0])
    sums, errors = [], []
    for end, other in pairs:
        start = metric.encoder.rows[0].numpy() if score > 0 else other
        path = start + GRID[:, None] * (end - start)  # (points, D)
        sizes = np.linalg.norm(path, axis=1, keepdims=True)
        target, units = other / np.linalg.norm(other), path / sizes
        gradients = (target - (units @ target)[:, None] * units) / sizes
        sums.append(float(WEIGHTS @ (gradients @ (end - start))))
        errors.append(abs(sums[-1] - (score - _cosine(start, other))))
    return float(np.mean(sums)), float(np.mean(errors))


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def encoder_attribution(model: str, device: str | None = None) -> Attribution:
    """Attribution for a sentence-transformers model, or a plain transformer with mean pooling.

    A hook replaces the output of the embedding layer by points of the path; positions and token types stay. No code of
    a repository is run (`trust_remote_code` stays off).

    Args:
        model: folder or Hub id.
        device: device to run on; None for sentence-transformers' choice.

    Raises:
        NotMeasured: the model does not load.
    """
    with absence(model):
        encoder = SentenceTransformer(model, device=device).eval()
        encoder.max_seq_length = min(encoder.max_seq_length or MAX_TOKENS, MAX_TOKENS)
        network = encoder[0].auto_model
        embedding = network.get_input_embeddings()
    return _EncoderPaths(encoder, embedding)


class _EncoderPaths:
    """Attributions of an encoder's cosine, by `__call__` as Attribution."""

    def __init__(self, encoder: SentenceTransformer, embedding: torch.nn.Module) -> None:
        self.encoder, self.embedding = encoder, embedding

    def __call__(self, candidate: str, reference: str) -> tuple[float, float]:
        """Sum of the tokens' attributions and its error, each the mean of both directions."""
        inputs = [self._inputs(text) for text in (candidate, reference)]
        with torch.no_grad():
            vectors = [self._encode(one, None)[0] for one in inputs]
        score = float(torch.cosine_similarity(vectors[0], vectors[1], dim=0))
        ways = [self._one_way(inputs[i], inputs[1 - i], vectors[1 - i], score) for i in (0, 1)]
        totals, errors = zip(*ways, strict=True)
        return float(np.mean(totals)), float(np.mean(errors))

    def _inputs(self, text: str) -> dict[str, torch.Tensor]:
        tokenize = getattr(self.encoder, "preprocess", None) or self.encoder.tokenize  # before version 5.4
        inputs = tokenize([text])
        return {name: value.to(self.encoder.device) for name, value in inputs.items() if torch.is_tensor(value)}

    def _one_way(
        self, inputs: dict[str, torch.Tensor], other: dict[str, torch.Tensor], vector: torch.Tensor, score: float
    ) -> tuple[float, float]:
        ids = inputs["input_ids"][0]
        start_ids = torch.zeros_like(ids)
        if score <= 0:  # the other text's tokens, as many as fit
            count = min(len(ids), other["input_ids"].shape[1])
            start_ids[:count] = other["input_ids"][0, :count]
        with torch.no_grad():
            start, end = self.embedding(start_ids), self.embedding(ids)  # (tokens, D)
            baseline = float(self._cosines(inputs, start[None], vector)[0])
        size, total = max(1, BATCH_TOKENS // len(ids)), 0.0
        for begin in range(0, POINTS, size):
            points = torch.tensor(GRID[begin : begin + size]).to(end)[:, None, None]
            path = (start + points * (end - start)).requires_grad_()
            (gradient,) = torch.autograd.grad(self._cosines(inputs, path, vector).sum(), path)
            steps = (gradient * (end - start)).sum(dim=(1, 2)).double().cpu().numpy()
            total += float(WEIGHTS[begin : begin + size] @ steps)
        return total, abs(total - (score - baseline))

    def _cosines(self, inputs: dict[str, torch.Tensor], path: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        repeated = {name: value.expand(len(path), *value.shape[1:]) for name, value in inputs.items()}
        return torch.cosine_similarity(self._encode(repeated, path), vector[None], dim=1)

    def _encode(self, inputs: dict[str, torch.Tensor], path: torch.Tensor | None) -> torch.Tensor:
        with self._replaced(path):
            return self.encoder(dict(inputs))["sentence_embedding"]

    @contextmanager
    def _replaced(self, path: torch.Tensor | None) -> Iterator[None]:
        """Replace the output of the embedding layer by (n, tokens, D) embeddings; None leaves it."""
        hook = None if path is None else self.embedding.register_forward_hook(lambda *_: path)
        try:
            yield
        finally:
            if hook is not None:
                hook.remove()


if __name__ == "__main__":
    main()
