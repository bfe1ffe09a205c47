"""A model's answers, scored by a metric of this package inside `evaluate`'s evaluators and evaluation suites.

evaluate 0.4.6 compares texts with references for three tasks only, which transformers 5 no longer has
(text2text-generation, summarization, translation); its evaluator of text generation compares with nothing.
"""

from datasets import Dataset
from evaluate.evaluator import TextGenerationEvaluator
from evaluate.evaluator.utils import DatasetColumn


class AnswerEvaluator(TextGenerationEvaluator):
    """Runs a text-generation model on a column of prompts and scores what it adds against a column of references.

    Example:
        >>> from semantic_metrics import load
        >>> AnswerEvaluator().compute(
        ...     model_or_pipeline="path/of/a/model", data=data, metric=load("matcha"),
        ...     input_column="question", label_column="answer", generation_kwargs={"max_new_tokens": 32},
        ... )  # doctest: +SKIP
    """

    def __init__(self, task: str = "text-generation", default_metric_name: str | None = None) -> None:
        super().__init__(task, default_metric_name)

    def compute(self, *arguments: object, generation_kwargs: dict | None = None, **options: object) -> dict:
        """As `evaluate.Evaluator.compute`.

        Args:
            arguments: of that method.
            generation_kwargs: of the model's `generate`, such as `max_new_tokens`; greedy unless `do_sample` is set.
            options: of that method: `model_or_pipeline` (a model's path), `data`, `metric` (a loaded one, or its path),
                `input_column` and `label_column`.

        Returns:
            What the metric returns, and the time that the model took.
        """
        self.PIPELINE_KWARGS = {"do_sample": False, "return_full_text": False, **(generation_kwargs or {})}
        return super().compute(*arguments, **options)

    def prepare_data(
        self, data: Dataset, input_column: str, label_column: str, *_: object
    ) -> tuple[dict[str, list], DatasetColumn]:
        """The references for the metric, the prompts for the model."""
        self.check_required_columns(data, {"input_column": input_column, "label_column": label_column})
        return {"references": list(data[label_column])}, DatasetColumn(data, input_column)

    def predictions_processor(self, predictions: list[list[dict]], *_: object) -> dict[str, list[str]]:
        """The first text of each prompt."""
        return {"predictions": [texts[0]["generated_text"] for texts in predictions]}
