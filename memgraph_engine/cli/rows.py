"""The commands that call a method and show its result; how that looks is a matter of its type (`display`)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, Signature
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory, on_tenant
from memgraph_engine.cli.options import MANY, Budget, Considered, History, NoteId, Query
from memgraph_engine.interface.defaults import BLOCKS, CLAIMS, FACTS, NEWEST, OUTLINE, TOP_K
from memgraph_engine.interface.filters import NoteFilters, SearchFilters
from memgraph_engine.operations import OPERATIONS
from memgraph_engine.remote import EMBEDS

_NOTHING = "Nothing found."
_METHODS = {one.cli: one for some in OPERATIONS.values() for one in some}


@dataclass(frozen=True, slots=True)
class Row:
    """A command: its help, and the arguments of its method."""

    about: str
    takes: Mapping[str, Any] = field(default_factory=dict)
    """Each by a line, by an annotation, or by that and its default (`options.described`)."""
    method: str = ""
    """Its path, where the table of operations doesn't tell it."""
    done: str = ""
    """What it did, of its arguments and of what was `made`."""
    none: str = ""
    """What is said where it found nothing."""
    again: str = ""
    """The command that makes what was looked for."""
    bar: tuple[str, int] | None = None
    """What a bar says while it runs, and the number of its phases; 0 where it counts lines."""
    anybody: bool = False
    """Whether it is also for a user who was never written to, or of whom all was erased."""
    asking: bool = False
    """Whether the shared memory is asked for a user who was never written to."""


def command(name: str) -> Callable[..., None]:
    """Return the command of a row."""
    row, one = ROWS[name], _METHODS.get(name)
    whole = one is not None and one.whole

    def run(on: Target, filters: Any = None, **given: Any) -> Iterator[object]:
        memory: Any = on.server() if one and one.name in EMBEDS else None
        memory = memory or (on.connect() if whole or row.anybody else on.memory(asking=row.asking))
        own: Mapping[str, object] = {} if whole else on.owner
        call = partial(attrgetter(one.name if one else row.method)(memory), **given, **(filters or {}), **own)
        found = _run(call, *row.bar) if row.bar else call()
        if one and one.listed == "faults":
            yield from on.faults(found)
        elif row.done:
            yield one.answer(found, given) if one else found
            typer.echo(show.clean(row.done.format(**given, made=found)))
        else:
            from memgraph_engine.cli.display import shown

            yield from shown(on, found, row.none, row.again)

    run.__doc__ = row.about
    takes = [Parameter("on", Parameter.KEYWORD_ONLY), *(_parameter(*one) for one in row.takes.items())]
    run.__signature__ = Signature(takes)  # type: ignore[attr-defined]
    return (on_tenant if whole else on_memory)(run)


def _run(call: Callable[..., object], title: str, phases: int) -> Any:
    with show.bar(title, lambda: phases or None) as bar:
        return call(progress=bar.phase if phases else bar.reach)


def _parameter(name: str, told: Any) -> Parameter:
    kind, default = told if isinstance(told, tuple) else (told, Parameter.empty)
    annotation = Annotated[str, kind] if isinstance(kind, str) else kind
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _option(line: str) -> tuple[Any, None]:
    return Annotated[str | None, line], None


def _switch(line: str) -> tuple[Any, bool]:
    return Annotated[bool, line], False


def _number(line: str, default: int) -> tuple[Any, int]:
    return Annotated[int, line, MANY], default


_NOTE, _QUERY = {"id": NoteId}, {"query": Query}
_RUNS = {"limit": _number("--limit -n N: How many, at most.", NEWEST)}
_CLAIMS = {"top_k": _number("--top-k -n N: How many claims, at most.", CLAIMS)}
_DRY_RUN = {"dry_run": _switch("Only tell what would change.")}
_WHEN = {
    "since": _option("TIME: Only what left then or later, ISO 8601."),
    "until": _option("TIME: Only what left then or before, ISO 8601."),
}
ROWS: Mapping[str, Row] = {
    "context": Row(
        "Print what the memory holds on a question.\n\nIts lines are numbered and dated, for the prompt of a model. "
        "A user's question reads the tenant's shared memory too.",
        {
            "query": Query,
            "budget": (Budget, None),
            "top_k": (Considered, TOP_K),
            "by": (
                Annotated[Literal["notes", "blocks"], "What finds the notes: a search, or the nearest blocks."],
                "notes",
            ),
            "claims": (
                Annotated[bool | None, "--claims/--no-claims: Add claims on what the question names, or none at all."],
                None,
            ),
            "facts": _switch("Tell notes by their facts, these first, in fewer tokens."),
            "history": (History, ""),
            "filters": SearchFilters,
        },
        asking=True,
    ),
    "prompt": Row(
        "Print the messages to give a model for a question.",
        {
            "query": Query,
            "session": (Annotated[str, "ID: The conversation that goes on, if there is one."], ""),
            "system": (Annotated[str, "TEXT: What stands in front of all else."], ""),
            "window": (
                Annotated[int | None, "TOKENS: The model's; else the setting `prompt.window`.", {"min": 1}],
                None,
            ),
            "top_k": (Considered, TOP_K),
            "include": (Annotated[list[str], "POLICY: Also notes of this policy, which are shown if asked for."], ()),
        },
        asking=True,
    ),
    "reflect": Row(
        "Say which of the notes shown an answer used.\n\n"
        "Others were contradicted or left. How useful each has proved is kept.",
        {
            **_QUERY,
            "answer": "ANSWER: What was answered.",
            "shown": Annotated[list[str], "--shown ID: A note that was shown, the best first; can be repeated."],
        },
        asking=True,
    ),
    "anchors": Row("Show the keywords through which a question finds notes.", _QUERY, none=_NOTHING, asking=True),
    "get": Row("Show a note with its fields and sources.", _NOTE),
    "list": Row("List notes, oldest first; all without options.", {"filters": NoteFilters}, none=_NOTHING),
    "source": Row("Show a message or passage as it came.", {"id": "ID: The id of a source."}),
    "history": Row("Show all versions of a note, oldest first.", _NOTE),
    "explain": Row("Tell how a note came to be what it is, and its ties.", _NOTE),
    "decisions": Row(
        "List what changed a memory, newest first.",
        {**_RUNS, "until": _option("TIME: Only decisions made until then, ISO 8601; a day means its end.")},
    ),
    "facts": Row(
        "List what is true now of a user, or of what has a name.\n\nEach line is a clause of what was said, behind the "
        "day since when it holds; what was said last comes first.",
        {
            "about": (Annotated[str, "--about NAME: Somebody or something; else what the user stated."], ""),
            "former": _switch("Also what later statements replaced, with its end."),
            "limit": _number("--limit -n N: How many facts, at most.", FACTS),
        },
        none="Nothing is known.",
    ),
    "sessions": Row("List the sessions and documents of a memory, latest first.", none="There are no sessions."),
    "stats": Row("Count what a memory holds."),
    "cost": Row(
        "Show what chat models cost a memory, by day (UTC).",
        {"since": _option("TIME: The first day, ISO 8601.")},
        none="No chat model was asked.",
    ),
    "users": Row("List the users of a tenant, each with the number of notes.", none="The tenant has no users."),
    "tenants list": Row("List all tenants, for those who run the database.", none="The database has no tenants."),
    "update": Row(
        "Give a note a new text; `history` keeps the old one.",
        {**_NOTE, "text": "TEXT: The new text."},
        done="Updated note {made.note} (decision {made.id}).",
    ),
    "undo": Row(
        "Take a decision back.\n\nNotes that it created go, notes that it changed are as before.",
        {
            "decision": "DECISION: A decision's id, as `decisions` lists it.",
            "cascade": _switch("First undo the later decisions that changed what it made; `decisions` lists them."),
        },
        done="Undid decision {made.undoes} (decision {made.id}).",
    ),
    "untie": Row(
        "Take back the tie between two notes, which stay.\n\nWhat was taken for replaced is active again.",
        {"id": "NOTE: A note's id, as `explain` lists it.", "other": "OTHER: The id of the note that it is tied to."},
        done="Untied notes {id} and {other} (decision {made.id}).",
    ),
    "pin": Row("Keep a note for ever, whatever its policy.", _NOTE, done="Pinned {id} (decision {made.id})."),
    "unpin": Row(
        "Let a pinned note end as its policy says, perhaps at once.", _NOTE, done="Unpinned {id} (decision {made.id})."
    ),
    "restore": Row(
        "Bring back a note that expired, for a time anew.", _NOTE, done="Restored {id} (decision {made.id})."
    ),
    "end-session": Row(
        "End a session, and what lives only as long.\n\nIts policy says what does. `undo` brings it back.",
        {"session": "SESSION: A session's id, as `sessions` lists it."},
        done="Ended session {session} (decision {made.id}).",
    ),
    "sweep": Row(
        "Archive what has expired, and erase what is to be erased.\n\n`undo` brings back what is archived. Policies "
        "say what is erased by now. What has expired can't be read in any case; a worker sweeps by itself."
    ),
    "evict": Row(
        "Sum up the coldest notes of a memory above its cap.\n\n`undo` brings them back. A worker does so by itself. "
        "The cap is the setting lifecycle.cap, or that of `limit`.",
        _DRY_RUN,
    ),
    "evolve": Row(
        "Tie and tag new notes by what is near them.\n\nWith a chat model the contexts of the notes near them are "
        "written anew too. `undo` takes a change back. The setting lifecycle.evolve lets a worker do so by itself."
    ),
    "render": Row(
        "Render the contexts of a memory as this version does.\n\nFor a memory that an older version wrote. Can be "
        "stopped and run again.",
        done="Rendered {made} contexts anew.",
    ),
    "verify": Row(
        "Check that a memory is in order.\n\nIt recounts the sums and looks for states that must never be. It prints a "
        "line for each fault; the exit code is 1 if there is one."
    ),
    "export": Row(
        "Write all of a memory into a file of JSON lines.\n\n`import` makes exactly the same memory of it.\n"
        "It has notes in all states with their vectors and former versions, sources, keywords, topics, decisions, use, "
        "holds and costs. Its owner alone can read it. A file that is there is replaced when the new one is whole.",
        {"path": Annotated[Path, "FILE: The file to write.", {"dir_okay": False}]},
        bar=("Exporting", 0),
    ),
    "import file": Row(
        "Read what `export` wrote; `file` can be left out.\n\n"
        "The memory has its own name or another, and must be empty before.\n"
        "All of it can be read when it is whole, and nothing before. What an import wrote that was killed is removed "
        "by the next one into that memory. A file that is damaged, or of another schema, is refused, and without "
        "--re-embed one of another embedder.",
        {
            "path": Annotated[Path, "FILE: A file that `export` wrote.", {"dir_okay": False}],
            "re_embed": _switch("Make vectors anew, of a file of another embedder."),
        },
        bar=("Importing", 0),
        anybody=True,
    ),
    "release": Row("End a hold.", {"id": "HOLD: A hold's id, as `hold` lists it."}, done="Released {id}."),
    "receipts": Row("List the receipts of a tenant's erasures, oldest first.", none="Nothing was erased."),
    "policy set": Row(
        "Give a note a policy, which `policy apply` leaves it.",
        {"id": NoteId, "policy": "POLICY: A class of the policy file."},
        done="Gave {id} the policy {policy} (decision {made.id}).",
    ),
    "policy apply": Row("Give all notes the policies of the file as it is now.\n\n`undo` takes it back.", _DRY_RUN),
    "embedder status": Row("Tell which embedder the database has, and how far a change is."),
    "embedder change": Row(
        "Change the database's embedder while it is in use.\n\nIt is of all tenants. A worker makes the vectors; "
        "searches use the former until all are there, and then every client follows.\n"
        "--dry-run tells what it would take, as it is told anyway before anything begins.",
        {
            "to": Annotated[str, "--to NAME: The embedder, as the setting names one."],
            "grace": (Annotated[float, "--grace DAYS: How long the former vectors are kept."], 7.0),
            "dry_run": _switch("Only tell what it would take."),
        },
    ),
    "embedder rollback": Row(
        "Go back to the embedder before the last change.\n\nA change that is under way ends. It is at once, as long as "
        "the former vectors are kept."
    ),
    "audit about": Row(
        "Tell what a memory knows of something, and why.\n\nIt is of all policies, and what summaries stand for: with "
        "sources, decisions, and the holds that keep it.",
        {"query": "QUERY: What it is about, in words."},
        "audit.about",
        none="Nothing is known of it.",
        asking=True,
    ),
    "audit deleted": Row(
        "Tell what left a memory, when and why, newest first.",
        {**_WHEN, "rule": _option("RULE: Only by this kind of decision (delete, expire …), or rule of an erasure.")},
        "audit.deleted",
        none="Nothing was deleted.",
        anybody=True,
    ),
    "audit changed": Row("Tell what each decision changed of a note, oldest first.", _NOTE, "audit.changed"),
    "topics list": Row(
        "List the topics, the largest first.", none="There are no topics. To find them", again="topics rebuild"
    ),
    "topics show": Row("Show a topic with all of its keywords.", {"id": "ID: A topic's id."}),
    "topics ties": Row("List which topics occur together in notes.", none="No topics occur together."),
    "topics runs": Row("List the last runs that found topics.", _RUNS, none="The topics were never looked for."),
    "blocks rebuild": Row(
        "Build the tree of blocks anew.\n\nA block of the same notes keeps its id.\nIf a run fails or is killed, the "
        "former tree stays.",
        bar=("Blocks", 6),
    ),
    "blocks list": Row(
        "List all blocks in the tree's order.\n\nWhat a block holds stands behind it, indented. `blocks show` and "
        "`blocks outline` tell what they are about.",
        none="There are no blocks. To build them",
        again="blocks rebuild",
    ),
    "blocks show": Row("Show a block with its fields, and its parts.", {"id": "ID: A block's id."}),
    "blocks outline": Row(
        "Show a whole memory in a few blocks, which differ most.",
        {"limit": _number("--limit -n N: How many blocks, at most.", OUTLINE)},
        none="There are no blocks. To build them",
        again="blocks rebuild",
    ),
    "blocks search": Row(
        "Find the blocks nearest to a question.",
        {**_QUERY, "top_k": _number("--top-k -n N: How many blocks, at most.", BLOCKS)},
        none=_NOTHING,
        asking=True,
    ),
    "blocks runs": Row("List the last runs that built blocks.", _RUNS, none="The blocks were never built."),
    "claims consolidate": Row("Look for claims in what is new or has changed.\n\nEach note is read once."),
    "claims list": Row(
        "List claims, those to be trusted most first.",
        _CLAIMS,
        none="There are no claims. To look for them",
        again="claims consolidate",
    ),
    "claims about": Row(
        "Find the claims that name something, then the nearest.",
        {"query": "QUERY: What claims are wanted on.", **_CLAIMS},
        "claims",
        none=_NOTHING,
        asking=True,
    ),
    "claims show": Row("Show a claim with the notes that support it.", {"id": "ID: A claim's id."}),
}
"""All of them, by their names."""
