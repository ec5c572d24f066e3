"""Who asks a server: by a key, or a token that is read as one, whose memory may be reached, and what may be done there.

It is the same for every surface that a server has: each asks `Access` for a `Caller`, and the caller for whose memory
is meant. No surface looks at tenants, users or rights itself.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from memgraph_engine.client import Memory
from memgraph_engine.engine.wiring import of_tenant
from memgraph_engine.errors import KeyRefused, NotAllowed, NotFound
from memgraph_engine.forks import lock
from memgraph_engine.graph import keys
from memgraph_engine.integrations.tokens import Tokens
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.key import RIGHTS, Key, Right, fingerprint, may_be_secret
from memgraph_engine.model.result import ErasurePlan

SECONDS = 5.0
"""For so long a key that was looked up is not looked up again: a revoked one is refused after that, at the latest."""
_MOST = 1000  # keys that are remembered
_PLANNED = 900.0  # seconds for which a plan of an erasure can be confirmed
_PLANS = 10  # that wait of one memory

_NO_KEY = "A key is needed: send it as `Authorization: Bearer KEY`, or as `X-API-Key: KEY`."
_OPENS_NOTHING = "This key opens nothing: it is unknown, was revoked, or has ended."
_ANOTHER = "This key opens the memory of one user: leave out the name of another."
_SHARED = "The shared memory is changed only with a key of the whole tenant."
_OF_TENANT = "This tells of all users of the tenant: it takes a key of the whole tenant."


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the memory of the tenant, the one user whose it may be (None for any), and what may be done.

    `lacks` returns what a client is told of a right that it has not, where it could ask an issuer for it.
    """

    memory: Memory
    user_id: str | None = None
    rights: frozenset[Right] = frozenset(RIGHTS)
    lacks: Callable[[Right], str] | None = None

    def whose(self, right: Right, user_id: str | None = None, *, shared: bool = False) -> Whose:
        """Return whose memory is meant, as the methods of Memory take it.

        A key of one user means that user's; naming another is refused, whether there is one or not. The shared memory
        can be read with it, as a search does anyway, and is not changed. Raises NotAllowed.
        """
        self.need(right)
        if self.user_id is None:
            return {"user_id": user_id, "shared": shared}
        if user_id not in (None, self.user_id):
            raise NotAllowed(_ANOTHER)
        if shared and right != "read":
            raise NotAllowed(_SHARED)
        return {"user_id": user_id if shared else self.user_id, "shared": shared}

    def need(self, right: Right) -> None:
        """Raise NotAllowed unless the key has a right."""
        if right not in self.rights:
            error = NotAllowed(f"This key has not the right to {right}.")
            error.challenge = self.lacks(right) if self.lacks else ""
            raise error

    def need_tenant(self, right: Right) -> None:
        """Raise NotAllowed unless the key opens all memories of its tenant, and has a right."""
        self.need(right)
        if self.user_id is not None:
            raise NotAllowed(_OF_TENANT)


class Access:
    """Tells who asks, by the secret of a key, or by an access token. Safe to share between threads.

    All tenants share the connections and caches of one `memory`. Unless keys are `required`, whoever brings none is
    taken for an owner of that memory's tenant, as long as the database has no key at all: the first one ends that.
    Where the settings name an issuer of tokens, keys are required.
    """

    def __init__(self, memory: Memory, *, required: bool = False) -> None:
        self.own = memory
        self.plans = Plans()
        oauth = memory.engine.settings.serve.oauth
        self.tokens = Tokens(oauth, memory.engine.settings.tenant) if oauth.issuer else None
        self.required = required or self.tokens is not None
        """Whether a key is needed, as far as is known by now."""
        self._looked = float("-inf")
        self._lock = lock()
        self._tenants = {memory.engine.settings.tenant: memory}
        self._keys: OrderedDict[str, tuple[float, Key]] = OrderedDict()

    def caller(self, secret: str | None) -> Caller:
        """Return who brings a secret, or None.

        Raises KeyRefused, a StoreError where keys can't be looked up, IssuerFailed where tokens can't be verified.
        """
        if (known := self.known(secret)) is not None:
            return known
        if secret is None:
            self._look()
            if self.required:
                raise KeyRefused(_NO_KEY)
            return Caller(self.own)
        key = self._found(secret)
        if key is None:
            raise KeyRefused(_OPENS_NOTHING)
        return self._with(secret, key)

    def known(self, secret: str | None) -> Caller | None:
        """Return the same as far as it is known without a look-up, at once; None if it is not. Raises KeyRefused."""
        now = time.monotonic()
        if secret is None:
            fresh = not self.required and now - self._looked <= SECONDS
            return Caller(self.own) if fresh else None
        with self._lock:
            since, key = self._keys.get(fingerprint(secret), (float("-inf"), None))
        return self._with(secret, key) if key and now - since <= SECONDS else None

    def challenge(self, *, brought: bool) -> str:
        """Return what WWW-Authenticate tells who is refused, having `brought` something or not."""
        return self.tokens.challenge("invalid_token" if brought else "") if self.tokens else KeyRefused.challenge

    def close(self) -> None:
        """Write what the memories of all tenants have left to write; the one that was given stays open."""
        with self._lock:
            some = list(self._tenants.values())
        for memory in some:
            memory.flush()

    def _look(self) -> None:
        """Look whether there is a key by now; once there was, one is needed."""
        if not self.required:
            now = time.monotonic()
            self.required = keys.some(self.own.engine.db, ended=True)
            self._looked = now

    def _found(self, secret: str) -> Key | None:
        name, now = fingerprint(secret), time.monotonic()
        if may_be_secret(secret):
            found = keys.find(self.own.engine.db, secret)
        else:
            found = self.tokens.key(secret) if self.tokens and secret.count(".") == 2 else None
        with self._lock:
            self._keys.pop(name, None)
            if found:
                self._keys[name] = now, found
                if len(self._keys) > _MOST:
                    self._keys.popitem(last=False)
        return found

    def _with(self, secret: str, key: Key) -> Caller:
        if not key.opens(self.own.engine.now()):
            raise KeyRefused(_OPENS_NOTHING)
        lacks = self.tokens.lacks if self.tokens and not may_be_secret(secret) else None
        return Caller(self._of(key.tenant), key.user_id, frozenset(key.rights), lacks)

    def _of(self, tenant: str) -> Memory:
        if not (known := self._tenants.get(tenant)):
            made = Memory(of_tenant(self.own.engine, tenant))  # it may ask a server, for which nobody else waits
            with self._lock:
                known = self._tenants.setdefault(tenant, made)
        return known


class Plans:
    """Plans of erasures that wait to be confirmed by their ids, for a quarter of an hour, in this process alone.

    A program that asks over a wire never sends a plan: what it confirms is what the engine planned.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str | None], OrderedDict[str, tuple[float, ErasurePlan]]] = {}
        self._lock = lock()

    def keep(self, plan: ErasurePlan) -> None:
        """Let a plan wait; of one memory the newest ten do."""
        now = time.monotonic()
        with self._lock:
            self._drop(now)
            some = self._waiting.setdefault((plan.tenant, plan.user_id), OrderedDict())
            some[plan.id] = now, replace(plan, chosen=())  # its words needn't wait
            if len(some) > _PLANS:
                some.popitem(last=False)

    def take(self, id: str, tenant: str, whose: Whose) -> ErasurePlan:  # the engine's own word
        """Return a plan of a memory; it goes on waiting, so that a call that was cut off can be made again.

        Raises NotFound, also for a plan of another memory.
        """
        with self._lock:
            self._drop(time.monotonic())
            some = self._waiting.get((tenant, whose["user_id"]), OrderedDict())
            if id not in some:
                raise NotFound(
                    f"No plan {id!r} waits to be confirmed: it is older than 15 minutes, ten newer ones were "
                    "made, or another server has it."
                )
            return some[id][1]

    def _drop(self, now: float) -> None:
        for owner, some in list(self._waiting.items()):
            for id in [one for one, (since, _) in some.items() if now - since > _PLANNED]:
                del some[id]
            if not some:
                del self._waiting[owner]
