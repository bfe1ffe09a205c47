"""The shipped NLI model, loaded once for all tests of contradictions."""

from functools import cache

import pytest

from semantic_metrics.nli_lex import features

load_scorer_once = cache(features.load_scorer)


@pytest.fixture(autouse=True)
def one_nli_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every check use the same model."""
    monkeypatch.setattr(features, "load_scorer", load_scorer_once)
