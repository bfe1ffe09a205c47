"""What the command line says where the user's input cannot be used."""

import click


class InputError(click.ClickException):
    """What the user gave cannot be used: one line on stderr, exit code 2 as for a mistyped option."""

    exit_code = 2
