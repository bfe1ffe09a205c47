"""NLI+lex: whether an answer to a question says what a reference says, from entailment and shared words."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    columns=("predictions", "references", "questions"),
    counts=("blank", "windowed", "shortened", "split", "truncated"),
    mean_label="share correct",
    explain_methods={
        "leave_one_out": "what the score loses where a token is left out",
        "integrated_gradients": "the tokens of a text add up to the score minus that of a baseline",
    },
)
