"""A transformer on OpenVINO: converted from the torch module in memory, cached on disk, run on the CPU.

The conversion takes seconds; what it gives is stored in the package's cache under a digest of the checkpoint's weights
and of the versions, and read from there the next time. No code of a checkpoint runs, and nothing is sent anywhere.

In int8 the weights have a scale for each output; the inputs of a layer are quantised as they come, each token in groups
of DYNAMIC_GROUP values with a scale of their own. So no text depends on the others in its batch.
"""

import hashlib
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel
from transformers.utils import logging

from semantic_metrics.core.checkpoint_files import default_cache, describe_error, hash_files
from semantic_metrics.core.inputs import InvalidInput, invalid_input
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.transformer.precision import LARGEST_INT8, SMALLEST_SCALE, replace_linear

if TYPE_CHECKING:
    import openvino

INSTALL = 'pip install -e ".[fast]" in a checkout'
IR_VERSION = 2  # raise it when the conversion changes: what an older version cached is then not read
KEPT_KERNELS = 64  # compiled for a shape; by default 5,000, which takes hundreds of MB, and is not faster
DYNAMIC_GROUP = 128  # values of a token that share a scale in int8: larger groups are no faster and move scores more
MAX_CONVERSION_ERROR = 1e-3  # of an output, in units of the largest output but at least of 1
MAX_CACHE_BYTES = 4 * 2**30  # the entries that were used last stay
XML, ENTRY = "model.xml", "entry.json"  # the second says what the first was made from

Inputs = dict[str, torch.Tensor]
_core: tuple[int, "openvino.Core"] | None = None  # and the process that made it
_first_request = Lock()


class OpenVINOModel:
    """A compiled transformer; several threads may run it at a time.

    Args:
        model: in float32, on the CPU.
        precision: one of PRECISIONS.
        output: name of the output that is wanted.
        example: inputs of two sequences of different lengths.
        checkpoint_sha256: digest of the weights and settings; None if there is none, and nothing is cached then.
        threads: of OpenVINO, each of which runs one request at a time; their number changes no output.

    Raises:
        InvalidInput: OpenVINO is not installed, the process was forked after it had run, the processor lacks bfloat16,
            or the converted model does not compute what the model does.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        precision: str,
        output: str,
        example: Inputs,
        checkpoint_sha256: str | None,
        threads: int,
    ) -> None:
        core = _get_core()
        has_bfloat16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision == "bfloat16" and not has_bfloat16:
            raise invalid_input("precision", "expected 'float32' or 'int8' on this processor, got 'bfloat16'")
        converted = _read_or_convert(model, precision == "int8", output, example, checkpoint_sha256)
        faster = has_bfloat16 and precision != "float32"  # what int8 leaves is as near in bfloat16, and faster
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,  # one thread each
            "CPU_RUNTIME_CACHE_CAPACITY": KEPT_KERNELS,
            "ENABLE_CPU_PINNING": False,  # a thread that is bound to a busy core would wait for it
            "INFERENCE_PRECISION_HINT": "bf16" if faster else "f32",
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": DYNAMIC_GROUP if precision == "int8" else 0,
        }
        with _refuse_failure():
            self._compiled = core.compile_model(converted, "CPU", settings)
        self._output = self._compiled.output(output)
        self._idle: list[openvino.InferRequest] = []
        self._process = os.getpid()
        # OpenVINO's binding sets itself up in its first request: of two workers that do so at once each may wait for
        # what the other holds, for ever
        with _first_request, _refuse_failure():
            self(example)

    def __call__(self, inputs: Inputs) -> torch.Tensor:
        """Inputs of the torch model by name -> its output, float32."""
        if self._process != os.getpid():
            raise _forked()
        try:
            request = self._idle.pop()  # not after a look whether there is one: another worker may take it
        except IndexError:
            request = self._compiled.create_infer_request()
        result = request.infer({name: values.numpy() for name, values in inputs.items()})[self._output]
        values = torch.from_numpy(np.array(result, dtype=np.float32))
        self._idle.append(request)
        return values


def check_installed() -> None:
    """Refuse the backend where the extra is missing; says how to install it."""
    try:
        import openvino  # noqa: F401
    except ImportError:
        raise invalid_input("backend", f"expected 'torch', as OpenVINO is not installed ({INSTALL})") from None


def _get_core() -> "openvino.Core":
    """OpenVINO's core, one for this process."""
    global _core
    if _core is not None and _core[0] == os.getpid():
        return _core[1]
    if _core is not None:
        raise _forked()
    check_installed()
    import openvino

    _core = os.getpid(), openvino.Core()
    return _core[1]


@contextmanager
def _refuse_failure() -> Iterator[None]:
    """Turn failures inside into an InvalidInput: PyTorch and OpenVINO raise errors of many kinds."""
    try:
        yield
    except InvalidInput:
        raise
    except Exception as error:
        reason = describe_error(error)
        raise invalid_input("backend", f"expected 'torch', as OpenVINO cannot run this model ({reason})") from error


def _forked() -> InvalidInput:
    """OpenVINO's threads stayed in the parent: a child would wait for them for ever."""
    return invalid_input("backend", "expected 'torch' in a process forked after 'openvino' ran, got 'openvino'")


def _read_or_convert(
    model: PreTrainedModel, int8: bool, output: str, example: Inputs, checkpoint_sha256: str | None
) -> "openvino.Model":
    """The converted model, from the cache if it is there."""
    import openvino

    folder = None
    if checkpoint_sha256 is not None:
        versions = [openvino.__version__, transformers.__version__, IR_VERSION]
        key = json.dumps([checkpoint_sha256, *versions, "int8" if int8 else "float32"])
        folder = default_cache("openvino") / hashlib.sha256(key.encode()).hexdigest()
        if (cached := _read(folder, key)) is not None:
            return cached
    if int8:  # linear layers with weights of 8 bits, as OpenVINO recognises them
        model = deepcopy(model)
        replace_linear(model.base_model, _Int8Weights)
    with progress_bar(3, "step", "converting for OpenVINO") as bar:
        with _refuse_failure():
            converted = _convert(model, example)
            bar.update()
            _check(converted, model, output, example)
            bar.update()
        if folder is not None:
            with suppress(OSError, RuntimeError):  # a cache that cannot be written costs time, nothing else
                _write(converted, folder, key)
                _drop_oldest(folder.parent)
        bar.update()
    return converted


def _convert(model: PreTrainedModel, example: Inputs) -> "openvino.Model":
    """A torch module as a model of OpenVINO.

    `openvino.convert_model` does the same, and reports its use to its maker over the network.
    """
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    frontend = FrontEndManager().load_by_framework("pytorch")
    with _quiet():
        decoder = TorchScriptPythonDecoder(model, example_input=example)  # must live until the conversion has ended
        return frontend.convert(frontend.load(decoder))


@contextmanager
def _quiet() -> Iterator[None]:
    """Switch off what torch and transformers say about tracing a model, which `_check` tests."""
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)


def _check(converted: "openvino.Model", model: PreTrainedModel, output: str, example: Inputs) -> None:
    """Compare both models on inputs of other shapes than the example: a trace can hold on to its shape."""
    settings = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "INFERENCE_NUM_THREADS": 1}
    compiled = _get_core().compile_model(converted, "CPU", settings)
    short = int(example["attention_mask"][1].sum())
    alone = {name: values[1:, :short] for name, values in example.items()}
    twice = {name: torch.cat([values, values]) for name, values in example.items()}
    for inputs in (alone, twice):
        with torch.inference_mode():
            expected = getattr(model(**inputs), output).numpy()
        try:
            result = compiled({name: values.numpy() for name, values in inputs.items()})[compiled.output(output)]
        except RuntimeError:
            result = np.full_like(expected, np.nan)
        if expected.ndim > 2:  # states of tokens: those of padding mean nothing
            mask = inputs["attention_mask"].numpy().astype(bool)
            expected, result = expected[mask], result[mask]
        error = float(np.abs(result - expected).max() / max(1.0, float(np.abs(expected).max())))
        if not error <= MAX_CONVERSION_ERROR:
            kind = model.config.model_type
            problem = f"expected 'torch' for this model: OpenVINO's conversion of {kind} is off by {error:.2g}"
            raise invalid_input("backend", problem)


def _read(folder: Path, key: str) -> "openvino.Model | None":
    """The entry of the cache that was made from a key; None, and it is removed, if it is damaged or of another key."""
    if not folder.exists():
        return None
    try:
        entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
        if entry == {"key": key, "sha256": _digest(folder)}:
            model = _get_core().read_model(folder / XML)
            with suppress(OSError):
                os.utime(folder)  # used now
            return model
    except (OSError, ValueError, RuntimeError):  # it is made anew
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _digest(folder: Path) -> str:
    """Digest of an entry's files: wrong weights of the right size would give wrong scores."""
    return hash_files(folder, [path for path in folder.iterdir() if path.name != ENTRY])


def _drop_oldest(cache: Path) -> None:
    """Remove the entries that were not used for longest, until at most MAX_CACHE_BYTES are left; one always stays."""
    entries = sorted((path for path in cache.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    sizes = [sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) for path in entries]
    for path, _ in list(zip(entries, sizes, strict=True))[:-1]:
        if sum(sizes) <= MAX_CACHE_BYTES:
            return
        sizes.pop(0)
        shutil.rmtree(path, ignore_errors=True)


def _write(converted: "openvino.Model", folder: Path, key: str) -> None:
    """Write a converted model into the cache, whole or not at all."""
    import openvino

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
        made = Path(partial) / "model"
        made.mkdir()
        openvino.save_model(converted, made / XML, compress_to_fp16=False)
        entry = {"key": key, "sha256": _digest(made)}
        (made / ENTRY).write_text(json.dumps(entry), encoding="utf-8")
        made.rename(folder)  # fails if another process was first, which wrote the same


class _Int8Weights(nn.Module):
    """A linear layer whose weight is stored in int8, with a scale for each output, and read as float32."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()
        scales = weight.abs().amax(dim=1, keepdim=True).clamp_min(SMALLEST_SCALE * LARGEST_INT8) / LARGEST_INT8
        self.register_buffer("weight", (weight / scales).round().to(torch.int8))
        self.register_buffer("scales", scales)
        self.bias = layer.bias

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """(..., in) -> (..., out)."""
        return F.linear(inputs, self.weight.to(torch.float32) * self.scales, self.bias)
