"""Let a teacher judge sentence pairs, so that a smaller cross-encoder learns from more of them than people labelled.

    python -m training.label_pairs --config training/configs/data/paired_anew.yaml \
        --teacher model_cards/large --rating-encoder MPNET --data DATA --output runs/paired_anew.parquet

Writes sentence1, sentence2, source, whether the teacher judged the pair, and a column for each of its outputs: the
probabilities of classes, and a similarity, clipped to [0, 1]; and `margin`, (entailment - contradiction + 1) / 2, which
an encoder's cosine learns to follow (contextual_joint.yaml).
With --output FILE.safetensors the teacher's logits alone are kept, without the texts, and a file that is there is
continued: pairs that it has are not judged again (training/cross_encoder/logits.py). --teacher takes such a file too.
A config with `rating` has the teacher's similarity combined with a sentence encoder's cosine (paired_anew.yaml).
Prints what was kept and dropped, and the weights of the rating. --backend is the teacher's: sentence encoders run in
torch, and the one that rates in bfloat16 if the teacher does not run in float32 and the processor has instructions.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import semantic_search

from semantic_metrics.core.checkpoint_files import resolve_checkpoint
from semantic_metrics.core.progress import with_progress
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import (
    SIMILARITY,
    check_scale,
    checkpoint_scale,
    class_labels,
    rating,
    similarity_label,
)
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.transformer.backends import run_in_order, worker_count
from semantic_metrics.transformer.drifts import has_bfloat16
from training.cross_encoder.logits import SUFFIX, TeacherLogits, pair_keys
from training.cross_encoder.pairs import Outputs, PairSource
from training.cross_encoder.targets import class_target
from training.data.config_checks import Share, find_model
from training.data.config_files import read_yaml
from training.data.run_arguments import add_run_arguments, make_parser, run_options
from training.data.sources import Entry, check_columns, drop_texts, read_excluded, take_limit

PAIR = ["sentence1", "sentence2"]
PAIRS_A_WRITE = 8000  # a kill loses at most these
ENTAILMENT, CONTRADICTION, MARGIN = "entailment", "contradiction", "margin"  # columns
# bfloat16 rounds scores by at most 0.008, far less than the teacher's own error, and takes a third of the time on a
# processor that has instructions for it
FAST = RunOptions(precision="bfloat16" if has_bfloat16() else "float32")


def load_encoder(name: str, run: RunOptions) -> SentenceTransformer:
    """A sentence encoder, named like `init` of a training config, on the device and in the precision of the options."""
    encoder = SentenceTransformer(find_model(name), device=run.device)
    # twice as fast on a CPU, and moves a cosine by at most .004
    return encoder.bfloat16() if run.precision != "float32" and has_bfloat16() else encoder


def embed(encoder: SentenceTransformer, texts: list[str], run: RunOptions) -> torch.Tensor:
    """(n, d) float32, the unit vectors of n texts, in their order; `run` says the batch size and the workers.

    On a CPU each core has a batch of its own, of texts of about the same length, as `PairScorer` has them.
    """

    def encode(chosen: list[str]) -> torch.Tensor:
        options = {"convert_to_tensor": True, "normalize_embeddings": True, "show_progress_bar": False}
        return encoder.encode(chosen, batch_size=run.batch_size, **options).float()

    none = encode([""])[:0]  # also sets the tokeniser up, which the workers then only read
    longest_first = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    batches = [longest_first[i : i + run.batch_size] for i in range(0, len(texts), run.batch_size)]
    workers = worker_count(run.workers) if encoder.device.type == "cpu" else 1
    vectors = run_in_order(lambda rows: encode([texts[i] for i in rows]), batches, workers)
    in_batches = torch.cat([none, *with_progress(vectors, "batch", len(batches), "encoded")])
    return in_batches[torch.tensor(longest_first, dtype=torch.long).argsort()]


@dataclass(frozen=True)
class CandidateSource(Entry):
    """An entry of a config's `train` list.

    Attributes:
        columns: the two texts of a pair; or, with `near`, every column whose texts are paired with each other.
        near: ranges [first, last] of ranks (1 is the nearest); a text is paired with a neighbour drawn from each. Empty
            keeps the pairs of the rows.
        label: column with the class that people gave the pair of a row, if there is one.
    """

    columns: list[str] = field(default_factory=lambda: list(PAIR))
    near: list[list[int]] = field(default_factory=list)
    label: str | None = None

    def load(
        self, data: Path | None, encoder: SentenceTransformer | None, excluded: frozenset[str], run: RunOptions
    ) -> tuple[pd.DataFrame, Counter]:
        """Columns `PAIR`, `label` (None for no label) and `source`, and the count of pairs made, kept, dropped.

        A pair that holds a text of `excluded` is dropped. The encoder finds the neighbours for `near`.

        Raises ValueError: a file or column is missing, or `near` is given without an encoder.
        """
        rows = self.table.read(data, self.columns)
        check_columns(rows, [*self.columns, *([self.label] if self.label else [])], self.name)
        pairs = self._neighbours(rows, encoder, run) if self.near else rows[self.columns].set_axis(PAIR, axis=1)
        pairs["label"] = rows[self.label] if self.label and not self.near else None
        counts = Counter(pairs=len(pairs))
        pairs = drop_texts(pairs, excluded, counts, "empty, or the same twice", same=True).drop_duplicates(PAIR)
        pairs = take_limit(pairs, self.limit, counts)
        counts["kept"] = len(pairs)
        return pairs.assign(source=self.name), counts

    def _neighbours(self, rows: pd.DataFrame, encoder: SentenceTransformer | None, run: RunOptions) -> pd.DataFrame:
        if encoder is None:
            raise ValueError(f"near of {self.name}: expected an `encoder` in the config, got none")
        texts = pd.unique(pd.concat([rows[column] for column in self.columns]).dropna()).tolist()
        vectors = embed(encoder, texts, run)
        furthest = max(last for _, last in self.near) + 1  # the text itself is among its own neighbours
        hits_by_text = semantic_search(vectors, vectors, top_k=min(furthest, len(texts)))
        rng = np.random.default_rng(0)
        pairs = []
        for i, hits in enumerate(hits_by_text):
            others = [hit["corpus_id"] for hit in hits if hit["corpus_id"] != i]
            ranks = [int(rng.integers(first, last + 1)) - 1 for first, last in self.near]
            pairs += [(texts[i], texts[others[rank]]) for rank in ranks if rank < len(others)]
        return pd.DataFrame(pairs, columns=PAIR)


@dataclass(frozen=True)
class Rating:
    """A rating of similarity by a cross-encoder and a sentence encoder, which err on different pairs.

    `encoder` is named like `init` of a training config; the weights are fitted on pairs that people rated.
    """

    encoder: str
    fit: PairSource

    def cosines(self, pairs: pd.DataFrame, run: RunOptions) -> np.ndarray:
        """(n,) cosines of the encoder for pairs with columns `PAIR`."""
        texts = pd.unique(pairs[PAIR].to_numpy().ravel())
        vectors = embed(load_encoder(self.encoder, run), texts.tolist(), run)
        first, second = (vectors[pd.Index(texts).get_indexer(pairs[column])] for column in PAIR)
        return (first * second).sum(dim=1).cpu().numpy()


@dataclass(frozen=True)
class CandidateConfig:
    """The pairs that are judged, and how: see `Rating`, without which a teacher's similarities stay as they are.

    Attributes:
        train: sources of the pairs.
        encoder: sentence encoder that finds neighbours, named like `init` of a training config.
        label_share: share of a person's label in the probabilities of a pair that has one; the teacher's have the rest.
        exclude: tables with `columns` of texts that no pair may contain.
    """

    train: list[CandidateSource]
    encoder: str | None = None
    label_share: Share = 0.5
    rating: Rating | None = None
    exclude: list[dict] = field(default_factory=list)


def collect(config: CandidateConfig, data: Path | None, run: RunOptions = FAST) -> tuple[pd.DataFrame, dict[str, dict]]:
    """All pairs without repeats (the first source keeps one), and the counts per source."""
    exact = replace(run, precision="float32")  # neighbours are the same on any processor
    encoder = load_encoder(config.encoder, exact) if config.encoder else None
    excluded = read_excluded(config.exclude, data)
    parts, counts = [], {}
    for source in config.train:
        pairs, count = source.load(data, encoder, excluded, run)
        parts.append(pairs)
        counts[source.name] = dict(count)
    return pd.concat(parts, ignore_index=True).drop_duplicates(PAIR, ignore_index=True), counts


def label(pairs: pd.DataFrame, teacher: str, label_share: float = 0.0, run: RunOptions = FAST) -> pd.DataFrame:
    """The pairs with a teacher's judgement, a column for each of its outputs.

    Args:
        pairs: columns `PAIR` and `label`.
        teacher: folder or Hub id of a cross-encoder; or a file of logits. Of the pairs that it has not, those with a
            label have that alone (nothing is known of their similarity, NaN), and the others are left out.
        label_share: share of a label in the probabilities of a pair that has both.
        run: how the teacher runs.

    Raises ValueError: the teacher is missing or damaged, it does not state the scale of its similarity, or a label is
    not one of the teacher's classes.
    """
    texts = list(pairs[PAIR].itertuples(index=False, name=None))
    stored = teacher.endswith(SUFFIX)
    logits = TeacherLogits.read(Path(teacher)) if stored else judge(texts, load_teacher(teacher), run)
    values, names = logits.of(pair_keys(texts)), list(logits.outputs)
    judged = ~np.isnan(values).any(axis=1)
    kept = judged | pairs["label"].notna().to_numpy()
    pairs, raw = pairs[kept].assign(judged=judged[kept]), torch.from_numpy(values[kept])
    classes = class_labels(names) if len(names) > 1 else []  # the only label is a similarity
    columns = {}
    if classes:
        class_names = [names[i] for i in classes]
        probabilities = raw[:, classes].softmax(dim=1).numpy()
        mixed = _mix(probabilities, pairs["label"], class_names, label_share)
        columns = dict(zip(class_names, mixed.T, strict=True))
        if {ENTAILMENT, CONTRADICTION} <= set(class_names):
            columns[MARGIN] = (columns[ENTAILMENT] - columns[CONTRADICTION] + 1) / 2
    if logits.scale is not None:
        columns[SIMILARITY] = np.clip(rating(logits.scale, raw[:, similarity_label(names)].numpy()), 0, 1)
    return pairs.drop(columns="label").assign(**columns)


def load_teacher(teacher: str) -> PairScorer:
    """The cross-encoder of a folder or Hub id; a ValueError if it is missing or damaged."""
    return PairScorer(resolve_checkpoint(teacher, teacher, {}, OTHER_WEIGHTS))


def judge(pairs: list[tuple[str, str]], scorer: PairScorer, run: RunOptions = FAST) -> TeacherLogits:
    """Logits of n pairs by a cross-encoder, a row for each pair in their order; none for an empty list.

    Raises ValueError: the cross-encoder does not state the scale of its similarity, or a logit is not finite.
    """
    names, scale = scorer.labels, None
    if len(names) == 1 or len(class_labels(names)) < len(names):
        scale = checkpoint_scale(scorer.folder, scorer.config, str(scorer.folder))
        if scale is None:
            expected = "expected a checkpoint that states the scale of its similarity"
            raise ValueError(f"--teacher: {expected}, got {scorer.folder}")
        scale = check_scale(scale)
    values = scorer.logits(pairs, run).values if pairs else np.empty((0, len(names)), np.float32)
    return TeacherLogits(pair_keys(pairs), values, tuple(names), scale, (scorer.checkpoint_sha256,))


def _mix(probabilities: np.ndarray, labels: pd.Series, classes: list[str], share: float) -> np.ndarray:
    """(n, classes) probabilities, with a share of the label where there is one.

    A label that rules a class out leaves the others what the teacher gives them. A pair that the teacher did not judge,
    NaN, has the target of its label.
    """
    mixed, labels = probabilities.copy(), labels.to_numpy()
    for name in pd.unique(labels[pd.notna(labels)]):
        target, rows = np.array(class_target(name, classes)), labels == name
        allowed = np.where(np.isnan(target), probabilities[rows], target)
        labelled = allowed / allowed.sum(axis=1, keepdims=True)
        judged = ~np.isnan(labelled).any(axis=1, keepdims=True) & ~np.isnan(probabilities[rows])
        mixed[rows] = np.where(judged, (1 - share) * probabilities[rows] + share * labelled, target)
    return mixed


def main() -> None:
    """Command line."""
    parser = make_parser(__doc__, "A YAML file; see CandidateConfig.", "File to write: .parquet, or .safetensors.")
    parser.add_argument("--teacher", required=True, help="Folder, Hub id, or logits.")
    parser.add_argument("--rating-encoder", help="Folder of the encoder that the config's `rating` names.")
    parser.add_argument("--limit", type=int, metavar="N", help=f"Judge at most N more pairs, with a {SUFFIX} output.")
    add_run_arguments(parser, FAST)
    arguments = parser.parse_args()
    try:
        run, config = run_options(arguments), read_yaml(arguments.config, CandidateConfig)
        if arguments.limit is not None and (arguments.limit < 1 or arguments.output.suffix != SUFFIX):
            raise ValueError(f"--limit: expected 1 or more, and an output of {SUFFIX}, got {arguments.limit}")
        if arguments.rating_encoder and config.rating is None:
            raise ValueError(f"--rating-encoder: expected a config with `rating`, got {arguments.config}")
        pairs, counts = collect(config, arguments.data, run)
        sys.stdout.write("".join(f"{name}: {count}\n" for name, count in counts.items()))
        if arguments.output.suffix == SUFFIX:
            _keep_logits(pairs, arguments.teacher, arguments.output, arguments.limit, run)
        elif config.rating is None:
            judged = label(pairs, arguments.teacher, config.label_share, run)
            judged.to_parquet(arguments.output, index=False)
        else:
            rating = replace(config.rating, encoder=arguments.rating_encoder or config.rating.encoder)
            labelled = _rated(pairs, arguments.teacher, replace(config, rating=rating), arguments.data, run)
            labelled.to_parquet(arguments.output, index=False)
    except (OSError, ValueError) as error:
        parser.error(str(error))


def _keep_logits(pairs: pd.DataFrame, teacher: str, path: Path, limit: int | None, run: RunOptions) -> None:
    """Judge the pairs that the output does not have yet, in a random order, and write it after every few thousand."""
    texts = list(pairs[PAIR].itertuples(index=False, name=None))
    scorer, keys = load_teacher(teacher), pair_keys(texts)
    known = TeacherLogits.read(path) if path.exists() else judge([], scorer)
    left = np.random.default_rng(0).permutation(len(keys))
    left = left[~np.isin(keys[left], known.keys)][:limit]
    for begin in range(0, len(left), PAIRS_A_WRITE):
        rows = left[begin : begin + PAIRS_A_WRITE]
        known = known.with_more(judge([texts[i] for i in rows], scorer, run))
        known.write(path)
        sys.stdout.write(f"{begin + len(rows):,} of {len(left):,} pairs judged\n")
        sys.stdout.flush()


def _rated(
    pairs: pd.DataFrame, teacher: str, config: CandidateConfig, data: Path | None, run: RunOptions
) -> pd.DataFrame:
    """The pairs as a teacher labels them, their similarity a weighted sum of its own and of the encoder's cosine."""
    fit, _ = config.rating.fit.load(data, Outputs([], similarity=True), frozenset())
    people, n = np.concatenate(fit["label"].tolist()), len(fit)
    # one pair shows which columns the teacher gives, before all are judged
    if SIMILARITY not in label(pairs[:1], teacher, config.label_share, run):
        raise ValueError(f"rating: expected a teacher of similarity, got {teacher}")
    together = pd.concat([fit.assign(label=None, source=""), pairs], ignore_index=True)
    cosines = config.rating.cosines(together, run)
    labelled = label(together, teacher, config.label_share, run)
    inputs = np.column_stack([np.ones(len(labelled)), labelled[SIMILARITY], cosines])
    weights = np.linalg.lstsq(inputs[:n], people)[0]
    labelled[SIMILARITY] = np.clip(inputs @ weights, 0, 1)
    r = [np.corrcoef(values[:n], people)[0, 1] for values in (inputs[:, 1], cosines, labelled[SIMILARITY])]
    sys.stdout.write(
        "rating: constant={:.4f}, similarity={:.4f}, cosine={:.4f}".format(*weights)
        + f", from {n} pairs of {config.rating.fit.name}; "
        + "r there: teacher {:.4f}, encoder {:.4f}, together {:.4f}\n".format(*r)
    )
    return labelled[n:].reset_index(drop=True)


if __name__ == "__main__":
    main()
