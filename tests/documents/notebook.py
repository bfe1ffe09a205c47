"""docs/tour.ipynb: executed in a kernel of its own, and compared with the output that it stores.

`python -m tests.documents.notebook` executes it and stores what is printed, after a change of scores.
"""

import itertools
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.conftest import ROOT

PATH = ROOT / "docs" / "tour.ipynb"
SECONDS = 300  # of a cell


def execute(folder: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(PATH, as_version=4)
    client = NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}})
    client.km = client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable  # wherever an installed specification may point
    return client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)})


def outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """The printed text and the value of each cell of code; warnings are left out."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            printed = [o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout"]
            values = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
            texts.append("\n".join([*printed, *values]))
    return texts


def store(folder: Path) -> None:
    """Execute the notebook and store it with its output, without warnings and times."""
    notebook = execute(folder)
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = list(_joined(o for o in cell.outputs if o.get("name") != "stderr"))
    nbformat.write(notebook, PATH)


def _joined(outputs: Iterable[nbformat.NotebookNode]) -> Iterator[nbformat.NotebookNode]:
    """Outputs, with what is printed in a row as one: a page shows each output in a box of its own."""
    for kind, group in itertools.groupby(outputs, key=lambda output: output.output_type):
        first, *others = group
        if kind != "stream":
            yield from (first, *others)
            continue
        first.text += "".join(output.text for output in others)
        yield first


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:  # the notebook writes files
        store(Path(name))
