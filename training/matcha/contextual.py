"""The contextual MATCHA in training: a transformer that reads the same ragged batches as the table's network."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer

from semantic_metrics.matcha.contextual import KIND, ContextualConfig, ContextualEncoder

MAX_LENGTH = 256  # tokens: as sentence-transformers sets it for all-MiniLM-L6-v2
PAD_TO_TOKENS = 8  # sequences are padded to a multiple of this, as oneDNN compiles kernels for each shape
POOLING = "1_Pooling"
MODULES = (("", "sentence_transformers.models.Transformer"), (POOLING, "sentence_transformers.models.Pooling"))
PASS_TOKENS = 1024  # about as many in one pass; texts of similar length go together, so that little is padded


class ContextualModel(nn.Module):
    """A transformer, mean pooling, and the tokeniser it came with, read from a folder or Hub id, the `source`."""

    def __init__(self, source: str, dropout: float = 0.0, max_length: int = MAX_LENGTH) -> None:
        super().__init__()
        rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
        self.encoder = AutoModel.from_pretrained(source, add_pooling_layer=False, dtype=torch.float32, **rates)
        self.encoder.set_attn_implementation("eager")  # the backward pass of the fused one takes 40% longer on a CPU
        self.source, self.max_length = source, max_length
        tokenizer = AutoTokenizer.from_pretrained(source)
        self.begin, self.end = tokenizer.cls_token_id, tokenizer.sep_token_id
        self.unk_token = tokenizer.unk_token

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """Like `MatchaModel.forward`: (n,) ids, (B,) offsets -> (B, D) float32; an empty text is the zero vector."""
        lengths = torch.diff(offsets, append=offsets.new_tensor([len(ids)])).clamp(max=self.max_length - 2)
        order = lengths.argsort(descending=True, stable=True)[: int((lengths > 0).sum())].tolist()
        parts, begin = [], 0
        while begin < len(order):
            width = -(-(int(lengths[order[begin]]) + 2) // PAD_TO_TOKENS) * PAD_TO_TOKENS
            rows = order[begin : begin + max(1, PASS_TOKENS // width)]
            parts.append(self._encode([ids[offsets[i] : offsets[i] + lengths[i]] for i in rows], width))
            begin += len(rows)
        vectors = torch.zeros(len(offsets), self.encoder.config.hidden_size, device=ids.device)
        if not parts:
            return vectors
        return vectors.index_copy(0, torch.tensor(order, device=ids.device), torch.cat(parts))

    def _encode(self, texts: list[torch.Tensor], width: int) -> torch.Tensor:
        sequences = [F.pad(F.pad(text, (1, 0), value=self.begin), (0, 1), value=self.end) for text in texts]
        mask = torch.stack([F.pad(torch.ones_like(s), (0, width - len(s))) for s in sequences])
        padded = torch.stack([F.pad(s, (0, width - len(s))) for s in sequences])
        states = self.encoder(input_ids=padded, attention_mask=mask).last_hidden_state.float()
        return (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)

    def scorer(self) -> ContextualEncoder:
        """The encoder as the metric runs it."""
        config = ContextualConfig(self.begin, self.end, self.unk_token, self.max_length)
        return ContextualEncoder(self.encoder, AutoTokenizer.from_pretrained(self.source).backend_tokenizer, config)

    def save(self, folder: Path) -> None:
        """Write a checkpoint: float16, laid out for sentence-transformers, with the settings that the metric reads."""
        folder.mkdir(parents=True, exist_ok=True)
        with torch.random.fork_rng():  # a new model draws random weights, which must not change the run's own draws
            copy = type(self.encoder)(self.encoder.config, add_pooling_layer=False)
        copy.load_state_dict(self.encoder.state_dict())
        copy.half().save_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(self.source)
        tokenizer.save_pretrained(folder)
        _update(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")  # which 4.57 knows too
        _update(folder / "config.json", **{KIND: asdict(self.scorer().config)})
        modules = [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(MODULES)]
        _write(folder / "modules.json", modules)
        _write(folder / "sentence_bert_config.json", {"max_seq_length": self.max_length, "do_lower_case": False})
        (folder / POOLING).mkdir(exist_ok=True)
        width = self.encoder.config.hidden_size
        _write(folder / POOLING / "config.json", {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True})


def _update(path: Path, **values: object) -> None:
    _write(path, json.loads(path.read_text(encoding="utf-8")) | values)


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
