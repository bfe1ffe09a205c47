"""docs/python.md lists every key of every result, which no other page repeats."""

import re
from typing import Any

import pytest

from semantic_metrics.consensus.scoring import Result as ConsensusResult
from semantic_metrics.matcha.scoring import Result as MatchaResult
from semantic_metrics.nli_lex.scoring import Result as NLILexResult
from semantic_metrics.stsscore.scoring import Result as STSScoreResult
from semantic_metrics.support.judge import Result as SupportResult
from tests.conftest import ROOT

RESULTS = {
    "consensus": ConsensusResult,
    "matcha": MatchaResult,
    "nli_lex": NLILexResult,
    "stsscore": STSScoreResult,
    "support": SupportResult,
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_key_of_a_result_is_explained(name: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    section = page.split("## What a result contains\n")[1].partition("\n## ")[0]
    first_cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    listed = set(re.findall("`(.+?)`", " ".join(first_cells)))
    result: Any = RESULTS[name]
    assert set(result.__annotations__) - {name} <= listed
