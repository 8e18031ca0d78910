"""Reports of a whole fabric: iblinkinfo, ibdiagnet, UFM."""

from collections import Counter

from diagnostics.engine import catalog
from diagnostics.engine.catalog import fabric
from diagnostics.engine.parsers import fabric_reports
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation, Role


def links(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for link in fabric_reports.links(log.text):
        fault = ""
        if link.state.startswith("Initialize"):
            fault = "fabric.subnet_manager"
        elif link.better and link.state == "Active":
            fault = "fabric.rate_degraded"
        elif link.state == "Down" and not link.is_switch:  # a switch has free ports
            fault = "fabric.link_down"
        if fault:
            part = f"{link.node} port {link.port}"
            found.append(Observation(fault, link.line, source_name, component=part, order=link.line.number))
    return found


def widths(log: Log, *, source_name: str) -> list[Observation]:
    """Ports with fewer lanes than the sisters on their host that run at the same speed."""
    found = fabric_reports.adapter_links(log.text)
    lanes = Counter((link.host, link.speed, link.width) for link in found)
    sisters = catalog.thresholds()["fabric"]["lane_sisters"]
    return [
        Observation(
            "fabric.rate_degraded", link.line, source_name, component=f"{link.node} port {link.port}",
            detail=f"{link.width} lanes", order=link.line.number,
        )
        for link in found
        if link.width == 1 or any(lanes[link.host, link.speed, more] >= sisters for more in range(link.width + 1, 17))
    ]  # fmt: skip


def stages(log: Log, *, source_name: str) -> list[Observation]:
    known = fabric.table()["ibdiagnet"]
    return [
        Observation(
            known[stage.name], stage.line, source_name, confidence="medium", detail=f"{stage.errors} errors",
            order=stage.line.number,
        )
        for stage in fabric_reports.stages(log.text)
        if stage.errors and stage.name in known
    ]  # fmt: skip


def ufm(document: JsonText, *, source_name: str) -> list[Observation]:
    found = []
    for row in fabric_reports.ufm_events(document.value):
        words = f"{row.get('name', '')} {row.get('description', '')}"
        fault = next((fault for key, fault in fabric.table()["ufm"].items() if key in words), None)
        severity = str(row.get("severity", "")).lower()
        if fault and severity not in ("info", "normal"):
            line = document.locate(
                "description" if row.get("description") else "name",
                value=f'"{str(row.get("description") or row.get("name"))[:20]}',
            )
            role: Role = "root" if severity in ("critical", "minor", "warning", "error") else "note"
            part = row.get("object_name") or row.get("object_path")
            found.append(
                Observation(
                    fault, line, source_name, role=role, component=str(part) if part else None, confidence="medium",
                    order=line.number,
                )
            )  # fmt: skip
    return found
