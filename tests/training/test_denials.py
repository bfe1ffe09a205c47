"""Triplets of claims that are affirmed and denied."""

from pathlib import Path
import sys

import pandas as pd
import pytest

from training import denials
from training.config import read_yaml
from training.denials import WORDINGS
from training.denials import Wordings
from training.denials import build

CLAIMS = pd.DataFrame(
    [
        ("A dog is red.", "A dog is not red.", "negation"),
        ("Anna sings well.", "Anna does not sing well.", "negation"),
        ("It is dark.", "It is light.", "antonym"),
    ],
    columns=["reference", "incorrect", "rule"],
)


@pytest.fixture(scope="module")
def wordings() -> Wordings:
    return read_yaml(WORDINGS, Wordings)


def denied(text: str, wordings: Wordings) -> bool:
    """Whether a text is one of the wordings that deny a claim of CLAIMS."""
    sides = []
    for plain, forms in (("{claim}", wordings.affirmations), ("{negated}", wordings.denials)):
        texts = {
            form.format(claim=claim, negated=negated).lower()
            for claim, negated in (("a dog is red", "a dog is not red"), ("anna sings well", "anna does not sing well"))
            for form in (plain, *forms)
        }
        sides.append(text.rstrip(".").lower() in texts)
    assert sum(sides) == 1, text
    return sides[1]


def test_incorrect_texts_stand_on_the_other_side(wordings: Wordings) -> None:
    made = build(CLAIMS, wordings, 40, seed=0)
    for row in made.itertuples(index=False):
        assert denied(row.reference, wordings) == denied(row.correct, wordings) != denied(row.incorrect, wordings)
    assert {denied(text, wordings) for text in made["reference"]} == {True, False}
    assert not made["reference"].str.contains("dark|light").any(), "no other rule says yes and no"
    assert (made["reference"] != made["correct"]).all()


def test_build_draws_the_same_by_seed_and_none_twice(wordings: Wordings) -> None:
    made = build(CLAIMS, wordings, 40, seed=3)
    pd.testing.assert_frame_equal(made, build(CLAIMS, wordings, 40, seed=3))
    assert not made.equals(build(CLAIMS, wordings, 40, seed=4))
    assert not made.duplicated().any()
    assert set(CLAIMS.loc[:1, "reference"]) == {"A dog is red.", "Anna sings well."}, "the claims stay as they were"


@pytest.mark.parametrize("claims", [CLAIMS[2:], CLAIMS.drop(columns="rule")])
def test_claims_that_are_none_are_named(claims: pd.DataFrame, wordings: Wordings) -> None:
    with pytest.raises(ValueError, match="--claims"):
        build(claims, wordings, 1, seed=0)


def test_wordings_without_a_claim_are_named() -> None:
    with pytest.raises(ValueError, match="denials: expected two or more"):
        Wordings(["{claim}", "yes, {claim}"], ["no, {negated}", "never"])


def test_command_writes_triplets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    CLAIMS.to_parquet(tmp_path / "claims.parquet")
    out = tmp_path / "denials.parquet"
    monkeypatch.setattr(sys, "argv", ["denials.py", "--claims", str(tmp_path / "claims.parquet"), "--output", str(out)])
    denials.main()
    assert capsys.readouterr().out == f"{len(pd.read_parquet(out))} triplets\n"
    assert list(pd.read_parquet(out).columns) == denials.COLUMNS
