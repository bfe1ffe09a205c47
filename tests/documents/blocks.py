"""The code blocks of a document: run in order, and compared with the output that the document shows.

A ```python block runs in this process, with the names of the page's earlier blocks; a ```bash block runs line by
line. The ```text block that follows in the same section is its output: what it prints, and the value of a last line
that is an expression. Python without such a block may show what a `print` prints in a comment behind it.

In shown output `...` stands for any text, white space counts as one space, and a number matches what rounds to it
(1e-07 what is not ten times larger). A block that cannot run here has a line `<!-- not run: REASON -->` above it; its
commands are parsed all the same.

    python -m tests.documents.blocks README.md docs/python.md    # after a change of scores: brings numbers up to date
"""

import ast
import contextlib
import functools
import importlib
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
from click.testing import CliRunner

from semantic_metrics import cli
from semantic_metrics.cli.terminal import PIPE_WIDTH
from tests.conftest import ROOT

FENCE = re.compile(r"^```(\w*)$")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
INLINE = re.compile(r"`((?:semantic-metrics |python -m (?:benchmarks|training)|python (?:training|benchmarks)/)[^`]*)`")
FORM = re.compile(r"[\[|]|\.\.\.|\bCOMMAND\b|\bNAME\b")  # of what shows the form of a command
COMMENT = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
CHECKOUT = ("benchmarks", "metrics", "model_cards", "training")  # what a command of a checkout finds around it
# an identifier (16 digits, 8 in a short signature), a number that is no part of a name, a shortened text, white space,
# or any other character
TOKEN = re.compile(
    r"(?P<digest>(?<=:)[0-9a-f]{8}(?:[0-9a-f]{8})?\b|\b[0-9a-f]{16}\b)"
    r"|(?P<number>(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?(?![\w]))"
    r"|(?P<dots>\.\.\.)|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
TOLERANCE = 0.51  # of the last digit shown: rounding, and the last bit of a sum


@dataclass(frozen=True)
class Block:
    """A block of code and what the page shows as its output.

    Attributes:
        page: file of the repository.
        line: number of its first line of code, from 1.
        language: "bash" or "python".
        code: its lines.
        reason: why it is not run; None for a block that is run.
        shown: the output that the page shows; None if it shows none.
        shown_line: number of the first line of that output.
    """

    page: str
    line: int
    language: str
    code: str
    reason: str | None
    shown: str | None = None
    shown_line: int = 0

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def read_blocks(page: str) -> list[Block]:
    """The bash and python blocks of a page, in their order."""
    blocks, reason, pending = [], None, False
    for line, language, text in _parts((ROOT / page).read_text(encoding="utf-8").splitlines()):
        if language is None:
            reason = match[1] if (match := NOT_RUN.match(text)) else reason if not text else None
            pending = pending and not text.startswith("#")
            continue
        if language in ("bash", "python"):
            blocks.append(Block(page, line, language, text, reason))
        elif language == "text" and pending:
            block = blocks[-1]
            blocks[-1] = Block(block.page, block.line, block.language, block.code, block.reason, text, line)
        pending, reason = language in ("bash", "python"), None
    return blocks


def _parts(lines: list[str]) -> Iterator[tuple[int, str | None, str]]:
    """Lines of prose (None as their language) and whole fenced blocks, each with the number of its first line."""
    i = 0
    while i < len(lines):
        if not (match := FENCE.match(lines[i])):
            yield i + 1, None, lines[i]
            i += 1
            continue
        end = lines.index("```", i + 1)
        yield i + 2, match[1], "\n".join(lines[i + 1 : end])
        i = end + 1


def inline_commands(page: str) -> list[str]:
    """Commands of this project in the prose of a page; what shows the form of one is left out."""
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = "\n".join(part for _, language, part in _parts(text.splitlines()) if language is None)
    commands = (" ".join(match[1].split()) for match in INLINE.finditer(prose))
    return [command for command in commands if not FORM.search(command)]


@dataclass
class Runner:
    """Runs the blocks of one page.

    Attributes:
        names: the names that its Python blocks have made.
    """

    names: dict = field(default_factory=dict)

    def run(self, block: Block) -> str:
        """What a block prints."""
        return self._python(block) if block.language == "python" else "".join(map(run_command, commands(block.code)))

    def _python(self, block: Block) -> str:
        tree = ast.parse(block.code, filename=str(block))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(tree, str(block), "exec"), self.names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), str(block), "eval"), self.names)
                if value is not None:
                    print(repr(value))  # noqa: T201 as a notebook does
        return printed.getvalue()


def commands(code: str) -> list[list[str]]:
    joined = code.replace("\\\n", " ")
    lines = [part for line in joined.splitlines() for part in line.split(" && ")]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def run_command(words: list[str]) -> str:
    """What a command prints on its standard output.

    Raises:
        AssertionError: it fails.
    """
    program, *arguments = words
    if program == "semantic-metrics":
        result = CliRunner(env={"COLUMNS": str(PIPE_WIDTH)}).invoke(cli.main, arguments)
        assert result.exit_code == 0, f"{shlex.join(words)}: {result.output}"
        return result.stdout
    if program == "python" and arguments[0] == "-m":  # in this process, which has imported what it needs
        package = ROOT.joinpath(*arguments[1].split(".")).is_dir()
        main = importlib.import_module(arguments[1] + ".__main__" * package).main
        result = CliRunner().invoke(main, arguments[2:])
        assert result.exit_code == 0, f"{shlex.join(words)}: {result.output}"
        return result.stdout
    assert program in ("python", "accelerate"), f"{shlex.join(words)}: expected a command of this project"
    program = [sys.executable] if program == "python" else [sys.executable, "-m", "accelerate.commands.accelerate_cli"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run([*program, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{shlex.join(words)}: {done.stderr}"
    return done.stdout


def check_command(words: list[str]) -> None:
    """Check that a command of this project exists and has the options that it is given.

    Raises:
        click.ClickException, AssertionError: it does not.
    """
    program, *arguments = words
    if program == "semantic-metrics":
        _check_click(cli.main, arguments)
    elif program == "accelerate":
        script = next(i for i, word in enumerate(arguments) if word.endswith(".py"))
        _check_source(Path(arguments[script]), arguments[script + 1 :])
    elif program == "python" and arguments[0] == "-m":
        name = arguments[1]
        folder = ROOT.joinpath(*name.split("."))
        path = folder / "__main__.py" if folder.is_dir() else folder.with_suffix(".py")
        assert path.is_file(), f"{shlex.join(words)}: no module {name}"
        module = importlib.import_module(f"{name}.__main__" if folder.is_dir() else name)
        if isinstance(getattr(module, "main", None), click.Command):
            _check_click(module.main, arguments[2:])
        else:
            _check_source(path.relative_to(ROOT), arguments[2:])
    elif program == "python":
        _check_source(Path(arguments[0]), arguments[1:])
    elif program == "make":
        done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def _check_click(command: click.Command, arguments: list[str]) -> None:
    context = click.Context(command, info_name=command.name)
    _, rest, _ = command.make_parser(context).parse_args(list(arguments))
    helped = arguments == ["--help"]
    if isinstance(command, click.Group) and not helped and (rest or not command.invoke_without_command):
        _, command, arguments = command.resolve_command(context, rest)
        _check_click(command, arguments)


def _check_source(path: Path, arguments: list[str]) -> None:
    """Check the options of a script that reads them by argparse: their names are in its folder's source."""
    assert (ROOT / path).is_file(), f"no file {path}"
    source = _source_of(ROOT / path.parts[0])
    unknown = [word for word in arguments if word.startswith("--") and f'"{word.partition("=")[0]}"' not in source]
    assert not unknown, f"{path}: {unknown}"


@functools.cache
def _source_of(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))


def expected_output(block: Block) -> str | None:
    """What the page shows: the text block behind it, or comments behind `print`; None if it shows nothing."""
    if block.shown is not None or block.language != "python":
        return block.shown
    return "\n".join(COMMENT.findall(block.code)) or None


def _values(shown: str, printed: str, exact: bool) -> list[str] | None:
    """What is printed in place of each number shown, and unless `exact` of each identifier; None if other text differs.

    The parts between shortened texts are looked for one after the other: one pattern for all of them takes hours to say
    that it does not match.
    """
    parts = [""]
    for match in TOKEN.finditer(shown.strip()):
        kind, text = match.lastgroup, match[0]
        if kind == "dots":
            parts.append("")
            continue
        changing = {"number": NUMBER, "digest": re.escape(text) if exact else f"([0-9a-f]{{{len(text)}}})"}
        parts[-1] += {"space": r"\s+", "other": re.escape(text), **changing}[kind]
    parts[0], parts[-1] = r"\A\s*" + parts[0], parts[-1] + r"\s*\Z"
    values, at = [], 0
    for part in parts:
        match = re.compile(part).search(printed, at)
        if not match:
            return None
        values, at = [*values, *match.groups()], match.end()
    return values


def difference(shown: str, printed: str) -> str | None:
    """How printed output differs from the output shown; None if it does not."""
    values = _values(shown, printed, exact=True)
    if values is None:
        return f"shown:\n{shown}\nprinted:\n{printed}"
    numbers = [token[0] for token in TOKEN.finditer(shown.strip()) if token.lastgroup == "number"]
    wrong = [f"{a} (printed {b})" for a, b in zip(numbers, values, strict=True) if not _rounds_to(b, a)]
    return f"numbers: {', '.join(wrong)}\nprinted:\n{printed}" if wrong else None


def _decimals(shown: str) -> int:
    return len(shown.partition(".")[2]) if "e" not in shown else 0


def _rounds_to(printed: str, shown: str) -> bool:
    if "e" in shown:  # rounding of sums, whose size alone is shown: another processor has another one
        return float(printed) <= 10 * float(shown)
    if "." not in shown:
        return float(printed) == float(shown)
    return abs(float(printed) - float(shown)) <= TOLERANCE * 10.0 ** -_decimals(shown)


def updated(shown: str, printed: str) -> str | None:
    """The output shown with its numbers and identifiers as they are printed now; None if other text has changed."""
    new = _values(shown, printed, exact=False)
    if new is None:
        return None
    values = iter(new)

    def replace(token: re.Match) -> str:
        if token.lastgroup not in ("number", "digest"):
            return token[0]
        value = next(values)
        if token.lastgroup == "digest" or _rounds_to(value, token[0]):
            return value if token.lastgroup == "digest" else token[0]
        return f"{float(value):.{_decimals(token[0])}f}".rjust(len(token[0]))

    return TOKEN.sub(replace, shown)


@contextlib.contextmanager
def clean_folder(folder: Path) -> Iterator[None]:
    """Work in a folder that holds what a checkout has, as links, and nothing else; no host but this one is reached."""
    for name in CHECKOUT:
        (folder / name).symlink_to(ROOT / name)
    connect, before = socket.socket.connect, Path.cwd()

    def local(self: socket.socket, address: object) -> None:
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1", "localhost"), f"network: {address}"
        return connect(self, address)

    socket.socket.connect = local
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        socket.socket.connect = connect


def update_page(page: str) -> None:
    """Run a page and write the numbers that it shows anew; print what must be changed by hand."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name, clean_folder(Path(name)):
        runner = Runner()
        for block in read_blocks(page):
            if block.reason is not None:
                continue
            printed, shown = runner.run(block), expected_output(block)
            if shown is None or difference(shown, printed) is None:
                continue
            new = updated(shown, printed)
            if new is None or block.shown is None:
                click.echo(f"{block}: by hand\n{difference(shown, printed)}")
            else:
                first = block.shown_line - 1
                lines[first : first + len(shown.splitlines())] = new.splitlines()
                click.echo(f"{block}: updated")
    (ROOT / page).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        update_page(argument)
