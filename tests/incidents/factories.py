"""Plain functions that make what a test is about."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from incidents.actions import deliveries, fleet, lifecycle, sources
from incidents.domain.actors import SICKBAY
from incidents.models import Delivery, Incident, Node, Source


def node(name: str = "gpu-r03-n05", *, at: datetime | None = None) -> Node:
    return fleet.node_named(name, at=at or timezone.now())


def incident(fault: str = "gpu.off_bus", *, on: Node | None = None, at: datetime) -> Incident:
    return lifecycle.open_incident(lifecycle.Subject(node=on or node(at=at)), fault, by=SICKBAY, at=at)[0]


def source(name: str = "prometheus", *, at: datetime) -> Source:
    return sources.add(name, kind="alertmanager", by=SICKBAY, at=at)[0]


def gpu_alert(
    gpu: int = 0, *, status: str = "firing", starts_at: datetime, xid: int = 79, **labels: str
) -> dict[str, Any]:
    """A member as dcgm-exporter's Xid rule makes it."""
    return {
        "status": status,
        "labels": {
            "alertname": "GpuXid",
            "Hostname": "gpu-r03-n05",
            "gpu": str(gpu),
            "err_code": str(xid),
            "severity": "critical",
            **labels,
        },
        "annotations": {"summary": f"Xid {xid} on GPU {gpu}"},
        "startsAt": starts_at.isoformat(),
        "endsAt": (starts_at + timedelta(minutes=5)).isoformat() if status == "resolved" else "0001-01-01T00:00:00Z",
    }


def body(*members: dict[str, Any], **root: Any) -> bytes:
    return json.dumps({"version": "4", "status": "firing", "alerts": list(members), **root}).encode()


def deliver(raw: bytes, *, to: Source, at: datetime) -> Delivery:
    """Keep the body and process it."""
    delivery = sources.keep(to, sources.Received(raw, "POST", "127.0.0.1", {}), at=at)
    deliveries.process_waiting(at=at)
    delivery.refresh_from_db()
    return delivery
