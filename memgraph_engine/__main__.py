"""`python -m memgraph_engine` is `memgraph-engine`."""

from memgraph_engine.cli import app

if __name__ == "__main__":
    app()
