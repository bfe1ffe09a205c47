"""Where a pretrained model is."""

from importlib import resources
from pathlib import Path


def find_model(name: str) -> str:
    """`package:NAME/FOLDER` -> the folder that an installed package carries; a folder or Hub id stays as it is.

    Raises ValueError: no such package, or one without the folder.
    """
    kind, _, rest = name.partition(":")
    if kind != "package" or not rest:
        return name
    package, _, folder = rest.partition("/")
    try:
        path = Path(str(resources.files(package))) / folder
    except ModuleNotFoundError:
        raise ValueError(f"init: package {package!r} is not installed (pip install it, or name a Hub id)") from None
    if not path.is_dir():
        raise ValueError(f"init: package {package!r} holds no folder {folder!r}")
    return str(path)
