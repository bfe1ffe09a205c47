"""Fusion of two sentences, by concatenation or by a model behind an OpenAI-compatible endpoint.

Source of the prompt and its settings: Bansal et al., "Set-Theoretic Compositionality of Sentence Embeddings",
appendix A.1 (gpt-3.5-turbo, temperature 0.5).
"""

from collections.abc import Sequence

from benchmarks.papers.set_data.chains import Fuse, Pair
from semantic_metrics.core.progress import with_progress
from semantic_metrics.endpoint import EndpointError, JsonEndpoint

CONCATENATION = "concatenation"  # value of the column `fusion`
PAPER_MODEL = "gpt-3.5-turbo"
TEMPERATURE = 0.5
SYSTEM = "You are a paraphraser."


def concatenate(pairs: Sequence[Pair]) -> list[str]:
    """The two sentences, one after the other: a fusion that rewords nothing.

    >>> concatenate([("It rained.", "We went in.")])
    ['It rained. We went in.']
    """
    return [f"{first} {second}" for first, second in pairs]


def messages(first: str, second: str) -> list[dict[str, str]]:
    r"""The paper's chat messages; the word limit is half the number of words and, as in the paper, may end in .5.

    >>> messages("It rained.", "We went in.")[1]["content"]
    'Fuse the following two sentences in 2.5 words: It rained.\nWe went in.'
    """
    limit = 0.5 * (len(first.split()) + len(second.split()))
    request = f"Fuse the following two sentences in {limit} words: {first}\n{second}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": request}]


def model_fusion(endpoint: JsonEndpoint, model: str) -> Fuse:
    """Fusion by a chat model: an empty text where it gave none, was cut off, or the endpoint's filter refused the pair.

    A temperature above 0 makes a build repeatable only through the replies that the endpoint keeps in a file.

    Raises:
        ValueError: the name of the model is empty.
    """
    if not model:
        raise ValueError("model: expected the name of a model, got an empty one")

    def fuse_one(pair: Pair) -> str:
        try:
            text, reason = endpoint.chat(model, messages(*pair), temperature=TEMPERATURE)
        except EndpointError as error:
            if error.code == 400 and "content_filter" in error.body:  # only this pair is refused
                return ""
            raise
        return "" if not isinstance(text, str) or reason in ("length", "content_filter") else text.strip()

    return lambda pairs: [fuse_one(pair) for pair in with_progress(list(pairs), "pair")]
