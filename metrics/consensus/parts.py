"""The parts of a consensus: what each of the models says about pairs of a reference and a prediction.

One cross-encoder reads each pair twice, the reference first and the prediction first. Its logits give the similarity
that people would rate and the probabilities of NLI; MATCHA's table gives the cosine of both texts.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semantic_metrics.core.checkpoint_files import resolve_checkpoint, shipped_checkpoints, split_name
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.cross_encoder import heads
from semantic_metrics.cross_encoder.by_sentence import Worst, worst_sentences
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS, check_labels, read_config
from semantic_metrics.cross_encoder.pair_scorer import DEFAULT_CHECKPOINT, PairScorer
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, cosine
from semantic_metrics.quantities import rules

UNREAD_SIMILARITY = 0.3  # of texts that differ in what the model cannot read; keeps the default score below .5
NAMES = ("matcha", "similarity", "entailment", "contradiction")  # of the parts in a result


@dataclass(frozen=True)
class Parts:
    """The models' judgements of n pairs; each array is (n,) float64.

    What rules decide (`quantities.rules.rule`) counts before what models say. Texts that are the same but for their
    writing have cosine, similarity and entailment 1 and contradiction 0. Texts of which only one can be true have
    contradiction 1 and entailment 0; their similarity is the model's, as people rate such texts as similar to some
    extent. A prediction that says nothing or gives no answer has similarity and entailment 0, and so has one that
    differs in what the model cannot read, with a similarity of at most UNREAD_SIMILARITY.

    Of two texts of several sentences one sentence may contradict the other text more than the whole text does
    (`by_sentence.worst_sentences`): then that contradiction counts, and an entailment is at most what it leaves of 1.
    """

    matcha: np.ndarray  # cosine of MATCHA's vectors, in [-1, 1]; 0 where a text has no vector, unless both are the same
    similarity: np.ndarray  # predicted rating of similarity, the mean of both orders, limited to [0, 1]
    supported: np.ndarray  # probability that the reference entails the prediction
    covered: np.ndarray  # probability that the prediction entails the reference
    contradiction: np.ndarray  # probability of contradiction, the mean of both orders, or that of one sentence
    truncated: np.ndarray  # (n,) bool, whether the cross-encoder cut the pair
    rulings: np.ndarray | None = None  # (n,) object, a `Ruling` for each pair; None where no rule was asked
    sentences: np.ndarray | None = None  # (n,) object, `Worst.reason` of those that count, or ""

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

    def decision(self, row: int) -> str:
        """The sentence of the rule that decides a pair, or that of a sentence that does; empty where whole texts do."""
        if self.rulings is not None and self.rulings[row].decision:
            return str(self.rulings[row].decision)
        sentence = self.sentences is not None and self.sentences[row]
        return f"{sentence}." if sentence else ""

    def with_sentences(self, rows: np.ndarray, worst: list[Worst]) -> "Parts":
        """The parts after the worst sentences of the pairs in `rows`, one each, were read too."""
        sure, clauses = np.zeros(len(self.matcha)), np.full(len(self.matcha), "", dtype=object)
        sure[rows] = [one.contradiction for one in worst]
        clauses[rows] = [one.reason for one in worst]
        counts = sure > self.contradiction
        least = np.where(counts, 1 - sure, 1.0)
        return replace(
            self,
            supported=np.minimum(self.supported, least),
            covered=np.minimum(self.covered, least),
            contradiction=np.maximum(self.contradiction, sure),
            sentences=np.where(counts, clauses, ""),
        )


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
        check_labels(folder, config, heads.nli_labels)
        self._similarity = check_labels(folder, config, heads.similarity_label)
        scale = heads.checkpoint_scale(folder, config, str(name))
        try:
            self.scale = heads.check_scale(scale)
        except ValueError as error:
            raise ValueError(f"checkpoint {folder}: {error}") from None
        self.scorer = PairScorer(folder, "consensus")
        self.matcha = load_checkpoint(matcha)

    def matcha_run(self, run: RunOptions) -> RunOptions:
        """How MATCHA's encoder runs: as the cross-encoder, but "auto" goes by its own drifts; a table runs no model."""
        if isinstance(self.matcha, MatchaTable):
            return DEFAULT_OPTIONS
        return self.matcha.resolve(replace(run, max_length=None))  # the checkpoint settles it

    def signature_fields(self, matcha_run: RunOptions = DEFAULT_OPTIONS) -> dict[str, str]:
        """Settings of a signature that identify the checkpoints, and how MATCHA's runs if not by default."""
        changed = {f"matcha_{name}": value for name, value in matcha_run.changed.items()}
        matcha = self.matcha.signature_fields()["checkpoint"]
        return {**self.scorer.signature_fields(), "matcha": matcha, **changed}

    def parts(
        self,
        predictions: list[str],
        references: list[str],
        run: RunOptions = DEFAULT_OPTIONS,
        matcha_run: RunOptions | None = None,
        rulings: list[rules.Ruling] | None = None,
    ) -> Parts:
        """The models' judgements of n pairs of a prediction and a reference.

        Args:
            predictions: n texts to judge.
            references: n texts, one for each prediction.
            run: how the cross-encoder runs.
            matcha_run: how MATCHA's encoder runs; None for what `matcha_run` makes of `run`.
            rulings: what rules decide of each pair; None to ask them.
        """
        ruled = [rules.rule(a, b) for a, b in zip(references, predictions, strict=True)]
        pairs = [(one.reference, one.prediction) for one in ruled]
        references, predictions = ([pair[side] for pair in pairs] for side in (0, 1))
        rulings = [one.ruling for one in ruled] if rulings is None else rulings
        rulings = list(map(self._ruling, rulings, pairs))
        kinds = np.array([ruling.kind for ruling in rulings])
        logits = self.scorer.logits(pairs + [(b, a) for a, b in pairs], run)
        probabilities = heads.nli_probabilities(logits.values, self.scorer.labels).reshape(2, len(pairs), 2)
        ratings = heads.rating(self.scale, logits.values[:, self._similarity].astype(np.float64)).reshape(2, -1)
        cosines = self._cosines(predictions, references, matcha_run or self.matcha_run(run))
        # a model alone may see a contradiction in a text that is repeated, and MATCHA knows no token of some texts
        same = kinds == rules.SAME
        probabilities[:, same], ratings[:, same], cosines[same] = (1.0, 0.0), 1.0, 1.0
        probabilities[:, kinds == rules.DIFFERENT] = 0.0, 1.0
        probabilities[:, kinds == rules.CONFLICT] = (probabilities[:, kinds == rules.CONFLICT] + (0.0, 1.0)) / 2
        nothing, unread = np.isin(kinds, (rules.NO_ANSWER, rules.NOTHING)), kinds == rules.UNREAD
        probabilities[:, nothing | unread] = 0.0
        ratings[:, nothing], ratings[:, unread] = 0.0, np.minimum(ratings[:, unread], UNREAD_SIMILARITY)
        whole = Parts(
            matcha=cosines,
            similarity=np.clip(ratings.mean(axis=0), 0.0, 1.0),
            supported=probabilities[0, :, 0],
            covered=probabilities[1, :, 0],
            contradiction=probabilities[:, :, 1].mean(axis=0),
            truncated=np.asarray(logits.truncated.reshape(2, -1).any(axis=0)),
            rulings=np.array(rulings, dtype=object),
        )
        rows = np.flatnonzero(np.isin(kinds, ("", rules.CONFLICT)) & ~whole.truncated)
        return whole.with_sentences(rows, worst_sentences([pairs[i] for i in rows], self.scorer, run))

    def _ruling(self, ruling: rules.Ruling, pair: tuple[str, str]) -> rules.Ruling:
        """The ruling, or that the cross-encoder cannot read what differs."""
        return rules.UNREAD_RULING if ruling.kind != rules.SAME and self.scorer.is_unread(*pair) else ruling

    def _cosines(self, predictions: list[str], references: list[str], run: RunOptions) -> np.ndarray:
        encoded = self.matcha.encode([*predictions, *references], run)
        vectors, count = encoded.vectors, len(predictions)
        return cosine(vectors[:count], vectors[count:])


def _has_both(config: dict[str, Any]) -> bool:
    try:
        labels = [str(label) for label in config.get("id2label", {}).values()]
        heads.nli_labels(labels)
        heads.similarity_label(labels)
    except ValueError:
        return False
    return True
