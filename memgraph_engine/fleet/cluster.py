"""A cluster of Ray: reached, looked over, and told how the database is reached.

What Ray records of a call or an actor names objects; what it is connected with is one of these, and stands in no log.
"""

import logging
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from memgraph_engine.engine import wiring
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, StoreMismatch, Unreachable
from memgraph_engine.graph import schema
from memgraph_engine.resources import VERSION
from memgraph_engine.settings import Settings

if TYPE_CHECKING:
    from memgraph_engine.model.ports import Embedder

AUTO = "auto"
_ray: Any = ray  # whose own types are partial
_PATIENCE = 5.0  # seconds until a cluster takes a connection
_HERE = re.compile(r"//(?:localhost|127\.[\d.]+|\[::1\])(?::|/|\Z)")
_LOADED = 300.0  # seconds in which a node tells its version: a worker of it may have to be started first


@contextmanager
def joined(address: str) -> Iterator[None]:
    """Join a cluster for the block: that at HOST:PORT; `auto` is the one that runs here, else a new one.

    Raises InvalidInput, or Unreachable where none answers.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray reports to its maker by default
    if ray.is_initialized():
        yield
        return
    named = os.environ.get("RAY_ADDRESS", "") if address == AUTO else address
    if named:
        _answers(named)
    try:
        ray.init(named or None, namespace="memgraph-engine", log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        raise Unreachable(f"The Ray cluster {named or AUTO!r} can't be joined: {first_line(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _answers(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not (port.isascii() and port.isdecimal()):
        raise InvalidInput(f"A Ray cluster is named as HOST:PORT, or {AUTO}, not {address!r}: nothing was begun.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise Unreachable(
            f"No Ray cluster answers at {address} ({first_line(error)}): nothing was begun. Start one (`ray start "
            f"--head`), or name {AUTO}."
        ) from None


def first_line(error: BaseException) -> str:
    """Return what an error of Ray tells first: it may go on with traces of other processes."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@dataclass(frozen=True, slots=True, repr=False)
class Sent:
    """How each of the cluster's processes connects: the settings, and the objects of `Memory.connect` beside them.

    `model` is the embedder that the database has, and `named` what settings call it.
    """

    settings: Settings
    objects: Mapping[str, Any]
    model: str
    named: str

    @classmethod
    def of(cls, engine: Engine, objects: Mapping[str, Any]) -> "Sent":
        """Return it for the database of an engine; a managed server is told by its address."""
        settings, at, found = engine.settings, engine.db.at, schema.recorded(engine.db)
        if not settings.uri and not settings.catalogue:
            settings = Settings.load(
                **{**settings.model_dump(), "uri": at.uri, "user": at.user, "password": at.password}
            )
        return cls(settings, objects, found.model, found.named)

    @property
    def here(self) -> Settings:
        """The settings on this machine, whose folder of models may be another one."""
        lacks = not self.settings.cache.is_dir()
        return self.settings.model_copy(update={"cache": Settings.load().cache}) if lacks else self.settings

    def engine(self) -> Engine:
        """Connect; the model is loaded when something is embedded here."""
        return wiring.build(self.here, deferred=True, **self.objects)

    def embedder(self) -> "Embedder":
        """Load the embedder."""
        own: Embedder | None = self.objects.get("embedder")
        return own if own is not None else wiring.load(self.here, self.named, self.model)


Where: TypeAlias = "tuple[str, list[ray.ObjectRef[Sent]]]"
"""The version, and a reference to what is sent: in a list Ray leaves it to whoever asks, and records its number."""


def where(engine: Engine, objects: Mapping[str, Any]) -> Where:
    """Let the cluster's processes learn how to reach the database of an engine."""
    return VERSION, [ray.put(Sent.of(engine, objects))]


def learnt(where: Where) -> Sent:
    """Return what was sent; raises StoreMismatch where this process has another version of the engine."""
    version, sent = where
    if version != VERSION:
        raise StoreMismatch(_OTHER.format(node=socket.gethostname(), there=VERSION, here=version))
    found: Sent = ray.get(sent[0])
    return found


def has(resource: str) -> int:
    """Return how many processors (CPU), or of another resource, the cluster has."""
    return int(_ray.cluster_resources().get(resource, 0))


@contextmanager
def running(kind: type, number: int, **how: object) -> Iterator[list[Any]]:
    """Run so many actors for the block; one that dies with its node is started on another one, and called again."""
    made = _ray.remote(kind).options(max_restarts=-1, max_task_retries=3, scheduling_strategy="SPREAD", **how)
    actors = [made.remote() for _ in range(number)]
    try:
        yield actors
    finally:
        for one in actors:
            ray.kill(one)


_OTHER = (
    "The node {node} of the Ray cluster has memgraph-engine {there}, and this process {here}: nothing was begun there. "
    "Install the same version on all of them."
)


def check_nodes(engine: Engine) -> None:
    """Raise StoreMismatch where a node lacks this version of the engine, Unreachable where it can't reach the database.

    Nothing was begun then.
    """

    def told() -> str:  # it travels as it stands here: a node may have another engine, or none
        try:
            from memgraph_engine.resources import VERSION
        except ImportError:
            return ""
        return VERSION

    ask = ray.remote(num_cpus=0)(told)
    nodes = [node for node in _ray.nodes() if node["Alive"]]
    if len({node["NodeManagerAddress"] for node in nodes}) > 1 and _HERE.search(engine.db.uri):
        raise Unreachable(
            f"The database at {engine.db.uri} can't be reached from the other machines of the Ray cluster: nothing was "
            "begun. Name it by an address that they can reach (the setting `uri`)."
        )
    asked = {
        node["NodeManagerAddress"]: ask.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote()
        for node in nodes
    }
    for node, answer in asked.items():
        try:
            there = ray.get(answer, timeout=_LOADED)
        except RayError as error:
            raise Unreachable(f"The node {node} of the Ray cluster does not answer: {first_line(error)}") from None
        if there != VERSION:
            raise StoreMismatch(_OTHER.format(node=node, there=there or "of no version", here=VERSION))
