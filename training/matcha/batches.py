"""Examples -> batches of token ids: each batch from one source, the sources in turn, by level or one after another."""

from collections.abc import Iterator
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


class InterleavedBatches(Sampler[list[int]]):
    """Batches of row numbers, each from one source, the sources in turn (interleaved training, appendix A.1).

    The turns of a source are spread evenly, in proportion to its share; subclasses have other turns. When its rows run
    out, they come again in another random order. Batch k depends on nothing that happened before in this process, so
    that a run can be resumed anywhere.

    Args:
        sizes: number of examples of each source.
        shares: how often each source comes, relative to the others.
        batch_size: rows of a batch, over all processes.
        steps: number of batches.
        seed: random seed of the orders.
    """

    drop_last = True  # accelerate asks: every batch is full

    def __init__(self, sizes: list[int], shares: list[float], batch_size: int, steps: int, seed: int) -> None:
        self.sizes, self.shares, self.batch_size, self.steps, self.seed = sizes, shares, batch_size, steps, seed

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        begins = np.cumsum([0, *self.sizes[:-1]])
        streams = [self._rows(k) for k in range(len(self.sizes))]
        for k in self._turns():
            yield [int(begins[k]) + next(streams[k]) for _ in range(self.batch_size)]

    def _turns(self) -> Iterator[int]:
        """The source of each batch."""
        return _spread(np.array(self.shares, dtype=float), self.steps)

    def _rows(self, source: int) -> Iterator[int]:
        rng = np.random.default_rng([self.seed, source])
        while True:
            yield from rng.permutation(self.sizes[source]).tolist()


class RoundRobinBatches(InterleavedBatches):
    """The same with a batch of each source in turn until it is empty, as the authors' code interleaves.

    Once all are empty a new pass begins. Every batch is full: what is left of a source opens its next pass.
    """

    def _turns(self) -> Iterator[int]:
        batches = [max(1, size // self.batch_size) for size in self.sizes]  # of each source in a pass
        one_pass = [k for turn in range(max(batches)) for k, count in enumerate(batches) if turn < count]
        return islice(cycle(one_pass), self.steps)


class StagedBatches(InterleavedBatches):
    """The same with one source after another, each for its share of the steps (table 10: sequential)."""

    def _turns(self) -> Iterator[int]:
        return iter(_stages(self.shares, self.steps).tolist())


class LevelBatches(InterleavedBatches):
    """The same with one level of difficulty after another, its sources equally often (table 10: curriculum).

    A level has the shares of its sources together, as in the authors' code, where each level has as many epochs.
    `levels` are those of the sources, from the easiest.
    """

    def __init__(self, levels: list[int], *arguments: object) -> None:
        super().__init__(*arguments)
        self.levels = np.array(levels)

    def _turns(self) -> Iterator[int]:
        levels, level_of = np.unique(self.levels, return_inverse=True)
        shares = np.bincount(level_of, weights=np.array(self.shares, dtype=float))
        steps = np.bincount(_stages(shares, self.steps), minlength=len(levels))
        for level, count in enumerate(steps.tolist()):
            yield from _spread((level_of == level).astype(float), count)


def _spread(shares: np.ndarray, steps: int) -> Iterator[int]:
    """(sources,) shares -> the source of each step, its turns spread evenly (smooth weighted round robin)."""
    credit = np.zeros(len(shares))
    for _ in range(steps):
        credit += shares
        k = int(credit.argmax())
        credit[k] -= shares.sum()
        yield k


def _stages(shares: list[float] | np.ndarray, steps: int) -> np.ndarray:
    """(parts,) shares -> (steps,) the part of each step, one part after another."""
    ends = np.rint(np.cumsum(shares) / np.sum(shares) * steps).astype(int)
    return np.searchsorted(ends, np.arange(steps), side="right")
