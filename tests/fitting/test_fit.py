"""`semantic-metrics fit`: what is read, fitted, left out, reported and refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread
from sklearn.linear_model import LogisticRegression

from semantic_metrics import load
from semantic_metrics.cli import main
from semantic_metrics.files.errors import FileError
from semantic_metrics.fitting.judged_answers import JudgedColumns, read_judged_answers, read_questions
from semantic_metrics.fitting.nli_lex_weights import cross_validated, fit_weights, take
from semantic_metrics.nli_lex.features import FORMS, RICH, Features, extract, load_scorer
from semantic_metrics.nli_lex.weights import Weights, judge, read_weights
from semantic_metrics.stats import binary as calibration
from tests.nli_lex.conftest import nli

ROWS = 40


def examples(seed: int = 0) -> pd.DataFrame:
    """Two answers to each question; most that hold the reference are labelled correct."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(ROWS):
        right = bool(rng.random() < 0.5)
        answer = f"it is the dog {i % 7}" if right else f"a man sleeps {i % 5}"
        label = int(right if rng.random() < 0.85 else not right)
        rows.append((f"who is it {seed} {i // 2}?", answer, "the dog", label))
    return pd.DataFrame(rows, columns=["question", "answer", "reference", "label"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = nli(tmp_path_factory.mktemp("fit") / "model")
    (folder / "nli_lex.json").unlink()
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    examples().to_csv(tmp_path / "judged.csv", index=False)
    return tmp_path / "judged.csv"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["fit", *map(str, arguments)])


def table(n: int = 300, per_answer: int = 1, seed: int = 0) -> tuple[Features, np.ndarray, np.ndarray]:
    """Random features, labels drawn from known weights, and those weights."""
    rng = np.random.default_rng(seed)
    known = rng.uniform(1, 4, len(RICH))
    features = Features(rng.random((n * per_answer, len(RICH))), np.repeat(np.arange(n), per_answer),
                        np.zeros(n, dtype=bool), 0, 0, np.zeros(n, dtype=bool))  # fmt: skip
    weights = Weights(RICH, -known.sum() / 2, tuple(known))
    return features, rng.random(n) < judge(weights, features).p, known


def test_weights_are_scikit_learns(model: Path, file: Path) -> None:
    output = file.with_name("weights.json")
    result = run(file, "--config", model, "--output", output)
    assert result.exit_code == 0, result.output
    frame = examples()
    texts = (list(frame["question"]), list(frame["answer"]), [[text] for text in frame["reference"]])
    found = extract(load_scorer(model), *texts)
    for form, names in FORMS.items():
        columns = [RICH.index(name) for name in names]
        expected = LogisticRegression(max_iter=1000).fit(found.table[:, columns], frame["label"])
        weights = read_weights(output, form)
        assert weights.coefficients == pytest.approx(expected.coef_[0], abs=1e-6)
        assert weights.intercept == pytest.approx(expected.intercept_[0], abs=1e-6)
    metric = load("nli_lex", str(model))
    judged = metric.compute(predictions=texts[1], references=list(frame["reference"]), questions=texts[0],
                            weights=output)  # fmt: skip
    assert judged["scores"] == pytest.approx(judge(read_weights(output), found).p)


def test_known_weights_are_found_again() -> None:
    found, labels, known = table(20_000)
    assert fit_weights(found, labels, "rich").coefficients == pytest.approx(known, abs=0.35)


def test_of_several_references_the_best_teaches() -> None:
    found, labels, known = table(5000, per_answer=3)
    weights = fit_weights(found, labels, "rich")
    rows = judge(weights, found).rows
    again = LogisticRegression(max_iter=1000).fit(found.table[rows], labels)
    assert weights.coefficients == pytest.approx(again.coef_[0], abs=0.03)  # not all choices have settled
    assert weights.coefficients == pytest.approx(known, abs=0.8)


def test_blank_answers_teach_nothing() -> None:
    found, labels, _ = table()
    blank = np.arange(len(labels)) < 100
    some = Features(found.table, found.answer_index, blank, 0, 0, found.shortened)
    rest = take(found, np.flatnonzero(~blank))
    assert fit_weights(some, labels, "paper") == fit_weights(rest, labels[~blank], "paper")


def test_take_renumbers_answers() -> None:
    found, _, _ = table(5, per_answer=2)
    held = take(found, np.array([1, 4]))
    assert held.answer_index.tolist() == [0, 0, 1, 1]
    np.testing.assert_array_equal(held.table, found.table[[2, 3, 8, 9]])


def test_no_answer_is_judged_by_weights_that_know_its_question() -> None:
    labels = np.arange(60) % 2 == 0
    groups = [str(i // 3) for i in range(60)]
    left_out = []
    for kept, left in calibration.folds_by_group(labels, groups, 4, seed=1):
        assert {groups[i] for i in kept}.isdisjoint(groups[i] for i in left)
        left_out += left.tolist()
    assert sorted(left_out) == list(range(60))


def test_cross_validation_is_honest_about_noise() -> None:
    """Labels that have nothing to do with the features, two equal rows a question: nothing can be learnt of them."""
    rng = np.random.default_rng(0)
    values = np.repeat(rng.random((100, len(RICH))), 2, axis=0)
    found = Features(values, np.arange(200), *(np.zeros(200, dtype=bool), 0, 0, np.zeros(200, dtype=bool)))
    labels = np.repeat(rng.random(100) < 0.5, 2)
    p = cross_validated(found, labels, [f"q{i // 2}" for i in range(200)], "rich")
    assert abs(calibration.figures(p, labels)["mcc"]) < 0.25


def test_the_report_says_what_was_fitted(model: Path, file: Path) -> None:
    output, plot = file.with_name("weights.json"), file.with_name("plot.png")
    result = run(file, "--config", model, "--output", output, "--plot", plot)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert f"{file}: {ROWS} answers, 0 left out by --exclude" in lines
    for form in FORMS:
        held = next(line for line in lines if line.startswith(f"{form}, 5 folds by question: "))
        assert [part.split()[0] for part in held.partition(": ")[2].split(", ")] == ["accuracy", "f1", "mcc", "ece"]
    assert f"written to {output}, {plot}" in lines
    image = imread(plot)
    assert 0.5 < image[..., :3].mean() < 0.999


def test_questions_of_evaluation_files_are_left_out(model: Path, file: Path) -> None:
    frame, output = examples(), file.with_name("weights.json")
    test = file.with_name("test.parquet")
    pd.DataFrame({"question": [frame["question"][0].upper().replace("?", " ?!")]}).to_parquet(test)
    result = run(file, "--config", model, "--exclude", test, "--output", output, "--form", "paper")
    assert f"{file}: {ROWS} answers, 2 left out by --exclude" in result.output
    expected = file.with_name("rest.csv")
    frame.iloc[2:].to_csv(expected, index=False)
    run(expected, "--config", model, "--output", file.with_name("other.json"), "--form", "paper")
    weights, other = (read_weights(file.with_name(name), "paper") for name in ("weights.json", "other.json"))
    assert weights.coefficients == other.coefficients
    folder = file.parent.name
    assert weights.fitted_on == f"{folder}/judged.csv: 38 answers; without the questions of {folder}/test.parquet"


def test_files_of_different_kinds_are_joined(model: Path, file: Path, tmp_path: Path) -> None:
    other = examples(1).rename(columns={"answer": "candidate", "label": "grade"})
    other["reference"], other["grade"] = "the dog/a dog / ", 2 * other["grade"]
    other.to_parquet(tmp_path / "graded.parquet")
    columns = [JudgedColumns(), JudgedColumns(answer="candidate", label="grade", separator="/", correct_from=2)]
    found = read_judged_answers(file, columns[0]) + read_judged_answers(tmp_path / "graded.parquet", columns[1])
    assert len(found) == 2 * ROWS
    assert found.references[-1] == ["the dog", "a dog"]
    assert found.labels == [bool(label) for label in [*examples()["label"], *examples(1)["label"]]]
    options = ("--answer", "answer", "--answer", "candidate", "--label", "label", "--label", "grade")
    options += ("--separator", "", "--separator", "/", "--correct-from", 1, "--correct-from", 2)
    result = run(file, tmp_path / "graded.parquet", *options, "--config", model, "--output", tmp_path / "w.json")
    assert result.exit_code == 0, result.output
    assert f"{2 * ROWS} answers, " in result.output


def test_a_template_of_ones_own_is_kept_with_the_weights(model: Path, file: Path) -> None:
    output, template = file.with_name("weights.json"), "{answer}"
    result = run(file, "--config", model, "--output", output, "--template", template)
    assert result.exit_code == 0, result.output
    run(file, "--config", model, "--output", file.with_name("usual.json"))
    weights, usual = read_weights(output), read_weights(file.with_name("usual.json"))
    assert weights.template == template != usual.template
    assert weights.coefficients != usual.coefficients  # the model read something else


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"label": 1}, (), "labels: expected correct and incorrect answers, got correct ones only"),
        ({"label": 0}, (), "labels: expected correct and incorrect answers, got incorrect ones only"),
        ({"label": "yes"}, (), "expected numbers in column 'label', got 'yes' in row 1"),
        ({"reference": " "}, (), "expected references in column 'reference', got ' ' in row 1"),
        ({}, ("--answer", "said"), "expected the columns 'said', there are 'question', 'answer', 'reference', 'label'"),
        ({}, ("--label", "a", "--label", "b"), "--label: expected it once, or 1 times as there are files, got it 2"),
        ({}, ("--template", "no place"), "template: expected a string with {answer} once"),
        ({}, ("--folds", 30), "folds: expected at most"),
        ({}, ("--exclude", "{file}"), "labels: expected correct and incorrect answers, got no answers"),
        ({}, ("--plot", "/nowhere/plot.png"), "--plot: expected an existing folder, there is no /nowhere"),
        ({}, ("--config", "/nowhere/model"), "checkpoint '/nowhere/model'"),
        ({"label": 1}, (), "judged.csv, column 'label')"),
        ({"answer": " "}, (), "labels of answers that are not blank: expected correct and incorrect answers, got no"),
        ({"reference": "['a', 'b']"}, (), "got the text of a printed list, \"['a', 'b']\", in row 1"),
        ({}, ("--plot", "{file}"), "--plot: expected a file that ends in .png, got"),
        ({}, ("--plot", "{file.parent}"), "--plot: expected a file to write, got a folder"),
        ({}, ("--plot", "{file.parent}/link.png"), "--plot: expected another file than --output and those that are"),
        ({}, ("--output", "{file.parent}/w.png", "--plot", "{file.parent}/w.png"), "--plot: expected another file"),
        ({}, ("--output", "{file}"), "--output: expected a new file or one of weights"),
        ({}, ("--output", "/nowhere/weights.json"), "--output: expected an existing folder, there is no /nowhere"),
        ({}, ("--output", "/proc/weights.json"), "--output: "),
        ({}, ("--output", "x" * 300), "File name too long"),
    ],
)
def test_what_cannot_be_fitted_is_said(file: Path, change: dict, options: tuple, message: str) -> None:
    """Before any model is loaded: there is none."""
    examples().assign(**change).to_csv(file, index=False)
    file.with_name("link.png").symlink_to(file)
    options = tuple(str(option).format(file=file) for option in options)
    usual = ("--config", "/nowhere/unread", "--output", file.with_name("weights.json"))
    result = run(file, *usual, *options)  # of an option that is given twice the last counts
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not file.with_name("weights.json").exists()


def test_blank_references_are_counted(tmp_path: Path, file: Path) -> None:
    examples().assign(reference=[["the dog", "", " "]] * ROWS).to_parquet(tmp_path / "x.parquet")
    examples().assign(reference="the dog//a dog").to_csv(file, index=False)
    found = [
        read_judged_answers(tmp_path / "x.parquet", JudgedColumns()),
        read_judged_answers(file, JudgedColumns(separator="/")),
    ]
    assert [each.references[0] for each in found] == [["the dog"], ["the dog", "a dog"]]
    assert [sum(each.dropped) for each in found] == [2 * ROWS, ROWS]
    result = run(file, "--separator", "/", "--config", "/nowhere/unread", "--output", tmp_path / "w.json")
    assert f"{file}: {ROWS} blank references dropped" in result.output


def test_all_columns_of_questions_leave_out_and_blank_ones_nothing(tmp_path: Path, file: Path) -> None:
    frame = examples()
    frame.loc[4:5, "question"] = "?!"
    frame.to_csv(file, index=False)
    frame.rename(columns={"question": "asked"}).to_csv(tmp_path / "other.csv", index=False)
    asked = {"question": [frame["question"][0], None, " "], "asked": ["?", "none", frame["question"][2]]}
    pd.DataFrame(asked).to_parquet(tmp_path / "test.parquet")
    assert read_questions(tmp_path / "test.parquet", ["question"])[1] == 2
    names = ("--question", "question", "--question", "asked", "--exclude", tmp_path / "test.parquet")
    result = run(file, tmp_path / "other.csv", *names, "--config", "/nowhere/unread", "--output", tmp_path / "w.json")
    assert f"{tmp_path / 'test.parquet'}: 3 blank questions, which leave nothing out" in result.output
    for path in (file, tmp_path / "other.csv"):
        assert f"{path}: {ROWS} answers, 4 left out by --exclude" in result.output
    pd.DataFrame({"question": [1]}).to_parquet(tmp_path / "numbers.parquet")
    with pytest.raises(FileError, match="expected a text in column 'question', got 1 in row 1"):
        read_questions(tmp_path / "numbers.parquet", ["question"])


@pytest.mark.parametrize(
    ("blank", "message"),
    [
        (range(ROWS // 2), "labels of answers that are not blank: expected correct and incorrect answers, got correct"),
        (range(1, ROWS // 2), "folds: without fold "),
    ],
)
def test_folds_of_one_class_are_found_before_the_model_runs(file: Path, blank: range, message: str) -> None:
    frame = examples().assign(label=[0] * (ROWS // 2) + [1] * (ROWS // 2))
    frame.loc[list(blank), "answer"] = " "
    frame.to_csv(file, index=False)
    result = run(file, "--config", "/nowhere/unread", "--output", file.with_name("w.json"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert f"({file}, column 'label')" in result.stderr


def test_a_folder_to_write_to_is_named_with_its_file(model: Path, file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    result = run(file, "--config", model, "--output", tmp_path / "mine", "--form", "paper")
    assert result.exit_code == 0, result.output
    assert f"written to {tmp_path / 'mine' / 'nli_lex.json'}" in result.output.splitlines()
    assert read_weights(tmp_path / "mine", "paper").form == "paper"
