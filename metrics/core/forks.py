"""A model that was loaded before a fork answers in the child too: `datasets.map(num_proc=2)`, gunicorn, pytest-xdist.

A fork copies the memory but not the threads. The child would wait for ever for the threads that torch and tokenizers
started in the parent, so it computes with the one thread that it has. Processes made by "spawn" have all of theirs.
"""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a MATCHA table does without torch
    import torch

_importing_process = os.getpid()


def is_forked() -> bool:
    """Whether this process was forked after it had imported the package."""
    return os.getpid() != _importing_process


def check_device(device: "torch.device") -> None:
    """Refuse a GPU in a forked process, where CUDA does not work.

    Raises:
        ValueError: the device is such a GPU.
    """
    import torch

    if device.type == "cuda" and torch.cuda._is_in_bad_fork():
        raise ValueError("device: expected 'cpu' in a forked process, got a GPU; start processes by 'spawn' to use it")


def _use_one_thread() -> None:
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # "true" would make tokenizers wait for threads of the parent


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_use_one_thread)
