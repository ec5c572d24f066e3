"""Access tokens of OAuth beside keys: each is read as a key that an issuer made (docs/oauth.md).

A token is a JWT (RFC 9068), signed by a key that the issuer publishes. What it says counts once its signature, issuer,
audience and times are right; what it asks to be verified by (`jku`, `jwk`, `x5u`) is never looked at.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from mcp.server.auth.handlers.metadata import ProtectedResourceMetadataHandler
from mcp.server.auth.routes import build_resource_metadata_url, cors_middleware
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.routing import Route

from memgraph_engine.errors import InvalidInput, IssuerFailed, KeyRefused
from memgraph_engine.forks import lock
from memgraph_engine.model.key import RIGHTS, Key, Right
from memgraph_engine.model.memory import NEVER
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import OAuthSettings, public_url

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""Where a client reads who issues tokens for this server (RFC 9728), also with the path of the resource behind it."""
_ALGORITHMS = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in (256, 384, 512)] + ["EdDSA"]
_TYPES = ("jwt", "at+jwt", "application/at+jwt")
_LEEWAY = timedelta(seconds=30)  # by which the clocks of issuer and server may differ
_FRESH = 300.0  # seconds for which the issuer's keys are known; one that it took back is refused after that
_PAUSE = 10.0  # seconds between two times that the issuer is asked, whatever tokens name as their key
_WAIT = 3.0  # seconds that it has for each step of an answer
_MISSHAPEN = (ValueError, KeyError, TypeError, AttributeError)  # by which JSON fails that is not as it should be
_WHY: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "it has ended",
    jwt.ImmatureSignatureError: "its time has not come",
    jwt.InvalidAudienceError: "it is for another server",
    jwt.InvalidIssuerError: "another issuer made it",
    jwt.InvalidAlgorithmError: "it is not signed by an algorithm that is taken, or not by that of its key",
    jwt.InvalidSignatureError: "its signature is not the issuer's",
    jwt.MissingRequiredClaimError: "it lacks a claim that says who made it, when, for whom or whose it is",
}


class Tokens:
    """Reads the access tokens of the issuer that the settings name, for a server of a tenant. Safe between threads."""

    def __init__(self, settings: OAuthSettings, tenant: str) -> None:
        self._settings, self._tenant, self._keys = settings, tenant, _Published(settings.issuer)
        self._metadata_at = build_resource_metadata_url(AnyHttpUrl(settings.resource))

    def key(self, token: str) -> Key:
        """Return what a token opens; raises KeyRefused, or IssuerFailed where that can't be told now."""
        try:
            return self._of(self._claims(token))
        except KeyError:
            why = "the issuer has no such key"
        except InvalidInput:
            why = "its claims name no user or no tenant"
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            why = _WHY.get(type(error), "it can't be read as an access token")
        raise KeyRefused(f"This token opens nothing: {why}.")  # outside: what fails on a token may quote it

    def challenge(self, error: str = "", rights: Sequence[Right] = ("read", "write")) -> str:
        """Return what WWW-Authenticate tells a client: what is wrong, which scopes to ask for, and where (RFC 9728)."""
        told = {"error": error, "scope": self._scopes(rights), "resource_metadata": str(self._metadata_at)}
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in told.items() if value)

    def lacks(self, right: Right) -> str:
        """Return what WWW-Authenticate tells the holder of a token that does not give a right."""
        return self.challenge("insufficient_scope", (right,))

    def routes(self) -> list[Route]:
        """Return the routes that tell who issues tokens for this server, with addresses as the settings write them."""
        told = {"resource": self._settings.resource, "authorization_servers": [self._settings.issuer]}
        metadata = ProtectedResourceMetadata.model_validate({**told, "scopes_supported": self._scopes(RIGHTS).split()})
        shown = cors_middleware(ProtectedResourceMetadataHandler(metadata).handle, ["GET", "OPTIONS"])
        return [Route(path, shown) for path in {WELL_KNOWN, self._metadata_at.path or WELL_KNOWN}]

    def _claims(self, token: str) -> dict[str, Any]:
        head = jwt.get_unverified_header(token)
        if str(head.get("typ", "jwt")).casefold() not in _TYPES or head.get("alg") not in _ALGORITHMS:
            raise jwt.InvalidAlgorithmError
        named = {self._settings.user, self._settings.tenant} - {""}
        found: dict[str, Any] = jwt.decode(
            token,
            self._keys.find(head.get("kid")),
            algorithms=_ALGORITHMS,
            audience=self._settings.resource,
            issuer=self._settings.issuer,
            leeway=_LEEWAY,
            options={"require": ["exp", "iat", "iss", "aud", *named], "enforce_minimum_key_length": True},
        )
        if "cnf" in found:  # it is of use only beside a proof, which is not looked at here (RFC 9449)
            raise ValueError
        return found

    def _of(self, claims: dict[str, Any]) -> Key:
        scopes = claims.get("scope", claims.get("scp", ()))
        given = scopes.split() if isinstance(scopes, str) else list(scopes)
        scope = Scope(
            claims[self._settings.tenant] if self._settings.tenant else self._tenant, claims[self._settings.user]
        )
        return Key(
            id=str(claims.get("jti", "")),
            name="an access token",
            tenant=scope.tenant,
            user_id=scope.user,
            rights=tuple(right for right in RIGHTS if self._settings.scopes + right in given),
            created_at=datetime.fromtimestamp(claims["iat"], UTC),
            expires_at=datetime.fromtimestamp(min(claims["exp"], (NEVER - _LEEWAY).timestamp()), UTC) + _LEEWAY,
        )

    def _scopes(self, rights: Sequence[Right]) -> str:
        return " ".join(self._settings.scopes + right for right in rights)


class _Published:
    """The keys that an issuer publishes. It is asked again when they are old, or when a token names another."""

    def __init__(self, issuer: str) -> None:
        self._issuer, self._lock = issuer, lock()
        self._known: dict[str, jwt.PyJWK] = {}
        self._known_at = self._asked_at = float("-inf")
        self._why = ""

    def find(self, id: object) -> jwt.PyJWK:  # the standard's own word
        """Return a key; raises KeyError, or IssuerFailed where it may be that of an issuer that does not answer."""
        if not isinstance(id, str):
            raise KeyError
        if found := self._fresh(id):
            return found
        with self._lock:
            if self._fresh(id) is None and time.monotonic() - self._asked_at >= _PAUSE:
                self._ask()
                self._asked_at = time.monotonic()
            if self._why:
                raise IssuerFailed(f"The issuer {self._issuer} gave no keys: {self._why}.")
            return self._known[id]

    def _fresh(self, id: str) -> jwt.PyJWK | None:  # the standard's own word
        return self._known.get(id) if time.monotonic() - self._known_at < _FRESH else None

    def _ask(self) -> None:
        try:
            with httpx2.Client(timeout=_WAIT) as http:
                self._known, self._known_at, self._why = _fetched(self._issuer, http), time.monotonic(), ""
        except (httpx2.HTTPError, httpx2.InvalidURL, jwt.PyJWTError, *_MISSHAPEN) as error:
            self._why = (str(error) or type(error).__name__).partition("\n")[0]


def _fetched(issuer: str, http: httpx2.Client) -> dict[str, jwt.PyJWK]:
    """Return the keys of an issuer, found by its metadata (OpenID Connect Discovery, or else RFC 8414)."""
    at = urlsplit(issuer)
    answer = http.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if answer.status_code == 404:
        answer = http.get(f"{at.scheme}://{at.netloc}/.well-known/oauth-authorization-server{at.path.rstrip('/')}")
    told = answer.raise_for_status().json()
    if told["issuer"] != issuer:
        raise ValueError(f"it calls itself {told['issuer']!r}")
    found = jwt.PyJWKSet.from_dict(http.get(public_url(str(told["jwks_uri"]))).raise_for_status().json()).keys
    known = {one.key_id: one for one in found if one.key_id and one.public_key_use in (None, "sig")}
    if not known:
        raise ValueError("none of them has a name and is for signatures")
    return known
