"""`score` and the commands reach a metric without `evaluate`, with equal numbers; and what shipped checkpoints say."""

import doctest
import shutil
import sys
from ast import literal_eval
from pathlib import Path

import evaluate
import numpy as np
import pytest

from semantic_metrics import load, score
from semantic_metrics.core.checkpoint_files import shipped_checkpoints
from semantic_metrics.cross_encoder.eight_bits import to_half
from semantic_metrics.cross_encoder.pair_scorer import DEFAULT_CHECKPOINT
from semantic_metrics.nli_lex.weights import FILE
from tests import tiny_pairs as tiny
from tests.conftest import ROOT, Run
from tests.tiny_table import small_table

# all that scoring with the table imports; charset_normalizer comes with scipy, coverage with these tests
TABLE = {"charset_normalizer", "click", "numpy", "safetensors", "scipy", "semantic_metrics", "tokenizers", "tqdm"}
TABLE |= {"typing_extensions"}
TESTS = {"coverage", "pytest_cov", "cython_runtime"}
SLOW = {"datasets", "evaluate", "pandas", "pyarrow", "sentence_transformers", "sklearn", "spacy"}  # not needed
TEXTS = {"predictions": ["The dog sleeps.", "a man"], "references": ["the dog is awake", "the man"]}
COMMAND = """
import sys
from semantic_metrics.cli import main

main(sys.argv[1:], standalone_mode=False)
print({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names), file=sys.stderr)
"""
FUNCTION = """
import sys
import semantic_metrics

known = {"numpy"} & set(sys.modules)
semantic_metrics.score("matcha", ["It rains."], ["It rained."])
print(sorted(known), file=sys.stderr)
print({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names), file=sys.stderr)
"""


def packages(printed: str) -> set[str]:
    """The third-party packages of a set of modules, without those of compiled parts."""
    names = literal_eval(printed.splitlines()[-1])
    return {name for name in names if name.isidentifier() and not name.startswith("_")}


def test_the_command_scores_with_the_table_without_heavy_modules(run_python: Run, tmp_path: Path) -> None:
    columns = ("--predictions", "prediction", "--references", "reference")
    file = ROOT / "metrics" / "samples" / "pairs.csv"
    done = run_python(COMMAND, "score", file, "--metric", "matcha", *columns, cwd=tmp_path)
    assert "23 rows" in done.stdout, done.stderr
    assert {"numpy", "tokenizers"} < packages(done.stderr) - TESTS <= TABLE


@pytest.mark.parametrize("name", ["consensus", "nli_lex", "stsscore"])
def test_the_command_scores_with_a_model_without_modules_that_take_long(
    name: str, run_python: Run, checkpoints: dict[str, str], tmp_path: Path
) -> None:
    asked = name == "nli_lex"
    columns = ("--predictions", "answer" if asked else "prediction", "--references", "reference")
    columns += ("--questions", "question") if asked else ()
    file = ROOT / "metrics" / "samples" / ("answers.csv" if asked else "pairs.csv")
    model = checkpoints[name]
    done = run_python(COMMAND, "score", file, "--metric", name, "--config", model, *columns, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "torch" in packages(done.stderr)
    assert packages(done.stderr) & SLOW == set()


def test_the_function_scores_with_the_table_without_heavy_modules(run_python: Run, tmp_path: Path) -> None:
    known, loaded = run_python(FUNCTION, cwd=tmp_path).stderr.splitlines()
    assert known == "[]", "`import semantic_metrics` imports next to nothing"
    assert {"numpy", "tokenizers"} < packages(loaded) - TESTS <= TABLE - {"click"}


@pytest.mark.parametrize("name", ["consensus", "matcha", "nli_lex", "stsscore", "support"])
def test_the_function_returns_what_compute_returns(name: str, checkpoints: dict[str, str]) -> None:
    folder = checkpoints[name]
    texts = TEXTS | ({"questions": ["who?", "who?"]} if name == "nli_lex" else {})
    assert score(name, **texts, checkpoint=folder) == load(name, folder).compute(**texts)


def test_options_reach_the_metric(checkpoint: Path) -> None:
    result = score("matcha", **TEXTS, checkpoint=str(checkpoint), rescale=True, contradictions=["a", "b"], output="all")
    assert min(result["scores"]) >= 0
    assert len(result["margins"]) == 2
    assert "rescale:true" in result["signature"]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("bleu", {}, r"name: expected one of \['consensus', "),
        ("set_criteria", {}, "name: expected a metric that works with 'score', got 'set_criteria'"),
        ("matcha", {"questions": ["a", "b"]}, "questions: expected None, as matcha takes no questions, got list"),
        ("matcha", {"predictions": "text"}, "predictions: expected a list of strings, got a bare str"),
        ("matcha", {"contradictions": ["one"]}, "contradictions: expected 2 items, one for each of predictions, got 1"),
        ("matcha", {"scale": 5}, r"options: expected some of \[.*'rescale'.*\], got \['scale'\]"),
        ("matcha", {"checkpoint": ""}, "checkpoint: expected a name, a folder or a Hub id, got ''"),
        ("matcha", {"checkpoint": "./none"}, "checkpoint './none': expected one of"),
    ],
)
def test_invalid_arguments_are_refused(name: str, change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(name, **(TEXTS | change))


def test_a_metric_stays_loaded(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = score("matcha", **TEXTS, checkpoint=str(checkpoint))
    module = sys.modules["semantic_metrics.matcha.scoring"]
    monkeypatch.setattr(module, "load_checkpoint", None)  # a second load would fail
    assert score("matcha", **TEXTS, checkpoint=str(checkpoint)) == before


def test_two_strings_are_scored_as_lists_of_one(checkpoint: Path, checkpoints: dict[str, str]) -> None:
    folder = str(checkpoint)
    assert score("matcha", "a man", "man", checkpoint=folder) == score("matcha", ["a man"], ["man"], checkpoint=folder)
    folder = checkpoints["nli_lex"]
    one = score("nli_lex", "the dog", "a dog", questions="who?", checkpoint=folder)
    assert one == score("nli_lex", ["the dog"], ["a dog"], questions=["who?"], checkpoint=folder)
    with pytest.raises(ValueError, match="references: expected a list of strings, got a bare str"):
        score("nli_lex", ["the dog"], "a dog", questions=["who?"], checkpoint=folder)
    with pytest.raises(ValueError, match="questions: expected a list of strings, got NoneType"):
        score("nli_lex", "the dog", "a dog", checkpoint=folder)


def test_a_folder_that_changed_is_loaded_anew(tmp_path: Path) -> None:
    small_table().save(tmp_path / "own")
    before = score("matcha", **TEXTS, checkpoint=f"{tmp_path}/own")
    small_table(seed=1).save(tmp_path / "own")
    after = score("matcha", **TEXTS, checkpoint=f"{tmp_path}/own")
    assert after == load("matcha", f"{tmp_path}/own").compute(**TEXTS) != before


PAIRS = [
    ("A man is playing a guitar.", "A man plays the guitar."),
    ("A woman is slicing an onion.", "A woman is cutting vegetables."),
    ("The cat sleeps on the sofa.", "The parliament voted on the budget."),
    ("", "The dog barks."),
]


@pytest.fixture(scope="module")
def stsscore() -> evaluate.Metric:
    names = shipped_checkpoints(lambda config: "id2label" in config)
    assert DEFAULT_CHECKPOINT in names
    return evaluate.load(str(ROOT / "metrics" / "stsscore"))


@pytest.fixture(scope="module")
def nli_lex() -> evaluate.Metric:
    folders = shipped_checkpoints(lambda config: "id2label" in config)
    assert (folders[DEFAULT_CHECKPOINT] / FILE).is_file()
    return evaluate.load(str(ROOT / "metrics" / "nli_lex"))


@pytest.mark.parametrize("name", ["shipped", "nli_lex", "stsscore"])
def test_documented_examples_hold(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = request.getfixturevalue(name)
    monkeypatch.chdir(ROOT)
    names = {"evaluate": evaluate}
    example = doctest.DocTestParser().get_doctest(metric.inputs_description, names, metric.name, None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_example_of_a_loss_learns() -> None:
    section = (ROOT / "docs" / "matcha.md").read_text(encoding="utf-8").split("## As a loss or a reward")[1]
    names: dict = {}
    exec(section.split("```python\n")[1].split("```")[0], names)
    assert names["losses"][-1] < 0.1 < names["losses"][0]
    assert names["reward"][0] > 0.8
    assert "accepted" not in names["text"]


def test_special_strings_are_plain_text(shipped: evaluate.Metric) -> None:
    texts = ["a [SEP] b", "a [UNK] b", "a [CLS] b"]
    apart = ["a [ SEP ] b", "a [ UNK ] b", "a [ CLS ] b"]
    assert shipped.compute(predictions=texts, references=apart)["scores"] == [1, 1, 1]


def test_long_texts_are_neither_cut_nor_padded(shipped: evaluate.Metric) -> None:
    """The tokeniser of all-MiniLM-L6-v2, as it comes, does both at 128 tokens."""
    config = shipped.encoder.config
    assert (config.max_length, config.pad_to) == (None, None)
    lengths = [len(encoding.ids) for encoding in shipped.encoder.tokenize(["dog", "dog " * 1000])]
    assert lengths == [1, 1000]


def test_scores_are_those_of_the_listing(stsscore: evaluate.Metric, tmp_path: Path) -> None:
    folder = shutil.copytree(stsscore.scorer.folder, tmp_path / "pairs")
    with pytest.raises(OSError, match="no file named model"):
        tiny.listing(folder)("a", "b")  # weights in 8 bits are never taken for others
    to_half(folder)
    listing = tiny.listing(folder)
    result = stsscore.compute(predictions=[b for _, b in PAIRS], references=[a for a, _ in PAIRS])
    assert result["scores"] == pytest.approx([listing(*pair) for pair in PAIRS], abs=2e-3)  # float16


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_of_stsscore_stay_near(stsscore: evaluate.Metric, precision: str) -> None:
    texts = {"predictions": [b for _, b in PAIRS], "references": [a for a, _ in PAIRS]}
    plain, other = (np.array(stsscore.compute(**texts, precision=name)["scores"]) for name in ("float32", precision))
    assert 0 < np.abs(other - plain).max() < 0.03
