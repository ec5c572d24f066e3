"""Every error the engine raises on purpose, drawn as a tree.

MemgraphEngineError
├── SettingsError             a setting is missing, malformed or contradicts another
│   └── PolicyError           a policy file can't be used: file, line, column, what was expected
├── InvalidInput              what the caller gave can't be used (also a ValueError)
│   └── SourceConflict        the id is already stored with another content
├── NotFound                  no such note, source, topic or decision in this scope (also a LookupError)
├── UndoRefused               a decision can't be taken back now
├── ErasureRefused            a plan of an erasure is out of date, or its receipts don't fit
├── Held                      what is to be erased is held
├── KeyRefused                a server was asked without a key, or with one that opens nothing
├── IssuerFailed              the issuer of access tokens does not answer as one
├── NotAllowed                the key does not give this right, or opens another memory
├── Closed                    this Memory was closed, so it reads and writes nothing any more
├── StoreError                the database refused or could not be used
│   ├── Unreachable           no server answers at the address
│   ├── AuthenticationFailed  user or password is wrong
│   ├── ServerTooOld          the server lacks what the statements need
│   ├── StoreMismatch         the database or scope was made with another model, language or schema
│   ├── ClockSkew             this machine's clock and the server's differ, so nothing is swept
│   ├── WriteConflict         other writers kept winning; nothing of this write was stored
│   ├── Overloaded            this client runs too many reads already; ask again
│   └── QueryFailed           the server refused a statement
├── LocalServerError          the managed Neo4j could not be started, stopped or found
├── DownloadError             a jar or model file could not be fetched intact
├── MissingExtra              an optional package is needed and not installed
├── EmbeddingError            an embedder failed or gave vectors that can't be used
├── ConstructionFailed        a pending note can't be constructed; all others are
└── ModelError                a chat model gave nothing that can be used; says what was spent
    ├── ModelUnavailable      it can't be reached, is overloaded, takes too long or lacks its key
    ├── ModelRefused          it, or its provider, refused this request
    ├── Unusable              its answer is wrong, also after the model saw the error
    └── BudgetSpent           the call was not made, since it could have exceeded a budget

Each message is a sentence or two: what happened, to which input, what to do. An input too long to be read is shortened.
A call without a required argument (`hold` without a `reason`), or with one or a filter that there is not, is a
TypeError, as anywhere in Python.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from memgraph_engine.cost import NOTHING, Cost

_LONGEST = 2000  # characters of a message; of a longer one the middle is left out
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")
_NAMED = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)  # variables that hold what nobody is told
_SECRET = 6  # characters at least: a shorter one is in many words
_LARGE = 1e15  # a number of more digits is not told


class MemgraphEngineError(Exception):
    """Anything the engine reports; catch this to catch them all.

    >>> len(str(InvalidInput(f"top_k must be a whole number, not {'7' * 2_000_000!r}.")))
    2003
    >>> str(DownloadError("https://ana:amaranth@example.org can't be reached."))
    "https://…@example.org can't be reached."
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_shortened(without_secrets(one)) if isinstance(one, str) else one for one in args))

    def __reduce__(self) -> tuple[object, ...]:
        """Let another process raise it, whatever its constructor takes."""
        return _raised, (type(self), self.args), self.__dict__


def _raised(kind: type[MemgraphEngineError], args: tuple[object, ...]) -> MemgraphEngineError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


def without_secrets(message: str) -> str:
    """Return a message without who is named in an address, and without the keys and passwords of the environment."""
    for name, value in os.environ.items():
        if len(value) >= _SECRET and _NAMED.search(name):
            message = message.replace(value, "…")
    return _CREDENTIALS.sub("…@", message)


def _shortened(message: str) -> str:
    half = _LONGEST // 2
    return message if len(message) <= _LONGEST else f"{message[:half]} … {message[-half:]}"


class SettingsError(MemgraphEngineError):
    """A setting is missing, malformed or contradicts another."""


class PolicyError(SettingsError):
    """A policy file can't be used; it names the file, the line and the column, and what was expected."""


class InvalidInput(MemgraphEngineError, ValueError):
    """What the caller gave can't be used; nothing was written."""


class SourceConflict(InvalidInput):
    """The id is already stored with another content; `update` changes it."""


class NotFound(MemgraphEngineError, LookupError):
    """The scope holds no note, source, topic or decision of that id."""


class UndoRefused(MemgraphEngineError):
    """The decision can't be taken back now; nothing was changed."""


class ErasureRefused(MemgraphEngineError):
    """The plan of an erasure is out of date; nothing was changed."""


class Held(MemgraphEngineError):
    """What is to be erased is held, by the holds that are named; nothing was changed."""


class KeyRefused(MemgraphEngineError):
    """A server was asked without a key, or with one that is unknown, was revoked or has ended; a token is one too."""

    challenge = "Bearer"
    """What a server over HTTP answers beside, as WWW-Authenticate."""


class IssuerFailed(MemgraphEngineError):
    """The issuer of access tokens does not answer as one; no new token can be verified now."""


class NotAllowed(MemgraphEngineError):
    """The key does not give this right, or opens another memory; whether that exists is not told."""

    challenge = ""
    """What a server over HTTP answers beside, as WWW-Authenticate: the scope that a token lacks; else nothing."""


class Closed(MemgraphEngineError):
    """This Memory was closed before: a mistake of the program, not an outage of the database."""


class StoreError(MemgraphEngineError):
    """The database refused, or could not be used."""


class Unreachable(StoreError):
    """No server answers at the address, or it went away."""


class AuthenticationFailed(StoreError):
    """User or password is wrong."""


class ServerTooOld(StoreError):
    """The server lacks what the statements need."""


class StoreMismatch(StoreError):
    """The database or scope was made with another model, language or schema."""


class ClockSkew(StoreError):
    """This machine's clock and the server's differ by minutes: nothing is swept by a clock that may be wrong."""


class WriteConflict(StoreError):
    """Other writers kept winning; nothing of this write was stored."""


class Overloaded(StoreError):
    """This client runs too many reads already; the same read is served when some of them have ended."""


class QueryFailed(StoreError):
    """The server refused a statement; `code` is the server's name for the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"The server refused a statement ({code}): {message}")
        self.code = code


class LocalServerError(MemgraphEngineError):
    """The managed Neo4j could not be started, stopped or found."""


class DownloadError(MemgraphEngineError):
    """A jar or model file could not be fetched intact."""


class MissingExtra(MemgraphEngineError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        begun = purpose[:1].upper() + purpose[1:]
        super().__init__(f"{begun} needs an optional package: pip install 'memgraph-engine[{extra}]'.")


@contextmanager
def needed(purpose: str, extra: str) -> Iterator[None]:
    """Say which extra is missing where a package can't be imported; raises MissingExtra."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(purpose, extra) from error


class EmbeddingError(MemgraphEngineError):
    """An embedder failed, or gave vectors that can't be used."""


class ConstructionFailed(MemgraphEngineError):
    """A pending note can't be constructed, and stays as it is; all others are constructed."""


class ModelError(MemgraphEngineError):
    """A chat model gave nothing that can be used; `cost` is the sum of all attempts, failed ones too.

    `model` names whose failure it was, once a role has asked it; of several their names.
    """

    outcome = "failed"

    def __init__(self, message: str, cost: Cost = Cost(calls=1)) -> None:  # noqa: B008  it is frozen
        super().__init__(message)
        self.cost = cost
        self.model = ""

    @property
    def kind(self) -> str:
        """What happened, and whose failure it was: what may be stored of it, as a message may quote what was asked.

        >>> str(ModelRefused("I won't talk about Ana's salary.").kind)
        'the model refused the request'
        """
        return f"{self.model or 'the model'} {self.outcome}"


class ModelUnavailable(ModelError):
    """The model can't be reached, is overloaded, took too long or lacks its key.

    `retry_after` is the number of seconds after which the same request may work, None if it never will.
    """

    outcome = "gave no answer"

    def __init__(
        self,
        message: str,
        cost: Cost = Cost(calls=1),  # noqa: B008
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, cost)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The model, or its provider, refused this request; another model may take it."""

    outcome = "refused the request"


class Unusable(ModelError):
    """The model's answer is wrong, also after it saw the error."""

    outcome = "gave no usable answer"


class BudgetSpent(ModelError):
    """The call was not made, since it could have exceeded a budget."""

    outcome = "was not asked, since that could have passed a budget"

    def __init__(self, message: str, cost: Cost = NOTHING) -> None:
        super().__init__(message, cost)


def named(value: object) -> str:
    """Return what a value is that can't be used, as a message calls it.

    >>> named(17), named(["a"]), named({"a": 1}), named(None)
    ('the number 17', 'a list', 'a mapping', 'nothing (None)')
    """
    if value is None:
        return "nothing (None)"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return f"the number {value:.6g}" if abs(value) < _LARGE else "a number"
    kinds = (str, "a string"), (Mapping, "a mapping"), ((list, tuple, set, frozenset), "a list")
    return next(
        (name for kind, name in kinds if isinstance(value, kind)), f"an object of the type {type(value).__name__}"
    )
