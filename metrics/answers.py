"""An evaluator for `evaluate` and its suites: a model answers, and a metric of this package scores the answers.

evaluate 0.4.6 compares texts with references for three tasks only, which transformers 5 no longer has
(text2text-generation, summarization, translation); its evaluator for text generation takes no references.
"""

from typing import Any

from datasets import Dataset
from evaluate import EvaluationModule
from evaluate.evaluator import TextGenerationEvaluator
from evaluate.evaluator.utils import DatasetColumn


class AnswerEvaluator(TextGenerationEvaluator):
    """Runs a text-generation model on a column of prompts and scores its answers against a column of references.

    Examples:
        >>> from semantic_metrics import load
        >>> AnswerEvaluator().compute(
        ...     model_or_pipeline="path/of/a/model", data=data, metric=load("nli_lex"),
        ...     input_column="question", label_column="answer", generation_kwargs={"max_new_tokens": 32},
        ... )  # doctest: +SKIP
    """

    def compute(
        self, *arguments: object, generation_kwargs: dict[str, Any] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Like `evaluate.Evaluator.compute`, with arguments for the model's `generate`.

        Args:
            arguments: positional arguments of that method.
            generation_kwargs: arguments of the model's `generate`, such as `max_new_tokens`; decoding is greedy unless
                `do_sample` is set.
            options: arguments of that method: `model_or_pipeline` (a model's path), `data`, `metric` (a loaded metric,
                or its path), `input_column` and `label_column`.

        Returns:
            The metric's result, with the time that the model took.
        """
        self.PIPELINE_KWARGS = {"do_sample": False, "return_full_text": False, **(generation_kwargs or {})}
        return super().compute(*arguments, **options)

    def prepare_data(
        self, data: Dataset, input_column: str, label_column: str, *_: object
    ) -> tuple[dict[str, list[Any]], DatasetColumn]:
        """The prompts, also as the questions of a metric that takes some, and the references."""
        self.check_required_columns(data, {"input_column": input_column, "label_column": label_column})
        texts = {"questions": list(data[input_column]), "references": list(data[label_column])}
        return texts, DatasetColumn(data, input_column)

    def compute_metric(
        self, metric: EvaluationModule, metric_inputs: dict[str, Any], *more: object, **options: object
    ) -> dict[str, Any]:
        """The metric's result, from the columns that it takes."""
        taken = {name: metric_inputs[name] for name in metric._feature_names()}
        return super().compute_metric(metric, taken, *more, **options)

    def predictions_processor(self, predictions: list[list[dict[str, Any]]], *_: object) -> dict[str, list[str]]:
        """The first text of each prompt."""
        return {"predictions": [texts[0]["generated_text"] for texts in predictions]}
