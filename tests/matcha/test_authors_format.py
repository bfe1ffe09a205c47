"""The authors' checkpoint format: the same scores as their package's, folded once, with the right tokeniser."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from benchmarks.matcha import authors_package as peer
from semantic_metrics.matcha import checkpoint
from semantic_metrics.matcha.modeling_matcha import MatchaConfig, MatchaModel
from tests.matcha.authors import SCRIPT, SENTENCES, Authors, rewrite_json, text_of

PARITY = 1e-6  # largest score difference from the peer, which computes in float32
LENGTHS = (1, 511, 512, 513, 2000)
END = peer.END
ODD_TEXTS = [
    "",
    " ",
    END,
    f"The pond{END}was frozen.",
    f"{END} {END}{END}",
    "<|endoftext",
    "\N{GRINNING FACE} \N{SNOWMAN}\N{VARIATION SELECTOR-16} \x00 \n\t x",
    " \N{LATIN SMALL LETTER E WITH ACUTE}e\N{COMBINING ACUTE ACCENT}",
    "Ġpond",
]


def _long_pairs(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Every length against 2,000 tokens of a few words, where scores spread, and against its neighbour."""
    texts = [text_of(tokenizer, length, seed=i) for i, length in enumerate(LENGTHS)]
    others = [text_of(tokenizer, 2000, seed=10 + i, palette=1 + i) for i in range(len(LENGTHS))]
    return texts + texts, others + texts[1:] + texts[:1]


def _differences(authors: Authors, left: list[str], right: list[str]) -> tuple[np.ndarray, np.ndarray]:
    expected = authors.peer.score(left, right).numpy()
    scores = np.array(authors.metric.compute(predictions=left, references=right)["scores"])
    return np.abs(scores - expected), expected


@pytest.mark.parametrize("shape", ["small", "true_shape"])
def test_scores_are_the_peers(shape: str, request: pytest.FixtureRequest) -> None:
    authors: Authors = request.getfixturevalue(shape)
    left, right = _long_pairs(authors.tokenizer)
    lengths = {len(authors.tokenizer.encode(text).ids) for text in left}
    assert lengths == set(LENGTHS)
    differences, expected = _differences(authors, left + SENTENCES[:1], right + SENTENCES[1:2])
    assert differences.max() <= PARITY
    assert np.ptp(expected) > 0.5  # not the padding's likeness of everything to everything
    assert authors.metric.encoder.weights.dtype == torch.float32


def test_scores_of_odd_texts_are_the_peers(small: Authors) -> None:
    long = text_of(small.tokenizer, 600, seed=1)
    left = [text + long[:2000] for text in ODD_TEXTS] + ODD_TEXTS
    right = [long] * len(ODD_TEXTS) + SENTENCES[: len(ODD_TEXTS)]
    differences, _ = _differences(small, left, right)
    assert differences.max() <= PARITY
    (encoding,) = small.metric.encoder.tokenize([f"a{END}"])
    assert encoding.ids[-1] == peer.load_peer(small.folder).tokenizer.pad_token_id


def test_empty_text_is_all_padding_and_so_has_a_score(small: Authors) -> None:
    result = small.metric.compute(predictions=["", ""], references=["", END])
    assert result["scores"] == [1.0, 1.0]
    assert result["undefined"] == 0


def test_text_vectors_are_those_of_the_full_network(small: Authors) -> None:
    left, right = _long_pairs(small.tokenizer)
    texts = [*left, *right, *ODD_TEXTS, *SENTENCES]
    expected = small.peer.encode(texts).numpy()
    vectors = small.metric.encoder.encode(texts).vectors
    np.testing.assert_allclose(vectors, expected, atol=1e-6 * np.abs(expected).max(), rtol=1e-4)


def test_truncated_counts_distinct_texts_beyond_512_tokens(small: Authors) -> None:
    texts = [text_of(small.tokenizer, length, seed=length) for length in (1, 511, 512, 513, 2000)]
    assert small.metric.compute(predictions=texts, references=texts[::-1])["truncated"] == 2
    assert small.metric.compute(predictions=texts[:3], references=texts[:3])["truncated"] == 0
    cut = small.tokenizer.decode(small.tokenizer.encode(texts[4]).ids[:512])
    assert small.metric.compute(predictions=[texts[4]], references=[cut])["scores"] == [1.0]


def _network(vocab_size: int = 5000) -> MatchaModel:
    torch.manual_seed(3)
    return MatchaModel(MatchaConfig(vocab_size, n_embd=32, num_senses=5))


def test_token_vector_is_the_mean_of_its_context_vectors() -> None:
    network = _network().eval()
    ids = torch.arange(0, 5000, 7)
    with torch.no_grad():
        contexts, tokens = network.context_vectors(ids), network.token_vectors(ids)
    assert contexts.shape == (len(ids), 5, 32)
    torch.testing.assert_close(tokens, contexts.mean(dim=1), atol=1e-5, rtol=1e-5)


def test_fold_holds_every_single_token_and_leaves_the_mode_alone() -> None:
    network = _network().train()
    table = network.fold()
    assert network.training
    assert torch.equal(table, network.fold())  # no dropout
    ids = torch.arange(5000)
    with torch.no_grad():
        single = network.eval()(ids, torch.arange(5000))
    torch.testing.assert_close(table, single, atol=1e-5, rtol=1e-5)


def test_network_encodes_a_ragged_batch_as_the_mean_of_table_rows() -> None:
    network = _network().eval()
    texts = [[4, 4, 9], [], [4999], list(range(0, 5000, 3))]
    flat = torch.tensor([i for text in texts for i in text])
    offsets = torch.tensor([0, 3, 3, 4])
    with torch.no_grad():
        vectors = network(flat, offsets)
    table = network.fold()
    for vector, text in zip(vectors, texts, strict=True):
        expected = table[text].mean(dim=0) if text else torch.zeros(32)
        torch.testing.assert_close(vector, expected, atol=1e-5, rtol=1e-5)


def test_folds_once_and_then_reads_the_cache(small: Authors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_METRICS_CACHE", str(tmp_path))
    first = evaluate.load(SCRIPT, str(small.folder))
    (stored,) = tmp_path.glob("matcha/*/model.safetensors")
    stamp = stored.stat().st_mtime_ns
    assert [path.name for path in stored.parent.parent.iterdir()] == [stored.parent.name]  # nothing half-written

    def refuse(_: MatchaModel) -> torch.Tensor:
        raise AssertionError("folded again")

    monkeypatch.setattr(checkpoint.MatchaModel, "fold", refuse)
    table = checkpoint.load_checkpoint(str(small.folder))
    assert torch.equal(table.weights, first.encoder.weights)
    assert evaluate.load(SCRIPT, str(small.folder)).signature() == first.signature()
    assert stored.stat().st_mtime_ns == stamp
    changed = peer.write_random_checkpoint(tmp_path / "changed", small.tokenizer, 96, 4, seed=1)
    with pytest.raises(AssertionError, match="folded again"):
        checkpoint.load_checkpoint(str(changed))


def test_pads_with_the_tokenizers_end_whatever_the_config_says(small: Authors, copy: Path) -> None:
    rewrite_json(copy / "model_config.json", pad_token_id=3, eos_token_id=5, bos_token_id=6)
    table = checkpoint.load_checkpoint(str(copy))
    assert table.config.pad_token_id == small.tokenizer.token_to_id(END) == 4999
    assert torch.equal(table.weights, small.metric.encoder.weights)


def test_pads_with_the_tokenizers_own_pad_before_its_end(small: Authors, copy: Path) -> None:
    (copy / "tokenizer_config.json").write_text(json.dumps({"pad_token": "~", "eos_token": END}), encoding="utf-8")
    other = peer.load_peer(copy)
    assert other.tokenizer.pad_token_id == small.tokenizer.token_to_id("~")
    metric = evaluate.load(SCRIPT, str(copy))
    assert metric.encoder.config.pad_token_id == other.tokenizer.pad_token_id
    left, right = [*SENTENCES, "", "a~b"], [text_of(small.tokenizer, 500, seed=i, palette=1) for i in range(14)]
    differences, expected = _differences(Authors(copy, small.tokenizer, other, metric), left, right)
    assert differences.max() <= PARITY
    assert np.ptp(expected) > 0.05


OFFLINE = """
import sys
from semantic_metrics.matcha.checkpoint import load_checkpoint
try:
    table = load_checkpoint(sys.argv[1])
    print(table.encode(["a pond"]).vectors.tobytes().hex()[:64], table.config.pad_token_id)
except ValueError as error:
    print("ValueError", " ".join(str(error).split()))
"""


def _load_offline(run_python: Callable, name: str, hub: Path) -> str:
    done = run_python(OFFLINE, name, cwd=hub, HF_HUB_OFFLINE="1", HF_HOME=str(hub), HF_HUB_CACHE=str(hub / "hub"))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]  # tokenizers may print lines of its own before


def _put_in_hub_cache(hub: Path, name: str, files: list[Path]) -> None:
    """Lay files out as `huggingface_hub` leaves a repository that it has downloaded."""
    revision = "0" * 40
    repository = hub / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(revision, encoding="utf-8")
    for file in files:
        shutil.copy(file, snapshot)


def test_without_a_tokenizer_gpt2s_is_named_when_the_hub_is_out_of_reach(
    copy: Path, tmp_path: Path, run_python: Callable
) -> None:
    for name in ("tokenizer.json", "vocab.json", "merges.txt"):
        (copy / name).unlink()
    printed = _load_offline(run_python, str(copy), tmp_path)
    assert printed.startswith("ValueError")
    assert f"{copy}" in printed
    assert "'gpt2'" in printed


def test_a_hub_id_in_the_authors_format_takes_gpt2s_tokenizer(
    small: Authors, tmp_path: Path, run_python: Callable
) -> None:
    _put_in_hub_cache(tmp_path, "authors/matcha", [small.folder / peer.CONFIG, small.folder / peer.WEIGHTS])
    _put_in_hub_cache(tmp_path, "gpt2", [small.folder / "tokenizer.json"])
    expected = small.metric.encoder.encode(["a pond"]).vectors.tobytes().hex()[:64]
    assert _load_offline(run_python, "authors/matcha", tmp_path) == f"{expected} 4999"
