"""`python -m benchmarks.speed NAME` on a few texts: that it runs and what it reports, never how fast anything is."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
import torch
from click.testing import CliRunner, Result
from matcha_metric import MATCHA

from benchmarks.common.own_metrics import runs_to_time
from benchmarks.common.timing import medians, read_pairs
from benchmarks.harnesses import HARNESSES
from benchmarks.matcha.speed import PACKAGE
from benchmarks.nli_lex.speed import read_answers
from benchmarks.set_criteria.speed import grid_cells, grid_cells_by_masks
from benchmarks.speed import Refused, _drift, _measure, _wanted, main
from benchmarks.speed_rows import SPIN, Line, lines, measure
from semantic_metrics import load
from semantic_metrics.core.inputs import invalid_input
from semantic_metrics.core.run_options import BACKENDS, PRECISIONS
from semantic_metrics.matcha.modeling_matcha import MatchaConfig, MatchaModel
from semantic_metrics.set_criteria.epsilon import sample_cells
from semantic_metrics.transformer.openvino_model import INSTALL, Inputs
from tests import tiny_pairs as tiny
from tests.benchmarks.nli_lex.data import write_data
from tests.nli_lex.conftest import nli
from tests.set_criteria import naive
from tests.stsscore.test_metric import ROUNDING
from tests.tiny_table import small_tokenizer

CASES = {  # options, lines of each table, largest difference from the first line in float32
    "harnesses": (
        "--checkpoint {nli} --data {data} --answers 9",
        [["compute()", *filter(find_spec, HARNESSES)]],
        1e-5,
    ),
    "matcha": (
        "--checkpoint {checkpoint} --authors-format {network} --pairs 6 --package-pairs 2 --shape 400 32 2",
        [
            ["tokeniser", "tokeniser, table and means", "compute() end to end", "tokeniser, each word once"],
            *[[PACKAGE, "this metric", "this metric, same texts"]] * 2,
        ],
        1e-6,
    ),
    "nli_lex": (
        "--checkpoint {nli} --data {data} --answers 9 --shape 2 64",
        [["loop", *PRECISIONS, "large, float32"]],
        1e-5,
    ),
    "scale": (
        "--pairs 40",
        [["one process, processor time"], ["processes that it chooses", "--workers 1"]],
        0.0,
    ),
    "set_criteria": (
        "--samples 60 --width 5 --epsilons 6",
        [["compute()"], ["grid", "grid, outcomes kept", "closed form"]],
        1e-12,
    ),
    "stsscore": (
        "--checkpoint {bert} --data {labels} --pairs 5 --shape 1 64",
        [["listing", *PRECISIONS]] * 2,
        ROUNDING,
    ),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, checkpoint: Path) -> dict[str, Path]:
    """Checkpoints and data that the options name."""
    root = tmp_path_factory.mktemp("speed")
    paths = {"checkpoint": checkpoint, "bert": tiny.bert(root / "bert"), "nli": nli(root / "nli"), "empty": root / "no"}
    paths["empty"].mkdir()
    paths["scaleless"] = tiny.bert(root / "scaleless", {})
    return paths | {"network": _network(root / "network"), "data": _answers(root / "data"), "labels": _labels(root)}


def _network(folder: Path) -> Path:
    """What training leaves beside a checkpoint: the authors' format, with our kind of tokeniser."""
    tokenizer = small_tokenizer()
    folder.mkdir()
    torch.manual_seed(0)
    model = MatchaModel(MatchaConfig(tokenizer.get_vocab_size(), n_embd=16, num_senses=3))
    model.config.to_json(folder / "model_config.json")
    torch.save({"model_state_dict": model.state_dict()}, folder / "max_diff.pth")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _answers(folder: Path) -> Path:
    """EVOUNA's file with one reference to most answers."""
    path = write_data(folder) / "evouna" / "nq.parquet"
    frame = pd.read_parquet(path)
    frame.loc[2:, "reference"] = frame["reference"].str.partition("/")[0]
    frame.loc[5, "candidate"] = " "
    frame.loc[6, "candidate"] = "the dog " * 200
    frame.to_parquet(path)
    return folder


def _labels(root: Path) -> Path:
    (root / "labels" / "stsb").mkdir(parents=True)
    rows = pd.DataFrame([(f"the dog {i}", "a cat " * (i + 1), i / 4) for i in range(20)])
    rows.set_axis(["sentence1", "sentence2", "label"], axis=1).to_parquet(root / "labels" / "stsb" / "test.parquet")
    return root / "labels"


def run(name: str, options: str, places: dict[str, Path]) -> Result:
    arguments = [word.format_map(places) for word in options.split()]
    return CliRunner(env={"SEMANTIC_METRICS_DATA": None}).invoke(main, [name, "--repeats", "1", *arguments])


@pytest.mark.parametrize("name", CASES)
def test_every_side_has_a_line(name: str, places: dict[str, Path], tmp_path: Path) -> None:
    options, names, largest = CASES[name]
    result = run(name, f"{options} --output {tmp_path / 'speed.json'}", places)
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert set(record) == {"command", "machine", "repeats", "run", "tables"}
    assert [[line["name"] for line in table["lines"]] for table in record["tables"]] == names
    for table in record["tables"]:
        assert table["title"] in result.output
        for line in table["lines"]:
            assert line["per_second"] == pytest.approx(line["count"] / line["seconds"])
            assert f"{line['per_second']:,.1f}" in result.output
            for base in (other for other in table["lines"] if f"times {other['name']}" in line):
                ratio = line["per_second"] / base["per_second"]
                assert line[f"times {base['name']}"] == pytest.approx(ratio)
            if line["difference"] is not None and line["name"] not in ("bfloat16", "int8"):
                assert line["difference"] <= largest
    if name == "stsscore":
        check_labels(*record["tables"], places["bert"])


def test_a_precision_that_the_machine_lacks_is_named(tmp_path: Path) -> None:
    """As bfloat16 on OpenVINO, where the processor has no instructions for it."""
    with pytest.raises(Refused, match="precision: expected"):
        _measure(Line("stsscore", "torch", "float16"), [("a", "b")] * 2, 1, False, tmp_path, {})


def check_labels(trained: dict, random: dict, bert: Path) -> None:
    """Correlations with the labels of a data folder, and the ratio to a model of the paper's size."""
    texts = [(f"the dog {i}", "a cat " * (i + 1)) for i in (0, 4, 9, 14, 19)]
    expected = np.corrcoef([tiny.listing(bert)(*pair) for pair in texts], [0, 4, 9, 14, 19])[0, 1]
    assert trained["lines"][1]["r with labels"] == pytest.approx(expected, abs=1e-4)
    assert "STS-B test" in trained["title"]
    assert not any("r with labels" in line for line in random["lines"])
    ratio = trained["lines"][1]["per_second"] / random["lines"][0]["per_second"]
    assert f"{ratio:.1f} times the speed of the listing" in random["notes"][-1]


@pytest.mark.parametrize("name", ["nli_lex", "stsscore"])
def test_options_narrow_what_is_timed(name: str, places: dict[str, Path], tmp_path: Path) -> None:
    chosen = "--precision float32 --batch-size 2 --workers 1"
    result = run(name, f"{CASES[name][0]} {chosen} --output {tmp_path / 'speed.json'}", places)
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    (_, precision, *_), *_ = ([line["name"] for line in table["lines"]] for table in record["tables"])
    assert precision == "float32"
    assert not any(line["name"] in ("bfloat16", "int8") for table in record["tables"] for line in table["lines"])
    assert record["run"] == {"device": "cpu", "batch_size": 2, "workers": 1}
    assert "models ran with device cpu, batch_size 2, workers 1" in result.output


def test_what_a_device_cannot_run_is_no_line(tmp_path: Path) -> None:
    """Here int8, where nobody asks for it."""
    assert list(runs_to_time((), (), {"device": "cuda"})) == ["float32", "bfloat16"]
    ways = runs_to_time(("torch", "openvino"), ("float32",), {"device": "cpu", "workers": 1})
    assert list(ways) == ["float32", "openvino, float32"]
    last = {"device": "cpu", "workers": 1, "backend": "openvino", "precision": "float32"}
    assert ways["openvino, float32"] == last
    line = Line("stsscore", "torch", "int8")
    with pytest.raises(Refused, match="device: expected 'cpu', the only one for precision 'int8'"):
        _measure(line, [("a", "b")] * 2, 1, False, tmp_path, {}, {"device": "cuda"})


LOOPS = {"nli_lex": "benchmarks.nli_lex.speed.loop", "stsscore": "benchmarks.stsscore.speed.listing"}


def openvino_here(refused: str, argument: str, reason: str) -> Callable[..., Callable]:
    """In place of `OpenVINOModel`: torch, and one precision that is refused, as this machine may do."""

    def compiled(model: torch.nn.Module, precision: str, output: str, *_: object) -> Callable[[Inputs], torch.Tensor]:
        if precision == refused:
            raise invalid_input(argument, reason)

        def forward(inputs: Inputs) -> torch.Tensor:
            with torch.inference_mode():
                return getattr(model(**inputs), output)

        return forward

    return compiled


@pytest.mark.parametrize("name", LOOPS)
def test_what_a_processor_lacks_has_no_line_unless_it_is_asked_for(
    name: str, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = openvino_here("bfloat16", "precision", "expected 'float32' or 'int8' on this processor")
    monkeypatch.setattr("semantic_metrics.transformer.backends.OpenVINOModel", backend)
    options, names, _ = CASES[name]
    result = run(name, f"{options} --backend openvino --output {tmp_path / 'speed.json'}", places)
    assert result.exit_code == 0, result.output
    tables = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))["tables"]
    for table, expected in zip(tables, names, strict=True):
        kept = [f"openvino, {each}" if each in PRECISIONS else each for each in expected if each != "bfloat16"]
        assert [line["name"] for line in table["lines"]] == kept
    monkeypatch.setattr(LOOPS[name], lambda *_: lambda _: pytest.fail("it was timed"))
    asked = run(name, f"{options} --backend openvino --precision float32 --precision bfloat16", places)
    assert asked.exit_code == 1
    assert "precision: expected 'float32' or 'int8' on this processor" in asked.output


@pytest.mark.parametrize("name", LOOPS)
def test_a_backend_that_is_not_installed_is_refused_before_anything_is_timed(
    name: str, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = openvino_here("float32", "backend", f"expected 'torch', as OpenVINO is not installed ({INSTALL})")
    monkeypatch.setattr("semantic_metrics.transformer.backends.OpenVINOModel", missing)
    monkeypatch.setattr(LOOPS[name], lambda *_: lambda _: pytest.fail("it was timed"))
    result = run(name, f"{CASES[name][0]} --backend openvino", places)
    assert result.exit_code == 1
    assert "OpenVINO is not installed" in result.output


@pytest.mark.parametrize(("given", "size"), [("", None), ("--batch-size 3", 3)])
def test_the_authors_package_has_its_own_batch_size_unless_one_is_given(
    given: str, size: int | None, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, encode = [], MATCHA.encode

    def recorded(package: MATCHA, texts: list[str], batch_size: int | None = None) -> torch.Tensor:
        sizes.append(batch_size)
        return encode(package, texts)

    monkeypatch.setattr(MATCHA, "encode", recorded)
    options = CASES["matcha"][0].replace("--authors-format {network} ", "")
    result = run("matcha", f"{options} {given} --output {tmp_path / 'speed.json'}", places)
    assert result.exit_code == 0, result.output
    assert set(sizes) == {size}
    expected = {"device": "cpu"} | ({} if size is None else {"batch_size": size})
    assert json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))["run"] == expected


def test_metrics_are_timed_with_their_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    every = lines(BACKENDS, PRECISIONS)
    assert _wanted(every, ()) == every
    names = [line.name for line in _wanted(every, ("stsscore", "matcha"))]
    ours = [f"stsscore-{backend}-{precision}" for backend in BACKENDS for precision in PRECISIONS]
    assert names == ["matcha-metric", "CrossEncoder", "matcha", *ours]
    absent = ("matcha_metric", "bert_score")
    monkeypatch.setattr("benchmarks.speed.find_spec", lambda name: None if name in absent else find_spec(name))
    assert [line.name for line in _wanted(every, ("matcha",))] == ["matcha"]
    assert _wanted(every, ()) == [line for line in every if line.metric not in ("matcha-metric", "bert-score")]


def test_a_drift_is_recorded_by_the_name_of_its_metric() -> None:
    run = {"backend": "torch", "precision": "int8"}
    row = {**run, "drift": 0.004, "neighbours": 0.001, "count": 30, "processor_seconds": 2.0}
    for line, metric in (("contextual", "matcha"), ("stsscore", "stsscore")):
        drift = _drift({**row, "metric": line})
        assert drift.metric == metric
        assert (drift.backend, drift.precision) == ("torch", "int8")
        assert (drift.drift, drift.neighbours, drift.speed) == (0.004, 0.001, 15)


START = """
import os, subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", sys.argv[1].format(os.getpid())]).pid, flush=True)
time.sleep(60)
"""


def test_the_busy_process_ends_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", START, SPIN], stdout=subprocess.PIPE, text=True) as parent:
        try:
            spinning = psutil.Process(int(parent.stdout.readline()))
            begin = time.monotonic()
            while sum(spinning.cpu_times()[:2]) < 0.2:
                assert time.monotonic() < begin + 60
                time.sleep(0.05)
            assert runs(spinning)
        finally:
            parent.kill()
    try:
        begin = time.monotonic()
        while runs(spinning) and time.monotonic() < begin + 10:
            time.sleep(0.05)
        assert not runs(spinning)
    finally:
        if runs(spinning):
            spinning.kill()


def runs(process: psutil.Process) -> bool:
    """Whether a process has not ended; one that nobody waits for stays as a zombie."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_only_what_users_get_by_default_is_recorded() -> None:
    result = CliRunner().invoke(main, ["--record", "--batch-size", "2", "--pairs", "2"])
    assert result.exit_code == 2
    assert "--record: expected device cpu, and no batch size or workers, got" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("nli_lex", "--data {data} --checkpoint {nli} --device nowhere", "device: expected one that torch has here"),
        ("stsscore", "--checkpoint {bert} --pairs 2 --device nowhere", "device: expected one that torch has here"),
        ("matcha", "--checkpoint nothing --pairs 2", "'nothing'"),
        ("stsscore", "--checkpoint {scaleless} --pairs 2", "expected one that says its scale"),
        ("stsscore", "--data {empty}", "expected stsb/test.parquet"),
        ("nli_lex", "--data {empty} --checkpoint {nli}", "data: no file evouna/nq.parquet in the data folder"),
    ],
)
def test_what_cannot_be_timed_is_named(name: str, options: str, message: str, places: dict[str, Path]) -> None:
    result = run(name, options, places)
    assert result.exit_code == 1
    assert message in result.output


def test_a_line_of_the_table_is_measured(places: dict[str, Path]) -> None:
    pairs = [(f"the dog {i}", "a cat " * i) for i in range(6)]
    runs = [("torch", "float32"), ("torch", "int8")]
    plain, int8 = (
        measure(Line("stsscore", *run), str(places["bert"]), pairs, repeats=1, busy=run[1] == "int8") for run in runs
    )
    metric = load("stsscore", str(places["bert"]))
    columns = {"predictions": [a for a, _ in pairs], "references": [b for _, b in pairs]}
    assert plain[1].tolist() == metric.compute(**columns)["scores"]
    assert 0 < np.abs(plain[1] - int8[1]).max() < 0.1
    assert plain[0]["neighbours"] < ROUNDING
    assert "busy_seconds" not in plain[0]
    assert int8[0]["busy_seconds"] > 0
    run = {"device": "cpu", "batch_size": 2}
    theirs, scores = measure(Line("CrossEncoder"), str(places["bert"]), pairs, 1, False, run)
    assert scores / 5 == pytest.approx(plain[1], abs=ROUNDING)
    assert theirs["count"] == 6


def test_every_line_has_its_peer_before_it() -> None:
    seen: list[str] = []
    for line in lines(BACKENDS, PRECISIONS):
        assert line.peer is None or line.peer in seen
        seen.append(line.name)
    assert len(set(seen)) == len(seen)


@pytest.mark.slow
def test_the_table_has_a_line_for_each_precision(tmp_path: Path) -> None:
    arguments = ["--only", "stsscore", "--backend", "torch", "--pairs", "4", "--repeats", "1", "--idle"]
    arguments += ["--batch-size", "2"]
    result = CliRunner().invoke(main, [*arguments, "--output", str(tmp_path / "speed.json")])
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert made["run"] == {"device": "cpu", "batch_size": 2}
    record = made["lines"]
    assert list(record) == ["CrossEncoder", *(f"stsscore-torch-{precision}" for precision in PRECISIONS)]
    for name, line in record.items():
        assert name in result.output
        assert line["per_second"] == pytest.approx(line["count"] / line["seconds"])
        assert ("times_peer" in line) == (name != "CrossEncoder")
    assert record["stsscore-torch-float32"]["drift"] == 0
    assert record["stsscore-torch-int8"]["drift"] > 0


def test_missing_weights_are_named_at_the_end(places: dict[str, Path]) -> None:
    result = run("matcha", CASES["matcha"][0].replace("--authors-format {network} ", ""), places)
    assert "Not compared with trained weights" in result.output


def test_only_answers_that_are_read_whole_are_timed(places: dict[str, Path]) -> None:
    chosen = read_answers(places["data"], load("nli_lex", str(places["nli"])).scorer)
    assert len(chosen) == len(chosen.labels) == 20 - 2 - 2
    assert {len(group) for group in chosen.references} == {1}


def test_both_grids_are_those_of_the_paper() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 40))
    bounds = [[first.min(), first.max()], [second.min(), second.max()]]
    expected = pytest.approx(naive.grid_cells(first, second, bounds, 9), abs=1e-12)
    for cells in (grid_cells, grid_cells_by_masks, sample_cells):
        assert cells(first, second, bounds, 9) == expected


def test_texts_of_the_sample_are_all_different() -> None:
    pairs = read_pairs(None, 200)
    assert len({text for pair in pairs for text in pair}) == 400


def test_times_are_taken_in_turn_after_a_warm_up() -> None:
    calls: list[str] = []
    (first, result), (second, _) = medians([lambda: calls.append("a") or 7, lambda: calls.append("b")], repeats=2)
    assert "".join(calls) == "ababab"
    assert result == 7
    assert min(first, second) >= 0
    assert medians([lambda: calls.append("c")], repeats=1, warm_up=False)[0][0] >= 0
    assert calls.count("c") == 1
