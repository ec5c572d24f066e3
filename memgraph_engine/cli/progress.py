"""A progress bar on stderr: on a terminal only, so that a log stays readable."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memgraph_engine.cli import show

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A running bar, and a place to say something beside it."""

    def __init__(self, progress: "Progress", task: "TaskID") -> None:
        self._progress = progress
        self._task = task

    def advance(self, by: int) -> None:
        """Count on, and work out the rate."""
        self._progress.advance(self._task, by)
        speed = self._progress.tasks[self._task].speed
        self._progress.update(self._task, rate=f"{speed:,.0f}/s" if speed else "")

    def expect(self, total: int) -> None:
        """Say how much there is to count, where that is not known at the beginning."""
        self._progress.update(self._task, total=total)

    def reach(self, done: int, total: int) -> None:
        """Say how much is done, of how much."""
        self.expect(total)
        self.advance(done - int(self._progress.tasks[self._task].completed))

    def tell(self, line: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(show.inline(line))


@contextmanager
def bar(title: str, total: Callable[[], int | None]) -> Iterator[Bar]:
    """Show a bar with count and rate while the block runs; `total` (None: not known) is asked for where it is seen."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    seen = sys.stderr.isatty()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=show.console(err=True),
        disable=not seen,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with progress:
        yield Bar(progress, progress.add_task(title, total=total() if seen else None, rate=""))
