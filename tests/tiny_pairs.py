"""Cross-encoders small enough to make in every test run: the real architectures, with random weights."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder
from tokenizers import Tokenizer
from tokenizers.models import BPE, Unigram
from tokenizers.normalizers import NFKC
from tokenizers.pre_tokenizers import ByteLevel, Metaspace
from tokenizers.processors import RobertaProcessing, TemplateProcessing
from tokenizers.trainers import BpeTrainer, UnigramTrainer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from semantic_metrics.cross_encoder.heads import similarity_label
from semantic_metrics.cross_encoder.pair_checkpoint import label_names
from semantic_metrics.support.decision import FEATURES, Decision, Logistic
from tests.tiny_table import WORDS, small_tokenizer

POSITIONS = 40  # tokens of a pair
ROUNDING = 1e-5  # the bar of float32 against one pair at a time
SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "initializer_range": 0.3,  # large: scores lie apart, and what should not count would show
}
IDENTITY = {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}, "stsscore": {"scale": 5.0}}
SIGMOID = {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}
LABELS = ("contradiction", "similarity", "entailment", "neutral")  # any order will do
COEFFICIENTS = {"short_entailment_of_neighbours": 0.2, "short_contradiction": -0.2}
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]  # in the order of their ids
BERT_NAMES = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")}
ROBERTA_NAMES = dict(zip(["cls_token", "pad_token", "sep_token", "unk_token", "mask_token"], ROBERTA, strict=True))
SENTENCES = [" ".join(WORDS[i:] + WORDS[:i]) for i in range(len(WORDS))] + ["[SEP]", "</s>", "it is 300 metres long."]


def bert(folder: Path, says: dict | None = None, labels: int = 1, seed: int = 0, **config: object) -> Path:
    """A BERT with the tokeniser of the other tests; `says` goes into its config."""
    tokenizer = small_tokenizer()
    _template(tokenizer)
    return _save_bert(folder, tokenizer, IDENTITY if says is None else says, labels, seed, **config)


def named(labels: tuple[str, ...]) -> dict:
    return {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}


def both_heads(folder: Path, labels: tuple[str, ...] = LABELS) -> Path:
    """A BERT with logits of similarity and of NLI."""
    return bert(folder, {**IDENTITY, **named(labels)}, labels=len(labels))


def judging(folder: Path) -> Path:
    """The same with a decision of Support."""
    both_heads(folder)
    support = Logistic(-2.0, tuple(COEFFICIENTS.get(name, 0.0) for name in FEATURES))
    contradiction = Logistic(0.5, tuple(float(name == "contradiction") for name in FEATURES))
    Decision(support, contradiction).write(folder)
    return folder


def unigram(folder: Path) -> Path:
    """A BERT whose separators are pieces of its vocabulary, as in that of DeBERTa-v3."""
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = NFKC()
    tokenizer.pre_tokenizer = Metaspace()
    special = list(BERT_NAMES.values())
    trainer = UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    _template(tokenizer)
    return _save_bert(folder, tokenizer, IDENTITY, 1, 0)


def roberta(folder: Path, says: dict | None = None) -> Path:
    """A RoBERTa: byte-level BPE, no token types, positions that begin behind the padding's."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=400, special_tokens=ROBERTA, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    size = tokenizer.get_vocab_size()
    torch.manual_seed(1)
    sizes = {"vocab_size": size, "max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
    config = RobertaConfig(**sizes, num_labels=1, **SHAPE)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=POSITIONS,
        **ROBERTA_NAMES,
    )
    return save(folder, RobertaForSequenceClassification(config), wrapped, IDENTITY if says is None else says)


def save(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, says: dict) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return change(folder, says)


def change(folder: Path, says: dict, remove: tuple[str, ...] = ()) -> Path:
    path = folder / "config.json"
    config = {**json.loads(path.read_text(encoding="utf-8")), **says}
    path.write_text(json.dumps({key: config[key] for key in config if key not in remove}), encoding="utf-8")
    return folder


def without_special_tokens(folder: Path) -> Tokenizer:
    """The tokeniser of a checkpoint, which does not know that some of its tokens are special."""
    stored = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return Tokenizer.from_str(json.dumps({**stored, "added_tokens": [], "post_processor": None}))


@cache
def listing(folder: Path) -> Callable[[str, str], float]:
    """One pair at a time through `CrossEncoder.predict`, as the paper scores them: what the metric must equal."""
    encoder = CrossEncoder(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    scale = config.get("stsscore", {}).get("scale", 1.0)
    column = similarity_label(label_names(encoder.config))

    def score(reference: str, prediction: str) -> float:
        outputs = encoder.predict([(reference, prediction)], show_progress_bar=False).reshape(-1)
        return float(outputs[column]) / scale

    return score


def _template(tokenizer: Tokenizer) -> None:
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
    )


def _save_bert(folder: Path, tokenizer: Tokenizer, says: dict, labels: int, seed: int, **changed: object) -> Path:
    settings = {"max_position_embeddings": POSITIONS, "num_labels": labels, **SHAPE, **changed}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), **settings)
    config.pad_token_id = tokenizer.token_to_id("[PAD]")
    torch.manual_seed(seed)
    names = ["input_ids", "token_type_ids", "attention_mask"]
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=names, **BERT_NAMES)
    return save(folder, BertForSequenceClassification(config), wrapped, says)
