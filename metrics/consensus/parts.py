"""The parts of a consensus: what each of the models says about pairs of a reference and a prediction.

One cross-encoder reads each pair twice, the reference first and the prediction first. Its logits give the similarity
that people would rate and the probabilities of NLI; MATCHA's table gives the cosine of both texts.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semantic_metrics.core.checkpoint_files import resolve_checkpoint, shipped_checkpoints, split_name
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
from semantic_metrics.quantities.rules import (
    CONFLICT,
    DIFFERENT,
    NO_ANSWER,
    NOTHING,
    SAME,
    UNREAD,
    UNREAD_RULING,
    Ruling,
    rule,
)

DEFAULT_CHECKPOINT = "pairs"
UNREAD_SIMILARITY = 0.3  # of texts that differ in what the model cannot read; keeps the default score below .5
NAMES = ("matcha", "similarity", "entailment", "contradiction")  # of the parts in a result


@dataclass(frozen=True)
class Parts:
    """What the models say about n pairs; each array is (n,) float64.

    What rules decide (`quantities.rules.rule`) counts before what models say. Texts that are the same but for their
    writing have cosine, similarity and entailment 1 and contradiction 0. Texts of which only one can be true have
    contradiction 1 and entailment 0; their similarity is the model's, as people rate such texts as similar to some
    extent. A prediction that says nothing or gives no answer has similarity and entailment 0, and so has one that
    differs in what the model cannot read, with a similarity of at most UNREAD_SIMILARITY.

    Attributes:
        matcha: cosine of MATCHA's vectors, in [-1, 1]; 0 where a text has no vector, unless both are the same.
        similarity: predicted rating of similarity, the mean of both orders, limited to [0, 1].
        supported: probability that the reference entails the prediction.
        covered: probability that the prediction entails the reference.
        contradiction: probability of contradiction, the mean of both orders.
        truncated: (n,) bool, whether the cross-encoder cut the pair.
        rulings: (n,) object, a `Ruling` for each pair; None where no rule was asked.
    """

    matcha: np.ndarray
    similarity: np.ndarray
    supported: np.ndarray
    covered: np.ndarray
    contradiction: np.ndarray
    truncated: np.ndarray
    rulings: np.ndarray | None = None

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
        values = (getattr(self, name) for name in self.__dataclass_fields__)
        taken: list[Any] = [None if value is None else value[rows] for value in values]
        return Parts(*taken)


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
        rulings: list[Ruling] | None = None,
    ) -> Parts:
        """What the models say about n pairs.

        Args:
            predictions: n texts to judge.
            references: n texts, one for each prediction.
            run: how the cross-encoder runs.
            matcha_run: how MATCHA's encoder runs; None for what `matcha_run` makes of `run`.
            rulings: what rules decide of each pair; None to ask them.
        """
        ruled = [rule(a, b) for a, b in zip(references, predictions, strict=True)]
        pairs = [(one.reference, one.prediction) for one in ruled]
        references, predictions = ([pair[side] for pair in pairs] for side in (0, 1))
        rulings = [one.ruling for one in ruled] if rulings is None else rulings
        rulings = list(map(self.ruling, rulings, pairs))
        kinds = np.array([ruling.kind for ruling in rulings])
        logits = self.scorer.logits(pairs + [(b, a) for a, b in pairs], run)
        probabilities = nli_probabilities(logits.values, self.scorer.labels).reshape(2, len(pairs), 2)
        ratings = rating(self.scale, logits.values[:, self._similarity].astype(np.float64)).reshape(2, -1)
        cosines = self._cosines(predictions, references, matcha_run or self.matcha_run(run))
        # a model alone may see a contradiction in a text that is repeated, and MATCHA knows no token of some texts
        same = kinds == SAME
        probabilities[:, same], ratings[:, same], cosines[same] = (1.0, 0.0), 1.0, 1.0
        probabilities[:, kinds == DIFFERENT] = 0.0, 1.0
        probabilities[:, kinds == CONFLICT] = (probabilities[:, kinds == CONFLICT] + (0.0, 1.0)) / 2
        nothing, unread = np.isin(kinds, (NO_ANSWER, NOTHING)), kinds == UNREAD
        probabilities[:, nothing | unread] = 0.0
        ratings[:, nothing], ratings[:, unread] = 0.0, np.minimum(ratings[:, unread], UNREAD_SIMILARITY)
        return Parts(
            matcha=cosines,
            similarity=np.clip(ratings.mean(axis=0), 0.0, 1.0),
            supported=probabilities[0, :, 0],
            covered=probabilities[1, :, 0],
            contradiction=probabilities[:, :, 1].mean(axis=0),
            truncated=np.asarray(logits.truncated.reshape(2, -1).any(axis=0)),
            rulings=np.array(rulings, dtype=object),
        )

    def ruling(self, ruling: Ruling, pair: tuple[str, str]) -> Ruling:
        """The ruling, or that the cross-encoder cannot read what differs."""
        return UNREAD_RULING if ruling.kind != SAME and self.scorer.is_unread(*pair) else ruling

    def _cosines(self, predictions: list[str], references: list[str], run: RunOptions) -> np.ndarray:
        encoded = self.matcha.encode([*predictions, *references], run)
        vectors, count = encoded.vectors, len(predictions)
        return cosine(vectors[:count], vectors[count:])


def _has_both(config: dict[str, Any]) -> bool:
    try:
        labels = [str(label) for label in config.get("id2label", {}).values()]
        nli_labels(labels)
        similarity_label(labels)
    except ValueError:
        return False
    return True
