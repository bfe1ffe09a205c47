"""`semantic-metrics samples`: write the small files that the documentation's examples read."""

from importlib.resources import files
from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import FILE
from semantic_metrics.files import file_errors
from semantic_metrics.files.output import atomic_write

# by name, as they are listed
SAMPLES = {
    "pairs.csv": "pairs of texts: prediction, reference, kind",
    "answers.csv": "answers to questions: question, answer, reference, label",
    "several.csv": "answers with several references: question, answer, name, other_name, names (JSON), label",
    "references.txt": "fifteen texts, one a line",
    "first.txt": "what one system wrote for each of them",
    "second.txt": "what another one wrote",
    "rated.csv": "texts that a person rated: reference, said, rating (0 to 5), right",
    "judged.csv": "answers that a person judged: asked, said, gold, right",
    "article.txt": "a source",
    "summary.txt": "a summary of it, with two mistakes",
    "rows.csv": "summaries and their sources: summary, article",
    "claims.txt": "English claims, one a line",
    "sets.csv": "samples for the set criteria: a, b, target, operator",
}


@click.command()
@click.argument("folder", metavar="DIR", type=FILE)
def samples(folder: Path) -> None:
    """Write small sample files, those of the documentation, to DIR; files with another content are never replaced.

    Example: semantic-metrics samples .
    """
    source = files("semantic_metrics").joinpath("samples")
    written = {name: source.joinpath(name).read_bytes() for name in SAMPLES}
    with file_errors(folder):
        there = [name for name in SAMPLES if (folder / name).exists() or (folder / name).is_symlink()]
        files_there = [name for name in there if (folder / name).is_file()]
        same = [name for name in files_there if (folder / name).read_bytes() == written[name]]
        if taken := [name for name in there if name not in same]:
            raise InputError(f"DIR: expected no other {', '.join(taken)}, got those of {folder}, with another content")
        folder.mkdir(exist_ok=True)
    for name, content in SAMPLES.items():
        if name not in same:
            with atomic_write(folder / name) as file:
                file.write(written[name])
        click.echo(f"{folder / name}: {content}")
