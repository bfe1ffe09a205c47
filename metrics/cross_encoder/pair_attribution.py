"""Which token moved a cross-encoder's score, and by how much: what the explanations of several metrics share.

`leave_one_out` scores the texts once more for each token, without it: its contribution is the score minus that of the
rest (occlusion by deletion; a [MASK] in its place would be a word to models that were not trained to fill it in). The
contributions are each one's own effect and sum to no score.

`integrated_gradients` splits the change of the score along the straight path, of the tokens' input embeddings, from a
baseline to the text (Sundararajan et al., 2017, equation 1). In the baseline every token of the explained text holds
the embedding of padding, as token id 0 in the MATCHA paper (appendix C); separators and the other text stay. The
contributions sum to the score minus the baseline's; what the quadrature leaves of that is returned as `error`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from semantic_metrics.cross_encoder.pair_checkpoint import Tokens
from semantic_metrics.cross_encoder.pair_scorer import BATCH_VALUES, PairScorer

METHODS = ("leave_one_out", "integrated_gradients")
BASELINE = "padding"
STEPS = (64, 128, 256, 512)  # points of the Gauss-Legendre rule: as many as it takes, the last at most
TOLERANCE = 1e-3  # of the sum, where no more points are taken: below what a heat map shows

Span = tuple[int, int]
Texts = dict[str, str]
Explanation = dict[str, object]


@dataclass(frozen=True)
class Sequence:
    """A pair as the model reads it.

    Attributes:
        tokens: of the pair.
        owners: by text, (len(tokens),) int: to which of the text's tokens a position belongs; -1 for none of them.
    """

    tokens: Tokens
    owners: dict[str, np.ndarray]


@dataclass(frozen=True)
class Explainer:
    """Contributions of the tokens of some texts that are scored together.

    Attributes:
        scorer: the cross-encoder; always in float32 here.
        texts: by the name that they have in the result.
        batch_size: pairs in one pass, at most.
        device: where the model runs; None for a GPU if there is one.
    """

    scorer: PairScorer
    texts: Texts
    batch_size: int
    device: str | None

    @cached_property
    def spans(self) -> dict[str, list[Span]]:
        """Begin and end characters of each text's tokens."""
        return {side: token_spans(self.scorer, text) for side, text in self.texts.items()}

    def leave_one_out(
        self, score: Callable[[list[Texts]], np.ndarray], read: dict[str, np.ndarray] | None = None
    ) -> Explanation:
        """Contributions by leaving tokens out.

        Args:
            score: of n sets of texts, (n,).
            read: by text, which tokens the model reads at all; the others contribute 0. None for all.
        """
        if read is None:
            read = {side: np.arange(len(spans)) for side, spans in self.spans.items()}
        chosen = [(side, int(i)) for side, kept in read.items() for i in kept]
        parts = [{side: _without(self.texts[side], self.spans[side][i])} for side, i in chosen]
        whole, *rest = np.asarray(score([self.texts, *({**self.texts, **part} for part in parts)])).tolist()
        shares = {side: np.zeros(len(spans)) for side, spans in self.spans.items()}
        for (side, i), without in zip(chosen, rest, strict=True):
            shares[side][i] = whole - without
        return self._found(whole, METHODS[0], shares, {})

    def integrated_gradients(
        self, score: float, sequences: list[Sequence], value: Callable[[list[torch.Tensor]], torch.Tensor]
    ) -> Explanation:
        """Contributions by integrated gradients, one text at a time.

        Args:
            score: of the texts.
            sequences: all that the model reads for it.
            value: their logits, (steps, labels) each, -> (steps,) scores.
        """
        shares: dict[str, np.ndarray] = {}
        extra = {}
        for side, spans in self.spans.items():
            shares[side], start = self._integrate(score, sequences, value, side, len(spans))
            error = float(shares[side].sum()) - (score - start)
            extra[side] = {"baseline": BASELINE, "baseline_score": start, "error": error}
        return self._found(score, METHODS[1], shares, extra)

    def _integrate(
        self, score: float, sequences: list[Sequence], value: Callable, side: str, count: int
    ) -> tuple[np.ndarray, float]:
        """Contributions of one text's tokens, and the score of its baseline."""
        moved = [sequence for sequence in sequences if (sequence.owners[side] >= 0).any()]
        if not moved:
            return np.zeros(count), score
        for steps in STEPS:
            points, weights = np.polynomial.legendre.leggauss(steps)  # on [-1, 1]
            # the path's beginning goes along as a point without weight
            grid, weights = np.r_[0.0, (points + 1) / 2], np.r_[0.0, weights / 2]
            values, slopes = self._along_path(grid, sequences, value, side)
            shares = np.zeros(count)
            for sequence, slope in zip(sequences, slopes, strict=True):
                owner = sequence.owners[side]
                np.add.at(shares, owner[owner >= 0], (weights @ slope)[owner >= 0])
            if abs(shares.sum() - (score - values[0])) <= TOLERANCE:
                break
        return shares, float(values[0])

    def _along_path(
        self, grid: np.ndarray, sequences: list[Sequence], value: Callable, side: str
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """(points,) scores, and for each sequence (points, tokens): gradient times change of the embedding."""
        model = self.scorer._model("float32").to(torch.device(self.device or self.scorer.device))
        paths = [_Path(self.scorer, model, sequence, side) for sequence in sequences]
        room = BATCH_VALUES.get(model.device.type, BATCH_VALUES["other"]) // model.config.hidden_size
        size = max(1, min(self.batch_size, room // max(len(sequence.tokens) for sequence in sequences)))
        values, slopes = [], []
        for begin in range(0, len(grid), size):
            inputs = [path.at(grid[begin : begin + size]) for path in paths]
            found = value([path.logits(points).double() for path, points in zip(paths, inputs, strict=True)])
            gradients = torch.autograd.grad(found.sum(), inputs)
            values.append(found.detach().cpu().numpy())
            slopes.append([path.project(gradient) for path, gradient in zip(paths, gradients, strict=True)])
        return np.concatenate(values), [np.concatenate(parts) for parts in zip(*slopes, strict=True)]

    def _found(self, score: float, method: str, shares: dict[str, np.ndarray], extra: dict[str, dict]) -> Explanation:
        found: Explanation = {"score": score, "method": method}
        for side, spans in self.spans.items():
            found[side] = {
                "tokens": [self.texts[side][begin:end] for begin, end in spans],
                "spans": spans,
                "contributions": shares[side].tolist(),
                "total": float(shares[side].sum()),
                **extra.get(side, {}),
            }
        return found


class _Path:
    """The straight path of a sequence's embeddings from its baseline."""

    def __init__(self, scorer: PairScorer, model: torch.nn.Module, sequence: Sequence, side: str) -> None:
        self.model = model
        self.batch = scorer._pad([sequence.tokens], model.device)
        ids = self.batch.pop("input_ids")
        moved = torch.from_numpy(sequence.owners[side] >= 0).to(model.device)
        embed = model.get_input_embeddings()
        with torch.no_grad():
            self.end = embed(ids)[0]  # (tokens, D)
            padding = embed(torch.full_like(ids, scorer.tokenizer.pad_token_id))[0]
        self.start = torch.where(moved[:, None], padding, self.end)

    def at(self, grid: np.ndarray) -> torch.Tensor:
        """(points,) in [0, 1] -> (points, tokens, D)."""
        shares = torch.from_numpy(grid).to(self.end)[:, None, None]
        return (self.start + shares * (self.end - self.start)).requires_grad_()

    def logits(self, inputs: torch.Tensor) -> torch.Tensor:
        """(points, tokens, D) -> (points, labels)."""
        rest = {name: values.expand(len(inputs), -1) for name, values in self.batch.items()}
        return self.model(inputs_embeds=inputs, **rest).logits

    def project(self, gradient: torch.Tensor) -> np.ndarray:
        """(points, tokens, D) gradient -> (points, tokens), what each token adds per unit of the path."""
        return (gradient * (self.end - self.start)).sum(dim=-1).double().cpu().numpy()


def trace(scorer: PairScorer, pair: tuple[str, str], max_length: int | None) -> tuple[Tokens, list[np.ndarray]]:
    """A pair as the model reads it, and for each of its texts (tokens,) int: at which character of the text a token is.

    -1 where a token is of the other text, or a separator.

    Raises:
        ValueError: the tokeniser puts nothing between two texts.
    """
    (tokens,), _ = scorer._encode([pair], max_length or scorer.max_length)
    before, between, behind = scorer._template.separators
    if not between.ids:
        raise ValueError(f"checkpoint {scorer.folder}: expected a tokeniser that puts a separator between two texts")
    middle = tokens.ids.index(between.ids[0], len(before.ids))  # no text holds a separator
    begins = len(before.ids), middle + len(between.ids)
    ends = middle, len(tokens) - len(behind.ids)
    places = []
    for text, begin, end in zip(pair, begins, ends, strict=True):
        place = np.full(len(tokens), -1)
        if end > begin:
            found = _characters(scorer, text)
            left = scorer.tokenizer.truncation_side == "left"
            place[begin:end] = found[len(found) - (end - begin) :] if left else found[: end - begin]
        places.append(place)
    return tokens, places


def owners(characters: np.ndarray, spans: list[Span]) -> np.ndarray:
    """(tokens,) characters of a text -> which of its spans each is of; -1 where there is none.

    A token without a character of its own, as a lone word beginning, goes to the span before or behind it.
    """
    if not spans:
        return np.full(len(characters), -1)
    found = np.searchsorted([begin for begin, _ in spans], characters, side="right") - 1
    return np.where(characters < 0, -1, np.maximum(found, 0))


def token_spans(scorer: PairScorer, text: str) -> list[Span]:
    """Begin and end characters of a text's tokens, white space at their edges left out.

    Tokens that share a character (bytes of an emoji) are one.
    """
    spans: list[Span] = []
    for begin, end in _offsets(scorer, text):
        piece = text[begin:end]
        begin, end = end - len(piece.lstrip()), begin + len(piece.rstrip())
        if spans and begin < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif begin < end:
            spans.append((begin, end))
    return spans


def _offsets(scorer: PairScorer, text: str) -> Iterator[Span]:
    return iter(scorer.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).offsets)


def _characters(scorer: PairScorer, text: str) -> np.ndarray:
    """(tokens,) the last character of each token that the scorer reads of a text."""
    encoding = scorer.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    if scorer._special_ids.isdisjoint(encoding.ids):
        return np.array([max(begin, end - 1) for begin, end in encoding.offsets], dtype=int)
    # the scorer has put spaces into special strings: characters that are none keep their order
    spaced = scorer._spaced(text)
    solid = [i for i, sign in enumerate(text) if not sign.isspace()]
    rank = np.cumsum([0, *(not sign.isspace() for sign in spaced)])
    places = [max(begin, end - 1) for begin, end in _offsets(scorer, spaced)]
    return np.array([solid[min(int(rank[place]), len(solid) - 1)] for place in places], dtype=int)


def _without(text: str, span: Span) -> str:
    """A text without some of its characters, and without the space that would be left over."""
    left, right = text[: span[0]], text[span[1] :]
    if right[:1].isspace() and (not left or left[-1].isspace()):
        return left + right[1:]
    return left[:-1] if not right and left[-1:].isspace() else left + right
