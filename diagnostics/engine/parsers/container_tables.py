"""Tables of container tools, cut at the columns of their header.

NAME      READY   STATUS             RESTARTS   AGE          kubectl get pods
NAME   STATUS     ROLES    AGE   VERSION                     kubectl get nodes
CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES      docker ps -a
CONTAINER   IMAGE   CREATED   STATE   NAME   ATTEMPT   POD ID          crictl ps -a
Conditions: / Type  Status  LastHeartbeatTime ...            kubectl describe node
N   CAP   ALLOC                                              kubectl get nodes -o custom-columns
Capacity: / nvidia.com/gpu: 8 / Allocatable: / ...           kubectl describe node, -o yaml
"""

import re
from dataclasses import dataclass, field

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_HEADERS = {
    "pods": re.compile(r"\bNAME\s+READY\s+STATUS\s+RESTARTS\b"),
    "nodes": re.compile(r"\bNAME\s+STATUS\s+ROLES\b"),
    "docker": re.compile(r"\bCONTAINER ID\s+IMAGE\b.*\bSTATUS\b"),
    "crictl": re.compile(r"\bCONTAINER(?: ID)?\s+IMAGE\s+CREATED\s+STATE\s+NAME\b"),
    "conditions": re.compile(r"^\s*Type\s+Status\s+(?:LastHeartbeatTime|LastTransitionTime|Reason)\b"),
    "resources": re.compile(r"^(?=.*\bCAP)(?=.*\bALLOC)(?!.*(?:CPU|MEM|POD|DISK|STORAGE))\s*N\w*\s"),
}
_RESOURCE = re.compile(r"(?P<key>[a-z][\w.\-]*/[\w.\-]+|[a-z][\w\-]*):\s+\"?(?P<value>\d+\w*)\"?$")
_COLUMN = re.compile(r"\S+(?: (?! )\S+)*")
_FIELD = re.compile(r"(?P<key>[A-Z][\w ]{0,30}):\s+(?P<value>\S.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Row:
    """`cells`: column -> text; `subject`: the node that a description is of."""

    table: str
    cells: dict[str, str]
    line: EvidenceLine
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """`Reason: OOMKilled` of a description, with the pod or node that it is about and the state that it belongs to."""

    key: str
    value: str
    subject: str
    line: EvidenceLine


@dataclass(frozen=True, slots=True)
class Resources:
    """What a node has and what it can give out; `lines`: where each stood that it can give out."""

    node: str
    capacity: dict[str, str] = field(default_factory=dict)
    allocatable: dict[str, str] = field(default_factory=dict)
    lines: dict[str, EvidenceLine] = field(default_factory=dict)


def resources(text: str) -> list[Resources]:
    found: list[Resources] = []
    node, block = "", ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.lower() in ("capacity:", "allocatable:"):
            block = line.lower().rstrip(":")
            if not found or getattr(found[-1], block):
                found.append(Resources(node))
        elif raw.startswith("Name:"):
            node, block = line.removeprefix("Name:").strip(), ""
            found.append(Resources(node))
        elif block and (match := _RESOURCE.match(line)):
            getattr(found[-1], block)[match["key"]] = match["value"]
            if block == "allocatable":
                found[-1].lines[match["key"]] = EvidenceLine(number, line)
        elif line and not raw.startswith((" ", "\t")):
            block = ""
    return found


def rows(text: str) -> list[Row]:
    found: list[Row] = []
    table = subject = ""
    columns: list[tuple[str, int]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.expandtabs().rstrip()
        kind = next((n for n, header in _HEADERS.items() if header.search(line)), "") if _may_head(line) else ""
        if line.startswith("Name:"):
            subject = line.removeprefix("Name:").strip()
        if kind:
            table, columns = kind, _columns(line)
        elif not line.strip() or line.startswith(("$ ", "# ", "---")):
            table = ""
        elif table:
            cells = _cells(line, columns)
            if cells is None:
                table = ""
            else:
                found.append(Row(table, cells, EvidenceLine(number, raw.strip()), subject))
    return found


def _may_head(line: str) -> bool:
    return "STAT" in line or "Status" in line or "ALLOC" in line


def _columns(header: str) -> list[tuple[str, int]]:
    found = [(match.group(), match.start()) for match in _COLUMN.finditer(header)]
    if len(found) > 1:
        return found
    return [(match.group(), match.start()) for match in re.finditer(r"\S+", header)]  # a paste that lost its spaces


def _cells(line: str, columns: list[tuple[str, int]]) -> dict[str, str] | None:
    """By two spaces or more; where that gives another number of cells (an empty one), by the places of the header."""
    words = re.split(r" {2,}", line.strip())
    names = [name for name, _ in columns]
    if len(words) == 1:
        words = line.split()
    if len(words) == len(names):
        return dict(zip(names, words, strict=True))
    starts = [start for _, start in columns]
    if any(
        line[start - 1 : start].strip() for start in starts[1:]
    ):  # the widths of another print: the first cells are sure
        return dict(zip(names, words, strict=False)) if len(words) >= 3 else None
    ends = [*starts[1:], len(line)]
    return {name: line[start:end].strip() for name, start, end in zip(names, starts, ends, strict=True)}


def fields(text: str) -> list[Field]:
    """The fields of `kubectl describe`."""
    found: list[Field] = []
    subject = ""
    for number, raw in enumerate(text.splitlines(), 1):
        match = _FIELD.match(raw.strip())
        if not match:
            continue
        if raw.startswith("Name:"):
            subject = match["value"]
        found.append(Field(match["key"], match["value"], subject, EvidenceLine(number, raw.strip())))
    return found


def _is_docker_info(head: str) -> bool:
    return "Server Version: " in head and any(word in head for word in ("Storage Driver: ", "Cgroup Driver: "))


_CAPACITY_COLUMNS = r"(?m:^(?>.*?\bN\w*[ \t]).*(?:\bCAP\w*[ \t]+\w*ALLOC|\bALLOC\w*[ \t]+\w*CAP))"

# A node apart from pods: a later look at the pods says nothing of the node.
TEXT_KINDS: TextKinds = (
    ("kubectl-node", matches(r"\bNAME +STATUS +ROLES +AGE\b")),
    ("kubectl-node", matches(rf"(?m:^[ \t]*[aA]llocatable:[ \t\r]*$)|{_CAPACITY_COLUMNS}")),
    ("kubectl-node", matches(r"(?m:^[ \t]*Type +Status +(?:Last\w+Time|Reason)\b)")),
    ("kubectl", matches(r"\bNAME +READY +STATUS +RESTARTS\b")),
    ("kubectl", matches(r"(?m:^[ \t]*LAST SEEN +TYPE +REASON +OBJECT|^[ \t]*Type +Reason +Age +From +Message)")),
    ("kubectl", matches(r"(?m:^Service Account: |^QoS Class: )")),
    ("kubectl", matches(r"(?m:^[ \t]*(?:Normal|Warning)[ \t]+[A-Z]\w+[ \t].*\b(?:kubelet|scheduler|controller)\b)")),
    ("docker-ps", matches(r"(?m:\bCONTAINER ID +IMAGE\b.{0,200}\bSTATUS\b)")),
    ("crictl-ps", matches(r"\bCONTAINER(?: ID)? +IMAGE +CREATED +STATE +NAME\b|\bPOD ID +CREATED +STATE +NAME\b")),
    ("docker-info", _is_docker_info),
)
