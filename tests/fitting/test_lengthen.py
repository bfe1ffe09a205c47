"""Long forms of judged answers, which `semantic-metrics fit --long` fits on too."""

from pathlib import Path

import pandas as pd
from click.testing import CliRunner

from semantic_metrics.cli import main
from semantic_metrics.fitting.judged_answers import JudgedAnswers
from semantic_metrics.fitting.lengthen import ANSWER_WORDS, lengthen
from semantic_metrics.nli_lex.features import LONG_ANSWER_WORDS, SHORT_ANSWER_WORDS, length
from semantic_metrics.nli_lex.weights import read_weights
from tests.nli_lex.conftest import nli

PLACES = {f"Land {i}": f"Town {i}" for i in range(40)}


def judged() -> JudgedAnswers:
    """Questions about capitals, each with a right and a wrong answer of two sentences."""
    rows = []
    for i, (land, town) in enumerate(PLACES.items()):
        wrong = f"Town {(i + 1) % len(PLACES)}"
        for said in (town, wrong):
            answer = f"The capital of {land} is {said}. It lies on a river in the north."
            rows.append((f"What is the capital of {land}?", answer, [town], said == town, 0))
    return JudgedAnswers(*map(list, zip(*rows, strict=True)))


def test_long_forms_keep_answer_and_label_and_hold_no_other_answer() -> None:
    short = judged()
    long = lengthen(short)
    assert (long.questions, long.references, long.labels) == (short.questions, short.references, short.labels)
    for question, before, after in zip(short.questions, short.answers, long.answers, strict=True):
        assert before in after
        assert ANSWER_WORDS[0] <= len(after.split()) <= ANSWER_WORDS[1] + 20
        assert after.count(f"{question[12:-1]} is") == 1, "no other answer to the same question"


def test_long_forms_are_the_same_by_seed_and_hold_the_answer_in_any_order() -> None:
    short = judged()
    again = JudgedAnswers(*(list(reversed(column)) for column in vars(short).values()))
    assert lengthen(short) == lengthen(short)
    assert lengthen(short, seed=1) != lengthen(short)
    assert all(before in after for before, after in zip(again.answers, lengthen(again).answers, strict=True))


def test_an_answer_without_a_like_question_stays_as_it_is() -> None:
    alone = JudgedAnswers(["who?", "???"], ["He came.", "No."], [["he"], ["no"]], [True, False], [0, 0])
    assert lengthen(alone).answers == ["He came.", "No."]


def test_length_grows_with_the_words_between_its_ends() -> None:
    lengths = [length("word " * n) for n in (0, 1, SHORT_ANSWER_WORDS, 50, 100, LONG_ANSWER_WORDS, 1000)]
    assert lengths[:3] == [0, 0, 0]
    assert lengths[-2:] == [1, 1]
    assert lengths == sorted(lengths)
    assert 0 < lengths[3] < lengths[4] < 1


def test_fit_learns_from_long_forms_too(tmp_path: Path) -> None:
    held, model = judged(), nli(tmp_path / "model")
    references = [group[0] for group in held.references]
    columns = {"question": held.questions, "answer": held.answers, "reference": references, "label": held.labels}
    pd.DataFrame(columns).to_csv(tmp_path / "judged.csv", index=False)
    command = ["fit", str(tmp_path / "judged.csv"), "--config", str(model), "--form", "rich", "--folds", "2"]
    for name, more in (("short.json", []), ("long.json", ["--long"])):
        result = CliRunner().invoke(main, [*command, *more, "--output", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
    assert "160 answers" in result.output
    assert "answers as they are: accuracy" in result.output
    assert "answers long: accuracy" in result.output
    short, long = (read_weights(tmp_path / name) for name in ("short.json", "long.json"))
    assert short.coefficients[-1] == 0, "no answer is long"
    assert long.coefficients[-1] != 0
    assert long.fitted_on == short.fitted_on + "; and their long forms, which count 0.1"


def test_long_is_for_weights_alone(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("answer,reference,label\na,b,1\n")
    arguments = ["fit", str(tmp_path / "x.csv"), "--metric", "matcha", "--long", "--output", str(tmp_path / "y.json")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code != 0
    assert "--long: only a fit of the weights of nli_lex takes it" in result.output
