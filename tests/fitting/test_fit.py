"""`semantic-metrics fit`: weights of nli_lex from judged answers and of consensus from ratings; refusals."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from matplotlib.image import imread
from sklearn.linear_model import LogisticRegression

from semantic_metrics import load
from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.weights import DEFAULT, Weights
from semantic_metrics.fitting.consensus_weights import fit_consensus
from semantic_metrics.fitting.judged_answers import JudgedAnswers, JudgedColumns, read_judged_answers
from semantic_metrics.fitting.lengthen import ANSWER_WORDS, lengthen
from semantic_metrics.fitting.nli_lex_weights import cross_validated
from semantic_metrics.nli_lex.features import COLUMNS, FORMS, RECALL_OF_LONG, RICH, Features, extract, load_scorer
from semantic_metrics.nli_lex.weights import judge, read_weights
from semantic_metrics.stats.binary import figures
from tests import tiny_pairs as tiny
from tests.cli.conftest import done, invoke, refused
from tests.fitting.conftest import NLI_LEX, ROWS, judged_frame
from tests.tiny_table import WORDS


def test_cross_validation_learns_nothing_from_noise() -> None:
    """Labels that do not depend on the features, two equal rows a question: rows that leak would give an MCC near 1."""
    mccs = []
    for seed in range(8):  # the MCC of one draw of 100 questions has a standard deviation of a fifth
        rng = np.random.default_rng(seed)
        values = np.repeat(rng.random((100, len(RICH))), 2, axis=0)
        features = Features(values, np.arange(200), *(np.zeros(200, dtype=bool), 0, 0, np.zeros(200, dtype=bool)))
        labels = np.repeat(rng.random(100) < 0.5, 2)
        p = cross_validated(features, labels, [f"q{i // 2}" for i in range(200)], "rich")
        mccs.append(figures(p, labels)["mcc"])
    assert abs(np.mean(mccs)) < 0.15


def test_weights_are_fitted_reported_and_written(model: Path, nli_model: Path, file: Path) -> None:
    output, plot = file.with_name("mine"), file.with_name("plot.png")
    output.mkdir()
    plot.symlink_to(file.with_name("plot.pdf"))  # still a PNG file
    forms = [part for form in FORMS for part in ("--form", form)]
    lines = done(invoke("fit", *NLI_LEX, file, "--config", nli_model, "--output", output, "--plot", plot, *forms))
    assert f"{file}: {ROWS} answers, 0 left out by --exclude" in lines
    assert lines[-1] == f"written to {output / 'nli_lex.json'}, {plot}"
    assert 0.5 < imread(plot)[..., :3].mean() < 0.999
    frame = judged_frame()
    texts = (list(frame["question"]), list(frame["answer"]), [[text] for text in frame["reference"]])
    features = extract(load_scorer(model), *texts)
    assert not features.shortened.any(), "else the paper's form would read something else"
    for form, names in FORMS.items():
        report = next(line for line in lines if line.startswith(f"{form}, 5 folds by question: "))
        assert [part.split()[0] for part in report.partition(": ")[2].split(", ")] == ["accuracy", "f1", "mcc", "ece"]
        columns = [COLUMNS.index(name) for name in names]
        expected = LogisticRegression(max_iter=1000).fit(features.table[:, columns], frame["label"])
        own = figures(judge(read_weights(nli_model, form), features).p, frame["label"].to_numpy(dtype=bool))["accuracy"]
        said = f"  the checkpoint's own weights, on the same answers: accuracy {own:.4f}, "
        assert lines[lines.index(report) + 1].startswith(said) or form == "paper", "its features are read otherwise"
        weights = read_weights(output, form)
        assert weights.coefficients == pytest.approx(expected.coef_[0], abs=1e-6)
        assert weights.intercept == pytest.approx(expected.intercept_[0], abs=1e-6)
    columns = {"predictions": texts[1], "references": list(frame["reference"]), "questions": texts[0]}
    judged = load("nli_lex", str(model)).compute(**columns, weights=output)
    assert judged["scores"] == pytest.approx(judge(read_weights(output), features).p)


def test_questions_of_evaluation_files_are_left_out(model: Path, file: Path) -> None:
    frame, test, rest = judged_frame(), file.with_name("test.parquet"), file.with_name("rest.csv")
    pd.DataFrame({"question": [frame["question"][0].upper().replace("?", " ?!")]}).to_parquet(test)
    frame.iloc[2:].to_csv(rest, index=False)
    weights = []
    for path, more in ((file, ["--exclude", test]), (rest, [])):
        output = path.with_suffix(".json")
        lines = done(invoke("fit", *NLI_LEX, path, "--config", model, *more, "--output", output, "--form", "paper"))
        assert f"{path}: {ROWS - 2 * (path == rest)} answers, {2 * (path == file)} left out by --exclude" in lines
        weights.append(read_weights(output, "paper"))
    assert weights[0].coefficients == weights[1].coefficients
    folder = file.parent.name
    assert weights[0].fitted_on == f"{folder}/judged.csv: 38 answers; without the questions of {folder}/test.parquet"


def test_files_of_different_kinds_are_joined(model: Path, file: Path, tmp_path: Path) -> None:
    other = judged_frame(1).rename(columns={"answer": "candidate", "label": "grade"})
    other["reference"] = "the dog/a dog / "
    graded = tmp_path / "graded.parquet"
    other.to_parquet(graded)
    columns = JudgedColumns(answer="candidate", label="grade", separator="/")
    judged = read_judged_answers(file, JudgedColumns()) + read_judged_answers(graded, columns)
    assert judged.references[-1] == ["the dog", "a dog"]
    assert judged.labels == [bool(label) for label in [*judged_frame()["label"], *judged_frame(1)["label"]]]
    options = ["--answer", "answer", "--answer", "candidate", "--label", "label", "--label", "grade"]
    options += ["--separator", "", "--separator", "/", "--form", "paper", "--output", tmp_path / "weights.json"]
    lines = done(invoke("fit", *NLI_LEX, file, graded, *options, "--config", model))
    assert any(line.startswith(f"{2 * ROWS} answers, ") for line in lines)


def test_answers_of_a_file_count_as_much_as_its_weight(model: Path, file: Path, tmp_path: Path) -> None:
    frame = judged_frame(1)
    single, double = tmp_path / "single.csv", tmp_path / "double.csv"
    frame.to_csv(single, index=False)
    pd.concat([frame, frame]).to_csv(double, index=False)
    weights = []
    for second, more in ((single, ["--weight", 1, "--weight", 2]), (double, [])):
        output = second.with_suffix(".json")
        lines = done(
            invoke("fit", *NLI_LEX, file, second, "--config", model, "--form=paper", *more, "--output", output)
        )
        assert sum(line.startswith("  answers ") for line in lines) == 2  # a line for each file
        weights.append(read_weights(output, "paper"))
    assert weights[0].coefficients == pytest.approx(weights[1].coefficients, abs=1e-3)
    assert f"single.csv: {ROWS} answers, each counts 2" in weights[0].fitted_on
    twin = tmp_path / tmp_path.name / "judged.csv"  # of the same folder's and file's name
    twin.parent.mkdir()
    frame.to_csv(twin, index=False)
    rich = ("--config", model, "--form", "rich", "--long", "--output", output)
    lines = done(invoke("fit", *NLI_LEX, file, twin, *rich))
    assert [line.split(":")[0].split("  answers ")[-1] for line in lines if line.startswith("  answers ")] == [
        *(f"{file}", f"{twin}", f"{file}, long", f"{twin}, long")
    ]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ("--weight", 0), "weight: expected a number above 0"),
        ({"label": 1}, (), "labels: expected correct and incorrect answers, got correct ones only"),
        ({"label": "yes"}, (), "expected numbers in column 'label', got 'yes' in row 1"),
        ({"reference": " "}, (), "expected references in column 'reference', got ' ' in row 1"),
        ({}, ("--answer", "said"), "expected one of the columns 'question', 'answer', 'reference', 'label', got"),
        ({}, ("--exclude", "{file}"), "expected questions that --exclude leaves, got none among"),
        ({}, ("--plot", "/nowhere/plot.png"), "--plot: expected an existing folder, there is no /nowhere"),
        ({"answer": " "}, (), "labels of answers that are not blank: expected correct and incorrect answers, got no"),
        ({"reference": "['a', 'b']"}, (), "got the text of a printed list, \"['a', 'b']\", in row 1"),
        ({}, ("--plot", "{file}"), "--plot: expected a file that ends in .png, got"),
        ({}, ("--plot", "{file.parent}/link.png"), "--plot: expected another file than those that are read"),
        ({}, ("--output", "{file.parent}/w.png", "--plot", "{file.parent}/w.png"), "--plot: expected another file"),
        ({}, ("--output", "{file.parent}/other.csv"), "--output: expected a new file or one of weights"),
        ({}, ("--output", "/nowhere/weights.json"), "--output: expected an existing folder, there is no /nowhere"),
    ],
)
def test_invalid_input_is_refused_before_a_model_runs(file: Path, change: dict, options: tuple, message: str) -> None:
    judged_frame().assign(**change).to_csv(file, index=False)
    file.with_name("link.png").symlink_to(file)
    file.with_name("other.csv").write_text("a,b\n1,2\n")
    options = tuple(str(option).format(file=file) for option in options)
    result = invoke("fit", *NLI_LEX, file, "--config=/nowhere/x", "--output", file.with_name("weights.json"), *options)
    refused(result, message)  # of an option that is given twice the last one counts
    assert not file.with_name("weights.json").exists()


@pytest.mark.parametrize(
    ("blank", "message"),
    [
        (range(ROWS // 2), "labels of answers that are not blank: expected correct and incorrect answers, got correct"),
        (range(1, ROWS // 2), "folds: without fold "),
    ],
)
def test_folds_of_one_class_are_refused_before_the_model_runs(file: Path, blank: range, message: str) -> None:
    frame = judged_frame().assign(label=[0] * (ROWS // 2) + [1] * (ROWS // 2))
    frame.loc[list(blank), "answer"] = " "
    frame.to_csv(file, index=False)
    result = invoke("fit", *NLI_LEX, file, "--config", "/nowhere/unread", "--output", file.with_name("w.json"))
    refused(result, message, f"({file}, column 'label')")


def test_blank_references_are_dropped_and_counted(tmp_path: Path, file: Path) -> None:
    judged_frame().assign(reference=[["the dog", "", " "]] * ROWS).to_parquet(tmp_path / "x.parquet")
    judged_frame().assign(reference="the dog//a dog").to_csv(file, index=False)
    lists = read_judged_answers(tmp_path / "x.parquet", JudgedColumns())
    texts = read_judged_answers(file, JudgedColumns(separator="/"))
    assert (lists.references[0], texts.references[0]) == (["the dog"], ["the dog", "a dog"])
    assert (sum(lists.dropped), sum(texts.dropped)) == (2 * ROWS, ROWS)
    unread = ["--config=/nowhere/unread", "--output", tmp_path / "w.json"]
    assert f"{file}: {ROWS} blank references dropped" in invoke("fit", *NLI_LEX, file, "--separator=/", *unread).output
    judged_frame().assign(reference='["the dog", "", " "]').to_csv(file, index=False)
    result = invoke("fit", *NLI_LEX, file, "--json-lists", *unread)
    assert f"{file}: {2 * ROWS} blank references dropped" in result.output


PLACES = {f"Land {i}": f"Town {i}" for i in range(12)}


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


def test_weights_are_fitted_on_long_forms_too(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semantic_metrics.fitting.lengthen.ANSWER_WORDS", (40, 60))
    short = judged()
    references = [group[0] for group in short.references]
    columns = {"question": short.questions, "answer": short.answers, "reference": references, "label": short.labels}
    pd.DataFrame(columns).to_csv(tmp_path / "judged.csv", index=False)
    command = ["fit", tmp_path / "judged.csv", *NLI_LEX, "--config", model, "--form", "rich"]
    for name, more in (("short.json", []), ("long.json", ["--long"])):
        lines = done(invoke(*command, *more, "--output", tmp_path / name))
    assert any(line.startswith(f"{4 * len(PLACES)} answers, ") for line in lines)
    assert any(line.startswith("  answers as they are: accuracy") for line in lines)
    assert any(line.startswith("  answers long: accuracy") for line in lines)
    drawn = 16
    lines = done(invoke(*command, "--long", "--rows", drawn, "--output", tmp_path / "drawn.json"))
    assert any(line.endswith(f"{drawn} of {2 * len(PLACES)} drawn by --rows") for line in lines)
    assert any(line.startswith(f"{drawn + drawn // 4} answers, ") for line in lines)
    usual, long = (read_weights(tmp_path / name) for name in ("short.json", "long.json"))
    of_length = RICH.index(RECALL_OF_LONG)
    assert usual.coefficients[of_length] == 0, "no answer is long"
    assert long.coefficients[of_length] != 0
    assert long.fitted_on == usual.fitted_on + "; and their long forms, which count 0.1"


def drawn(count: int) -> Parts:
    values = np.random.default_rng(0).random((4, count))
    none = np.zeros(count)  # contradiction, which would cap scores
    return Parts(values[0] * 2 - 1, *values[1:], contradiction=none, truncated=none > 0)


def test_fitted_weights_are_measured_on_other_groups() -> None:
    parts, true = drawn(120), Weights(matcha=0, similarity=1, nli=1)
    groups = [str(i % 30) for i in range(120)]
    fitted = fit_consensus(parts, true.score(parts), groups, 5, 0)
    assert fitted.fitted["ccc"] > 0.98, "the fit knows of no bounds"
    assert fitted.default["ccc"] == pytest.approx(np.corrcoef(DEFAULT.score(parts), true.score(parts))[0, 1], abs=0.1)
    noise = fit_consensus(parts, np.random.default_rng(1).random(120), groups, 5, 0)
    assert abs(noise.fitted["pearson"]) < 0.3  # in sample, least squares would find something
    with pytest.raises(ValueError, match="expected 5 groups or more and 10 rows to fit in each fold, got 8 rows in 8"):
        fit_consensus(parts.take(np.arange(8)), np.arange(8) / 8, groups[:8], 5, 0)


def test_the_command_writes_what_compute_reads(tmp_path: Path) -> None:
    model = f"{tiny.both_heads(tmp_path / 'model')}/"
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.choice(WORDS, 4)) for _ in range(30)] for _ in range(2)]
    metric = load("consensus", model)
    weights = {"matcha": 0.0, "similarity": 0.0, "nli": 1.0}
    ratings = metric.compute(predictions=texts[0], references=texts[1], weights=weights)["scores"]
    output = tmp_path / "weights.json"
    options = ["--scale", 0, 1, "--config", model, "--output", output]
    lines = done(fit(tmp_path, list(zip(*texts, ratings, strict=True)), *options))
    assert any(line.startswith("fitted, 5 folds: CCC 1.0000") for line in lines)
    assert json.loads(output.read_text())["weights"]["nli"] == pytest.approx(1, abs=1e-6)
    again = metric.compute(predictions=texts[0], references=texts[1], weights=str(output))
    assert again["scores"] == pytest.approx(ratings, abs=1e-6)
    other = load("consensus", f"{tiny.both_heads(tmp_path / 'other', tiny.LABELS[::-1])}/")
    made_for, own = (each.models.scorer.checkpoint_sha256[:16] for each in (metric, other))
    message = f"^weights: expected a file fitted for checkpoint '{own}', got .*, fitted for '{made_for}'$"
    with pytest.raises(ValueError, match=message):
        other.compute(predictions=texts[0], references=texts[1], weights=str(output))


RATED = ["--metric", "consensus", "--human", "rating", "--output", "x.json"]


def fit(folder: Path, rows: list[tuple], *options: object) -> Result:
    with (folder / "rated.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("answer", "reference", "rating"), *rows])
    return invoke("fit", folder / "rated.csv", *RATED, *options)


def test_blank_texts_are_not_fitted_and_their_ratings_are_on_the_scale(tmp_path: Path) -> None:
    model = f"{tiny.both_heads(tmp_path / 'model')}/"
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(WORDS) for _ in range(20)]
    rows = [
        (" ".join([*words[: i % 4], *words[4 : 8 - i % 4]]), " ".join(words[:4]), 1 + i % 4)  # rated by shared words
        for i, words in enumerate(drawn)
    ]
    scale = ["--scale", "0", "4"]
    figures = {}
    for name, given in (("none", rows), ("blank", [*rows, (" ", "the dog", 0), ("the dog", "\n", 0)])):
        output = tmp_path / f"{name}.json"
        options = () if name == "blank" else scale  # the blank texts hold the lowest rating
        lines = done(fit(tmp_path, given, "--config", model, "--precision", "bfloat16", *options, "--output", output))
        assert f"{len(given)} rated texts, {len(given) - 20} blank and not fitted" in lines
        figures[name] = json.loads(output.read_text())
    assert figures["blank"] == figures["none"]
    assert "precision:bfloat16" in figures["blank"]["signature"]
    assert figures["blank"]["rows"] == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--exclude", "rated.csv"], "--exclude: only a fit on labels takes it, got --human rating"),
        (["--form", "rich"], "--form: only a fit on labels takes it"),
        (["--output", "rated.csv"], "--output: expected another file than those that are read"),
        ([], "ratings: expected 5 groups or more and 10 rows to fit in each fold, got 16 rows in 5 groups, 12 of them"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_a_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(f"the dog {i}", f"the cat {max(i, 11)}", i) for i in range(16)]
    (tmp_path / "nothing").mkdir()
    refused(fit(tmp_path, rows, "--config", "nothing/", *options), message)  # a folder without a checkpoint
    assert not (tmp_path / "x.json").exists()


def test_a_printed_list_is_warned_about_without_advice_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    rows = [(f"the dog {i}", f'["the cat {i}; a dog", "a cat"]', i) for i in range(20)]
    stderr = fit(tmp_path, rows, "--config", f"{tmp_path}/nothing/").stderr
    assert stderr.startswith(f"warning: {tmp_path}/rated.csv, row 1: column 'reference' has ")
    assert "read as one text\n" in stderr
    assert "--json-lists" not in stderr
