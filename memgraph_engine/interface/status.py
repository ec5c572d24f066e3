"""What an error ends in: the exit code of a command, the HTTP status of a response."""

from dataclasses import dataclass

from memgraph_engine import errors
from memgraph_engine.errors import MemgraphEngineError

_FAILED, _WRONG_USAGE = 1, 2


@dataclass(frozen=True, slots=True)
class ErrorStatus:
    """The exit code of a process and the status of an HTTP response (RFC 9110, section 15)."""

    exit_code: int
    http: int


_STATUSES: dict[type[MemgraphEngineError], ErrorStatus] = {
    MemgraphEngineError: ErrorStatus(_FAILED, 500),
    errors.SettingsError: ErrorStatus(_FAILED, 500),
    errors.PolicyError: ErrorStatus(_FAILED, 500),
    errors.InvalidInput: ErrorStatus(_WRONG_USAGE, 400),
    errors.SourceConflict: ErrorStatus(_WRONG_USAGE, 409),
    errors.NotFound: ErrorStatus(_FAILED, 404),
    errors.UndoRefused: ErrorStatus(_FAILED, 409),
    errors.ErasureRefused: ErrorStatus(_FAILED, 409),
    errors.Held: ErrorStatus(_FAILED, 409),
    errors.KeyRefused: ErrorStatus(_FAILED, 401),
    errors.NotAllowed: ErrorStatus(_FAILED, 403),
    errors.IssuerFailed: ErrorStatus(_FAILED, 503),
    errors.Closed: ErrorStatus(_FAILED, 500),
    errors.StoreError: ErrorStatus(_FAILED, 500),
    errors.Unreachable: ErrorStatus(_FAILED, 503),
    errors.AuthenticationFailed: ErrorStatus(_FAILED, 500),  # of this program at the database, not of who asks it
    errors.ServerTooOld: ErrorStatus(_FAILED, 500),
    errors.StoreMismatch: ErrorStatus(_FAILED, 500),
    errors.ClockSkew: ErrorStatus(_FAILED, 500),
    errors.WriteConflict: ErrorStatus(_FAILED, 503),
    errors.Overloaded: ErrorStatus(_FAILED, 503),
    errors.QueryFailed: ErrorStatus(_FAILED, 500),
    errors.LocalServerError: ErrorStatus(_FAILED, 503),
    errors.DownloadError: ErrorStatus(_FAILED, 503),
    errors.MissingExtra: ErrorStatus(_FAILED, 501),
    errors.EmbeddingError: ErrorStatus(_FAILED, 502),
    errors.ConstructionFailed: ErrorStatus(_FAILED, 500),
    errors.ModelError: ErrorStatus(_FAILED, 502),
    errors.ModelUnavailable: ErrorStatus(_FAILED, 503),
    errors.ModelRefused: ErrorStatus(_FAILED, 502),
    errors.Unusable: ErrorStatus(_FAILED, 502),
    errors.BudgetSpent: ErrorStatus(_FAILED, 429),
}


def status_of(error: MemgraphEngineError) -> ErrorStatus:
    """Return what an error ends in; an error of another package's own class ends as the class that it extends.

    >>> status_of(errors.NotFound("There is no note 'x'."))
    ErrorStatus(exit_code=1, http=404)
    """
    return next(_STATUSES[one] for one in type(error).__mro__ if one in _STATUSES)
