"""A real Neo4j in a container, through testcontainers; or the reason why there is none."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

IMAGE = os.environ.get("MEMGRAPH_ENGINE_TEST_IMAGE", "neo4j:2026.08.1-community")
PASSWORD = "password-of-a-test"
# young as the managed servers of tests are, it is configured as they are
SERVER = {
    "NEO4J_server_fleet__discovery_enabled": "false",
    "NEO4J_dbms_fleet__manager_enabled": "false",
    "NEO4J_dbms_usage__report_enabled": "false",
    "NEO4J_dbms_cypher_min__replan__interval": "1h",
    "NEO4J_internal_cypher_expression__engine": "INTERPRETED",
    "NEO4J_server_memory_heap_max__size": "1g",
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}

# testcontainers reads these when it is imported
os.environ.setdefault(
    "TESTCONTAINERS_RYUK_DISABLED", "true"
)  # its reaper is an image of its own, which may not be there
os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
os.environ.setdefault("TC_POOLING_INTERVAL", "0.25")
os.environ.setdefault("TC_MAX_TRIES", "720")  # times the interval: 180 s


def why_none() -> str | None:
    """Return None when the image can be run (it is pulled if need be), else the reason."""
    import docker

    try:
        client = docker.from_env(timeout=10)
    except docker.errors.DockerException as error:
        return f"no Docker daemon: {error}"
    try:
        client.images.get(IMAGE)
    except docker.errors.ImageNotFound:
        try:
            client.images.pull(IMAGE)
        except docker.errors.DockerException as error:
            return f"no image {IMAGE}, and none to be pulled: {error}"
    finally:
        client.close()
    return None


@contextmanager
def neo4j() -> Iterator[str]:
    """Yield the address of a fresh server, whose user is neo4j and whose password is PASSWORD."""
    from testcontainers.community.neo4j import Neo4jContainer

    container = Neo4jContainer(IMAGE, password=PASSWORD)
    for name, value in SERVER.items():
        container.with_env(name, value)
    with container:
        yield container.get_connection_url()
