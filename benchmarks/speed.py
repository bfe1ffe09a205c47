"""How fast each metric is, as a ratio against what it replaces, in the same process.

    python -m benchmarks.speed contextual | matcha | nli_lex | set_criteria | stsscore [OPTIONS]

Run it on an otherwise idle machine; `--help` of each says what is timed against what.
"""

import click

from benchmarks.matcha.speed import matcha
from benchmarks.matcha.speed_contextual import contextual
from benchmarks.nli_lex.speed import nli_lex
from benchmarks.set_criteria.speed import set_criteria
from benchmarks.stsscore.speed import stsscore


@click.group()
def main() -> None:
    """Time a metric."""


main.add_command(contextual)
main.add_command(matcha)
main.add_command(nli_lex)
main.add_command(set_criteria)
main.add_command(stsscore)

if __name__ == "__main__":
    main()
