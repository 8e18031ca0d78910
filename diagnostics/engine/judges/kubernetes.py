"""The JSON documents of Kubernetes, docker and crictl."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from diagnostics.engine.catalog import containers as words
from diagnostics.engine.judges import gpu_dcgm_codes, gpu_xid_reasons
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.gpu_dcgm_codes import DcgmCodes
from diagnostics.engine.judges.gpu_xid_reasons import XidReasons
from diagnostics.engine.judges.gpu_xids import Xids
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.kubernetes import inspected, items, rows, table
from diagnostics.engine.parsers.log import Literals, Log
from diagnostics.engine.types import Observation, Role


@dataclass(frozen=True, slots=True)
class Source:
    """A document, and the text after which the object stands that is looked at."""

    document: JsonText
    source_name: str
    anchor: str = ""

    def says(
        self, fault: str, key: str, value: object, *, role: Role = "root", part: str = "", detail: str = ""
    ) -> Observation:
        if isinstance(value, str):
            line = self.document.locate_text(key, value, after=self.anchor)
        else:
            line = self.document.locate(key, value=str(value).lower(), after=self.anchor)
        return Observation(
            fault, line, self.source_name, role=role, component=part or None, detail=detail, order=line.number
        )

    def quoted(self, text: str, key: str) -> list[Observation]:
        """What the signatures see in a message that a field holds."""
        line = self.document.locate_text(key, text, after=self.anchor)
        return [replace(one, line=line, order=line.number) for one in _signs(text, self.source_name)]


@lru_cache(maxsize=1)
def _literals() -> Literals:
    return Literals((*Signatures.literals(), *Xids.literals(), *gpu_dcgm_codes.literals(), *gpu_xid_reasons.LITERALS))


def _signs(text: str, source_name: str) -> Iterator[Observation]:
    log = Log.of(text.replace("\n", " "))
    for line, found in log.lines_with(_literals()):
        for judge in (Signatures(source_name), Xids(source_name), DcgmCodes(source_name), XidReasons(source_name)):
            yield from (hit.seen for hit in judge.see(line, found, log) if not hit.clears)


def kubernetes(document: JsonText, *, source_name: str) -> list[Observation]:
    found: list[Observation] = []
    for item in items(document.value):
        name = str(table(item, "metadata").get("name") or "")
        source = Source(document, source_name, f'"{name}"' if name else "")
        look = _LOOKS.get(str(item.get("kind") or _kind_of(item)))
        found += look(source, item, name) if look else ()
    return found


def _kind_of(item: dict[str, Any]) -> str:
    """Items of a typed list carry no kind."""
    if "involvedObject" in item:
        return "Event"
    return "Node" if table(item, "status").keys() & {"nodeInfo", "allocatable", "capacity"} else "Pod"


def _pod(source: Source, item: dict[str, Any], name: str) -> Iterator[Observation]:
    status = table(item, "status")
    if said := words.status(str(status.get("reason") or "")):
        yield source.says(said[0], "reason", status["reason"], role=said[1], part=name)
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in rows(status, key):
            for state in ("state", "lastState"):
                for what in table(container, state).values():
                    yield from _container_state(source, what, name)


def _container_state(source: Source, what: Any, name: str) -> Iterator[Observation]:
    reason = str(what.get("reason") or "") if isinstance(what, dict) else ""
    if said := words.status(reason):
        yield source.says(said[0], "reason", reason, role=said[1], part=name)
        if reason in ("RunContainerError", "CreateContainerError", "StartError", "ContainerCannotRun"):
            yield from source.quoted(str(what.get("message") or ""), "message")


def _node(source: Source, item: dict[str, Any], name: str) -> Iterator[Observation]:
    yield from _conditions(source, item, name)
    status = table(item, "status")
    for key in words.withheld(table(status, "capacity"), table(status, "allocatable")):
        yield source.says("container.device_plugin", key, str(table(status, "allocatable").get(key)), part=name)


def _conditions(source: Source, item: Any, name: str) -> Iterator[Observation]:
    for row in rows(table(item, "status"), "conditions"):
        kind, value = str(row.get("type")), str(row.get("status"))
        if fault := words.condition(kind, value):
            yield source.says(fault, "type", kind, part=name, detail=str(row.get("message") or row.get("reason") or ""))
        elif value == ("False" if kind.endswith("Ready") else "True"):
            yield from _told_by_monitor(source, row, name)


def _told_by_monitor(source: Source, row: dict[str, Any], node: str) -> Iterator[Observation]:
    """A condition that a monitor of GPUs sets: the code or the Xid stands in its words."""
    message = str(row.get("message") or "")
    line = source.document.locate_text("message", message, after=source.anchor)
    for one in source.quoted(f"{row.get('reason')} {message}", "message"):
        yield replace(one, line=line, order=line.number, node=node or one.node)


def _event(source: Source, item: dict[str, Any], name: str) -> Iterator[Observation]:
    if str(item.get("type") or "Warning") != "Warning":
        return
    about = str(table(item, "involvedObject").get("name") or "")
    message = str(item.get("message") or item.get("note") or "")
    # A monitor of the node's log hands on what the kernel said, which is known by how it begins.
    found = source.quoted(f"Warning {item.get('reason')} {message}", "message") or source.quoted(message, "message")
    key = "message" if item.get("message") else "note"
    line = source.document.locate_text(key, message, after=source.anchor)
    for one in found:
        of_node = str(table(item, "involvedObject").get("kind")) == "Node" and one.component
        part = one.component if of_node else about or one.component
        yield replace(one, line=line, order=line.number, component=part, node=about if of_node else one.node)


_LOOKS = {"Pod": _pod, "Node": _node, "Event": _event}


def docker_inspect(document: JsonText, *, source_name: str) -> list[Observation]:
    found: list[Observation] = []
    for item in inspected(document.value):
        state, name = table(item, "State"), str(item.get("Name") or "").lstrip("/")
        source = Source(document, source_name, f'"{item.get("Id")}"')
        if state.get("OOMKilled") is True:
            found.append(source.says("container.oom_killed", "OOMKilled", True, part=name))
        error = str(state.get("Error") or "")
        if error:
            named = source.quoted(error, "Error")
            found += [replace(one, component=one.component or name) for one in named] or [
                source.says("container.start_failed", "Error", error, part=name)
            ]
        elif state.get("Restarting") is True or state.get("Dead") is True:
            found.append(source.says("container.start_failed", "Status", str(state.get("Status") or ""), part=name))
    return found


def docker_info(document: JsonText, *, source_name: str) -> list[Observation]:
    errors = document.value.get("ServerErrors") or []
    if not isinstance(errors, list):
        return []
    line = document.locate("ServerErrors")
    return [
        Observation("container.runtime_down", line, source_name, detail=str(error), order=line.number)
        for error in errors[:1]
    ]


def crictl(document: JsonText, *, source_name: str) -> list[Observation]:
    source = Source(document, source_name)
    found = list(_conditions(source, document.value, ""))
    states = [*rows(document.value, "containers"), table(document.value, "status")]
    for state in states:
        name = str(table(state, "metadata").get("name") or "")
        if said := words.status(str(state.get("reason") or "")):
            found.append(source.says(said[0], "reason", state["reason"], role=said[1], part=name))
    return found


_ALL = of("container.start", "container.image", "container.resources", "container.runtime")

FORMATS = {
    "kubernetes-json": Format("Kubernetes", (kubernetes,), _ALL),
    "docker-inspect": Format("docker inspect", (docker_inspect,), of("container.start", "container.resources")),
    "docker-info-json": Format("docker info", (docker_info,), of("container.runtime")),
    "crictl-json": Format("crictl", (crictl,), of("container.runtime", "container.resources")),
}
