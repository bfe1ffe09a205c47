"""What the attacks share: a time limit, the tiny checkpoints and the rule that every refusal must keep."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from semantic_metrics.cross_encoder import eight_bits
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import nli
from training.matcha.contextual import ContextualModel
from training.shrink import shrink

MAX_SECONDS = 20  # for one call: the slowest honest one takes a tenth of it
MAX_MESSAGE_CHARACTERS = 1000


class Hang(BaseException):
    """A call did not end in time; no `except Exception` of the code under test can swallow it."""


@contextmanager
def time_limit(seconds: float = MAX_SECONDS) -> Iterator[None]:
    """Raise `Hang` in the main thread once the time is up."""

    def stop(*_: object) -> None:
        raise Hang(f"no answer after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(call: Callable[[], object]) -> tuple[object, str | None]:
    """What a call returns, or the message with which it refuses: a ValueError of one line, never anything else."""
    with time_limit():
        try:
            return call(), None
        except ValueError as error:
            message = str(error)
            assert message.strip(), "a refusal says something"
            assert "\n" not in message, f"a refusal is one line, got {message!r}"
            assert len(message) <= MAX_MESSAGE_CHARACTERS, f"a refusal is short, got {len(message)} characters"
            return None, message


@pytest.fixture(scope="session")
def checkpoints(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny checkpoint for each metric that scores texts, a contextual one, and one in 8 bits, in three shards."""
    folder = tmp_path_factory.mktemp("attack")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(eight_bits, "SHARD_BYTES", 2**14)
        shrink(tiny.both_heads(folder / "consensus"), folder / "eight_bits")
    ContextualModel(str(tiny.bert(folder / "start")), max_length=20).save(folder / "contextual")
    return {
        "consensus": folder / "consensus",
        "eight_bits": folder / "eight_bits",
        "matcha": checkpoint,
        "contextual": folder / "contextual",
        "stsscore": tiny.bert(folder / "stsscore"),
        "nli_lex": nli(folder / "nli_lex"),
        "support": tiny.judging(folder / "support"),
    }
