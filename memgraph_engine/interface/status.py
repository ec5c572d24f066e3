"""What an error ends in: the exit code of a command, the HTTP status of a response."""

from dataclasses import dataclass

from memgraph_engine import errors
from memgraph_engine.errors import MemgraphEngineError

_FAILED, _WRONG_USAGE = 1, 2


@dataclass(frozen=True, slots=True)
class Status:
    """The exit code of a process and the status of an HTTP response (RFC 9110, section 15)."""

    exit_code: int
    http: int


_STATUSES: dict[type[MemgraphEngineError], Status] = {
    MemgraphEngineError: Status(_FAILED, 500),
    errors.SettingsError: Status(_FAILED, 500),
    errors.InvalidInput: Status(_WRONG_USAGE, 400),
    errors.SourceConflict: Status(_WRONG_USAGE, 409),
    errors.NotFound: Status(_FAILED, 404),
    errors.UndoRefused: Status(_FAILED, 409),
    errors.StoreError: Status(_FAILED, 500),
    errors.Unreachable: Status(_FAILED, 503),
    errors.AuthenticationFailed: Status(_FAILED, 500),  # of this program at the database, not of who asks it
    errors.ServerTooOld: Status(_FAILED, 500),
    errors.StoreMismatch: Status(_FAILED, 500),
    errors.WriteConflict: Status(_FAILED, 503),
    errors.QueryFailed: Status(_FAILED, 500),
    errors.LocalServerError: Status(_FAILED, 503),
    errors.DownloadError: Status(_FAILED, 503),
    errors.MissingExtra: Status(_FAILED, 501),
    errors.EmbeddingError: Status(_FAILED, 502),
    errors.ConstructionFailed: Status(_FAILED, 500),
    errors.ModelError: Status(_FAILED, 502),
    errors.ModelUnavailable: Status(_FAILED, 503),
    errors.ModelRefused: Status(_FAILED, 502),
    errors.Unusable: Status(_FAILED, 502),
    errors.BudgetSpent: Status(_FAILED, 429),
}


def status_of(error: MemgraphEngineError) -> Status:
    """Return what an error ends in; an error of another package's own class ends as the class that it extends.

    >>> status_of(errors.NotFound("There is no note 'x'."))
    Status(exit_code=1, http=404)
    """
    return next(_STATUSES[one] for one in type(error).__mro__ if one in _STATUSES)
