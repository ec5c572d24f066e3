"""What came of ingesting files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result
from memgraph_engine.model.result import Receipt


@dataclass(frozen=True, slots=True, repr=False)
class Fault(Result):
    """Something that could not be read or stored; `line` counts from 1 and is 0 where there is none to name."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class Skipped(Result):
    """A file or folder that was passed over on purpose, and why: hidden, of no known kind, a link …."""

    file: str
    reason: str

    @property
    def is_link(self) -> bool:
        """Whether it is a link: these are told one by one."""
        return "link" in self.reason

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class Remark(Result):
    """What was read otherwise than it might be, and why: code in a language without a grammar, a folder without git."""

    file: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class Ingested(Result):
    """How many messages and passages made a note, joined one, were known already, or were passed over.

    added      new notes, of which `superseded` replace older ones
    merged     joined a note that says as much       reinforced    joined one that says the same
    discarded  kept without a note                    deferred      a pending note, to be constructed
    repeats    known already                          updated       given a new text
    deleted    passages that their files no longer hold
    restored   had expired, and can be read again
    `files` were read. `faults` tell what could not be read or stored, `skipped` what was passed over on purpose,
    `remarks` what was read otherwise than it might be, `fallbacks` why models were not used. Two of them add up.

    >>> str(Ingested(files=1, added=2) + Ingested(files=1, added=1, repeats=3))
    '3 new, 3 known already'
    """

    brief = ("added", "merged", "reinforced", "discarded", "repeats", "updated", "faults")

    files: int = 0
    added: int = 0
    superseded: int = 0
    merged: int = 0
    reinforced: int = 0
    discarded: int = 0
    deferred: int = 0
    repeats: int = 0
    updated: int = 0
    deleted: int = 0
    restored: int = 0
    skipped: tuple[Skipped, ...] = ()
    remarks: tuple[Remark, ...] = ()
    faults: tuple[Fault, ...] = ()
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING

    @classmethod
    def of(cls, receipt: Receipt) -> "Ingested":
        """Return what a write did, in numbers."""
        counted = {kind: receipt.count(kind) for kind in ("discard", "merge", "reinforce", "supersede", "defer")}
        return cls(
            added=receipt.added - counted["defer"],
            superseded=counted["supersede"],
            merged=counted["merge"],
            reinforced=counted["reinforce"],
            discarded=counted["discard"],
            deferred=counted["defer"],
            repeats=receipt.repeats,
            restored=receipt.count("restore"),
            fallbacks=receipt.fallbacks,
            cost=receipt.cost,
        )

    @property
    def inputs(self) -> int:
        """How many messages and passages it has dealt with."""
        made = self.added + self.merged + self.reinforced + self.discarded + self.deferred
        return made + self.repeats + self.updated + self.deleted + self.restored + len(self.faults)

    def __add__(self, other: "Ingested") -> "Ingested":
        both = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        return Ingested(**{**both, "fallbacks": tuple(dict.fromkeys(both["fallbacks"]))})

    def __str__(self) -> str:
        """Say it in a line."""
        new = f"{self.added:,} new" + (f" ({self.superseded:,} in place of an older one)" if self.superseded else "")
        rarely = {
            "merged": self.merged,
            "repeated": self.reinforced,
            "discarded": self.discarded,
            "to be constructed": self.deferred,
        }
        at_times = {
            "updated": self.updated,
            "deleted": self.deleted,
            "restored": self.restored,
            "passed over": len(self.faults),
        }
        said = [[f"{number:,} {what}" for what, number in some.items() if number] for some in (rarely, at_times)]
        return ", ".join([new, *said[0], f"{self.repeats:,} known already", *said[1]])


@dataclass(frozen=True, slots=True, repr=False)
class Brought(Result):
    """What came of importing what another program has kept; of a `dry_run`, what would come.

    `done` counts what became of the records, of which `users` brought so many each ('' is the shared memory). `left`
    tells why others were left out, and how many. Of the `faulty` ones the first thousand are among the faults of
    `done`. Of the files, `read` of `size` bytes were read.
    """

    brief = ("done", "users", "left", "faulty", "dry_run")

    done: Ingested = field(default_factory=Ingested)
    users: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    faulty: int = 0
    dry_run: bool = False
    read: int = 0
    size: int = 0
