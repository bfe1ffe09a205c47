"""Examples -> batches of token ids: each batch from one source, the sources in turn, by level or one after another."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.utils.data import Dataset, Sampler

from training.data.sources import Example


class Batch(NamedTuple):
    """B examples. A NamedTuple, as accelerate moves the tensors of one to a device, but not those of a dataclass.

    Attributes:
        ids: (n,) token ids of all texts: the B references, the B correct and the B incorrect texts.
        offsets: (3B,) where each text begins in `ids`; a missing text has no tokens.
        present: (B, 2) bool, whether the example has a correct and an incorrect text.
        same: (B,) int, equal for equal references.
        target: (B,) graded similarity in [0, 1], NaN where the data has none.
    """

    ids: torch.Tensor
    offsets: torch.Tensor
    present: torch.Tensor
    same: torch.Tensor
    target: torch.Tensor


class Corpus(Dataset):
    """All examples of all sources, tokenised once, each text cut after `max_tokens`; `tokens` counts them.

    `sizes` are the numbers of examples of the sources, one behind the other. The tokeniser adds and truncates nothing.
    """

    def __init__(self, sources: list[list[Example]], tokenizer: Tokenizer, max_tokens: int | None = None) -> None:
        examples = [example for source in sources for example in source]
        self.sizes = [len(source) for source in sources]
        fields = [(e.reference, e.correct, e.incorrect) for e in examples]
        distinct = dict.fromkeys(text for text in chain.from_iterable(fields) if text is not None)
        index = {text: i for i, text in enumerate(distinct)}
        self.texts = np.array([[-1 if t is None else index[t] for t in row] for row in fields])  # (n, 3)
        self.targets = torch.tensor([e.target for e in examples])
        encodings = tokenizer.encode_batch_fast(list(index), add_special_tokens=False)
        ids = [encoding.ids[:max_tokens] for encoding in encodings]
        lengths = np.array(list(map(len, ids)))
        flat = np.fromiter(chain.from_iterable(ids), dtype=np.int32, count=lengths.sum())
        self._ids = np.split(flat, lengths.cumsum()[:-1])
        self.tokens = int(lengths.sum())

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, i: int) -> int:
        return i  # a batch is put together at once, by `collate`

    def collate(self, rows: list[int]) -> Batch:
        """Numbers of B examples -> their batch."""
        texts = self.texts[rows]  # (B, 3)
        pieces = [self._ids[t] if t >= 0 else self._ids[0][:0] for t in texts.T.ravel()]
        lengths = np.array([len(piece) for piece in pieces])
        return Batch(
            ids=torch.from_numpy(np.concatenate(pieces).astype(np.int64)),
            offsets=torch.from_numpy(lengths.cumsum() - lengths),
            present=torch.from_numpy(texts[:, 1:] >= 0),
            same=torch.from_numpy(texts[:, 0].copy()),
            target=self.targets[rows],
        )


class SourceBatches(Sampler[list[int]]):
    """Batches of row numbers, each from one source (interleaved training, appendix A.1).

    When the rows of a source run out, they come again in another random order. Batch k depends on nothing that happened
    before in this process, so that a run can be resumed anywhere.

    Args:
        sizes: number of examples of each source.
        turns: the source of each batch.
        batch_size: rows of a batch, over all processes.
        seed: random seed of the orders.
    """

    drop_last = True  # accelerate asks: every batch is full

    def __init__(self, sizes: list[int], turns: list[int], batch_size: int, seed: int) -> None:
        self.sizes, self.turns, self.batch_size, self.seed = sizes, turns, batch_size, seed

    def __len__(self) -> int:
        return len(self.turns)

    def __iter__(self) -> Iterator[list[int]]:
        begins = np.cumsum([0, *self.sizes[:-1]])
        streams = [self._rows(k) for k in range(len(self.sizes))]
        for k in self.turns:
            yield [int(begins[k]) + next(streams[k]) for _ in range(self.batch_size)]

    def _rows(self, source: int) -> Iterator[int]:
        rng = np.random.default_rng([self.seed, source])
        while True:
            yield from rng.permutation(self.sizes[source]).tolist()


def even_turns(shares: Sequence[float], steps: int) -> list[int]:
    """The source of each step, the turns of each spread evenly, by its share (smooth weighted round robin)."""
    shares, credit, turns = np.array(shares, dtype=float), np.zeros(len(shares)), []
    for _ in range(steps):
        credit += shares
        turns.append(int(credit.argmax()))
        credit[turns[-1]] -= shares.sum()
    return turns


def round_robin(sizes: Sequence[int], batch_size: int, steps: int) -> list[int]:
    """A batch of each source in turn until it is empty, as the authors' code interleaves; then a new pass.

    Every batch is full: what is left of a source opens its next pass.
    """
    batches = [max(1, size // batch_size) for size in sizes]  # of each source in a pass
    one_pass = [k for turn in range(max(batches)) for k, count in enumerate(batches) if turn < count]
    return list(islice(cycle(one_pass), steps))


def stages(shares: Sequence[float], steps: int) -> list[int]:
    """One source after another, each for its share of the steps (table 10: sequential)."""
    ends = np.rint(np.cumsum(shares) / np.sum(shares) * steps).astype(int)
    return np.searchsorted(ends, np.arange(steps), side="right").tolist()


def levels_in_turn(levels: Sequence[int], shares: Sequence[float], steps: int) -> list[int]:
    """One level of difficulty after another, its sources equally often (table 10: curriculum).

    A level has the shares of its sources together, as in the authors' code, where each level has as many epochs.
    """
    found, level_of = np.unique(levels, return_inverse=True)
    counts = np.bincount(stages(np.bincount(level_of, weights=shares), steps), minlength=len(found))
    return [k for level, count in enumerate(counts.tolist()) for k in even_turns(level_of == level, count)]
