"""Set criteria as an `evaluate.Metric`: does a sentence encoder treat overlap, difference and union as sets do?"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import datasets
import evaluate
import numpy as np
from datasets import Features, Value

from semantic_metrics.core.checked_metric import CheckedInputs
from semantic_metrics.core.inputs import check_choice, check_same_length, check_texts, check_whole
from semantic_metrics.core.resolve import resolve_checkpoint
from semantic_metrics.set_criteria.angles import Result
from semantic_metrics.set_criteria.criteria import (
    Ranges,
    Samples,
    Settings,
    check_ranges,
    complete,
    own_ranges,
    report,
    shared_ranges,
)
from semantic_metrics.set_criteria.encoders import Encoder, find_encoder, load_encoder
from semantic_metrics.set_criteria.epsilon import EPSILONS
from semantic_metrics.set_criteria.geometry import MEASURES
from semantic_metrics.set_criteria.samples import (
    Vectors,
    check_embeddings,
    check_operators,
    from_arrays,
    measure_samples,
    name_of,
)
from semantic_metrics.set_criteria.vector_cache import cache_folder, encode_texts

# evaluate copies only the siblings that this script itself imports
__all__ = ["EPSILONS", "MEASURES", "SetCriteria", "resolve_checkpoint"]

VERSION = "0.1.0"

_DESCRIPTION = """\
Tests a sentence encoder for six properties of sets (Bansal et al., Set-Theoretic Compositionality of Sentence
Embeddings): is the embedding of what two sentences share near to both (C1, C2), that of what only the first says near
to it and far from the second (C3 to C5), and that of both together in their middle (C6)? It rates the encoder, not the
texts.
"""

_CITATION = """\
@article{bansal2025set,
  title = {Set-Theoretic Compositionality of Sentence Embeddings},
  author = {Bansal, Naman and Mahajan, Yash and Sinha, Sanjeev and Karmaker, Santu},
  year = {2025},
}
"""

_INPUTS = """
Args:
    a, b: lists of n strings, the two sentences of each sample.
    target: list of n strings: what a and b share (overlap), what a says and b does not (difference), or what the two
        say together (union).
    operator: list of n strings, "overlap", "difference" or "union".
    embeddings: (A, B, T), three (n, d) arrays: nothing is encoded, and `operator` is all that is needed besides. Or a
        dict of such triples by name: several encoders, compared in one call.
    encoders: list of encoder names, as `config_name` of `evaluate.load`: compared in one call in place of the loaded
        one, with those of an `embeddings` dict.
    ranges: of the margins (epsilons): None takes those of this encoder, or of all that are compared in this call (the
        paper's way); or `ranges` of another result, of which criteria and measures may be left out. Low = high = 0
        asks for the margin 0 alone.
    epsilons: margins of each condition (default 132).
    tolerance: rad, of "between A and B" (default 1e-6).
    theta: margin of C5 and C6 in parts of the angle between A and B (default 0.5).
    norm_ratio: lengths of A and B are comparable from 1 / norm_ratio to norm_ratio (default 1.1).
    per_sample: add the values of every sample (default False).
    batch_size: texts that a network takes at a time (default 64).
    device: where a network runs; None for sentence-transformers' choice.
    cache_dir: keep vectors on disk, by text and encoder: None does not, "default" does so in the folder of
        SEMANTIC_METRICS_CACHE, or a folder.

Returns:
    Shares are percentages in [0, 100]; of no sample they are None. For several encoders `encoders`, a dict of the
    following by name, and the `ranges` they share; else:
    C1, C3: by measure (cosine, dot, l1, l2, ned) the cells `both`, `first`, `second`, `neither` averaged over the
        margins, which add to 100, `mean` and `sd` of the two differences, `base` (mean of Sim(A, B) for C1, Sim(B, T)
        for C3) and `n`. Cells: higher `both` is better. A distance's differences should be below 0, others above.
    C4: by measure `share` (higher is better), `mean`, `sd`, `n`.
    C2, C5, C6: `share` for which the criterion holds (higher is better), `between` (of projections between A and B),
        `n`, `curve` (share over theta, from where the target should lie), `histogram` and `angle` of the angle between
        B and the projection in parts of that between B and A, unsigned and signed (0 at B, 1 at A); C6 also `cases`.
    norm_ratio: mean, sd, median, n and histogram of |A| / |B|.
    undefined: by criterion (and measure) how many samples were left out, by reason.
    ranges, operators: the ranges used (a distance's sign turned), and how many samples each operator has.
    truncated: distinct texts that were cut to the encoder's length, where texts were encoded.
    per_sample: on request, by criterion `row` (places of the samples) and their values; None where undefined.
    signature: every setting that can change a result, the encoder's sha256 among them.

Raises:
    ValueError: unequal lengths, an unknown operator, an empty list, None, embeddings of other shapes or with nan;
        names the argument.

Example:
    >>> criteria = evaluate.load("metrics/set_criteria")
    >>> sample = {"a": ["It rains and blows."], "b": ["It rains and snows."], "target": ["It rains."]}
    >>> criteria.compute(**sample, operator=["overlap"])["C2"]["n"]
    1
"""


class SetCriteria(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the encoder (see `encoders.find_encoder`)."""

    def _info(self) -> evaluate.MetricInfo:
        text = Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=Features({"a": text, "b": text, "target": text, "operator": text}),
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
        # the encoder is loaded when texts come: embeddings need none
        self.encoder_name = None if self.config_name == "default" else self.config_name
        self._loaded: tuple[str | None, Encoder] | None = None
        if self.encoder_name is not None:
            find_encoder(self.encoder_name)

    def check_columns(self, columns: dict[str, object]) -> dict[str, list]:
        """Columns as lists of texts, the operators known ones."""
        checked = super().check_columns(columns)
        return {**checked, "operator": check_operators(checked["operator"])}

    def compute(
        self,
        *,
        a: list[str] | None = None,
        b: list[str] | None = None,
        target: list[str] | None = None,
        operator: list[str] | None = None,
        embeddings: Vectors | dict[str, Vectors] | None = None,
        encoders: list[str] | None = None,
        ranges: Ranges | None = None,
        epsilons: int = EPSILONS,
        tolerance: float = 1e-6,
        theta: float = 0.5,
        norm_ratio: float = 1.1,
        per_sample: bool = False,
        batch_size: int = 64,
        device: str | None = None,
        cache_dir: str | Path | None = None,
    ) -> dict | None:
        """Test the encoder on samples, those added before included."""
        check_choice("per_sample", per_sample, (False, True))
        check_whole("batch_size", batch_size, 1)
        options = {
            "settings": Settings(epsilons, tolerance, theta, norm_ratio),
            "embeddings": None if embeddings is None else check_embeddings(embeddings, encoders is not None),
            "encoders": None if encoders is None else _check_encoders(encoders, embeddings),
            "ranges": None if ranges is None else check_ranges(ranges),
            "per_sample": per_sample,
            "encoding": {"batch_size": batch_size, "cache": cache_folder(cache_dir)},
            "device": device,
        }
        texts = {"a": a, "b": b, "target": target}
        if embeddings is not None and encoders is None and self.writer is None and not _given(texts):
            operators = check_operators(check_texts("operator", operator))
            return self._compute(None, None, None, operators, **options)
        return self.compute_checked({**texts, "operator": operator}, options)

    def _compute(
        self,
        a: list[str] | None,
        b: list[str] | None,
        target: list[str] | None,
        operator: list[str],
        settings: Settings,
        embeddings: dict[str | None, Vectors] | None,
        encoders: list[str] | None,
        ranges: Ranges | None,
        per_sample: bool,
        encoding: dict[str, object],
        device: str | None,
    ) -> dict:
        operator = list(operator)
        for name, triple in (embeddings or {}).items():
            check_same_length("operator", len(operator), name_of(name), len(triple[0]))
        measured: dict[str | None, tuple[Samples, Result]] = {}
        for name, triple in (embeddings or {}).items():
            measured[name] = measure_samples(from_arrays(triple), operator, name_of(name)), {"encoder": "given"}
        texts = None if a is None else [*a, *b, *target]
        if encoders is not None:
            for name in encoders:  # one at a time: each is let go before the next comes
                measured[name] = _measure_texts(load_encoder(name, device), texts, operator, encoding)
        elif embeddings is None:
            measured[None] = _measure_texts(self._encoder(device), texts, operator, encoding)
        return _report_all(measured, settings, ranges, per_sample)

    def _encoder(self, device: str | None) -> Encoder:
        if self._loaded is None or self._loaded[0] != device:
            self._loaded = device, load_encoder(self.encoder_name, device)
        return self._loaded[1]


def _given(texts: dict[str, object]) -> bool:
    return any(values is not None for values in texts.values())


def _check_encoders(encoders: object, embeddings: object) -> list[str]:
    names = check_texts("encoders", encoders)
    taken = [*names, *(embeddings or {})]
    if len(set(taken)) < len(taken):
        raise ValueError(f"encoders: expected names that differ, got {taken}")
    for name in names:
        find_encoder(name)
    return names


def _measure_texts(
    encoder: Encoder, texts: list[str], operators: list[str], encoding: dict[str, object]
) -> tuple[Samples, Result]:
    """Measure the samples of `texts`, all A, then all B, then all targets."""
    vectors = encode_texts(encoder, texts, **encoding)
    n = len(operators)

    def take(rows: np.ndarray) -> Vectors:
        return vectors.take(rows), vectors.take(rows + n), vectors.take(rows + 2 * n)

    facts = {"encoder": encoder.sha256[:16], "truncated": vectors.truncated}
    return measure_samples(take, operators, "the encoder's vectors"), facts


def _report_all(
    measured: dict[str | None, tuple[Samples, Result]], settings: Settings, ranges: Ranges | None, per_sample: bool
) -> dict:
    """The result of one encoder (named None), or those of several with the ranges they share."""
    used = complete(ranges, shared_ranges([own_ranges(samples) for samples, _ in measured.values()]))
    spelled = "own"
    if ranges is not None or None not in measured:
        digest = hashlib.sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()
        spelled = f"{'shared' if ranges is None else 'given'}-{digest[:8]}"
    results = {}
    for name, (samples, facts) in measured.items():
        parts = {"encoder": facts.pop("encoder"), **asdict(settings), "ranges": spelled, "version": VERSION}
        signature = "set_criteria|" + "|".join(f"{key}:{value}" for key, value in parts.items())
        results[name] = {**report(samples, settings, used, per_sample), **facts, "signature": signature}
    return results.get(None, {"encoders": results, "ranges": used})
