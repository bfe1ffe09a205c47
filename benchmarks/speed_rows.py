"""The lines of the speed table; benchmarks/speed.py measures each in a process of its own.

Little is imported here: what a line imports is a part of its start.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Pairs = list[tuple[str, str]]  # prediction and reference
Score = Callable[[Pairs], np.ndarray]
Run = Mapping[str, object]  # how models run: device, batch_size, workers

TRANSFORMERS = ("stsscore", "nli_lex", "consensus", "contextual")
ON_CPU: Run = {"device": "cpu"}
SPIN = "import os\nwhile os.getppid() == {}: pass"  # keeps a core busy, as long as the process with that id lives
ALONE = 12  # pairs that are scored alone as well
SETTLE_SECONDS = 0.5  # until the busy process has begun


@dataclass(frozen=True)
class Line:
    """What a line of the table measures: a metric of ours in a backend and a precision, or a peer ("" for both).

    `peer` is the line that its speed is divided by; `share` is of the pairs, for what takes seconds for a few.
    """

    metric: str
    backend: str = ""
    precision: str = ""
    peer: str | None = None
    share: float = 1.0

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return "-".join(part for part in (self.metric, self.backend, self.precision) if part)


PEERS = [
    Line("matcha-metric", share=0.02),
    Line("CrossEncoder"),
    Line("CrossEncoder, both ways"),
    Line("SentenceTransformer"),
]
PEER_OF = {
    "matcha": "matcha-metric",
    "contextual": "SentenceTransformer",
    "stsscore": "CrossEncoder",
    "nli_lex": "CrossEncoder, both ways",
    "consensus": "CrossEncoder, both ways",
}


def lines(backends: tuple[str, ...], precisions: tuple[str, ...]) -> list[Line]:
    """All lines, peers first and the reference of a metric (torch, float32) before its others."""
    ours = [Line("matcha", peer=PEER_OF["matcha"])]
    for metric in TRANSFORMERS:
        ours += [Line(metric, backend, each, PEER_OF[metric]) for backend in backends for each in precisions]
    return [*PEERS, *ours]


def load_ours(line: Line, run: Run = ON_CPU) -> Score:
    """One of our metrics in a backend and a precision."""
    from semantic_metrics.core.loading import load_scoring

    name = "matcha" if line.metric == "contextual" else line.metric
    metric = load_scoring(name, "contextual" if line.metric == "contextual" else None)
    arguments = {**run, "backend": line.backend, "precision": line.precision} if line.backend else {}

    def score(pairs: Pairs) -> np.ndarray:
        columns = {"predictions": [a for a, _ in pairs], "references": [b for _, b in pairs]}
        if name == "nli_lex":
            columns["questions"] = [""] * len(pairs)
        return np.array(metric.compute(**columns, **arguments)["scores"])

    return score


def _load_peer(kind: str, checkpoint: str, run: Run) -> tuple[Any, dict[str, object]]:
    """A class of sentence-transformers with a shipped checkpoint, and the batch size, if another than its own."""
    import sentence_transformers

    from semantic_metrics.core.checkpoint_files import shipped_checkpoints
    from semantic_metrics.cross_encoder import eight_bits

    options = {"dtype": "float32"}  # as ours by default; the file's float16 is slow on most processors
    with eight_bits.in_half(shipped_checkpoints(lambda config: True)[checkpoint]) as folder:
        model = getattr(sentence_transformers, kind)(str(folder), device=run["device"], model_kwargs=options)
    return model, {name: run[name] for name in ("batch_size",) if name in run}


def load_matcha_package(run: Run) -> Score:
    """The authors' package with random weights of the size of theirs."""
    from torch.nn.functional import cosine_similarity

    from benchmarks.papers.matcha import authors_package

    def score(pairs: Pairs) -> np.ndarray:
        nonlocal package
        if package is None:
            tokenizer = authors_package.train_tokenizer([text for pair in pairs for text in pair])
            with tempfile.TemporaryDirectory() as folder:
                weights = authors_package.write_random_checkpoint(Path(folder) / "random", tokenizer)
                package = authors_package.load_package(weights, run["device"])
        options = {name: run[name] for name in ("batch_size",) if name in run}
        a, b = (package.encode([pair[i] for pair in pairs], **options) for i in (0, 1))
        return cosine_similarity(a, b, dim=-1).cpu().numpy()

    package = None
    return score


def load_cross_encoder(run: Run, both_ways: bool = False) -> Score:
    """sentence-transformers' CrossEncoder with the same weights."""
    model, options = _load_peer("CrossEncoder", "pairs", run)

    def score(pairs: Pairs) -> np.ndarray:
        turned = [(b, a) for a, b in pairs]
        return model.predict(turned + pairs if both_ways else turned, show_progress_bar=False, **options)

    return score


def load_sentence_transformer(run: Run) -> Score:
    """sentence-transformers' SentenceTransformer with the same weights."""
    model, options = _load_peer("SentenceTransformer", "contextual", run)

    def score(pairs: Pairs) -> np.ndarray:
        a, b = (model.encode([pair[i] for pair in pairs], normalize_embeddings=True, **options) for i in (0, 1))
        return (a * b).sum(1)

    return score


LOADERS: dict[str, Callable[[Run], Score]] = {
    "matcha-metric": load_matcha_package,
    "CrossEncoder": load_cross_encoder,
    "CrossEncoder, both ways": partial(load_cross_encoder, both_ways=True),
    "SentenceTransformer": load_sentence_transformer,
}


def measure(line: Line, pairs: Pairs, repeats: int, busy: bool, run: Run = ON_CPU) -> tuple[dict, np.ndarray]:
    """Figures of a line, and the scores of its share of the pairs."""
    pairs = pairs[: max(2, int(line.share * len(pairs)))]
    begin = time.perf_counter()
    ours = line.metric not in LOADERS
    score = load_ours(line, run) if ours else LOADERS[line.metric](run)
    score(pairs[:2])
    started = time.perf_counter() - begin
    scores = score(pairs)  # a warm-up
    seconds, processor = _median(score, pairs, repeats)
    figures = {"count": len(pairs), "seconds": seconds, "processor_seconds": processor, "start": started}
    if ours:
        rows = np.linspace(0, len(pairs) - 1, min(ALONE, len(pairs))).astype(int)
        alone = np.concatenate([score([pairs[i]]) for i in rows])
        figures["neighbours"] = float(np.abs(alone - scores[rows]).max())
    figures["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if busy:
        spinning = subprocess.Popen([sys.executable, "-c", SPIN.format(os.getpid())])
        try:
            time.sleep(SETTLE_SECONDS)
            figures["busy_seconds"], _ = _median(score, pairs, repeats)
        finally:
            spinning.kill()
            spinning.wait()
    return figures, scores


def _median(score: Score, pairs: Pairs, repeats: int) -> tuple[float, float]:
    """Medians of the time that passes and of the processor's time."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter(), time.process_time()
        score(pairs)
        times.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    passed, worked = zip(*times, strict=True)
    return statistics.median(passed), statistics.median(worked)
