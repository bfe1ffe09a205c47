r"""Table 9 of the MATCHA paper: how much the tokens of correct and of incorrect pairs add to a score (appendix C).

    python -m benchmarks attribution --data FOLDER
        the shipped checkpoint and EmbSim, 200 rows each of SNLI, MultiNLI and TruthfulQA
    python -m benchmarks attribution --data FOLDER --limit 100 --bertscore distilbert-base-uncased \
        --encoder Mistral-7B=intfloat/e5-mistral-7b-instruct --checkpoint A=runs/a
        fewer rows, a further encoder, BERTScore, and another MATCHA checkpoint than the shipped one

A pair's attribution is the sum of its tokens' integrated gradients, the mean of both directions, times 100. As in the
paper the path has 50 points and begins at token id 0 in every place where the score is above 0, else at the other text.
By completeness the sum is the score minus the baseline's; `error` is the mean distance from that. `--points 0` takes it
as that difference, which needs two passes of an encoder in place of a hundred. BERTScore is its F1
without rescaling, by greedy alignment; an encoder whose name is in table 9 gets the published row beside it. MATCHA's
integral has a closed form; its second row is `exact`, the shares that sum to the score itself. --device and
--batch-size are of the encoders and of BERTScore's model: the MATCHA table runs no model.

Writes table9.csv and table9.txt to --output.

Source: Li et al., Findings of ACL 2026, appendix C; the settings that it leaves open (50 points of the Gauss-Legendre
rule, 128 tokens, the two baselines) are those of the authors' published code and of captum, which it calls.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np
import pandas as pd
import torch
from bert_score.utils import model2layers
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from benchmarks.common import options
from benchmarks.common.encoders import NotMeasured, absence
from benchmarks.common.published import Published
from benchmarks.common.tables import figures_text
from benchmarks.papers.matcha.report import PUBLISHED
from benchmarks.papers.matcha.sets import TITLES, TripletSet, load_sets
from semantic_metrics import load as load_metric
from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.core.progress import with_progress
from semantic_metrics.stats.bootstrap import bootstrap

SETS = ("snli", "multinli", "truthfulqa")  # appendix C
ROWS = 200  # rows of each set, together the paper's 600
POINTS = 50  # points of a path: captum's default, and the authors'
MAX_TOKENS = 128  # tokens of a text: the authors'
OVERALL = "Overall"
FIGURES = ("correct", "incorrect", "gap", "error")
NOTES = [
    "mean sum of a pair's token attributions, both directions, times 100; gap: correct minus incorrect [95% bootstrap]",
    "published: 600 pairs that the paper does not list; error: mean |sum - (score - baseline score)|",
    "exact: shares that sum to the score, no baseline",
]


def grid(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights of the Gauss-Legendre rule on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(points)  # on [-1, 1]
    return (places + 1) / 2, weights / 2


# n candidates, n references -> (n, 2): the sum of a pair's attributions, mean of both directions, and the sum's error
Attribution = Callable[[Sequence[str], Sequence[str]], np.ndarray]
Entry = tuple[str, str | None, Callable[[], Attribution]]  # name, the paper's line beside it, and what loads it


@click.command()
@options.data("Folder of the evaluation sets.", required=True)
@click.option(
    "--limit", default=ROWS, show_default=True, type=click.IntRange(1), help="Largest number of rows of a set."
)
@click.option(
    "--points",
    default=POINTS,
    show_default=True,
    type=click.IntRange(0),
    help="Points of an encoder's path; 0: the limit of many points, score minus baseline score, in seconds.",
)
@options.checkpoints("MATCHA")
@options.encoders
@options.embsim()
@options.model("bertscore", "distilbert-base-uncased")
@options.bertscore_layer
@options.device
@options.batch_size
@options.seed
@options.output("results/attribution")
def main(data: Path, limit: int, seed: int, output: Path, **models: object) -> None:
    """Table 9 of the MATCHA paper, published numbers beside."""
    try:
        sets = load_sets(data, SETS)
        if not sets:
            raise ValueError(f"--data: expected the sets {', '.join(SETS)}, got {data} with none of them")
        entries = choose_entries(**models)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(write_table(entries, sample(list(sets.values()), limit, seed), seed, output))
    options.progress(f"written to {output}")


def choose_entries(
    checkpoint: Sequence[str],
    encoder: Sequence[str],
    embsim: str,
    bertscore: str | None = None,
    bertscore_layer: int | None = None,
    device: str | None = None,
    batch_size: int = BATCH_SEQUENCES,
    points: int = POINTS,
) -> list[Entry]:
    """EmbSim, BERTScore where it has a model, the encoders, and two lines for each MATCHA checkpoint.

    Raises:
        ValueError: a checkpoint does not load, or two entries have the same name.
    """
    run = (device, points, batch_size)
    in_table = Published(PUBLISHED).metrics("9")
    entries = []
    for name, source in [("EmbSim", embsim), *map(options.named_source, encoder)]:
        beside = name if name in in_table else None
        entries.append((name, beside, lambda source=source: CosinePaths(source, *run)))
    if bertscore is not None:
        entries.insert(1, ("BERTScore", "BERTScore", lambda: GreedyPaths(bertscore, bertscore_layer, *run)))
    given = [(f"MATCHA ({name})", source) for name, source in map(options.named_source, checkpoint)]
    for name, source in given or [("MATCHA", None)]:
        for way, attribution in matcha_attributions(source).items():
            entries.append((f"{name}{way}", None if way else "MATCHA", lambda attribution=attribution: attribution))
    options.check_distinct([name for name, _, _ in entries])
    return entries


def write_table(entries: list[Entry], rows: pd.DataFrame, seed: int, output: Path) -> str:
    """Measure every line of the table and write it to a folder, as CSV and as the text that is returned."""
    parts = []
    for entry in entries:
        options.progress(entry[0])
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
    name, beside, load = entry
    values, reason = {}, None
    try:
        attribute = load()
        texts = [*rows["correct"], *rows["incorrect"]], [*rows["reference"], *rows["reference"]]
        values = dict(zip(("correct", "incorrect"), np.split(attribute(*texts), 2), strict=True))
    except NotMeasured as absent:
        reason = str(absent)
    published, lines = Published(PUBLISHED), []
    for key in [*rows["key"].unique(), OVERALL]:
        chosen = np.flatnonzero((rows["key"] == key) | (key == OVERALL))
        title = TITLES.get(key, key)
        figures = _figures(values["correct"][chosen], values["incorrect"][chosen], seed) if values else {}
        for figure in FIGURES:
            value, low, high = figures.get(figure, (None, None, None))
            line = {"metric": name, "set": title, "figure": figure, "value": value, "low": low, "high": high}
            line["published"] = beside and published.get("9", title, beside, figure)
            lines.append({**line, "n": len(chosen), "reason": reason})
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
    published, measured = Published(PUBLISHED), set(table["metric"])
    others = [
        {"metric": name, "set": OVERALL, "figure": figure, "published": published.get("9", OVERALL, name, figure)}
        for name in published.metrics("9")
        for figure in FIGURES
        if name not in measured
    ]
    overall = pd.concat([table[table["set"] == OVERALL], pd.DataFrame(others)], ignore_index=True)
    rows = ", ".join(f"{count} of {title}" for title, count in counts.items())
    notes = NOTES + ([f"missing: {', '.join(missing)}"] if missing else [])
    first = figures_text(f"Table 9, attributions ({rows})", overall, "metric", ["figure"], notes=notes)
    gaps = table[(table["figure"] == "gap") & (table["set"] != OVERALL)]
    return f"{first}\n\n{figures_text('Gap on each set', gaps, 'metric', ['set'])}"


def matcha_attributions(checkpoint: str | None) -> dict[str, Attribution]:
    """Two ways to attribute a checkpoint's scores, by what is added to its name.

    Raises:
        ValueError: the checkpoint does not load.
    """
    metric = load_metric("matcha", checkpoint, keep_in_memory=True)

    def explained(method: str) -> Attribution:
        def one(candidate: str, reference: str) -> tuple[float, float]:
            explanation = metric.explain(candidate, reference, method=method)
            sides = [explanation[side] for side in ("prediction", "reference")]
            expected = [explanation["score"] - side.get("baseline_score", 0.0) for side in sides]
            totals = [side["total"] for side in sides]
            # a text without a vector has no path: its score and attributions are 0
            errors = np.abs(np.subtract(totals, expected)) if any(totals) else np.zeros(2)
            return float(np.mean(totals)), float(np.mean(errors))

        return lambda *texts: np.array([one(*pair) for pair in with_progress(list(zip(*texts, strict=True)), "pair")])

    return {"": explained("integrated_gradients"), ", exact": explained("exact")}


class Paths:
    """Integrated gradients of a pair's score from token id 0, or from the other text where the score is not above 0.

    A hook replaces the output of the embedding layer by points of the path; positions are those of the text at its end.
    No code of a repository is run (`trust_remote_code` stays off). `network`, `embedding`, `device`, `points` and
    `batch_size` are set by a subclass.
    """

    def __call__(self, candidates: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """The sums and their errors, as Attribution."""
        pairs = with_progress(list(zip(candidates, references, strict=True)), "pair")
        return np.array([np.mean([self._one(*pair), self._one(*pair[::-1])], axis=0) for pair in pairs])

    def _one(self, text: str, other: str) -> tuple[float, float]:
        ids, others = (torch.tensor(self._tokenize(one), device=self.device)[None] for one in (text, other))
        with torch.no_grad():
            target = others, self._encode(others)
        start = torch.zeros_like(ids)
        score = self._values(ids, start, target, np.ones(1))[0]
        if score <= 0:  # the other text's tokens, as many as fit
            start[:, : others.shape[1]] = others[:, : ids.shape[1]]
        limit = score - self._values(ids, start, target, np.zeros(1))[0]
        total = limit
        if self.points:
            places, weights = grid(self.points)
            total = float(self._values(ids, start, target, places, slopes=True) @ weights)
        return float(total), float(abs(total - limit))

    def _tokenize(self, text: str) -> list[int]:
        """Token ids of a text, at most MAX_TOKENS."""
        raise NotImplementedError

    def _encode(self, ids: torch.Tensor) -> torch.Tensor:
        """(n, t) token ids -> (n, D), or (n, t, D) where tokens are compared."""
        raise NotImplementedError

    def _similarity(
        self, states: torch.Tensor, ids: torch.Tensor, others: torch.Tensor, other_ids: torch.Tensor
    ) -> torch.Tensor:
        """What `_encode` gives of n texts and of n others, with their token ids -> (n,) scores."""
        raise NotImplementedError

    def _values(
        self,
        ids: torch.Tensor,
        start: torch.Tensor,
        target: tuple[torch.Tensor, torch.Tensor],
        steps: np.ndarray,
        slopes: bool = False,
    ) -> np.ndarray:
        """Score of the path from `start` to `ids` at each step from 0 to 1, or the slope of the score there."""
        with torch.no_grad():
            first = self.embedding(start)
            way = self.embedding(ids) - first
        parts = []
        for i in range(0, len(steps), self.batch_size):
            points = torch.tensor(steps[i : i + self.batch_size], dtype=way.dtype, device=self.device)
            path = (first + points[:, None, None] * way).requires_grad_(slopes)
            many = ids.expand(len(points), -1)
            other_ids, others = (one.expand(len(points), *one.shape[1:]) for one in target)
            with torch.set_grad_enabled(slopes), self._replaced(path):
                values = self._similarity(self._encode(many), many, others, other_ids)
            if slopes:
                (gradient,) = torch.autograd.grad(values.sum(), path)
                values = (gradient * way).sum(dim=(1, 2))
            parts.append(values.double().cpu().numpy())
        return np.concatenate(parts)

    @contextmanager
    def _replaced(self, path: torch.Tensor) -> Iterator[None]:
        hook = self.embedding.register_forward_hook(lambda *_: path)
        try:
            yield
        finally:
            hook.remove()


class CosinePaths(Paths):
    """Attribution for a sentence-transformers model, or a plain transformer with mean pooling.

    Raises:
        NotMeasured: the model does not load.
    """

    def __init__(
        self, model: str, device: str | None = None, points: int = POINTS, batch_size: int = BATCH_SEQUENCES
    ) -> None:
        self.points, self.batch_size = points, batch_size
        with absence(model):
            self.network = SentenceTransformer(model, device=device).eval().requires_grad_(False)
            self.network.max_seq_length = min(self.network.max_seq_length or MAX_TOKENS, MAX_TOKENS)
            self.embedding, self.device = self.network[0].auto_model.get_input_embeddings(), self.network.device

    def _tokenize(self, text: str) -> list[int]:
        tokenize = getattr(self.network, "preprocess", None) or self.network.tokenize  # before version 5.4
        return tokenize([text])["input_ids"][0].tolist()

    def _encode(self, ids: torch.Tensor) -> torch.Tensor:
        return self.network({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["sentence_embedding"]

    def _similarity(
        self, states: torch.Tensor, ids: torch.Tensor, others: torch.Tensor, other_ids: torch.Tensor
    ) -> torch.Tensor:
        return torch.cosine_similarity(states, others, dim=1)


class GreedyPaths(Paths):
    """Attribution for BERTScore's F1 without rescaling: each token is aligned with the other text's nearest one.

    Special tokens can be aligned with, but have no weight of their own, as in bert-score.

    Raises:
        NotMeasured: the model does not load, or its layer is not known.
    """

    def __init__(
        self,
        model: str,
        layer: int | None = None,
        device: str | None = None,
        points: int = POINTS,
        batch_size: int = BATCH_SEQUENCES,
    ) -> None:
        self.points, self.batch_size = points, batch_size
        self.layer = model2layers.get(model, model2layers.get(Path(model).name)) if layer is None else layer
        if self.layer is None:
            raise NotMeasured(f"bert-score does not know which layer of {model} to take (--bertscore-layer N)")
        with absence(model):
            self.tokenizer = AutoTokenizer.from_pretrained(model)
            self.network = AutoModel.from_pretrained(model).to(device or "cpu").eval().requires_grad_(False)
        self.embedding, self.device = self.network.get_input_embeddings(), self.network.device
        special = {self.tokenizer.cls_token_id, self.tokenizer.sep_token_id} - {None}
        self.special = torch.tensor([*special], device=self.device)

    def _tokenize(self, text: str) -> list[int]:
        return self.tokenizer(text.strip(), truncation=True, max_length=MAX_TOKENS)["input_ids"]

    def _encode(self, ids: torch.Tensor) -> torch.Tensor:
        states = self.network(ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        return torch.nn.functional.normalize(states.hidden_states[self.layer], dim=-1)

    def _similarity(
        self, states: torch.Tensor, ids: torch.Tensor, others: torch.Tensor, other_ids: torch.Tensor
    ) -> torch.Tensor:
        cosines, sides = states @ others.transpose(1, 2), []  # (n, t, other t)
        for near, side in ((cosines.amax(dim=2), ids), (cosines.amax(dim=1), other_ids)):
            weights = (~torch.isin(side, self.special)).to(near.dtype)
            sides.append((near * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1))
        total = sides[0] + sides[1]
        return 2 * sides[0] * sides[1] / torch.where(total == 0, 1, total)
