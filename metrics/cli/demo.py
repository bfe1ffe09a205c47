"""`semantic-metrics demo`: the page of a metric, served on this machine."""

from importlib import import_module
from importlib.util import find_spec

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import DEFAULT_METRIC
from semantic_metrics.core.contract import described_metrics


@click.command()
@click.option(
    "--metric",
    default=DEFAULT_METRIC,
    type=click.Choice(described_metrics()),
    metavar="NAME",
    help=f"Metric: {', '.join(described_metrics())}; default: {DEFAULT_METRIC}.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="NAME", help="Address to serve at.")
@click.option("--port", default=7860, show_default=True, type=click.IntRange(1, 65535), metavar="N", help="Its port.")
def demo(metric: str, host: str, port: int) -> None:
    """Serve a page to type or paste pairs, or to upload a CSV file, until Ctrl-C.

    Example: semantic-metrics demo --metric nli_lex --port 8080
    """
    if find_spec("gradio") is None:
        raise InputError("demo: expected gradio to be installed, as the extra `demo` does")
    from semantic_metrics.demo.page import serve  # gradio takes seconds to import

    try:
        serve(import_module(f"semantic_metrics.{metric}.app").PAGE, host, port)
    except OSError as error:  # the port is taken, or the host is none of this machine
        raise InputError(f"--host, --port: expected a free port of this machine, got {host}:{port} ({error})") from None
