"""Set criteria as an `evaluate.Metric`: does a sentence encoder treat overlap, difference and union as sets do?"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np

from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.inputs import check_choice, check_same_length, check_texts, invalid_input
from semantic_metrics.core.run_options import RunOptions, refuse_changed
from semantic_metrics.core.signature import Signature
from semantic_metrics.set_criteria.angles import Result
from semantic_metrics.set_criteria.criteria import (
    Ranges,
    Samples,
    Settings,
    check_ranges,
    fill_ranges,
    own_ranges,
    report,
    shared_ranges,
)
from semantic_metrics.set_criteria.encoders import ContextualMatcha, Encoder, find_encoder, load_encoder
from semantic_metrics.set_criteria.epsilon import EPSILONS
from semantic_metrics.set_criteria.samples import (
    Vectors,
    check_embeddings,
    check_operators,
    from_arrays,
    measure_samples,
    name_of,
)
from semantic_metrics.set_criteria.summary import CriteriaResult
from semantic_metrics.set_criteria.vector_cache import cache_folder, encode_texts
from semantic_metrics.transformer.backends import check_run_device

VERSION = "0.1.0"
GIVEN = {"encoder": "given"}  # what a signature contains of embeddings that a call brings

_DESCRIPTION = """\
Tests a sentence encoder for six properties of sets (Bansal et al., Set-Theoretic Compositionality of Sentence
Embeddings). Is the embedding of what two sentences share near both of them (C1, C2)? Is the embedding of what only the
first says near the first and far from the second (C3 to C5)? Is the embedding of both together in their middle (C6)? It
rates the encoder, not the texts.
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
    embeddings: (A, B, T), three (n, d) arrays of vectors that you have computed; only `operator` is needed with them.
        Or a dict of such triples by name, to compare several encoders in one call.
    encoders: list of encoder names (see `config_name` of `evaluate.load`) to compare in one call, in place of the
        loaded encoder; triples of an `embeddings` dict are compared with them.
    ranges: ranges of the margins (epsilons). None takes the ranges of this encoder, or of all encoders of this call (as
        the paper does). Or pass `ranges` of another result; criteria and measures may be left out. Low = high = 0
        tests the margin 0 alone.
    epsilons: number of margins of each condition (default 132).
    tolerance: tolerance of "between A and B", in rad (default 1e-6).
    theta: margin of C5 and C6 in parts of the angle between A and B (default 0.5).
    norm_ratio: lengths of A and B are comparable from 1 / norm_ratio to norm_ratio (default 1.1).
    per_sample: add the values of every sample (default False).
    batch_size: number of texts that a network reads at a time (default 64).
    device: where a network runs; None for sentence-transformers' choice.
    precision, backend: how a contextual MATCHA checkpoint runs, as in `stsscore`; other encoders take the defaults
        alone, "float32" and "torch".
    cache_dir: where vectors are kept on disk, by text and encoder, precision and backend: None for nowhere, "default"
        for the folder that the environment variable SEMANTIC_METRICS_CACHE names, or a folder.
    progress: show a bar where standard error is a terminal and it takes more than two seconds (default True).

Returns:
    A dict, which `print` shows as a table. Shares are percentages in [0, 100], None where there is no sample. For
    several encoders: `encoders`, a dict of the following by name, and the `ranges` they share. For one encoder:
    C1, C3: by measure (cosine, dot, l1, l2, ned) the cells `both`, `first`, `second`, `neither` averaged over the
        margins, which add up to 100, `mean` and `sd` of the two differences, `base` (mean of Sim(A, B) for C1, Sim(B,
        T) for C3) and `n`. Higher `both` is better. Differences of distances should be below 0, the others above.
    C4: by measure `share` (higher is better), `mean`, `sd`, `n`.
    C2, C5, C6: `share` for which the criterion holds (higher is better), `between` (of projections between A and B),
        `n`, `curve` (share over theta, from where the target should lie), `histogram` and `angle` of the angle between
        B and the projection in parts of that between B and A, unsigned and signed (0 at B, 1 at A); C6 also `cases`.
    norm_ratio: mean, sd, median, n and histogram of |A| / |B|, all operators together.
    undefined: by criterion (and measure) the number of samples left out, by reason.
    ranges: the ranges used, the sign of distances reversed.
    operators: number of samples of each operator.
    truncated: number of distinct texts that were cut to the encoder's length, if texts were encoded.
    per_sample: on request, by criterion `row` (indices of the samples) and their values; None where undefined.
    signature: every setting that can change a result, the encoder's sha256 among them.

Raises:
    ValueError: unequal lengths, an unknown operator, an empty list, None, embeddings of other shapes or with nan; the
        message names the argument.

Example:
    >>> criteria = evaluate.load("metrics/set_criteria")
    >>> sample = {"a": ["It rains and blows."], "b": ["It rains and snows."], "target": ["It rains."]}
    >>> criteria.compute(**sample, operator=["overlap"])["C2"]["n"]
    1
"""


@dataclass(frozen=True)
class Options:
    """Settings of one call of `compute`, whose docstring explains them, checked and converted."""

    settings: Settings
    embeddings: dict[str | None, Vectors] | None
    encoders: list[str] | None
    ranges: Ranges | None
    per_sample: bool
    run: RunOptions
    cache: Path | None
    progress: bool

    def __post_init__(self) -> None:
        check_choice("per_sample", self.per_sample, (False, True))
        check_choice("progress", self.progress, (False, True))


class SetCriteria(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the encoder (see `encoders.find_encoder`)."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("a", "b", "target", "operator"),
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
        # an encoder is loaded when there are texts: given embeddings need none
        self.encoder_name = None if self.config_name == "default" else self.config_name
        self._loaded: tuple[RunOptions, Encoder] | None = None
        if self.encoder_name is not None:
            find_encoder(self.encoder_name)

    def check_columns(self, columns: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Like `CheckedInputs.check_columns`, and rejects unknown operators."""
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
        precision: str = "float32",
        backend: str = "torch",
        cache_dir: str | Path | None = None,
        progress: bool = True,
    ) -> dict[str, Any] | None:
        """Test the encoder on the samples, together with those added before."""
        run = RunOptions(precision, None, batch_size, device, backend)
        check_run_device(run)
        options = Options(
            settings=Settings(epsilons, tolerance, theta, norm_ratio),
            embeddings=None if embeddings is None else check_embeddings(embeddings, encoders is not None),
            encoders=None if encoders is None else _check_encoders(encoders, embeddings, run),
            ranges=None if ranges is None else check_ranges(ranges),
            per_sample=per_sample,
            run=run,
            cache=cache_folder(cache_dir),
            progress=progress,
        )
        if embeddings is not None and encoders is None:
            refuse_changed(run, "for embeddings")
        elif run.changed and encoders is None:
            self._encoder(run)  # refuses what cannot run before any row is scored: added rows are kept
        texts = {"a": a, "b": b, "target": target}
        no_texts = self.writer is None and all(values is None for values in texts.values())
        if embeddings is not None and encoders is None and no_texts:
            operators = check_operators(check_texts("operator", operator))
            return self._compute(None, None, None, operators, options)
        return self.compute_checked({**texts, "operator": operator}, options)

    def _compute(
        self,
        a: list[str] | None,
        b: list[str] | None,
        target: list[str] | None,
        operator: list[str],
        options: Options,
    ) -> dict[str, Any]:
        operator = list(operator)
        given = options.embeddings or {}
        for name, triple in given.items():
            check_same_length("operator", len(operator), name_of(name), len(triple[0]))
        measured: dict[str | None, tuple[Samples, Result]] = {}
        for name, triple in given.items():
            measured[name] = measure_samples(from_arrays(triple), operator, name_of(name)), {"model": GIVEN}
        texts = [*(a or []), *(b or []), *(target or [])]
        if options.encoders is not None:
            for name in options.encoders:  # each is freed before the next one is loaded
                measured[name] = _measure_texts(_load(name, options.run), texts, operator, options)
        elif options.embeddings is None:
            measured[None] = _measure_texts(self._encoder(options.run), texts, operator, options)
        return _report_all(measured, options)

    def _encoder(self, run: RunOptions) -> Encoder:
        run = replace(run, batch_size=BATCH_SEQUENCES)  # any size takes the same encoder
        if self._loaded is None or self._loaded[0] != run:
            self._loaded = run, _load(self.encoder_name, run)
        return self._loaded[1]


def _load(name: str | None, run: RunOptions) -> Encoder:
    return load_encoder(name, run.device, run.precision, run.backend)


def _check_encoders(encoders: object, embeddings: Collection[Any] | None, run: RunOptions) -> list[str]:
    names = check_texts("encoders", encoders)
    taken = [*names, *(embeddings or {})]
    if len(set(taken)) < len(taken):
        raise invalid_input("encoders", f"expected names that differ, got {taken}")
    for name in names:
        find_encoder(name, run)
    return names


def _measure_texts(
    encoder: Encoder, texts: list[str], operators: list[str], options: Options
) -> tuple[Samples, Result]:
    """Measure the n samples of `texts`: n texts A, then n texts B, then n targets."""
    vectors = encode_texts(encoder, texts, options.run.batch_size, options.cache)
    n = len(operators)

    def take(rows: np.ndarray) -> Vectors:
        return vectors.take(rows), vectors.take(rows + n), vectors.take(rows + 2 * n)

    changed = encoder.run.changed if isinstance(encoder, ContextualMatcha) else {}
    facts = {"model": {"encoder": encoder.sha256[:16], **changed}, "truncated": vectors.truncated}
    return measure_samples(take, operators, "the encoder's vectors"), facts


def _report_all(measured: dict[str | None, tuple[Samples, Result]], options: Options) -> dict[str, Any]:
    """The result of one encoder (under the name None), or the results of several with the ranges they share."""
    ranges = options.ranges
    used = fill_ranges(ranges, shared_ranges([own_ranges(samples) for samples, _ in measured.values()]))
    which_ranges = "own"
    if ranges is not None or None not in measured:
        digest = hashlib.sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()
        which_ranges = f"{'shared' if ranges is None else 'given'}-{digest[:8]}"
    results = {}
    for name, (samples, facts) in measured.items():
        fields = {**facts.pop("model"), **asdict(options.settings), "ranges": which_ranges}
        signature = str(Signature("set_criteria", {**fields, "version": VERSION}))
        results[name] = {**report(samples, options.settings, used, options.per_sample), **facts, "signature": signature}
    return CriteriaResult(results.get(None, {"encoders": results, "ranges": used}))
