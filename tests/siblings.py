"""Files that several metric folders need: each stands alone as a Space, so each has a copy of its own.

`make siblings` writes the copies anew from the first; `test_siblings` sees that they are equal.
"""

from pathlib import Path
import shutil

METRICS = Path(__file__).parents[1] / "metrics"
COPIES = {  # the file that is edited -> the folders that have a copy of it
    "matcha/demo.py": ("stsscore", "nli_lex", "set_criteria"),
    "matcha/demo_parts.py": ("stsscore", "nli_lex", "set_criteria"),
    "matcha/inputs.py": ("stsscore", "nli_lex", "set_criteria"),
    "matcha/intake.py": ("stsscore", "nli_lex", "set_criteria"),
    "matcha/locate.py": ("stsscore", "nli_lex", "set_criteria"),
    "stsscore/cross_encoder.py": ("nli_lex",),
    "stsscore/explain_pairs.py": ("nli_lex",),
    "stsscore/pair_model.py": ("nli_lex",),
    "stsscore/precision.py": ("nli_lex",),
}


def pairs() -> list[tuple[Path, Path]]:
    """Each file that is edited, with each of its copies."""
    names = [(name, folder) for name, folders in COPIES.items() for folder in folders]
    return [(METRICS / name, METRICS / folder / Path(name).name) for name, folder in names]


if __name__ == "__main__":
    for source, copy in pairs():
        shutil.copyfile(source, copy)
