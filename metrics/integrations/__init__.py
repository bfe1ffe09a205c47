"""The metrics where people evaluate: inspect_ai, DeepEval and pytest; each is an optional extra of the package."""

DEFAULT_METRIC = "consensus"  # the metric of `assert_means` where a test names none


def missing_extra(module: str, package: str, extra: str) -> ImportError:
    """The error of a module whose package is not installed: one line that says what to install."""
    return ImportError(f"{module} needs {package}: pip install -e '.[{extra}]' in a checkout")
