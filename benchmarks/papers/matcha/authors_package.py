"""The authors' package, `matcha-metric` 0.1.8 (CC-BY-NC-SA: for comparison only), and checkpoints in its format.

By default the package downloads GPT-2 from the Hub. Its scores use only the tokeniser and the embedding, so here its
own class is filled from a folder: both sides then read the same files, and nothing is downloaded.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from matcha_metric import MATCHA
from matcha_metric.model import ContrastiveModel
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import GPT2Config, GPT2Model, GPT2Tokenizer, PreTrainedTokenizerFast

CONFIG, WEIGHTS = "model_config.json", "max_diff.pth"  # as in Siran-Li/MATCHA
END = "<|endoftext|>"
BACKBONE = "contxtl_model."  # prefix of the weights of a whole GPT-2, of which MATCHA uses the embedding
GPT2_VOCABULARY, GPT2_WIDTH = 50257, 768  # GPT-2's token embedding
SENSES, WIDENING = 16, 4  # paper, appendix A.3; the authors' model_config.json


def train_tokenizer(texts: list[str], vocab_size: int = GPT2_VOCABULARY) -> Tokenizer:
    """A byte-level BPE tokeniser of GPT-2's kind: every text is representable, `<|endoftext|>` has the last id.

    GPT-2's own merges are not part of any package; a few texts give fewer merges than ids, and the tokens are then
    spread over all of the ids, so that every part of an embedding is used.
    """
    trainer = BpeTrainer(
        vocab_size=vocab_size - 1, initial_alphabet=ByteLevel.alphabet(), special_tokens=[], show_progress=False
    )
    trained = Tokenizer(BPE())
    trained.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trained.train_from_iterator(texts, trainer)
    model = json.loads(trained.to_str())["model"]
    ids = np.random.default_rng(0).permutation(vocab_size - 1)[: len(model["vocab"])]
    vocabulary = {token: int(i) for token, i in zip(model["vocab"], ids, strict=True)} | {END: vocab_size - 1}
    tokenizer = Tokenizer(BPE(vocabulary, [tuple(pair) for pair in model["merges"]]))
    tokenizer.pre_tokenizer, tokenizer.decoder = ByteLevel(add_prefix_space=False), ByteLevelDecoder()
    tokenizer.add_special_tokens([END])
    return tokenizer


def write_random_checkpoint(
    folder: Path, tokenizer: Tokenizer, width: int = GPT2_WIDTH, senses: int = SENSES, seed: int = 0
) -> Path:
    """Write a checkpoint in the authors' format with their own random initialisation, and GPT-2's tokeniser files.

    `tokenizer` is from `train_tokenizer`; `width` is D, a multiple of 4, `senses` the context vectors of a token, N_c.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "gpt2",
        "vocab_size": tokenizer.token_to_id(END) + 1,
        "n_embd": width,
        "num_senses": senses,
        "sense_intermediate_scale": WIDENING,
        "activation_function": "gelu_new",
        "embd_pdrop": 0.1,
        "resid_pdrop": 0.1,
        "layer_norm_epsilon": 1e-5,
    }
    torch.manual_seed(seed)
    network = ContrastiveModel(_backbone(config, layers=1), SimpleNamespace(**config))
    torch.save({"model_state_dict": network.state_dict()}, folder / WEIGHTS)
    (folder / CONFIG).write_text(json.dumps(config, indent=2), encoding="utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    model = json.loads(tokenizer.to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    merges = "".join(f"{' '.join(pair)}\n" for pair in model["merges"])
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}", encoding="utf-8")
    return folder


def _backbone(config: dict, layers: int, positions: int = 1024) -> GPT2Model:
    sizes = {"vocab_size": config["vocab_size"], "n_embd": config["n_embd"], "n_positions": positions}
    end = config["vocab_size"] - 1
    return GPT2Model(GPT2Config(**sizes, n_layer=layers, n_head=4, bos_token_id=end, eos_token_id=end))


def load_package(folder: Path, device: str = "cpu") -> MATCHA:
    """The package's class, on a device, with the weights and the tokeniser of a folder in the authors' format.

    A folder of our own training holds no backbone (`contxtl_model.*`); the class then gets one without layers.

    Raises RuntimeError: the weights do not fit the package's network.
    """
    config = {"model_type": "gpt2", **json.loads((folder / CONFIG).read_text(encoding="utf-8"))}
    state = torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True)["model_state_dict"]
    layers = {key.split(".")[2] for key in state if key.startswith(f"{BACKBONE}h.")}
    positions = state.get(f"{BACKBONE}wpe.weight", torch.empty(1024, 0)).shape[0]
    network = ContrastiveModel(_backbone(config, len(layers), positions), SimpleNamespace(**config))
    missing, unexpected = network.load_state_dict(state, strict=False)
    misfits = unexpected + [key for key in missing if not key.startswith(BACKBONE)]
    if misfits:
        raise RuntimeError(f"{folder / WEIGHTS}: does not fit the network of matcha-metric: {misfits}")
    kind = GPT2Tokenizer if (folder / "merges.txt").is_file() else PreTrainedTokenizerFast
    tokenizer = kind.from_pretrained(str(folder))
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return MATCHA(network, tokenizer, device=device)
