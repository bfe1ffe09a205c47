"""Progress bars: how much is done, how fast, and the time that is left; for whatever takes more than two seconds."""

import os
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY_SECONDS = 2  # what is done sooner shows no bar
SWITCH = "TQDM_DISABLE"  # tqdm reads it itself, but only where nobody says whether a bar is shown
Item = TypeVar("Item")
_shown: ContextVar[bool] = ContextVar("semantic_metrics_progress", default=True)


def progress_bar(total: int | None, unit: str, title: str | None = None) -> "tqdm":
    """A bar on standard error, if that is a terminal; it goes when all is done; `total` is None if it is not known."""
    from tqdm import tqdm

    wanted = _shown.get() and os.environ.get(SWITCH, "").lower() in ("", "0", "false")
    disable = None if wanted and sys.stderr is not None else True  # None: shown on a terminal only
    return tqdm(total=total, desc=title, unit=unit, unit_scale=True, delay=DELAY_SECONDS, disable=disable, leave=False)


def with_progress(
    items: Iterable[Item], unit: str, total: int | None = None, title: str | None = None
) -> Iterator[Item]:
    """The items, with a `progress_bar`; its total is by default their length, if they have one."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with progress_bar(total, unit, title) as bar:
        for item in items:
            yield item
            bar.update()


@contextmanager
def progress(shown: bool) -> Iterator[None]:
    """Show bars, or none, in what runs inside; none stay away also where a call inside would show them."""
    token = _shown.set(shown and _shown.get())
    try:
        yield
    finally:
        _shown.reset(token)
