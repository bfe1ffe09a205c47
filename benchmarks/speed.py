"""How fast each metric is, as a ratio against what it replaces, in the same process.

    python -m benchmarks.speed contextual | matcha | nli_lex | set_criteria | stsscore [OPTIONS]

Run it on an otherwise idle machine; `--help` of each says what is timed against what.
"""

import click

from .speed_contextual import contextual
from .speed_matcha import matcha
from .speed_nli_lex import nli_lex
from .speed_set_criteria import set_criteria
from .speed_stsscore import stsscore


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
