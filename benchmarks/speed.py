"""How fast each metric is, as a ratio to what it replaces, in the same process.

    python -m benchmarks.speed contextual | matcha | nli_lex | set_criteria | stsscore [OPTIONS]

Run it on an otherwise idle machine; `--help` of each says what is timed beside what.
"""

import click

from benchmarks.matcha.speed import contextual, matcha
from benchmarks.nli_lex.speed import nli_lex
from benchmarks.set_criteria.speed import set_criteria
from benchmarks.stsscore.speed import stsscore


@click.group()
def main() -> None:
    """Time a metric."""


for command in (contextual, matcha, nli_lex, set_criteria, stsscore):
    main.add_command(command)

if __name__ == "__main__":
    main()
