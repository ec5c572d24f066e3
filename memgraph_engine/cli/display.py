"""How a result looks, by its type: alone, or as an entry of a list."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import singledispatch
from itertools import chain
from typing import Any, cast

import typer
from rich.text import Text

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target
from memgraph_engine.errors import NotFound
from memgraph_engine.model.answer import Cited, Context, Prompt
from memgraph_engine.model.block import Block, BlockRun, SalientNote
from memgraph_engine.model.claim import Claim, ClaimRun
from memgraph_engine.model.embedder import EmbedderChange, EmbedderStatus
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.ingested import Ingested
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note, Source, label, words
from memgraph_engine.model.result import (
    Anchor,
    Applied,
    Change,
    Considered,
    Decision,
    ErasureReceipt,
    Evicted,
    Evolved,
    Explanation,
    Exported,
    Hit,
    Hold,
    Imported,
    Known,
    QueryPlan,
    Reflection,
    Removed,
    Retrieval,
    Round,
    Session,
    Spending,
    Stats,
    Story,
    Swept,
    Tenant,
    Tie,
    User,
    Version,
)
from memgraph_engine.model.topic import Topic, TopicRun, TopicTie

_MOST_FAR = 1  # unrelated notes that are shown
_QUOTED = 160  # characters of a text that is only named
_READABLE = 400  # characters of a hit, unless all of it is asked for
_ABOUT = {"superseded": "in place of ", "retired": "took back "}
_ON_DISK = (
    "The server's files may hold the words until others are written over them; `memgraph-engine db compact` takes them "
    "out of the managed server's files."
)


def shown(on: Target, found: object, none: str = "", again: str = "") -> Iterator[object]:
    """Yield a result and show it; of an empty list say that there is `none`, and which command makes some."""
    yield found
    if not isinstance(found, Iterable) or isinstance(found, Mapping):
        alone(found, on)
    elif not listed(found) and none:
        typer.echo(f"{none}: {on.again(again)}" if again else none, err=not again)


def listed(found: Iterable[object]) -> bool:
    """Show the entries of a list; False where there are none."""
    entries = iter(found)
    for first in entries:
        every = chain([first], entries)
        if isinstance(first, Spending):
            _spending(list(cast("Iterable[Spending]", every)))
        elif isinstance(first, Block) and not first.fields:
            _tree(cast("Iterable[Block]", every))
        else:
            for number, one in enumerate(every, 1):
                if isinstance(one, Version):
                    typer.echo(f"{number:>2}. ", nl=False)
                entry(one)
        return True
    return False


def _spending(days: Sequence[Spending]) -> None:
    """Print costs day by day, and their sum."""
    total = sum((one.cost for one in days[1:]), days[0].cost)
    rows = []
    for name, cost in [*((f"{one.day}", one.cost) for one in days), ("total", total)]:
        numbers = (f"{number:,}" for number in (cost.calls, cost.input_tokens, cost.output_tokens))
        rows.append((name, *numbers, show.money(cost)))
    show.table([("day", "calls", "tokens read", "written", "money"), *rows])


@singledispatch
def alone(one: object, _on: Target) -> None:
    """Show a result by itself: as in a list, where there is no more to tell."""
    entry(one)


@singledispatch
def entry(one: object) -> None:
    """Show a result as an entry of a list: in a line, where there is no more to tell."""
    typer.echo(show.clean(_LINES[type(one)](one)))


def _span(first: datetime, last: datetime) -> str:
    began, ended = f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"
    return began if began == ended else f"{began} to {ended}"


def _when(began: datetime | None, ended: datetime | None) -> str:
    if not began or not ended:
        return ""
    return f", {show.moment(began) if show.moment(began) == show.moment(ended) else show.period(began, ended)}"


def _claim(one: Claim) -> str:
    by = f"shared by {show.count(one.users, 'user')}"
    if one.first_at and one.last_at:
        by = f"{show.count(len(one.notes), 'note')}, {_span(one.first_at, one.last_at)}"
    return f"{one.id}  {one.confidence:.2f}  {one.text}  ({by})"


def _of_hold(one: Hold) -> str:
    return f"session {one.session}" if one.session else f"source {one.source}" if one.source else "everything"


def _other(one: EmbedderStatus) -> str:
    told = {
        "filling": f"changes to {one.other}, {one.filled:,} of about {one.texts:,} texts are embedded",
        "kept": f"{one.other} is kept for a rollback{f' until {show.moment(one.until)}' if one.until else ''}",
        "leaving": f"a worker removes the vectors of {one.other}",
    }
    return f"; {told[one.state]}" if one.state in told else ""


_LINES: Mapping[type, Callable[[Any], str]] = {
    Anchor: lambda one: f"{one.score:.2f}  {one.keyword}  {show.count(len(one.notes), 'note')}",
    Session: lambda one: f"{show.inline(one.id)}  {show.count(one.sources, 'source')}{_when(one.began, one.ended)}",
    Fact: lambda one: (
        f"{one.since:%Y-%m-%d}  {show.inline(one.text)}{'' if one.holds else f'  (until {one.until:%Y-%m-%d})'}"
    ),
    User: lambda one: f"{one.id}  {show.count(one.notes, 'note')}",
    Tenant: lambda one: (
        f"{one.name}  {show.count(one.users, 'user')}, {show.count(one.notes, 'note')}"
        f"{f', on {one.server}' if one.server else ''}{f', on the way to {one.to}' if one.to else ''}"
    ),
    Hold: lambda one: show.inline(f"{one.id}  {one.at:%Y-%m-%d}  {_of_hold(one)}: {one.reason}"),
    ErasureReceipt: lambda one: (
        f"{one.number}  {show.moment(one.ended)}  {one.rule}: {show.count(one.counts['sources'], 'source')}, "
        f"{show.count(one.counts['notes'], 'note')}; {one.residue} left  {one.hash[:16]}"
    ),
    Topic: lambda one: f"{one.id}  {one.size:>6,}  {', '.join(one.keywords)}",
    TopicTie: lambda one: f"{one.one}  {one.other}  {show.count(one.pairs, 'pair')} of keywords, weight {one.weight:,}",
    TopicRun: lambda one: (
        f"{one.scope}: {show.count(one.topics, 'topic')} of {show.count(one.keywords, 'keyword')}, "
        f"{len(one.created):,} new, {len(one.ended):,} ended, {one.moved:,} moved, {one.joined:,} joined; "
        f"modularity {one.modularity_after:.3f} ({one.modularity_before:.3f} without bounds), "
        f"{one.engine}, {sum(one.seconds.values()):.1f} s"
    ),
    Claim: _claim,
    EmbedderStatus: lambda one: f"{one.embedder} ({one.dimensions} numbers){_other(one)}",
    EmbedderChange: lambda one: (
        f"From {one.embedder} to {one.to}: {one.texts:,} texts, about {one.seconds:,.0f} s and {one.bytes >> 20:,} MB"
        f"{'' if one.free is None else f' of {one.free >> 20:,} MB that are free'}."
        f"{' Begun: a worker does it (`memgraph-engine worker`).' if one.begun else ''}"
    ),
}


# ---- what is asked --------------------------------------------------------------------------


@entry.register
def _(one: Context) -> None:
    show.asked(one.asked)
    if one.entries:
        typer.echo(show.clean(one.text))
    else:
        typer.echo("Nothing found.", err=True)


def hit(rank: int, one: Hit, by: str = "", *, whole: bool = False) -> None:
    """Print a hit: rank, score, date, source ids and what has become of it, then what was said, or how it begins.

    What ceased to be true says until when, and `by` what it was replaced: some words, else the note's id.
    """
    head = Text.assemble(
        (f"{rank:>2}.", "dim"), " ", (f"{one.score:.3f}", "bold green"), f"  {show.moment(one.note.said_at)}  ",
        (ids(one.note), "cyan"), ("" if one.note.status == "active" else f"  {one.note.status}", "dim"),
        (f"  {told}" if (told := until(one.note, by)) else "", "yellow"),
    )  # fmt: skip
    show.put(head)
    lines(one.note, None if whole else _READABLE)


def rounds(some: Sequence[Round]) -> None:
    """Print what was asked in each round, and how sure whoever judged was of what was found by then."""
    for number, one in enumerate(some, 1):
        by = f" by {one.model}" if one.model else ""
        missing = f", missing: {', '.join(one.missing)}" if one.missing else ""
        sure = "" if one.confidence is None else f"(confidence {one.confidence:.2f}{by}{missing})"
        show.put(show.clean(f"round {number}: {one.query}"), show.clean(sure), style="dim")
        if told := _plan(one.plan):
            show.put(show.clean(f"  read as: {told}"), style="dim")
    show.put()


def _plan(one: QueryPlan) -> str:
    """Return how a question was read; '' if nothing was found in it."""
    parts = [f"about {one.topic}" if one.topic else "", ", ".join(one.keywords)]
    for start, end in one.times:
        since = "" if start == UNKNOWN_PAST else f"since {start:%Y-%m-%d}"
        then = "" if end == NEVER else f"until {end - timedelta(milliseconds=1):%Y-%m-%d}"
        parts.append(" ".join(part for part in (since, then) if part))
    if meant := ", ".join(part for part in (*one.policies, one.kind) if part):
        parts.append(f"of {meant}{', of which nothing was found' if one.dropped else ''}")
    return "; ".join(part for part in parts if part)


def explanation(one: Hit, why: Explanation) -> None:
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
    told = [*show.columns(rows), f"similarity {one.similarity:.3f}, proposed by {', '.join(why.proposed_by)}"]
    if moved := why.reranked:
        score = "" if moved.score is None else f" {moved.score:.3f}"
        by = f"{moved.by}{score}" if moved.by else "not shown to a model"
        told.append(show.clean(f"before: place {moved.place}, score {moved.before:.3f}, {by}"))
    for line in told:
        show.put(f"    {line}", style="dim")
    show.put()


@entry.register
def _(one: Cited) -> None:
    sources = show.inline(", ".join(source.id for source in one.sources))
    show.put(Text.assemble(show.clean(one.line), "  ", (sources, "cyan")))


@entry.register
def _(one: Prompt) -> None:
    for message in one.messages:
        typer.echo(show.clean(f"{message['role']}:\n{message['content']}\n"))
    typer.echo(f"{one.tokens:,} of {one.window:,} tokens.", err=True)


@entry.register
def _(one: Reflection) -> None:
    for note in one.notes:
        worth = "" if note.utility is None else f"  {note.before} -> {note.utility}"
        typer.echo(show.clean(f"{note.note}  {note.outcome}{worth}  {note.why}"))


# ---- notes, and what made them --------------------------------------------------------------


def ids(note: Note) -> str:
    """Return the ids of a note's sources."""
    return show.inline(", ".join(source.id for source in note.sources))


def _said(source: Source) -> str:
    """Return a source's words: speaker in front, the caption of an image behind."""
    who = label(source)
    caption = f"[image: {source.caption}]" if source.caption else ""
    return show.clean(" ".join(part for part in (f"{who}:" if who else "", source.text.strip(), caption) if part))


def lines(note: Note, most: int | None = None) -> None:
    """Print a note's own words, with who said them, indented; of a long one the first `most` characters."""
    told = (words(line, note.sources) for line in note.raw)
    text = "\n".join(_said(replace(source, text=one)) if source else show.clean(one) for one, source in told)
    show.indented(text if most is None or len(text) <= most else f"{text[: most - 1].rstrip()}…")


def until(one: Note, by: str = "") -> str:
    """Say until when a note was true, and `by` what it was replaced, else by the id of the note; '' if it is true."""
    then = f", replaced by {by or one.replaced_by}" if one.replaced_by else ""
    of = f'"{one.former}" ' if one.former else ""
    return show.clean(f"{of}until {one.until:%Y-%m-%d}{then}") if one.until else ""


def quoted(text: str) -> str:
    """Return a text in one line and in quotation marks, cut where it is long."""
    told = show.clean(" ".join(text.split()))
    return f'"{told if len(told) <= _QUOTED else told[: _QUOTED - 1] + "…"}"'


@alone.register
def _(note: Note, _on: Target) -> None:
    show.facts(
        {
            "note": note.id,
            "status": note.status,
            "true": until(note) if note.former or not note.until else f"all of it {until(note)}",
            "said": show.moment(note.said_at),
            "recorded": show.moment(note.recorded_at),
            "speaker": note.speaker,
            "role": note.role,
            "trust": note.trust,
            "agent": note.agent,
            "session": note.session,
            "tags": ", ".join(note.tags),
            "keywords": ", ".join(note.keywords),
            "context": note.context,
        },
    )
    for source in note.sources:
        show.put()
        entry(source)


@entry.register
def _(note: Note) -> None:
    told = f"  {then}" if (then := until(note)) else ""
    show.put(Text.assemble((show.moment(note.said_at), "dim"), "  ", (ids(note), "cyan"), (told, "yellow")))
    lines(note)


@entry.register
def _(source: Source) -> None:
    as_given = f" ({source.said_as})" if source.said_as else ""
    show.facts({"source": f"{show.inline(source.id)}{as_given}", "text": _said(source)})


@entry.register
def _(version: Version) -> None:
    note, decision = version.note, version.decision
    made = f"{decision.kind} (decision {decision.id})" if decision else note.status
    show.put(Text.assemble(f"{show.moment(note.recorded_at)}  ", (made, "cyan")))
    show.indented("(deleted)" if note.status == "deleted" else show.clean("\n".join(note.raw)))
    if told := until(note):
        show.put(f"    {told}", style="yellow")


def _decision(one: Decision) -> None:
    """Print a decision: time, kind and id, whether it is undone; the words, why it was made, and by which model."""
    undone = f"  undone by {one.undone_by}" if one.undone_by else ""
    show.put(Text.assemble(f"{show.moment(one.at)}  ", (f"{one.kind:9}", "cyan"), f"  {one.id}", (undone, "dim")))
    for about in one.about:
        show.put(f"    {_ABOUT.get(about.role, '')}{quoted(about.text)}")
    why = " ".join(part for part in (one.evidence, f"(undoes {one.undoes})" if one.undoes else "") if part)
    if why:
        show.put(f"    {show.clean(why)}")
    if one.model:
        cost = f"{one.cost.input_tokens + one.cost.output_tokens:,} tokens"
        show.put(f"    asked {show.clean(one.model)}: {cost}", style="dim")


@entry.register
def _(one: Decision) -> None:
    _decision(one)
    note = [f"note {one.note}"] if one.note else []
    if about := [*note, *(f"source {show.inline(source)}" for source in one.sources)]:
        show.put(f"    {', '.join(about)}")


@alone.register
def _(story: Story, on: Target) -> None:
    note, texts = story.note, _texts(story, on)
    show.facts(
        {
            "note": note.id,
            "status": note.status,
            "true": until(note),
            "keywords": ", ".join(note.keywords),
            "sources": ids(note),
            "context": note.context,
        },
    )
    show.put("\nversions", style="bold")
    for version in story.versions:
        held = show.period(version.note.recorded_at, version.note.superseded_at)
        show.put(f"{held}  {version.note.status}, {show.count(len(version.note.sources), 'source')}")
        for line in version.note.raw:
            show.put(f"    {show.clean(line)}")
    show.put("\ndecisions", style="bold")
    for decision in story.decisions:
        _decision(decision)
        _considered(decision, texts)
    if story.ties:
        show.put("\nties", style="bold")
    for tie in story.ties:
        _tie(tie, on.again(f"untie {note.id} {tie.note}"))


def _texts(story: Story, on: Target) -> dict[str, str]:
    """Return the texts of the notes that were considered; for a deleted one, its status."""
    texts = {story.note.id: "(this note)"}
    for id in (one.note for decision in story.decisions for one in _shown(decision.considered)):
        if id not in texts:
            try:
                note = on.memory().explain(id, **on.owner).note
            except NotFound:
                texts[id] = "(gone)"
            else:
                hidden = note.status in ("deleted", "undone")
                texts[id] = f"({note.status})" if hidden else " / ".join(note.raw)
    return texts


def _shown(considered: Iterable[Considered]) -> list[Considered]:
    """Return the notes that are related, and the best of the others."""
    far = [one for one in considered if one.relation == "none"]
    return [one for one in considered if one.relation != "none"] + far[:_MOST_FAR]


def _considered(decision: Decision, texts: Mapping[str, str]) -> None:
    if decision.considered:
        limits = ", ".join(f"{name} above {limit:g}" for name, limit in decision.thresholds.items())
        show.put(f"    {show.count(len(decision.considered), 'note')} considered ({limits}):", style="dim")
    for one in _shown(decision.considered):
        scores = f"redundancy {one.redundancy:.2f}, complementarity {one.complementarity:.2f}, "
        show.put(f"    {one.relation:8} {scores}similarity {one.similarity:.2f}  {one.note}")
        show.put(f"             {show.clean(texts.get(one.note, ''))}")
        if one.evidence not in decision.evidence:
            show.put(f"             {show.clean(one.evidence)}", style="dim")


def _tie(tie: Tie, untie: str) -> None:
    age = "newer" if tie.newer else "older"
    status = "" if tie.status == "active" else f", {tie.status}"
    show.put(f"{tie.kind} {tie.score:.2f}  {tie.note} ({age}{status})")
    show.put(f"    {show.clean(tie.context)}")
    if tie.kind != "link":
        why = f", whose reasons `explain {tie.note}` tells" if tie.newer and tie.kind == "conflict" else ""
        show.put(f"    by decision {tie.decision}{why}; to take it back: {show.clean(untie)}", style="dim")


# ---- what came in and went out --------------------------------------------------------------


@entry.register
def _(done: Ingested) -> None:
    typer.echo(str(done))
    if done.skipped:
        reasons = sorted(Counter(one.reason for one in done.skipped).items())
        typer.echo(f"Skipped: {', '.join(f'{number:,} {reason}' for reason, number in reasons)}")
    if done.cost.calls:
        calls, tokens = show.count(done.cost.calls, "call"), show.count(done.cost.tokens, "token")
        typer.echo(f"Chat models: {calls}, {tokens}, {show.money(done.cost)}.")


@entry.register
def _(done: Exported) -> None:
    size = f"{done.bytes / 1e6:,.1f} MB, SHA-256 {done.sha256}"
    typer.echo(f"Exported {_whole(done)} to {done.path} ({size}).")


@entry.register
def _(done: Imported) -> None:
    typer.echo(f"Imported {_whole(done)} from {done.path}.")


def _whole(done: Exported | Imported) -> str:
    return f"{show.count(done.nodes, 'node')} and {show.count(done.relationships, 'relationship')}"


# ---- what there is --------------------------------------------------------------------------


@entry.register
def _(counts: Stats) -> None:
    notes = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.notes.items()))
    shared = f"{counts.shared_claims:,}" if counts.shares_claims else ""
    show.facts(
        {
            "scope": counts.scope,
            "language": counts.language,
            "embedder": counts.model,
            "notes": notes or "0",
            "former versions": f"{counts.past:,}",
            "sources": f"{counts.sources:,}",
            "sessions": f"{counts.sessions:,}",
            "keywords": f"{counts.keywords:,}",
            "keyword pairs": f"{counts.pairs:,}",
            "topics": f"{counts.topics:,}",
            "blocks": f"{counts.blocks:,}" if counts.blocks else "",
            "claims": f"{counts.claims:,}" if counts.claims else "",
            "shared claims": "withheld" if counts.withholds_claims else shared,
            "decisions": f"{counts.decisions:,}",
            "profiles": f"{counts.attributes:,} statements" if counts.attributes else "",
            "counted use": f"{counts.used:,} notes" if counts.used else "",
            "retrievals": f"{counts.retrievals:,}" if counts.retrievals else "",
        },
    )


# ---- how long it lives ----------------------------------------------------------------------


@alone.register
def _(receipt: ErasureReceipt, _on: Target) -> None:
    sources, notes = (show.count(receipt.counts[name], name[:-1]) for name in ("sources", "notes"))
    pieces = f"{receipt.residue} pieces left. Receipt {receipt.number} ({receipt.hash[:16]})."
    typer.echo(f"Erased {sources} and {notes}; {pieces}")
    if any(receipt.counts.values()):
        typer.echo(_ON_DISK)


@alone.register
def _(swept: Swept, on: Target) -> None:
    typer.echo(f"Archived {show.count(swept.notes, 'note')}.")
    for receipt in swept.erased:
        alone(receipt, on)
    for hold in swept.held:
        typer.echo(show.clean(f"Not erased, since hold {hold.id} keeps it: {hold.reason}"), err=True)
    if swept.pruned:
        typer.echo(f"Removed {swept.pruned:,} former versions, decisions and runs that were too old.")
    on.undoing("To bring them back", swept.decisions)
    on.failed = any(one.residue for one in swept.erased)


@alone.register
def _(done: Evicted, on: Target) -> None:
    caps = [f"{done.cap:,}" if done.cap else "", f"{done.cap_mb:,g} MB" if done.cap_mb else ""]
    cap = f"the cap is {' and '.join(filter(None, caps))}" if any(caps) else "there is no cap"
    if done.notes:
        archived = "Archived" if done.decisions else "Would archive"
        made = "1 summary stands" if done.summaries == 1 else f"{done.summaries:,} summaries stand"
        typer.echo(f"{archived} {show.count(done.notes, 'note')}, for which {made}.")
    typer.echo(f"{show.count(done.left, 'note')} left; {cap}.")
    on.undoing("To bring back what one sums", done.decisions, done.fallbacks)


@alone.register
def _(done: Evolved, on: Target) -> None:
    made = f"{show.count(done.ties, 'tie')}, {show.count(done.contexts, 'context')}"
    looked = f"Looked at {show.count(done.notes, 'new note')}"
    joined = f" Joined {show.count(done.joined, 'note')}." if done.joined else ""
    typer.echo(f"{looked}, changed {made} and the tags of {show.count(done.tags, 'note')}.{joined}")
    on.undoing("To take it back", done.decisions, done.fallbacks)


@alone.register
def _(applied: Applied, on: Target) -> None:
    become, end = ("became", "end") if applied.decisions else ("would become", "would end")
    for name, notes in applied.classes.items():
        typer.echo(f"{show.count(notes, 'note')} {become} {name}.")
    if applied.ends:
        typer.echo(f"{show.count(applied.ends, 'note')} of the same policy {end} at another time.")
    if not applied.classes and not applied.ends:
        typer.echo("Nothing changes: all notes are as the policies say.")
    on.undoing("To take it back", applied.decisions)


# ---- audits ---------------------------------------------------------------------------------


@entry.register
def _(one: Known) -> None:
    note = one.note
    told = f"  {then}" if (then := until(note)) else ""
    show.put(f"{show.moment(note.said_at)}  {note.id}  {note.status}{told}", style="bold")
    lines(note)
    show.put(f"    {show.clean(one.kept)}")
    for hold in one.holds:
        show.put(show.clean(f"    Held by {hold.id}: {hold.reason}"))
    show.put(f"    sources: {ids(note)}")
    for decision in one.decisions:
        show.put(f"    {show.moment(decision.at)}  {decision.kind}  {decision.id}")


@entry.register
def _(one: Removed) -> None:
    by = f"receipt {one.receipt.number} ({one.receipt.hash[:16]})" if one.receipt else ""
    if one.decision:
        undone = f", undone by {one.decision.undone_by}" if one.decision.undone_by else ""
        by = f"decision {one.decision.id}{undone}  {one.decision.evidence}".rstrip()
    what = show.count(one.notes, "note")
    if one.decision and not one.notes:
        what = f"a source of note {one.decision.note}" if one.decision.note else "sources of notes that stay"
    typer.echo(show.clean(f"{show.moment(one.at)}  {one.rule}: {what}  {by}"))


@entry.register
def _(one: Retrieval) -> None:
    by = "".join(f"  {name} {value}" for name, value in (("agent", one.agent), ("session", one.session)) if value)
    told = f"  {one.query}" if one.query else ""
    typer.echo(show.clean(f"{show.moment(one.at)}  {one.call}{by}{told}"))
    for given in one.notes:
        worth = "" if given.utility is None else f", utility {given.utility}"
        typer.echo(f"    {given.note}  version {given.revision}{worth}")


@entry.register
def _(one: Change) -> None:
    made = f"{one.decision.kind} (decision {one.decision.id})" if one.decision else ""
    typer.echo(f"{show.moment(one.at)}  {made}".rstrip())
    for name in one.now:
        was = f"{_value(one.was, name)} -> " if name in one.was else ""
        typer.echo(show.clean(f"    {name}: {was}{_value(one.now, name)}"))


def _value(told: Mapping[str, object], name: str) -> str:
    value = told[name]
    if isinstance(value, datetime):
        return "never" if value.year == 9999 else show.moment(value)
    return " / ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


# ---- topics, blocks and claims --------------------------------------------------------------


@alone.register
def _(topic: Topic, _on: Target) -> None:
    typer.echo(f"{topic.id}  {show.clean(topic.label)}  ({show.count(topic.size, 'keyword')})")
    for keyword in topic.keywords:
        typer.echo(f"  {show.clean(keyword)}")


@alone.register
def _(block: Block, on: Target) -> None:
    typer.echo(_head(block))
    _fields(block, notes=True)
    if block.described_by:
        typer.echo(f"  described by {show.clean(block.described_by)}")
    for part in on.memory().outline(below=block.id, **on.owner):
        typer.echo(f"  part: {_head(part)}")


@entry.register
def _(block: Block) -> None:
    typer.echo(_head(block))
    _fields(block, notes=False)


def _tree(blocks: Iterable[Block]) -> None:
    """Show blocks without their fields in the tree's order, what each holds behind it and indented."""
    around = list[Block]()
    for block in blocks:
        while around and around[-1].left < block.entered:
            around.pop()
        typer.echo(f"{'  ' * len(around)}{_head(block)}")
        around.append(block)


def _head(one: Block) -> str:
    """Return the line that a block begins with."""
    score = "" if one.score is None else f"  {one.score:.2f}"
    held = f"{show.count(one.notes, 'note')}, {_span(one.first_at, one.last_at)}"
    return f"{one.id}{score}  {held}{', stale' if one.stale else ''}"


def _fields(block: Block, *, notes: bool) -> None:
    for name, value in block.fields.items():
        parts = (
            [f"{part}: {', '.join(one)}" for part, one in value.items() if one] if isinstance(value, Mapping) else value
        )
        some = parts if isinstance(parts, list | tuple) else [parts]
        for note in some if notes else ():
            if isinstance(note, Note | SalientNote):
                typer.echo(f"  {name}: {show.clean(note.text if isinstance(note, Note) else str(note))}")
        words = [one for one in some if one and not isinstance(one, Note | SalientNote)]
        told = [f"{one:%Y-%m-%d}" if isinstance(one, datetime) else str(one) for one in words]
        if told:
            typer.echo(f"  {name}: {show.inline(', '.join(told))}")


@entry.register
def _(run: BlockRun) -> None:
    typer.echo(
        f"{show.clean(run.scope)}: {show.count(run.blocks, 'block')} of {show.count(run.notes, 'note')}, "
        f"{run.leaves:,} leaves, {run.kept:,} kept, {run.created:,} new, {run.renewed:,} renewed, {run.ended:,} ended; "
        f"{sum(run.seconds.values()):.1f} s"
    )
    if run.described or run.described_before or run.undescribed:
        typer.echo(
            f"A model described {show.count(run.described, 'block')} now, {run.described_before:,} before; "
            f"{run.undescribed:,} are told by their notes alone."
        )
    show.fallbacks(run.fallbacks)


@alone.register
def _(claim: Claim, on: Target) -> None:
    entry(claim)
    typer.echo(f"  {claim.kind}: {show.clean(claim.subject)} > {show.clean(claim.object)}")
    if claim.made_by:
        typer.echo(f"  made by {show.clean(claim.made_by)}")
    for note in (on.memory().get(note, **on.owner) for note in claim.notes):
        typer.echo(f"  {note.id}  {note.said_at:%Y-%m-%d}  {show.clean(note.text)}")


@entry.register
def _(run: ClaimRun) -> None:
    typer.echo(
        f"{show.clean(run.scope)}: {show.count(run.notes, 'note')} read, {show.count(run.claims, 'claim')} found, "
        f"{run.created:,} new, {run.removed:,} removed"
    )
    if run.abstracted or run.deferred or run.refused:
        typer.echo(
            f"A model read {show.count(run.abstracted, 'note')}; {show.count(run.refused, 'claim')} of it refused, "
            f"{show.count(run.deferred, 'note')} left to be read by it in the next run."
        )
    show.fallbacks(run.fallbacks)
