"""How results look: one JSON document for machines, or calm text for people."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import typer

from memgraph_engine.interface.results import json_form
from memgraph_engine.model.marker import shown
from memgraph_engine.model.text import label, words

if TYPE_CHECKING:
    from rich.console import Console

    from memgraph_engine.cost import Cost
    from memgraph_engine.model.answer import Cited
    from memgraph_engine.model.memory import Note, Source
    from memgraph_engine.model.result import (
        Decision,
        ErasureReceipt,
        Explanation,
        Hit,
        QueryPlan,
        Reranked,
        Round,
        Spending,
    )

_ABOUT = {"superseded": "in place of ", "retired": "took back "}
_SHOWN = 0.005  # what adds less to a hit's rank is not told
_QUOTED = 160  # characters of a text that is only named
_READABLE = 400  # characters of a hit, unless all of it is asked for


def money(cost: "Cost") -> str:
    """Return what something cost, in US dollars."""
    return "of unknown price" if cost.money is None else f"${cost.money:,.4f}"


def spending(out: "Console", days: "Sequence[Spending]") -> None:
    """Print costs day by day, and their sum."""
    total = sum((one.cost for one in days[1:]), days[0].cost)
    rows = []
    for name, cost in [*((f"{one.day}", one.cost) for one in days), ("total", total)]:
        numbers = (f"{number:,}" for number in (cost.calls, cost.input_tokens, cost.output_tokens))
        rows.append((name, *numbers, money(cost)))
    table(out, [("day", "calls", "tokens read", "written", "money"), *rows])


def table(out: "Console", rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, the first one as their names."""
    head, *rest = columns(rows)
    out.print(head, style="dim")
    for one in rest:
        out.print(one)


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
    return shown(text, lambda sign: json.dumps(sign[0])[1:-1])


def console(*, err: bool = False) -> "Console":
    """Return where people read: coloured and wrapped on a terminal only, and nothing stored is taken as markup."""
    from rich.console import Console

    terminal = (sys.stderr if err else sys.stdout).isatty()
    return Console(stderr=err, markup=False, highlight=False, emoji=False, soft_wrap=not terminal)


clean = shown
"""What every text from elsewhere is printed by."""


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


def said(source: "Source") -> str:
    """Return a source's words: speaker in front, the caption of an image behind."""
    who = label(source)
    caption = f"[image: {source.caption}]" if source.caption else ""
    return clean(" ".join(part for part in (f"{who}:" if who else "", source.text.strip(), caption) if part))


def quoted(text: str) -> str:
    """Return a text in one line and in quotation marks, cut where it is long."""
    told = clean(" ".join(text.split()))
    return f'"{told if len(told) <= _QUOTED else told[: _QUOTED - 1] + "…"}"'


def lines(out: "Console", note: "Note", most: int | None = None) -> None:
    """Print a note's own words, with who said them, indented; of a long one the first `most` characters."""
    told = (words(line, note.sources) for line in note.raw)
    text = "\n".join(said(replace(source, text=one)) if source else clean(one) for one, source in told)
    indented(out, text if most is None or len(text) <= most else f"{text[: most - 1].rstrip()}…")


def indented(out: "Console", text: str) -> None:
    """Print lines with four blanks in front, also where a terminal wraps them, and none behind."""
    from rich.padding import Padding

    for one in text.splitlines():
        out.print(Padding(one, (0, 0, 0, 4), expand=False) if out.is_terminal else f"    {one}".rstrip())


def ids(note: "Note") -> str:
    """Return the ids of a note's sources."""
    return inline(", ".join(source.id for source in note.sources))


def hit(out: "Console", rank: int, one: "Hit", by: str = "", *, whole: bool = False) -> None:
    """Print a hit: rank, score, date, source ids and what has become of it, then what was said, or how it begins.

    What ceased to be true says until when, and `by` what it was replaced: some words, else the note's id.
    """
    from rich.text import Text

    head = Text.assemble(
        (f"{rank:>2}.", "dim"), " ", (f"{one.score:.3f}", "bold green"), f"  {moment(one.note.said_at)}  ",
        (ids(one.note), "cyan"), ("" if one.note.status == "active" else f"  {one.note.status}", "dim"),
        (f"  {told}" if (told := until(one.note, by)) else "", "yellow"),
    )  # fmt: skip
    out.print(head)
    lines(out, one.note, None if whole else _READABLE)


def until(one: "Note", by: str = "") -> str:
    """Say until when a note was true, and `by` what it was replaced, else by the id of the note; '' if it is true."""
    then = f", replaced by {by or one.replaced_by}" if one.replaced_by else ""
    of = f'"{one.former}" ' if one.former else ""
    return clean(f"{of}until {one.until:%Y-%m-%d}{then}") if one.until else ""


def cited(out: "Console", one: "Cited") -> None:
    """Print an entry of a context, and the ids of its sources."""
    from rich.text import Text

    sources = inline(", ".join(source.id for source in one.sources))
    out.print(Text.assemble(clean(one.line), "  ", (sources, "cyan")))


def rounds(out: "Console", some: "Sequence[Round]") -> None:
    """Print what was asked in each round, and how sure whoever judged was of what was found by then."""
    for number, one in enumerate(some, 1):
        by = f" by {one.model}" if one.model else ""
        missing = f", missing: {', '.join(one.missing)}" if one.missing else ""
        sure = "" if one.confidence is None else f"(confidence {one.confidence:.2f}{by}{missing})"
        out.print(clean(f"round {number}: {one.question}"), clean(sure), style="dim")
        if told := plan(one.plan):
            out.print(clean(f"  read as: {told}"), style="dim")
    out.print()


def plan(one: "QueryPlan") -> str:
    """Return how a question was read; '' if nothing was found in it."""
    from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST

    parts = [f"about {one.topic}" if one.topic else "", ", ".join(one.keywords)]
    for start, end in one.times:
        since = "" if start == UNKNOWN_PAST else f"since {start:%Y-%m-%d}"
        until = "" if end == NEVER else f"until {end - timedelta(milliseconds=1):%Y-%m-%d}"
        parts.append(" ".join(part for part in (since, until) if part))
    return "; ".join(part for part in parts if part)


def explanation(out: "Console", one: "Hit", why: "Explanation") -> None:
    """Print which channels brought a hit, and what each gave to its score."""
    scores = ((name, (one.raw, one.normalised, one.weighted)) for name, one in why.channels.items())
    rows = [
        ("channel", "raw", "normalised", "weighted"),
        *((name, *(f"{x:.3f}" for x in some)) for name, some in scores),
        ("neighbours", "", "", f"{why.neighbours:.3f}"),
        ("session", "", "", f"{why.session:.3f}"),
    ]
    rows += [
        (f"use: {name}", *(f"{x:.3f}" for x in (of.raw, of.normalised, of.weighted))) for name, of in why.use.items()
    ]
    proposed = f"similarity {one.similarity:.3f}, proposed by {', '.join(why.proposed_by)}"
    for told in (*columns(rows), proposed, *(_reranked(why.reranked) if why.reranked else ())):
        out.print(f"    {told}", style="dim")
    out.print()


def _reranked(one: "Reranked") -> list[str]:
    """Say in a line where a hit stood before it was reranked, and what the reranker gave to it."""
    given = f", {one.by}{'' if one.score is None else f' {one.score:.3f}'}" if one.by else ", not shown to a model"
    return [clean(f"before: place {one.place}, score {one.before:.3f}{given}")]


def decision(out: "Console", one: "Decision") -> None:
    """Print a decision: time, kind and id, whether it is undone; the words, why it was made, and by which model."""
    from rich.text import Text

    undone = f"  undone by {one.undone_by}" if one.undone_by else ""
    out.print(Text.assemble(f"{moment(one.at)}  ", (f"{one.kind:9}", "cyan"), f"  {one.id}", (undone, "dim")))
    for about in one.about:
        out.print(f"    {_ABOUT.get(about.role, '')}{quoted(about.text)}")
    why = " ".join(part for part in (one.evidence, f"(undoes {one.undoes})" if one.undoes else "") if part)
    if why:
        out.print(f"    {clean(why)}")
    if one.model:
        cost = f"{one.cost.input_tokens + one.cost.output_tokens:,} tokens"
        out.print(f"    asked {clean(one.model)}: {cost}", style="dim")


def facts(out: "Console", rows: Mapping[str, object]) -> None:
    """Print names and values in two columns, leaving out what is empty."""
    from rich.table import Table

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


_ON_DISK = (
    "The server's files may hold the words until others are written over them; `memgraph-engine db compact` takes them "
    "out of the managed server's files."
)


def erased(receipt: "ErasureReceipt") -> str:
    """Say what an erasure did, and what still holds the words."""
    done = (
        f"Erased {count(receipt.counts['sources'], 'source')} and {count(receipt.counts['notes'], 'note')}; "
        f"{receipt.residue} pieces left. Receipt {receipt.number} ({receipt.hash[:16]})."
    )
    return f"{done}\n{_ON_DISK}" if any(receipt.counts.values()) else done


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "note"), count(2000, "note")
    ('1 note', '2,000 notes')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
