"""Every benchmark as one command: `python -m benchmarks NAME --help`; the header of its module describes it."""

from importlib import import_module

import click

COMMANDS = {  # name -> module below `benchmarks`, and its line in the help
    "matcha": ("papers.matcha.command", "MATCHA, Li et al. 2026: tables 3 to 8, figures 2 to 6."),
    "attribution": ("papers.matcha.attribution", "MATCHA: tables 1 and 9, figure 7, the tokens of texts."),
    "ablation": ("papers.matcha.ablation", "MATCHA: table 10, training strategies."),
    "stsscore": ("papers.stsscore.command", "STSScore, Herbold 2023: tables 1 to 4, figures 1 to 13."),
    "nli_lex": ("papers.nli_lex.command", "NLI+lex, Balamurali and Cheng 2025: table 1, figures 2 and 4 to 9."),
    "set_data": ("papers.set_data.command", "Set criteria, Bansal et al. 2025: the samples."),
    "set_criteria": ("papers.set_criteria.command", "Set criteria: tables 1 to 3 and 12 to 15, figures 4, 6 and 10."),
    "probes": ("suite.probes", "Every metric on one changed word, exchanged roles and the papers' sets."),
    "side_by_side": ("suite.side_by_side", "Every metric beside those usually taken; the tables of the README."),
    "pictures": ("suite.pictures", "The pictures of the README."),
    "denials": ("papers.nli_lex.nli_checks", "NLI+lex on answers that deny the reference or change a number."),
    "long_texts": ("suite.long_texts", "Claims against whole articles, and summaries with one planted error."),
    "guarantees": ("suite.guarantees", "What holds of every score, and by how much it is violated."),
    "speed": ("speed", "Every metric, backend and precision beside what it replaces."),
}


class Benchmarks(click.Group):
    """The commands of COMMANDS; a module is imported when its command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See `click.Group`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """See `click.Group`."""
        return import_module(f"benchmarks.{COMMANDS[name][0]}").main if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(cls=Benchmarks)
def main() -> None:
    """Measure the metrics: the tables and figures of the papers, and what no paper measures."""


if __name__ == "__main__":
    main()
