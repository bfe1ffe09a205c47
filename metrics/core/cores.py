"""How many cores this process may use."""

import os

from semantic_metrics.core.forks import is_forked


def core_count() -> int:
    """Number of cores that this process may use, but at most OMP_NUM_THREADS; 1 after a fork.

    joblib counts the cores: those that the process is bound to, at most its container's share of the processor.
    A forked process is one of several that share the cores.
    """
    if is_forked():
        return 1
    import joblib  # takes long to import; a short file is scored without it

    cores = joblib.cpu_count()
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores
