"""Write a metric as a standalone folder, which runs as a Hub Space without the package `semantic_metrics`.

    python training/bundle.py matcha /tmp/matcha                   # then: cd /tmp/matcha && python app.py
    python training/bundle.py matcha /tmp/matcha --owner my-team   # takes its weights from my-team/matcha

`evaluate` copies only the modules that a script imports by `from .module import name`, and neither folders nor what
those modules import in turn. So every module that the metric needs is written beside the script, under its last name,
and the script imports them all. The demo page (metrics/demo, with metrics/html) is a folder, which app.py imports as
`demo`.

A folder without the package takes its weights from the Hub. Whoever pushes it owns the weights too, so the owner's name
is written into script, modules and card in place of this project's.
"""

import argparse
import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path

from semantic_metrics.core.checkpoint_files import HUB_OWNER
from semantic_metrics.core.contract import described_metrics

SOURCE = Path(__file__).resolve().parents[1] / "metrics"  # the folder of the package
PACKAGE = "semantic_metrics"
DEMO = "demo"
PAGE_FOLDERS = (DEMO, "html")  # what becomes the folder of the demo
APP = "app.py"
COPIED_FILES = ("README.md", "requirements.txt")
OWNER_LINE = f'HUB_OWNER = "{HUB_OWNER}"'  # in core/checkpoint_files.py
HUB_ID = re.compile(rf"\b{HUB_OWNER}/(?=\w)")  # of this project's checkpoints, in the cards
FROM_CHECKOUT = re.compile(r'(evaluate\.load\(")metrics(/[^\n#]*\))(?:  # this folder, in a copy of the repository)?')


def write_bundle(name: str, folder: Path, owner: str = HUB_OWNER) -> list[Path]:
    """Write a metric, all modules that it imports, its demo and its card into a new folder; the sorted paths.

    Args:
        name: name of the metric, that of its folder and script in metrics/.
        folder: where to write; made if missing.
        owner: user or organisation on the Hub that the weights come from.

    Raises ValueError: there is no such metric, the folder has files, or a module cannot be in a bundle.
    """
    script = SOURCE / name / f"{name}.py"
    if not script.is_file():
        raise ValueError(f"name: expected one of {', '.join(described_metrics())}, got {name!r}")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"folder: expected an empty or a new one, got {folder}")
    modules = _closure(script)
    _check_names(name, modules)
    sources = {f"{path.stem}.py": _rewrite(path, _flat) for path in modules}
    sources[script.name] = _import_all(_rewrite(script, _flat), [path.stem for path in modules])
    folders = [SOURCE / folder for folder in reversed(PAGE_FOLDERS)]
    pages = {f"{DEMO}/{path.name}": path for folder in folders for path in folder.glob("*.py")}
    for file, path in {APP: SOURCE / name / APP, **pages}.items():
        if any(imported.parent not in folders for imported in _imported_paths(path)):
            expected = f"expected imports from {' and '.join(PAGE_FOLDERS)} alone"
            raise ValueError(f"{path}: {expected}, as it must run without {PACKAGE}")
        # an app runs as a script, which imports `demo` by its absolute name
        sources[file] = _rewrite(path, _flat if file != APP else lambda module: f"{DEMO}{_flat(module)}")
    sources |= {file: (SOURCE / name / file).read_text(encoding="utf-8") for file in COPIED_FILES}
    (folder / DEMO).mkdir(parents=True, exist_ok=True)
    for file, text in sources.items():
        (folder / file).write_text(with_owner(text, owner), encoding="utf-8")
    return [folder / file for file in sorted(sources)]


def with_owner(text: str, owner: str) -> str:
    """A file for the Hub: the owner's name in place of this project's, and metrics loaded from the owner's Spaces."""
    text = HUB_ID.sub(f"{owner}/", text.replace(OWNER_LINE, f'HUB_OWNER = "{owner}"'))
    return FROM_CHECKOUT.sub(rf"\g<1>{owner}\g<2>", text)


def _package_imports(path: Path) -> list[tuple[ast.ImportFrom, str]]:
    """Statements of a file that import from the package, also inside functions, with the module's absolute name."""
    folders = (PACKAGE, *path.relative_to(SOURCE).parent.parts)
    statements = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == PACKAGE for alias in node.names):
            raise ValueError(f"{path}:{node.lineno}: expected `from {PACKAGE}.module import name`, got `import`")
        if isinstance(node, ast.ImportFrom):
            parents = folders[: len(folders) - node.level + 1] if node.level else ()
            module = ".".join([*parents, node.module or ""]).rstrip(".")
            if module.split(".")[0] == PACKAGE:
                statements.append((node, module))
    return statements


def _is_folder(module: str) -> bool:
    return SOURCE.joinpath(*module.split(".")[1:]).is_dir()


def _imported_paths(path: Path) -> set[Path]:
    """Files of the package that a file imports from; `from folder import module` imports from that module."""
    paths = set()
    for node, module in _package_imports(path):
        names = [f".{alias.name}" for alias in node.names] if _is_folder(module) else [""]
        paths |= {_module_path(f"{module}{name}") for name in names}
    return paths


def _module_path(module: str) -> Path:
    """File of a module of the package."""
    path = SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    if not path.is_file():
        raise ValueError(f"expected imports from modules of {PACKAGE}, got one from {module}")
    return path


def _closure(script: Path) -> list[Path]:
    """Files of the modules that a script imports, directly or through others, sorted."""
    modules, waiting = set(), [script]
    while waiting:
        imported = _imported_paths(waiting.pop()) - modules - {script}
        modules |= imported
        waiting += imported
    return sorted(modules)


def _check_names(name: str, modules: list[Path]) -> None:
    """Refuse modules whose last names would clash in one folder."""
    taken = {name: "the script", DEMO: "the folder of the demo", Path(APP).stem: APP}
    for path in modules:
        owner = "the standard library" if path.stem in sys.stdlib_module_names else taken.get(path.stem)
        if owner is not None:
            raise ValueError(f"{path}: expected a name of its own in the bundle, but {owner} has the name {path.stem}")
        taken[path.stem] = str(path)


def _flat(module: str) -> str:
    """Name of a module of the package for the modules beside it in a bundle."""
    return "." if _is_folder(module) else "." + module.rpartition(".")[2]


def _rewrite(path: Path, rename: Callable[[str], str]) -> str:
    """Source with each import from the package on one line, from its new name.

    A trailing comment is dropped, which evaluate would take for a URL.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    for node, module in sorted(_package_imports(path), key=lambda pair: -pair[0].lineno):
        names = ", ".join(map(ast.unparse, node.names))
        lines[node.lineno - 1 : node.end_lineno] = [f"{' ' * node.col_offset}from {rename(module)} import {names}"]
    return "\n".join(lines)


def _import_all(source: str, modules: list[str]) -> str:
    """Source of a script that imports every module at the top, as evaluate copies no other."""
    lines = source.split("\n")
    body = ast.parse(source).body
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    named = {node.module for node in imports if isinstance(node, ast.ImportFrom) and node.level}
    missing = [f"from .{module} import __doc__ as _{module}" for module in modules if module not in named]
    end = imports[-1].end_lineno
    return "\n".join([*lines[:end], *missing, *lines[end:]])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metric", choices=described_metrics(), help="Metric to write.")
    parser.add_argument("folder", type=Path, help="Empty or new folder to write to.")
    text = f"User or organisation on the Hub that the weights come from (default: {HUB_OWNER})."
    parser.add_argument("--owner", default=HUB_OWNER, help=text)
    arguments = parser.parse_args()
    try:
        paths = write_bundle(arguments.metric, arguments.folder, arguments.owner)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    sys.stdout.write(f"{len(paths)} files written to {arguments.folder}\n")


if __name__ == "__main__":
    main()
