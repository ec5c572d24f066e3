"""Settings: defaults from `config/settings.toml`, then the user's file, then the environment."""

import logging
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
from cronsim import CronSim, CronSimError
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from memgraph_engine.errors import SettingsError
from memgraph_engine.resources import LANGUAGES, resource, user_file
from memgraph_engine.trust import Trust

_log = logging.getLogger("memgraph_engine")

_PREFIX = "MEMGRAPH_ENGINE_"
_DATA = platformdirs.user_data_path("memgraph-engine")
_CACHE = platformdirs.user_cache_path("memgraph-engine")

Weight = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0)]
Port = Annotated[int, Field(ge=0, le=65535)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Tokens = Annotated[int, Field(ge=1)]
Channel = Literal[
    "lexical_raw",
    "lexical_context",
    "dense_raw",
    "dense_context",
    "neighbours",
    "session",
    "keywords",
    "topics",
    "related",
    "blocks",
    "role",
    "time",
]
"""What a search can go by; see `config/settings.toml`."""
Pooling = Literal["", "cls", "mean", "last"]
Memory = Annotated[str, Field(pattern=r"^\d+[kmgKMG]$")]


_NAME = r"[\w-]{1,63}"
_ADDRESS = re.compile(
    rf"(?:bolt|neo4j)(?:\+s|\+ssc)?://(?:\[[\da-fA-F:.]+\]|{_NAME}(?:\.{_NAME})*\.?)(?::(\d{{1,5}}))?/?", re.ASCII
)

Preset = Literal["", "memfly", "mla-arc", "lightmem-slm", "lightmem-tree", "memoryarchitect"]
"""The papers whose settings `config/presets/` holds (docs/papers.md); '' is none."""
_PROFILE = """\
name given_name family_name middle_name nickname preferred_username profile picture website email email_verified
gender birthdate zoneinfo locale phone_number phone_number_verified address updated_at
"""
"""The claims of OpenID Connect by which, as it says itself, no user is to be known (Core, 5.1 and 5.7)."""
Secrets = Literal["keep", "mask", "refuse"]
"""What becomes of secrets in what is written."""


def _page_cache() -> str:
    """Return an eighth of the machine's memory, between 512 MB and 4 GB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    return f"{min(max(memory // 8 >> 20, 512), 4096)}m"


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RecallSettings(_Table):
    """By which channels notes are found, how many each proposes, how they are ranked; see `config/settings.toml`."""

    channels: tuple[Channel, ...]
    ranking: str
    pool: Annotated[int, Field(ge=1, le=1000)]
    lexical_pool: Annotated[int, Field(ge=1, le=5000)]
    cache_mb: Annotated[int, Field(ge=0, le=1_000_000)]
    busy: Annotated[int, Field(ge=0)]
    keyword_anchors: Annotated[int, Field(ge=1, le=100)]
    topic_anchors: Annotated[int, Field(ge=1, le=100)]
    anchored: Annotated[int, Field(ge=1, le=1000)]
    spread: Annotated[int, Field(ge=1, le=1000)]
    pathways: Literal["unsure", "always"]
    sure: Share
    expansion: Literal["nearest", "anchors"]
    related_from: Annotated[int, Field(ge=1, le=1000)]
    depth: Annotated[int, Field(ge=1, le=5)]
    block_anchors: Annotated[int, Field(ge=1, le=100)]
    similarity: Weight
    frequency: Weight
    restated: Weight
    decay: Weight
    utility: Weight
    policy: Weight
    rounds: Annotated[int, Field(ge=1, le=3)]
    planning: Literal["first", "each"]
    intent: bool
    split: bool
    sufficient: Share
    reranker: str
    candidates: Annotated[int, Field(ge=1, le=10)]

    def has(self, *channels: str) -> bool:
        """Tell whether a search goes by one of these channels."""
        return not set(channels).isdisjoint(self.channels)

    def switched(self, **on: bool) -> Self:
        """Return these settings with channels switched on or off.

        >>> Settings.load(recall={"channels": ["time", "topics"]}).recall.switched(blocks=True, time=False).channels
        ('topics', 'blocks')
        """
        chosen = tuple(one for one in get_args(Channel) if on.get(one, one in self.channels))
        return self.model_copy(update={"channels": chosen})

    @property
    def reads_use(self) -> bool:
        """Whether searches look at how their reader has used notes."""
        return bool(self.frequency or self.utility)

    @property
    def selects(self) -> bool:
        """Whether the role `selecting` is the second stage of a search."""
        return self.reranker == "llm"


class GateSettings(_Table):
    """What becomes of new notes; see `config/settings.toml`."""

    update: bool
    merge: bool
    link: bool
    supersede: bool
    discard: bool
    denoise: bool
    judge: str
    noted_roles: tuple[Literal["user", "assistant", "system", "tool"], ...]
    covered: Share
    merge_threshold: Share
    link_threshold: Share
    most_links: Annotated[int, Field(ge=0, le=50)]
    ask_above: Share
    most_asked: Annotated[int, Field(ge=1, le=50)]
    near: Annotated[int, Field(ge=1, le=200)]
    lexical: Annotated[int, Field(ge=0, le=200)]

    def noted(self, role: str) -> bool:
        """Tell whether what a role says makes notes; what has no role does."""
        return not role or role in self.noted_roles

    @property
    def unheard(self) -> tuple[str, ...]:
        """The roles of machines whose words make no notes."""
        return tuple(role for role in ("system", "tool") if not self.noted(role))

    @property
    def thresholds(self) -> dict[str, float]:
        """Those in force, for a decision's record."""
        return {"merge": self.merge_threshold, "link": self.link_threshold}


class TopicsSettings(_Table):
    """How keywords are grouped; see `config/settings.toml`."""

    engine: Literal["graspologic-native", "igraph", "leidenalg"]
    min_size: Annotated[int, Field(ge=1, le=1000)]
    max_size: Annotated[int, Field(ge=0)]
    resolution: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        if self.max_size and self.max_size < 2 * self.min_size:
            raise ValueError("max_size must be 0 or at least twice min_size")
        return self


class BlocksSettings(_Table):
    """How notes are put together in a tree; see `config/settings.toml`."""

    schema_file: Annotated[str, Field(min_length=1)]
    context: Literal["both", "fields", "notes"]
    linkage: Literal["average", "paper"]
    farthest: Annotated[float, Field(ge=0, le=2)]
    paper_leaves: Annotated[int, Field(ge=1, le=2000)]
    exact: Annotated[int, Field(ge=2, le=200_000)]


class ClaimsSettings(_Table):
    """How much claims are told, what is read for them, and which users share; see `config/settings.toml`."""

    share: Share
    reread: bool
    users: Annotated[int, Field(ge=3, le=1_000_000)]


def _cron(expression: str) -> str:
    """Refuse a cron expression that can't be read, or that names no time; '' is never."""
    try:
        if expression and next(CronSim(expression, datetime.now(UTC)), None) is None:
            raise ValueError(f"{expression!r} names no time in the next 50 years")
    except CronSimError as error:
        raise ValueError(f"{expression!r} is no cron expression: {error}") from None
    return expression


def _address(uri: str) -> str:
    """Refuse what is no address alone: it is told by errors and logs, and this error tells nothing of it."""
    read = _ADDRESS.fullmatch(uri)
    if uri and not (read and int(read[1] or 0) < 1 << 16):
        raise ValueError(
            "it is of the form bolt://HOST:PORT, neo4j://HOST or neo4j+s://HOST and holds nothing else: no user or "
            "password, which are settings of their own"
        )
    return uri


class WorkerSettings(_Table):
    """When a worker looks, and what is due; see `config/settings.toml`."""

    every: Seconds
    stop: Seconds
    tenant_groups: tuple[str, ...]
    topics_after: Annotated[int, Field(ge=0)]
    topics_cron: Annotated[str, AfterValidator(_cron)]
    blocks_after: Annotated[int, Field(ge=0)]
    claims_after: Annotated[int, Field(ge=0)]


class LifecycleSettings(_Table):
    """How long what is remembered lives; see `config/settings.toml`."""

    policies: Annotated[str, Field(min_length=1)]
    classes: Literal["rules", "models"]
    cap: Annotated[int, Field(ge=0)]
    cap_mb: Annotated[float, Field(ge=0, le=1_000_000_000)]
    target: Annotated[float, Field(gt=0, le=1)]
    order: Literal["temperature", "utility"]
    access_weight: Weight
    age_weight: Weight
    information_weight: Weight
    similar: Share
    cluster: Annotated[int, Field(ge=2, le=100)]
    session_cap: Annotated[int, Field(ge=0)]
    keep: Annotated[float, Field(gt=0, le=1)]
    profile: Literal["off", "patterns", "models"]
    attributes: str
    evolve: Annotated[int, Field(ge=0, le=1000)]
    join: bool
    past_days: Annotated[int, Field(ge=0, le=36_500)]
    decisions_days: Annotated[int, Field(ge=0, le=36_500)]
    runs_days: Annotated[int, Field(ge=0, le=36_500)]
    retrievals_days: Annotated[int, Field(ge=0, le=36_500)]

    @property
    def cap_bytes(self) -> int:
        """The cap of megabytes, in bytes."""
        return int(self.cap_mb * 1_000_000)


class UseSettings(_Table):
    """Whether it is counted what readers are shown, and what follows; see `config/settings.toml`."""

    record: Literal["auto", "on", "off"]
    flag: bool
    prune: bool
    prune_after: Annotated[int, Field(ge=0, le=36_500)]


def public_url(url: str) -> str:
    """Return an address that clients of others may be told; raises ValueError unless it is https, or of loopback."""
    at = urlsplit(url)
    private = at.scheme == "http" and at.hostname in ("localhost", "127.0.0.1", "::1")
    if not url.isascii() or not url.isprintable() or set(url) & set(' "\\?#@') or not at.hostname or at.port == 0:
        raise ValueError("it is no address of the form https://HOST/PATH")
    if at.scheme != "https" and not private:
        raise ValueError("it must begin with https://")
    return url


class OAuthSettings(_Table):
    """Which issuer's access tokens a server takes, and what these open; see `config/settings.toml`."""

    issuer: Annotated[str, AfterValidator(lambda url: url and public_url(url))]
    resource: Annotated[str, AfterValidator(lambda url: url and public_url(url))]
    user: Annotated[str, Field(min_length=1)]
    tenant: str
    scopes: Annotated[str, Field(pattern=r"^[!#-\[\]-~]*$")]

    @field_validator("user", "tenant")
    @classmethod
    def _of_the_issuer(cls, claim: str) -> str:
        if claim in _PROFILE.split():
            raise ValueError(f"users may write the claim {claim!r} themselves; take one that only the issuer writes")
        return claim

    @model_validator(mode="after")
    def _for_this_server(self) -> Self:
        if self.issuer and not self.resource:
            raise ValueError("an issuer's tokens are for many servers: name this one as serve.oauth.resource")
        return self


class ServeSettings(_Table):
    """Where a server listens, and what it takes; see `config/settings.toml`."""

    host: Annotated[str, Field(min_length=1)]
    port: Port
    keys: Literal["auto", "always"]
    concurrency: Annotated[int, Field(ge=1, le=1000)]
    patience: Seconds
    timeout: Seconds
    slow: Seconds
    connections: Annotated[int, Field(ge=1, le=100_000)]
    body: Annotated[int, Field(ge=1024, le=1 << 30)]
    depth: Annotated[int, Field(ge=4, le=200)]
    stop: Seconds
    oauth: OAuthSettings


class RemoteSettings(_Table):
    """The server that commands and hooks ask; see `config/settings.toml`."""

    url: str
    key: SecretStr


class HookSettings(_Table):
    """What hooks of coding agents may take; see `config/settings.toml`."""

    deadline: Annotated[float, Field(gt=0, le=2)]


class AuditSettings(_Table):
    """What is recorded for auditors; see `config/settings.toml`."""

    retrievals: Literal["", "ids", "text"]


class TelemetrySettings(_Table):
    """What OpenTelemetry is told; see `config/settings.toml`."""

    on: bool
    text: bool


class TrustSettings(_Table):
    """What is told of whom; see `config/settings.toml`."""

    least: Trust
    facts: Trust


class AnswerSettings(_Table):
    """What goes into a context; see `config/settings.toml`."""

    budget: Annotated[int, Field(ge=200)]
    rounds: Annotated[int, Field(ge=1, le=3)]
    lines: Annotated[int, Field(ge=1, le=1000)]
    enough: Annotated[int, Field(ge=0)]
    line: Annotated[int, Field(ge=30)]
    longest: Share
    relevance: Share


class PromptSettings(_Table):
    """How the window of a model is shared out, in tokens; see `config/settings.toml`."""

    window: Tokens
    long: Annotated[int, Field(ge=0)]
    short: Annotated[int, Field(ge=0)]
    profile: Annotated[int, Field(ge=0)]
    answer: Annotated[int, Field(ge=0)]
    interactions: Annotated[int, Field(ge=0, le=1000)]
    nearest: Annotated[int, Field(ge=0, le=100)]


class BudgetSettings(_Table):
    """The most that calls of chat models may cost together: requests, tokens, US dollars; 0 is no limit."""

    calls: Annotated[int, Field(ge=0)] = 0
    tokens: Annotated[int, Field(ge=0)] = 0
    money: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class RoleSettings(_Table):
    """How one role differs from the table `llm`: None is as there, an empty model switches the role off."""

    model: str | None = None
    fallbacks: tuple[str, ...] | None = None
    temperature: Temperature | None = None
    max_tokens: Tokens | None = None
    timeout: Seconds | None = None


if TYPE_CHECKING:

    class RolesSettings(_Table):
        """The settings of each role, by its name."""

        def __getattr__(self, role: str) -> RoleSettings: ...
else:
    _ROLES = sorted({path.stem.partition("-")[0] for path in resource("config", "roles").glob("*.yaml")})
    RolesSettings = create_model(
        "RolesSettings", __base__=_Table, **{role: (RoleSettings, RoleSettings()) for role in _ROLES}
    )


class LlmSettings(_Table):
    """Which chat models are asked, how, and how much they may cost; see `config/settings.toml`."""

    model: str
    fallbacks: tuple[str, ...]
    api_base: Annotated[str, Field(repr=False)]  # it may name who asks
    temperature: Temperature
    max_tokens: Tokens
    timeout: Seconds
    retries: Annotated[int, Field(ge=0, le=10)]
    concurrency: Annotated[int, Field(ge=1, le=64)]
    batch_tokens: Tokens
    call_budget: BudgetSettings
    day_budget: BudgetSettings
    roles: RolesSettings = RolesSettings()

    def of(self, role: str) -> "LlmSettings":
        """Return these settings with those of the role in place of its own.

        >>> llm = Settings.load(llm={"model": "a", "roles": {"gating": {"model": "b"}}}).llm
        >>> llm.of("gating").model, llm.of("merging").model
        ('b', 'a')
        """
        own: RoleSettings = getattr(self.roles, role)
        return self.model_copy(update=own.model_dump(exclude_none=True))


class Settings(BaseSettings):
    """Everything that can be set; `config/settings.toml` says what each means.

    >>> Settings.load(tenant="acme").tenant
    'acme'
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        hide_input_in_errors=True,
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        nested_model_default_partial_update=True,
    )

    preset: Preset

    uri: Annotated[str, AfterValidator(_address)]
    catalogue: Annotated[str, AfterValidator(_address)]
    user: str
    password: SecretStr
    database: str
    connect_timeout: Seconds
    retry_time: Seconds

    home: Annotated[Path, BeforeValidator(lambda v: v or _DATA)]
    cache: Annotated[Path, BeforeValidator(lambda v: v or _CACHE)]
    maven_url: Annotated[str, Field(repr=False)]  # it may name who fetches
    heap: Memory
    page_cache: Annotated[Memory, BeforeValidator(lambda v: v or _page_cache())]
    bolt_port: Port
    http_port: Port
    start_timeout: Seconds

    tenant: Annotated[str, Field(min_length=1)]
    timezone: str
    language: Annotated[str, Field(pattern=f"^(?:{'|'.join(LANGUAGES)})?$")]
    embedder: str
    embedding_batch: Annotated[int, Field(ge=1)]
    embedding_tokens: Annotated[int, Field(ge=1)]
    embedding_pooling: Pooling
    embedding_longest: Annotated[int, Field(ge=0)]
    embedding_query: str
    embedding_passage: str
    ingest_batch: Annotated[int, Field(ge=1, le=1000)]
    max_text: Annotated[int, Field(ge=1, le=1_000_000)]
    passage: Annotated[int, Field(ge=200, le=20_000)]
    max_keywords: Annotated[int, Field(ge=0, le=8)]
    secrets: Secrets

    recall: RecallSettings
    gate: GateSettings
    topics: TopicsSettings
    blocks: BlocksSettings
    claims: ClaimsSettings
    worker: WorkerSettings
    answer: AnswerSettings
    prompt: PromptSettings
    lifecycle: LifecycleSettings
    use: UseSettings
    audit: AuditSettings
    trust: TrustSettings
    telemetry: TelemetrySettings
    serve: ServeSettings
    remote: RemoteSettings
    hook: HookSettings
    llm: LlmSettings

    @field_validator("timezone")
    @classmethod
    def _known_timezone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"{name!r} is no time zone of the IANA database") from None
        return name

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the names are pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: arguments, environment, the user's file, the preset that these name, the defaults."""
        own = [_toml(settings_cls, file)] if (file := _user_file()) else []
        given = init_settings, env_settings, *own
        preset = next((found for source in given if (found := source().get("preset")) is not None), "")
        files = [("config", "presets", f"{preset}.toml")] if preset and preset in get_args(Preset) else []
        return *given, *(_read_once(settings_cls, resource(*file)) for file in (*files, ("config", "settings.toml")))

    @classmethod
    def paper(cls, name: Preset, **overrides: object) -> "Settings":
        """Read all sources with the preset of a paper; raises SettingsError for another name.

        >>> Settings.paper("memfly").recall.ranking
        'rrf'
        """
        return cls.load(preset=name, **overrides)

    @classmethod
    def load(cls, **overrides: object) -> "Settings":
        """Read all sources; raises SettingsError naming each setting that can't be used.

        A variable of the environment that begins like a setting but names none is logged once, as a warning.
        """
        _tell_misspelt()
        try:
            return cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: "
                + ("there is no such setting" if e["type"] == "extra_forbidden" else e["msg"])
                for e in error.errors()
            )
            read = f" They were read from {file.absolute()} and the environment." if (file := _user_file()) else ""
            raise SettingsError(
                f"Settings can't be used: {faults}.{read} config/settings.toml lists them all."
            ) from None
        except ValueError as error:  # an environment value that does not parse
            raise SettingsError(f"Settings can't be read: {error}.") from error


def _toml(settings: type[BaseSettings], file: Path) -> TomlConfigSettingsSource:
    """Read a file of settings; raises SettingsError that names it."""
    try:
        return TomlConfigSettingsSource(settings, file)
    except OSError as error:
        raise SettingsError(f"The settings file {file.absolute()} can't be read: {error.strerror}.") from None
    except ValueError as error:  # it is no TOML, or no UTF-8
        raise SettingsError(f"The settings file {file.absolute()} is no TOML in UTF-8: {error}.") from None


_read_once = cache(_toml)  # what is shipped stays as it is


@cache
def _tell_misspelt() -> None:
    known = {name.upper() for name in (*_names(Settings), "config", "locomo", "daily", "ordinary", "realmem")}
    sections = {name.partition("__")[0] for name in known}
    for variable in os.environ:
        name = variable.upper().removeprefix(_PREFIX)
        if name != variable.upper() and not name.startswith("TEST_") and name.partition("__")[0] not in sections:
            near = get_close_matches(name, known, n=1, cutoff=0.6)
            _log.warning("%s names no setting%s", variable, f"; did you mean {_PREFIX}{near[0]}?" if near else ".")


def _names(model: type[BaseModel]) -> Iterator[str]:
    """Yield the names of all settings, those of a table behind its own."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name}__{inner}" for inner in _names(field.annotation))
        else:
            yield name


def _user_file() -> Path | None:
    if (file := user_file()) and not file.is_file():
        raise SettingsError(f"{_PREFIX}CONFIG names {file}, which is no file.")
    return file
