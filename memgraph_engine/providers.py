"""LiteLLM, imported when it is first needed, and made to keep to itself."""

import logging
import os
from functools import cache
from importlib.util import find_spec
from types import ModuleType

from memgraph_engine.errors import MissingExtra
from memgraph_engine.forks import begun, leave


def require_litellm(purpose: str) -> None:
    """Raise MissingExtra, which names the purpose, unless LiteLLM is installed; loading it takes seconds."""
    if find_spec("litellm") is None:
        raise MissingExtra(purpose, "llm")


def load_litellm(purpose: str) -> ModuleType:
    """Import LiteLLM; raises MissingExtra, which names the purpose.

    Left alone it fetches its price table from a host of its maker as it is imported, and tokenizers when it
    counts; it also logs and prints whatever fails. The price table and the tokenizer that it ships do.
    """
    require_litellm(purpose)
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    module: ModuleType = litellm
    _part(module)
    return module


@cache
def _part(litellm: ModuleType) -> None:
    """Let each child have clients of its own: two processes on one connection would read each other's answers."""
    begun(litellm, _without_clients)


def _without_clients(litellm: ModuleType) -> None:
    clients = litellm.in_memory_llm_clients_cache
    leave(clients, vars(litellm).pop("module_level_client", None))
    litellm.in_memory_llm_clients_cache = type(clients)()  # type: ignore[attr-defined]


def brief(error: Exception) -> str:
    """Return the first line of what was said: LiteLLM adds traces and adverts below."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
