"""A server over HTTP, in a thread of its own."""

from contextlib import contextmanager
from threading import Thread

import uvicorn

from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.rest import app, serving


@contextmanager
def served(memory, *, ui=False, keys=True, port=0):
    """Where a server listens; without `keys` it needs none as long as the database has none."""
    with serving.listen("127.0.0.1", port) as one:
        made = app(memory, access=Access(memory, required=keys), ui=ui)
        server = uvicorn.Server(uvicorn.Config(made, log_config=None, ws="none"))
        thread = Thread(target=server.run, kwargs={"sockets": [one]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{one.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
