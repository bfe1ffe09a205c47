"""Which word moved a cross-encoder's score, and by how much: what the explanations of several metrics share.

`leave_one_out` scores the texts again for each word, without that word: its contribution is the score minus the score
of the rest (occlusion by deletion; a [MASK] in its place would be a word to models that were not trained to fill it
in). Each contribution is the effect of one word alone; together they sum to no score.

`integrated_gradients` splits the change of the score along the straight path, of the tokens' input embeddings, from a
baseline to the text (Sundararajan et al., 2017, equation 1). In the baseline every token of the explained text has
the embedding of padding, like token id 0 in the MATCHA paper (appendix C); separators and the other text stay. The
contributions sum to the score minus that of the baseline; the error of the quadrature is returned as `error`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from semantic_metrics.core.batching import max_tokens
from semantic_metrics.core.inputs import check_choice, check_text
from semantic_metrics.core.progress import with_progress
from semantic_metrics.core.run_options import RunOptions, refuse_changed
from semantic_metrics.cross_encoder.pair_checkpoint import Tokens
from semantic_metrics.cross_encoder.pair_scorer import Pair, PairScorer, Span
from semantic_metrics.html.explained import group_by_word
from semantic_metrics.quantities.manners import without_thoughts
from semantic_metrics.quantities.rules import SAME, Ruling

LEAVE_ONE_OUT, INTEGRATED_GRADIENTS = METHODS = ("leave_one_out", "integrated_gradients")
BASELINE = "padding"
QUADRATURE_POINTS = (64, 128, 256, 512)  # of the Gauss-Legendre rule, tried in turn until MAX_ERROR is met
MAX_ERROR = 1e-3  # of the contributions' sum: less than a heat map shows

Texts = dict[str, str]
Explanation = dict[str, Any]
Value = Callable[[list[torch.Tensor]], torch.Tensor]


def read_pair(prediction: str, reference: str) -> Texts:
    """Two texts to explain, without a model's thoughts, as `compute` reads them; a ValueError names what is no text."""
    texts = {"prediction": check_text("prediction", prediction), "reference": check_text("reference", reference)}
    (texts["prediction"],), _ = without_thoughts([prediction])
    return texts


@dataclass(frozen=True)
class TracedPair:
    """A pair as the model reads it, and where each of its tokens comes from."""

    tokens: Tokens
    owners: dict[str, np.ndarray]  # by text, (len(tokens),) int: which of its spans a token belongs to; -1 for none


@dataclass(frozen=True)
class Explainer:
    """Explains the score of some texts that are scored together.

    An explanation has `score`, `method`, and for each text a dict of `tokens`, `spans` (begin and end characters in
    `text`), `contributions` (one per token; positive raises the score, 0 for a token that is cut off), `total` (their
    sum), `text` (what the metric reads: without markup), and with integrated gradients `baseline`, `baseline_score` and
    `error` (`total` minus what it should be: the score minus that of the baseline). Metrics that ask rules add `rule`,
    the sentence of the rule that decided the score, or "" (`rules.Ruling.decision`).
    """

    scorer: PairScorer
    texts: Texts  # by the names that they have in the explanation
    options: RunOptions  # for integrated gradients in float32, on torch
    by_word: bool = False  # explain words in place of tokens
    max_pieces: int | None = None  # if the texts have more words, runs of words are explained in their place

    @cached_property
    def spans(self) -> dict[str, list[Span]]:
        """Begin and end characters of each text's tokens, or of the pieces that take their place."""
        spans = {side: piece_spans(self.scorer, text) for side, text in self.texts.items()}
        if self.by_word:
            spans = {side: _words(text, spans[side]) for side, text in self.texts.items()}
        total = sum(map(len, spans.values()))
        if self.max_pieces is None or total <= self.max_pieces:
            return spans
        shares = {side: max(len(tokens) * self.max_pieces // total, 1) for side, tokens in spans.items()}
        return {side: _join(text, spans[side], shares[side]) for side, text in self.texts.items()}

    def leave_one_out(
        self, score: Callable[[list[Texts]], np.ndarray], read: dict[str, np.ndarray] | None = None
    ) -> Explanation:
        """Contributions by leaving tokens out.

        Args:
            score: maps n variants of the texts to (n,) scores.
            read: for each text, indices of the tokens that the model reads; the others contribute 0. None for all.
        """
        if read is None:
            read = {side: np.arange(len(spans)) for side, spans in self.spans.items()}
        removed = [(side, int(i)) for side, tokens in read.items() for i in tokens]
        parts = [{side: _without(self.texts[side], self.spans[side][i])} for side, i in removed]
        whole, *rest = np.asarray(score([self.texts, *({**self.texts, **part} for part in parts)])).tolist()
        shares = {side: np.zeros(len(spans)) for side, spans in self.spans.items()}
        for (side, i), without in zip(removed, rest, strict=True):
            shares[side][i] = whole - without
        return self._result(whole, LEAVE_ONE_OUT, shares, {})

    def integrated_gradients(self, score: float, pairs: list[TracedPair], value: Value) -> Explanation:
        """Contributions by integrated gradients, one text at a time.

        `pairs` are everything that the model reads for the score; `value` maps their logits, (points, labels) each, to
        (points,) scores.
        """
        shares: dict[str, np.ndarray] = {}
        details = {}
        for side, spans in self.spans.items():
            shares[side], baseline_score = self._integrate(score, pairs, value, side, len(spans))
            error = float(shares[side].sum()) - (score - baseline_score)
            details[side] = {"baseline": BASELINE, "baseline_score": baseline_score, "error": error}
        return self._result(score, INTEGRATED_GRADIENTS, shares, details)

    def _integrate(
        self, score: float, pairs: list[TracedPair], value: Value, side: str, count: int
    ) -> tuple[np.ndarray, float]:
        """(count,) contributions of one text's tokens, and the score of its baseline."""
        if not any((pair.owners[side] >= 0).any() for pair in pairs):
            return np.zeros(count), score
        for points in QUADRATURE_POINTS:
            nodes, weights = np.polynomial.legendre.leggauss(points)  # on [-1, 1]
            # the path's beginning is evaluated too, as a point without weight
            grid, weights = np.r_[0.0, (nodes + 1) / 2], np.r_[0.0, weights / 2]
            values, slopes = self._along_path(grid, pairs, value, side)
            shares = np.zeros(count)
            for pair, slope in zip(pairs, slopes, strict=True):
                owner = pair.owners[side]
                np.add.at(shares, owner[owner >= 0], (weights @ slope)[owner >= 0])
            if abs(shares.sum() - (score - values[0])) <= MAX_ERROR:
                break
        return shares, float(values[0])

    def _along_path(
        self, grid: np.ndarray, pairs: list[TracedPair], value: Value, side: str
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """(points,) scores, and for each pair (points, tokens): gradient times change of the embedding."""
        model = self.scorer.model(self.options)
        paths = [_Path(self.scorer, model, pair, side) for pair in pairs]
        tokens = max_tokens(model.device.type, model.config.hidden_size)
        size = max(1, min(self.options.batch_size, tokens // max(len(pair.tokens) for pair in pairs)))
        values, slopes = [], []
        for begin in with_progress(range(0, len(grid), size), "batch", title="integrated gradients"):
            inputs = [path.at(grid[begin : begin + size]) for path in paths]
            scores = value([path.logits(points).double() for path, points in zip(paths, inputs, strict=True)])
            gradients = torch.autograd.grad(scores.sum(), inputs)
            values.append(scores.detach().cpu().numpy())
            slopes.append([path.project(gradient) for path, gradient in zip(paths, gradients, strict=True)])
        return np.concatenate(values), [np.concatenate(parts) for parts in zip(*slopes, strict=True)]

    def _result(
        self, score: float, method: str, shares: dict[str, np.ndarray], details: dict[str, dict[str, Any]]
    ) -> Explanation:
        result: Explanation = {"score": score, "method": method}
        for side, spans in self.spans.items():
            result[side] = {
                "tokens": [self.texts[side][begin:end] for begin, end in spans],
                "spans": spans,
                "contributions": shares[side].tolist(),
                "total": float(shares[side].sum()),
                "text": self.texts[side],
                **details.get(side, {}),
            }
        return result


class _Path:
    """The straight path of a pair's embeddings from its baseline."""

    def __init__(self, scorer: PairScorer, model: torch.nn.Module, pair: TracedPair, side: str) -> None:
        self.model = model
        self.batch = scorer.pad([pair.tokens], model.device)
        ids = self.batch.pop("input_ids")
        moved = torch.from_numpy(pair.owners[side] >= 0).to(model.device)
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


def ruled_value(value: Value, ruling: Ruling) -> Value:
    """A value within what a ruling allows (`rules.limited`): along the path the texts, and so the ruling, stay."""
    if ruling.kind == SAME:
        return lambda logits: value(logits) * 0 + 1
    return value if np.isinf(ruling.limit) else lambda logits: value(logits).clamp(max=ruling.limit)


def check_method(method: str, run: RunOptions) -> None:
    """Check a method, and that the model runs on torch in float32 where the method takes its gradients."""
    check_choice("method", method, METHODS)
    if method == INTEGRATED_GRADIENTS:
        refuse_changed(run, f"for the gradients of method {method!r}")


def trace(scorer: PairScorer, pair: Pair, max_length: int | None) -> tuple[Tokens, list[np.ndarray]]:
    """A pair as the model reads it, and for each text (tokens,) int: the last character of it that a token covers.

    That is -1 for separators and for tokens of the other text.
    """
    (tokens,), _ = scorer.encode([pair], max_length)
    before, between, behind = scorer.template.separators
    if not between.ids:
        raise ValueError(f"checkpoint {scorer.folder}: expected a tokeniser that puts a separator between two texts")
    middle = tokens.ids.index(between.ids[0], len(before.ids))  # a text never has the id of a separator
    begins = len(before.ids), middle + len(between.ids)
    ends = middle, len(tokens) - len(behind.ids)
    characters = []
    for text, begin, end in zip(pair, begins, ends, strict=True):
        row = np.full(len(tokens), -1)
        if end > begin:
            last = _last_characters(scorer, text)
            left = scorer.tokenizer.truncation_side == "left"
            row[begin:end] = last[len(last) - (end - begin) :] if left else last[: end - begin]
        characters.append(row)
    return tokens, characters


def owners(characters: np.ndarray, spans: list[Span]) -> np.ndarray:
    """(tokens,) characters of a text -> (tokens,) int: which of its spans each belongs to; -1 for none.

    A token without a visible character, such as a lone word boundary, goes to the span before or behind it.
    """
    if not spans:
        return np.full(len(characters), -1)
    span = np.searchsorted([begin for begin, _ in spans], characters, side="right") - 1
    return np.where(characters < 0, -1, np.maximum(span, 0))


def piece_spans(scorer: PairScorer, text: str) -> list[Span]:
    """Begin and end characters of a text's tokens, without white space at their edges.

    Tokens that share a character (bytes of an emoji) are one.
    """
    spans: list[Span] = []
    for begin, end in scorer.encode_text(text).offsets:
        piece = text[begin:end]
        begin, end = end - len(piece.lstrip()), begin + len(piece.rstrip())
        if spans and begin < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif begin < end:
            spans.append((begin, end))
    return spans


def _words(text: str, spans: list[Span]) -> list[Span]:
    """Begin and end characters of words, from those of tokens."""
    return [(spans[group[0]][0], spans[group[-1]][1]) for group in group_by_word(text, spans)]


def _join(text: str, spans: list[Span], count: int) -> list[Span]:
    """`count` runs of about as many words each, or of tokens in a text of few words; one for each if they are fewer."""
    if not spans:
        return []
    starts = [i for i, (begin, _) in enumerate(spans) if not i or text[begin - 1].isspace()]
    starts = starts if 2 * len(starts) > count else list(range(len(spans)))
    firsts = [int(run[0]) for run in np.array_split(starts, count) if len(run)]
    ends = [*firsts[1:], len(spans)]
    return [(spans[first][0], spans[end - 1][1]) for first, end in zip(firsts, ends, strict=True)]


def _last_characters(scorer: PairScorer, text: str) -> np.ndarray:
    """(tokens,) the last character of each token that the scorer reads of a text."""
    encoding = scorer.encode_text(text)
    if scorer.special_ids.isdisjoint(encoding.ids):
        return np.array([max(begin, end - 1) for begin, end in encoding.offsets], dtype=int)
    # the scorer puts spaces into special strings; all other characters keep their order
    spaced = scorer.break_special(text)
    solid = [i for i, sign in enumerate(text) if not sign.isspace()]
    rank = np.cumsum([0, *(not sign.isspace() for sign in spaced)])
    last = [max(begin, end - 1) for begin, end in scorer.encode_text(spaced).offsets]
    return np.array([solid[min(int(rank[i]), len(solid) - 1)] for i in last], dtype=int)


def _without(text: str, span: Span) -> str:
    """A text without some of its characters, and without the space that would be left over."""
    left, right = text[: span[0]], text[span[1] :]
    if right[:1].isspace() and (not left or left[-1].isspace()):
        return left + right[1:]
    return left[:-1] if not right and left[-1:].isspace() else left + right
