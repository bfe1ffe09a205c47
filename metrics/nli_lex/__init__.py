"""NLI+lex: whether an answer to a question says what a reference says, from entailment and shared words."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    columns=("predictions", "references", "questions"),
    counts=("blank", "windowed", "shortened", "split", "truncated", "unread", "thoughts"),
    mean_label="share correct",
    correct_above=0.5,  # nli_lex.THRESHOLD
    decides=True,
    details={"entailment": float, "lexical_match": float},
    takes_weights=True,
    feature_reasons="What each feature adds to the log odds of being correct",
    explain_methods={
        "leave_one_out": "what the score loses where a word is left out",
        "integrated_gradients": "each token's share of the change from a baseline to the score",
    },
)
