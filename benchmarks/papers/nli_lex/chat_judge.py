"""A language model as the judge, behind any endpoint that speaks OpenAI's chat API. Off unless one is given.

The key comes from the environment variable SEMANTIC_METRICS_API_KEY and from nowhere else.
"""

import time
from pathlib import Path

import numpy as np

from benchmarks.common.encoders import NotMeasured
from benchmarks.papers.nli_lex.judges import Judge, Loaded, Verdicts
from benchmarks.papers.nli_lex.sets import JudgedSet
from semantic_metrics.endpoint import EndpointError, JsonEndpoint, chat_endpoint

PROMPT = """\
Question: {question}
Reference answer: {reference}
Candidate answer: {answer}

Does the candidate answer match the reference answer? It does if it says the same in other words, or names the same
person, place or number. Reply with 1 if it does and with 0 if it does not, and with nothing else."""


def endpoint_judge(url: str, model: str, kept: Path | None = None) -> Judge:
    """A judge that asks once for each answer, at temperature 0, with all its gold answers in the prompt.

    What was asked before, in this run or an earlier one that kept its replies, is not asked again; the time is that of
    the questions that were.

    A reply that is neither 1 nor 0 counts as incorrect; the report says how many there were.

    Args:
        url: address without `/chat/completions`, such as `http://127.0.0.1:8000/v1`.
        model: the server's name of the model.
        kept: file that replies are read from and written to as they come; None keeps none.

    Raises:
        ValueError: `url` is neither http nor https, or contains a password; `kept` is not a file of replies.
    """
    endpoint = chat_endpoint(url, kept=kept)

    def ask(answers: JudgedSet) -> Verdicts:
        begin = time.perf_counter()
        rows = zip(answers.questions, answers.references, answers.candidates, strict=True)
        replies = [_judge(endpoint, model, *row) for row in rows]
        seconds, unclear = time.perf_counter() - begin, sum(reply is None for reply in replies)
        notes = (f"{unclear} of {len(replies)} replies were neither 1 nor 0",) if unclear else ()
        return Verdicts(np.array([float(reply or 0) for reply in replies]), seconds, notes)

    return Judge(f"Judge {model}", lambda: Loaded(ask, None), "endpoint")


def _judge(endpoint: JsonEndpoint, model: str, question: str, group: list[str], answer: str) -> int | None:
    """A model's judgement of an answer, at temperature 0: 1, 0, or None where its reply begins with neither.

    Like in the paper (appendix C), the server lets the model write nothing else, if it can (`JsonEndpoint.choose`).
    """
    text = PROMPT.format(question=question, reference=" or ".join(group), answer=answer)
    try:
        choice = endpoint.choose(model, [{"role": "user", "content": text}], ("1", "0"), temperature=0)
    except EndpointError as error:
        raise NotMeasured(str(error)) from error
    return None if choice is None else int(choice)
