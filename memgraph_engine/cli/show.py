"""How text, JSON and progress are printed: calm text for people, one document for machines."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

from memgraph_engine.interface.results import json_form

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from memgraph_engine.cost import Cost
    from memgraph_engine.model.ingested import Ingested


def money(cost: "Cost") -> str:
    """Return what something cost, in US dollars."""
    return "of unknown price" if cost.money is None else f"${cost.money:,.4f}"


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, the first one as their names."""
    head, *rest = columns(rows)
    put(head, style="dim")
    for one in rest:
        put(one)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of equal length as lines: the first column to the left, numbers to the right, nothing behind them.

    >>> columns([("day", "calls"), ("Monday", "7"), ("Friday", "")])
    ['day     calls', 'Monday      7', 'Friday']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def document(value: object) -> None:
    """Print one JSON document."""
    typer.echo(_json(value))


def line(value: object) -> None:
    """Print one JSON document on one line, at once."""
    typer.echo(_json(value, indent=None))


def array(values: Iterable[object]) -> None:
    """Print one JSON array, entry by entry, however long it is."""
    separator = "["
    for value in values:
        typer.echo(f"{separator}\n{_json(value)}", nl=False)
        separator = ","
    typer.echo("[]" if separator == "[" else "\n]")


def _json(value: object, indent: int | None = 2) -> str:
    """Return JSON in which what a terminal would obey is escaped, so that a program reads what was stored."""
    text = json.dumps(json_form(value), ensure_ascii=False, indent=indent)
    return clean(text, lambda sign: json.dumps(sign[0])[1:-1])


def console(*, err: bool = False) -> "Console":
    """Return where people read: coloured and wrapped on a terminal only, and nothing stored is taken as markup."""
    from rich.console import Console

    terminal = (sys.stderr if err else sys.stdout).isatty()
    return Console(stderr=err, markup=False, highlight=False, emoji=False, soft_wrap=not terminal)


def put(*parts: object, **how: Any) -> None:
    """Print a line where people read, styled as rich's consoles take it."""
    console().print(*parts, **how)


def clean(text: str, *stands: "str | Callable[[re.Match[str]], str]") -> str:
    """Return a text from elsewhere as it is printed (`model.marker.shown`)."""
    from memgraph_engine.model.marker import shown  # what knows all signs takes its time to load: a hook needs none

    return shown(text, *stands)


def fallbacks(reasons: Iterable[str]) -> None:
    """Tell, beside what is printed, what was done without a model, and why."""
    for reason in reasons:
        typer.echo(clean(reason), err=True)


def asked(question: str) -> None:
    """Tell, beside what is printed, how a question that refers back was understood; nothing of one that does not."""
    if question:
        typer.echo(clean(f"Asked as: {question}"), err=True)


def inline(text: str) -> str:
    r"""Return a text as a part of a line, such as the name of a file, which may hold line breaks.

    >>> inline("a\nb\x1b[2Jc")
    'a�b�[2Jc'
    """
    return re.sub(r"[\t\n]", "�", clean(text))


def moment(at: datetime) -> str:
    """Return a time as people read it.

    >>> moment(datetime(2024, 5, 1, 10, 30))
    '2024-05-01 10:30 UTC'
    """
    return f"{at:%Y-%m-%d %H:%M} UTC"


def period(began: datetime, ended: datetime) -> str:
    """Return from when until when something was; the year 9999 is not yet.

    >>> period(datetime(2024, 5, 1, 10, 30), datetime(2024, 5, 2))
    '2024-05-01 10:30 to 2024-05-02 00:00 UTC'
    """
    return f"{began:%Y-%m-%d %H:%M} to {moment(ended)}" if ended.year < 9999 else f"{moment(began)} to now"


def indented(text: str) -> None:
    """Print lines with four blanks in front, also where a terminal wraps them, and none behind."""
    from rich.padding import Padding

    out = console()
    for one in text.splitlines():
        out.print(Padding(one, (0, 0, 0, 4), expand=False) if out.is_terminal else f"    {one}".rstrip())


def facts(rows: Mapping[str, object]) -> None:
    """Print names and values in two columns, leaving out what is empty."""
    from rich.table import Table

    out = console()
    shown = {name: clean(str(value)) for name, value in rows.items() if value not in ("", None, ())}
    width = max(map(len, shown))
    for name, value in shown.items():
        if not out.is_terminal:
            out.print(f"{name:{width}}  {value}".replace("\n", "\n" + " " * (width + 2)))
            continue
        # a table each: one for all would fill every line up with spaces
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="dim", width=width)
        grid.add_column(overflow="fold")
        grid.add_row(name, value)
        out.print(grid)


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "note"), count(2000, "note")
    ('1 note', '2,000 notes')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
        self._progress.console.print(inline(line))


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
        console=console(err=True),
        disable=not seen,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with progress:
        yield Bar(progress, progress.add_task(title, total=total() if seen else None, rate=""))
