"""A progress bar on stderr: on a terminal only, so that a log stays readable."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memgraph_engine.cli import show

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from memgraph_engine.model.ingested import Ingested


class Bar:
    """A running bar, and a place to say something beside it."""

    def __init__(self, progress: "Progress", task: "TaskID") -> None:
        self._progress, self._task = progress, task
        self._phases = {"wait"}  # while which another run works

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

    def phase(self, name: str) -> None:
        """Count a phase of a run, once."""
        self.advance(name not in self._phases)
        self._phases.add(name)

    def tell(self, line: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(show.inline(line))


class Shown:
    """Shows on a bar how far an ingest is, and what can't be read or is a link, as it comes."""

    def __init__(self, bar: Bar) -> None:
        from memgraph_engine.model.ingested import Ingested

        self._bar = bar
        self.done = Ingested()

    def __call__(self, done: "Ingested") -> None:
        """Show what came of it so far."""
        links = (f"{one}; it is not followed" for one in done.skipped[len(self.done.skipped) :] if one.is_link)
        new = (*done.faults[len(self.done.faults) :], *done.remarks[len(self.done.remarks) :], *links)
        for line in map(str, new):
            self._bar.tell(line)
        self._bar.advance(done.inputs - self.done.inputs)
        self.done = done


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
