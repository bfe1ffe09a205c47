"""Support's scores: what a source says of each sentence of a text. `evaluate` is not needed."""

import numpy as np
from typing_extensions import Unpack

from semantic_metrics.core.checkpoint_files import split_name
from semantic_metrics.core.inputs import References, check_choice
from semantic_metrics.core.run_options import RunArguments, RunOptions
from semantic_metrics.core.signature import Signature
from semantic_metrics.core.text_scoring import TextScoring
from semantic_metrics.core.threshold import ResultArguments
from semantic_metrics.cross_encoder.pair_attribution import LEAVE_ONE_OUT, Explainer, Explanation, Texts, read_pair
from semantic_metrics.cross_encoder.pair_scorer import PairScorer, load_nli_scorer
from semantic_metrics.matcha.checkpoint import find_checkpoint
from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.support.decision import Decision
from semantic_metrics.support.judge import Judge, Result, SupportOptions, result_of

VERSION = "0.18.0"
METHODS = (LEAVE_ONE_OUT,)
MAX_PIECES = 48  # longer texts are explained by runs of words: without each the whole text is judged again


class ExplainArguments(RunArguments, total=False):
    """Arguments of `compute` that `explain` takes too."""

    k: int | None


class Arguments(ExplainArguments, ResultArguments, total=False):
    """Arguments of `compute` besides the texts."""

    coverage: bool


class SupportScoring(TextScoring):
    """Judges texts; `config_name` names the checkpoint, and MATCHA's table behind a plus, as in `consensus`."""

    scorer: PairScorer
    table: MatchaTable
    decision: Decision

    def load_models(self) -> None:
        """See `TextScoring`."""
        name, table = split_name(self.config_name)
        self.scorer, self.table = load_scorer(name), load_table(table)
        self.decision = Decision.read(self.scorer.folder, self.scorer.checkpoint_sha256)

    def compute(
        self,
        *,
        predictions: list[str] | None = None,
        references: References | None = None,
        **arguments: Unpack[Arguments],
    ) -> Result:
        """Judge predictions against references, their sources, together with those added before."""
        columns = {"predictions": predictions, "references": references}
        result: Result = self.compute_checked(columns, self._options(arguments))
        return result

    def _options(self, arguments: Arguments | ExplainArguments) -> SupportOptions:
        """The arguments of `compute`, checked, with the checkpoint's own values where they are None."""
        run, others = RunOptions.split(arguments, Arguments)
        return SupportOptions(self.scorer.resolve(run), **others)

    def judge(self, options: SupportOptions) -> Judge:
        """The judge with these settings."""
        return Judge(self.scorer, self.table, self.decision, options)

    def _compute(self, predictions: list[str], references: References, options: SupportOptions) -> Result:
        result = result_of(self.judge(options), predictions, references)
        if options.output != "mean":
            result["signature"] = str(self._signature(options))
        return result

    def signature(self, **arguments: Unpack[Arguments]) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(arguments)))

    def _signature(self, options: SupportOptions) -> Signature:
        models = {**self.scorer.signature_fields(), "matcha": self.table.signature_fields()["checkpoint"]}
        return Signature.of("support", models | {"decision": self.decision.sha256[:16]}, options, VERSION)

    def explain(
        self, prediction: str, reference: str, method: str = LEAVE_ONE_OUT, **arguments: Unpack[ExplainArguments]
    ) -> Explanation:
        """Loss of the score where a word, or in long texts a run of words, is left out; see `Explainer`.

        `method` is "leave_one_out". The other arguments are those of `compute`, which refuses the same ones.
        """
        texts = read_pair(prediction, reference)
        check_choice("method", method, METHODS)
        options = self._options(arguments)
        judge = self.judge(options)

        def score(variants: list[Texts]) -> np.ndarray:
            sources = [[variant["reference"]] for variant in variants]
            return np.array([one.score for one in judge.judge([one["prediction"] for one in variants], sources)])

        return Explainer(self.scorer, texts, options.run, by_word=True, max_pieces=MAX_PIECES).leave_one_out(score)


def load_table(name: str | None = None) -> MatchaTable:
    """MATCHA's table by its name; None for the shipped one."""
    return MatchaTable.from_folder(find_checkpoint(name, ()))


def load_scorer(name: str | None = None) -> PairScorer:
    """Load an NLI model; see `load_nli_scorer`."""
    return load_nli_scorer(name, "support")
