"""The parts of a consensus: what each of the models says about pairs of a reference and a prediction.

One cross-encoder reads each pair twice, the reference first and the prediction first. Its logits give the similarity
that people would rate and the probabilities of NLI; MATCHA's table gives the cosine of both texts.
"""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semantic_metrics.core.checkpoint_files import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.cross_encoder.heads import (
    check_scale,
    checkpoint_scale,
    nli_labels,
    nli_probabilities,
    rating,
    similarity_label,
)
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS, check_labels, read_config
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, cosine
from semantic_metrics.nli_lex.conflicts import differing_numbers, same_but_for_writing
from semantic_metrics.nli_lex.numerals import write_as_in

DEFAULT_CHECKPOINT = "pairs"
NAMES = ("matcha", "similarity", "entailment", "contradiction")  # of the parts in a result


@dataclass(frozen=True)
class Parts:
    """What the models say about n pairs; each array is (n,) float64.

    A text beside itself, but for white space, has cosine, similarity and entailment 1 and contradiction 0, whatever the
    models say. Two texts that differ in numbers or dates alone (`differing_numbers`) have contradiction 1 and
    entailment 0; their similarity is the model's, as people rate such texts as similar to some extent.

    Attributes:
        matcha: cosine of MATCHA's vectors, in [-1, 1]; 0 where a text has no vector, unless both are the same.
        similarity: predicted rating of similarity, the mean of both orders, limited to [0, 1].
        supported: probability that the reference entails the prediction.
        covered: probability that the prediction entails the reference.
        contradiction: probability of contradiction, the mean of both orders.
        truncated: (n,) bool, whether the cross-encoder cut the pair.
    """

    matcha: np.ndarray
    similarity: np.ndarray
    supported: np.ndarray
    covered: np.ndarray
    contradiction: np.ndarray
    truncated: np.ndarray

    @property
    def entailment(self) -> np.ndarray:
        """Probability that the reference entails the prediction: `supported`, by the name that results have."""
        return self.supported

    @property
    def components(self) -> np.ndarray:
        """(n, 3) float64 in [0, 1]: MATCHA's cosine, the similarity, and entailment minus contradiction."""
        nli = (self.supported - self.contradiction + 1) / 2
        return np.stack([(self.matcha + 1) / 2, self.similarity, nli], axis=1)

    def take(self, rows: np.ndarray) -> "Parts":
        """The parts of some pairs, in the order of `rows`."""
        return Parts(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class PairModels:
    """The models that give the parts.

    Args:
        name: None for the shipped checkpoints, or the cross-encoder's name, folder or Hub id (see
            `resolve_checkpoint`); it must have labels for NLI and one for similarity. MATCHA's checkpoint may follow
            behind a plus: "pairs+contextual".

    Attributes:
        scorer: the cross-encoder.
        matcha: MATCHA's encoder, by default the shipped table.
        scale: what a raw score of similarity is divided by, or "sigmoid".

    Raises:
        ValueError: a checkpoint is missing or damaged, or lacks a label; lists its labels.
    """

    def __init__(self, name: str | None = None) -> None:
        name, matcha = split_name(name)
        folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, shipped_checkpoints(_has_both), OTHER_WEIGHTS)
        config = read_config(folder)
        check_labels(folder, config, nli_labels)
        self._similarity = check_labels(folder, config, similarity_label)
        scale = checkpoint_scale(folder, config, str(name))
        try:
            self.scale = check_scale(scale)
        except ValueError as error:
            raise ValueError(f"checkpoint {folder}: {error}") from None
        self.scorer = PairScorer(folder, "consensus")
        self.matcha = load_checkpoint(matcha)

    def matcha_run(self, run: RunOptions) -> RunOptions:
        """How MATCHA's encoder runs: as the cross-encoder, but "auto" goes by its own drifts; a table runs no model.

        Raises:
            InvalidInput: it cannot run so.
        """
        if isinstance(self.matcha, MatchaTable):
            return DEFAULT_OPTIONS
        return self.matcha.resolve(replace(run, max_length=None))  # the checkpoint settles it

    def signature_fields(self, matcha_run: RunOptions = DEFAULT_OPTIONS) -> dict[str, str]:
        """What a signature contains of the checkpoints, and of how MATCHA's runs, where that is not the default."""
        changed = {f"matcha_{name}": value for name, value in matcha_run.changed.items()}
        matcha = self.matcha.signature_fields()["checkpoint"]
        return {**self.scorer.signature_fields(), "matcha": matcha, **changed}

    def parts(
        self,
        predictions: list[str],
        references: list[str],
        run: RunOptions = DEFAULT_OPTIONS,
        matcha_run: RunOptions | None = None,
        contradict: list[bool] | None = None,
    ) -> Parts:
        """What the models say about n pairs.

        Args:
            predictions: n texts to judge.
            references: n texts, one for each prediction.
            run: how the cross-encoder runs.
            matcha_run: how MATCHA's encoder runs; None for what `matcha_run` makes of `run`.
            contradict: for each pair, whether it contradicts by the rule of numbers; None to apply the rule.
        """
        if contradict is None:
            contradict = [bool(differing_numbers(a, b)) for a, b in zip(references, predictions, strict=True)]
        # models take "1945" and "nineteen forty-five" for two numbers
        references = [write_as_in(a, b).text for a, b in zip(references, predictions, strict=True)]
        pairs = list(zip(references, predictions, strict=True))
        logits = self.scorer.logits(pairs + [(b, a) for a, b in pairs], run)
        probabilities = nli_probabilities(logits.values, self.scorer.labels).reshape(2, len(pairs), 2)
        ratings = rating(self.scale, logits.values[:, self._similarity].astype(np.float64)).reshape(2, -1)
        cosines = self._cosines(predictions, references, matcha_run or self.matcha_run(run))
        # a model alone may see a contradiction in a text that is repeated, and MATCHA knows no token of some texts
        same = [same_but_for_writing(a, b) for a, b in pairs]
        probabilities[:, same], ratings[:, same], cosines[same] = (1.0, 0.0), 1.0, 1.0
        probabilities[:, contradict] = 0.0, 1.0
        return Parts(
            matcha=cosines,
            similarity=np.clip(ratings.mean(axis=0), 0.0, 1.0),
            supported=probabilities[0, :, 0],
            covered=probabilities[1, :, 0],
            contradiction=probabilities[:, :, 1].mean(axis=0),
            truncated=np.asarray(logits.truncated.reshape(2, -1).any(axis=0)),
        )

    def _cosines(self, predictions: list[str], references: list[str], run: RunOptions) -> np.ndarray:
        encoded = self.matcha.encode([*predictions, *references], run)
        vectors, count = encoded.vectors, len(predictions)
        return cosine(vectors[:count], vectors[count:])


def split_name(name: str | None) -> tuple[str | None, str | None]:
    """Names of the cross-encoder and of MATCHA's checkpoint from "NAME" or "NAME+NAME"; None for the shipped ones."""
    if name is None or "+" not in name or os.path.isdir(os.path.expanduser(name)):
        return name, None
    pairs, _, matcha = name.rpartition("+")
    return pairs or None, matcha or None


def _has_both(config: dict[str, Any]) -> bool:
    try:
        labels = [str(label) for label in config.get("id2label", {}).values()]
        nli_labels(labels)
        similarity_label(labels)
    except ValueError:
        return False
    return True
