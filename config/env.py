"""Typed settings from the environment or from one file.

The environment wins over the file (`SICKBAY_ENV_FILE`, else `sickbay.env` in the data folder). A value that cannot be read is never
fatal here: the default is used and the problem is kept, so that `manage.py check` can say what is wrong with a hint.
"""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
SOCKET_PATH_LIMIT = 100  # a unix socket address holds 108 bytes on Linux, 104 on macOS


@dataclass(frozen=True)
class Problem:
    """A setting that could not be read: its name, what was found and how to mend it."""

    name: str
    value: str
    hint: str


@dataclass
class Environment:
    """Settings by name; `problems` collects the values that could not be read."""

    values: dict[str, str]
    problems: list[Problem] = field(default_factory=list)

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, default).strip()

    def integer(self, name: str, default: int, *, low: int, high: int) -> int:
        raw = self.text(name)
        if not raw:
            return default
        try:
            value = int(raw)
        except ValueError:
            value = low - 1
        if low <= value <= high:
            return value
        self.problems.append(
            Problem(name, raw, f"Give a whole number from {low} to {high}, or unset it for {default}.")
        )
        return default

    def boolean(self, name: str, default: bool) -> bool:
        raw = self.text(name).lower()
        known = {
            "": default,
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }
        if raw in known:
            return known[raw]
        self.problems.append(Problem(name, raw, "Give true or false."))
        return default

    def words(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """A list separated by commas."""
        raw = self.text(name)
        return [word.strip() for word in raw.split(",") if word.strip()] if raw else list(default)

    def url(self, name: str, schemes: tuple[str, ...], default: str = "") -> str:
        raw = self.text(name, default)
        if raw and raw.split(":", 1)[0] not in schemes:
            self.problems.append(Problem(name, hide_password(raw), f"Start it with one of: {', '.join(schemes)}."))
            return default
        return raw


def hide_password(url: str) -> str:
    """The URL without what stands between '://' and '@'."""
    head, separator, rest = url.partition("://")
    return f"{head}://…@{rest.rpartition('@')[2]}" if separator and "@" in rest else url


def read_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines; blank lines and lines starting with '#' are left out, quotes around a value are taken off."""
    if not path.is_file():
        return {}
    pairs = (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines())
    return {
        name.strip().removeprefix("export "): value.strip().strip("'\"")
        for name, separator, value in pairs
        if separator and not name.lstrip().startswith("#")
    }


def load(environ: dict[str, str] | None = None) -> Environment:
    """The environment over the file; a named file that is missing is a problem."""
    environ = dict(os.environ if environ is None else environ)
    named = environ.get("SICKBAY_ENV_FILE", "")
    path = Path(named) if named else data_dir(environ) / "sickbay.env"
    env = Environment({**read_file(path), **environ})
    if named and not path.is_file():
        env.problems.append(Problem("SICKBAY_ENV_FILE", named, "Name a file that exists and can be read, or unset it."))
    return env


def data_dir(environ: dict[str, str]) -> Path:
    """The one folder that holds data, absolute."""
    raw = environ.get("SICKBAY_DATA_DIR", "").strip()
    return Path(raw).expanduser().absolute() if raw else ROOT / "var"


def running_url(data: Path) -> str:
    """Where the Sickbay of this data folder answers, as its supervisor noted; "" if none has run."""
    try:
        words = (data / "run" / "supervisor.lock").read_text(encoding="utf-8").split()
    except OSError:
        return ""
    return words[1] if len(words) > 1 and words[1].startswith("http") else ""


def make_private(folder: Path) -> Path:
    """Create the folder for its owner only."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def keep_secret(path: Path, length: int = 50) -> str:
    """The secret in the file; made, once, if it is not there. Two processes that start together agree on one."""
    if not path.exists():
        make_private(path.parent)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(length), encoding="ascii")
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first; its secret counts
        finally:
            draft.unlink()
    return path.read_text(encoding="ascii").strip()


@dataclass(frozen=True)
class Broker:
    """Where the queue is: `redis_url` for the client, `celery_url` for Celery; `embedded` if the supervisor starts it."""

    redis_url: str
    celery_url: str
    embedded: bool
    socket: Path | None = None
    port: int | None = None
    password: str = ""


def embedded_broker(data: Path, *, port: int) -> Broker:
    """The server that the supervisor starts: a private unix socket, or a loopback port with a password where the path is too long."""
    socket = data / "run" / "valkey.sock"
    if len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT:
        return Broker(
            f"unix://{quote(str(socket))}?db=0", f"redis+socket://{quote(str(socket))}?virtual_host=0", True, socket
        )
    password = keep_secret(data / "valkey.password", 24)
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    return Broker(url, url, True, None, port, password)


def broker(env: Environment, data: Path) -> Broker:
    """The broker that the settings name, else the embedded one."""
    redis_url = env.url("REDIS_URL", ("redis", "rediss", "unix"))
    celery_url = env.url("CELERY_BROKER_URL", ("redis", "rediss", "redis+socket", "amqp", "amqps"))
    if redis_url:
        return Broker(redis_url, celery_url or celery_form(redis_url), False)
    own = embedded_broker(data, port=env.integer("SICKBAY_VALKEY_PORT", 16379, low=1, high=65535))
    return Broker(own.redis_url, celery_url or own.celery_url, True, own.socket, own.port, own.password)


def celery_form(redis_url: str) -> str:
    """The same address as Celery writes it: `unix://` is `redis+socket://` there, the database a `virtual_host`."""
    if not redis_url.startswith("unix://"):
        return redis_url
    path, _, query = redis_url.removeprefix("unix://").partition("?")
    database = dict(pair.partition("=")[::2] for pair in query.split("&")).get("db", "0")
    return f"redis+socket://{path}?virtual_host={database}"
