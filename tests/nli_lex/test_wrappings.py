"""Answers as chat models write them: what stands around an answer decides nothing."""

import pytest

import semantic_metrics

QUESTIONS = (  # question, reference, right answer, wrong answer
    ("What is the capital of Australia?", "Canberra", "Canberra", "Sydney"),
    ("Who wrote Pride and Prejudice?", "Jane Austen", "Jane Austen", "Charlotte Bronte"),
    ("When did the Berlin Wall fall?", "1989", "1989", "1991"),
    ("What is the boiling point of water in Celsius?", "100 degrees", "100 °C", "90 °C"),
    ("Which planet is closest to the sun?", "Mercury", "Mercury", "Venus"),
    ("How many players are in a football team?", "eleven", "11", "12"),
    ("Which gas do plants take in?", "carbon dioxide", "carbon dioxide", "oxygen"),
    ("Who painted Guernica?", "Pablo Picasso", "Picasso", "Salvador Dali"),
)
WRAPPINGS = (
    "{}", "{}.", "**{}**", "The answer is {}.", "Answer: {}", "Final answer: {}", "Sure! The answer is {}.",
    "It is {}.", "Of course! It's {}.", "Certainly, the answer is **{}**.", "```\n{}\n```", '{{"answer": "{}"}}',
    "\\boxed{{{}}}",
    "As an AI language model, I would say {}.", "<think>Let me see. It may be anything.</think>{}", "- {}", "# {}",
    "Great question! {}", "I believe the answer is {}.", "Based on what I know, it is {}.",
)  # fmt: skip


@pytest.mark.parametrize(("given", "right"), [("right", True), ("wrong", False)])
def test_what_stands_around_an_answer_decides_nothing(given: str, right: bool) -> None:
    rows = [(question, reference, yes if right else no) for question, reference, yes, no in QUESTIONS]
    columns = {
        "questions": [question for question, _, _ in rows for _ in WRAPPINGS],
        "references": [reference for _, reference, _ in rows for _ in WRAPPINGS],
        "predictions": [wrapping.format(answer) for _, _, answer in rows for wrapping in WRAPPINGS],
    }
    result = semantic_metrics.load("nli_lex").compute(**columns)
    others = [
        f"{said!r}: {score:.2f}"
        for said, score, correct in zip(columns["predictions"], result["scores"], result["correct"], strict=True)
        if bool(correct) is not right
    ]
    assert not others
