"""A night in a made-up cluster, told through the actions of the product, for pictures and browser tests.

    SICKBAY_DATA_DIR=... python -m tests.browser.scene

fills the configured database and prints the session key of the person on call.
"""

import json
import os
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from diagnostics.actions import findings, judging, uploads
from diagnostics.models import DiagnosticRun, Finding
from incidents.actions import causes, deliveries, fleet, heartbeats, lifecycle, postmortems, reactions, sources
from incidents.domain.actors import SICKBAY
from incidents.domain.permissions import Role
from incidents.models import Cluster, Incident, Node, Rack, RoleGrant, Source, Team, User
from knowledge import queries as knowledge
from knowledge.actions import checklists, library

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
RACKS, NODES, GPUS = 4, 8, 8
BUSES = ("19", "3b", "4c", "5d", "9b", "ac", "bb", "cb")
LOG = """\
{0}.104512+00:00 systemd[1]: Started Session 41 of user root.
{1}.902611+00:00 nvidia-nvswitch2: SXid (PCI:0000:87:00.0): 20034, Fatal, Link 38 LTSSM Fault Up
{1}.903002+00:00 nvidia-nvswitch2: SXid (PCI:0000:87:00.0): 20034, Severity 5 Engine instance 38 Sub-engine instance 00
{2}.322190+00:00 NVRM: GPU at PCI:0000:ac:00: GPU-6f1d2c0e-91b7-4c55-8a3e-0d7be41f9a12
{2}.322204+00:00 NVRM: GPU Board Serial Number: 1650423017764
{2}.323117+00:00 NVRM: Xid (PCI:0000:ac:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
{2}.323420+00:00 NVRM: GPU 0000:ac:00.0: GPU has fallen off the bus.
{2}.918800+00:00 NVRM: Xid (PCI:0000:ac:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)
{3}.530000+00:00 NVRM: A GPU crash dump has been created. If possible, please run nvidia-bug-report.sh as root to collect it.
{3}.731000+00:00 systemd[1]: Starting Cleanup of Temporary Directories...
"""


@dataclass(frozen=True)
class Scene:
    """Who is on call, and the incidents to look at."""

    mara: User
    vera: User
    off_bus: Incident  # repairing, with finding, SOP and checklist
    unanswered: Incident
    restored: Incident  # paperwork missing
    closed: Incident
    source: Source


def build(now: datetime) -> Scene:
    """The scene as of `now`; call it on an empty database."""
    library.load(at=now - 100 * DAY, by=SICKBAY)
    mara, chen, vera = _people()
    nodes = _fleet(at=now - 90 * DAY)
    for name in ("pager", "worker", "beat"):
        heartbeats.beat(name, at=now + HOUR)  # nobody beats while the pictures are taken
    source, _secret = sources.add("alertmanager", kind="alertmanager", by=SICKBAY, at=now - 60 * DAY)
    closed = _past(nodes["gpu-r03-n05"], "gpu.off_bus", by=chen, at=now - 17 * DAY)
    _past(nodes["gpu-r02-n04"], "gpu.off_bus", by=chen, at=now - 40 * DAY)
    _past(nodes["gpu-r01-n02"], "gpu.ecc.uncorrectable", by=mara, at=now - 9 * DAY)
    _past(nodes["gpu-r04-n01"], "host.psu.failed", by=mara, at=now - 5 * DAY)
    _deliver(source, b'{"alerts": [', at=now - 90 * MINUTE)
    coolant = {"alertname": "CoolantFlowLow", "cdu": "cdu-3", "severity": "Sev B"}
    _deliver(source, _body([coolant], now - HOUR), at=now - HOUR)
    off_bus = _off_bus(source, mara, chen, now=now)
    restored = _waits_for_paper(nodes["gpu-r01-n06"], by=mara, at=now - 26 * HOUR)
    _waiting(nodes["gpu-r04-n02"], by=chen, at=now - 19 * HOUR)
    unanswered = _unanswered(source, now=now)
    return Scene(mara, vera, off_bus, unanswered, restored, closed, source)


def _people() -> tuple[User, User, User]:
    team = Team.objects.create(name="GPU reliability")
    people = []
    for name, shown, role in (
        ("mara", "Mara Lindqvist", Role.OPERATOR),
        ("chen", "Chen Wei", Role.OPERATOR),
        ("vera", "Vera Sund", Role.VIEWER),
    ):
        user = User.objects.create_user(username=name, display_name=shown)
        RoleGrant.objects.create(user=user, role=role)
        team.members.add(user)
        people.append(user)
    return people[0], people[1], people[2]


def _fleet(*, at: datetime) -> dict[str, Node]:
    cluster = Cluster.objects.create(name="cls-a")
    nodes = {}
    for rack_number in range(1, RACKS + 1):
        rack = Rack.objects.create(cluster=cluster, name=f"r{rack_number:02d}", power_feed="A+B")
        for number in range(1, NODES + 1):
            node = fleet.enrol(_facts(rack_number, number), by=SICKBAY, at=at, cluster=cluster)
            Node.objects.filter(pk=node.pk).update(rack=rack)
            nodes[node.hostname] = Node.objects.get(pk=node.pk)
    fleet.set_life_cycle(nodes["gpu-r01-n05"], life_cycle="cordoned", reason="held as a spare", by=SICKBAY, at=at)
    return nodes


def _facts(rack: int, number: int) -> fleet.NodeFacts:
    base = 1652924000000 + rack * 100_000 + number * 1000
    return fleet.NodeFacts(
        hostname=f"gpu-r{rack:02d}-n{number:02d}",
        serial=f"J10{rack}27A3X{number:02d}",
        vendor="Supermicro",
        product="HGX H100 8-GPU",
        expected_gpus=GPUS,
        facts={"cpu": "2 x Xeon Platinum 8480+", "memory_gib": 2048, "kernel": "6.8.0-51-generic", "gpus": GPUS},
        parts=[
            fleet.PartFacts(
                "gpu", str(slot), "NVIDIA H100 80GB HBM3", str(base + slot), pci_address=f"0000:{BUSES[slot]}:00.0"
            )
            for slot in range(GPUS)
        ],
    )


def _body(alerts_labels: list[dict[str, str]], at: datetime, *, firing: bool = True) -> bytes:
    """A notification as Alertmanager sends it."""
    members = [
        {
            "status": "firing" if firing else "resolved",
            "labels": labels,
            "annotations": {"summary": labels["alertname"]},
            "startsAt": at.isoformat(),
            "endsAt": "0001-01-01T00:00:00Z",
            "fingerprint": f"{abs(hash(tuple(sorted(labels.items())))):016x}"[:16],
        }
        for labels in alerts_labels
    ]
    return json.dumps(
        {"version": "4", "status": members[0]["status"], "receiver": "sickbay", "alerts": members}
    ).encode()


def _deliver(source: Source, body: bytes, *, at: datetime) -> None:
    sources.keep(source, sources.Received(body, "POST", "10.4.0.9", {"Content-Type": "application/json"}), at=at)
    deliveries.process_waiting(at=at)
    reactions.react(at=at)


def _newest() -> Incident:
    return Incident.objects.latest("pk")


def _judge(incident: Incident, *, at: datetime) -> None:
    for run in incident.runs.filter(state__in=DiagnosticRun.UNFINISHED):
        judging.judge(run.pk, at=at)
    reactions.react(at=at)


def _off_bus(source: Source, mara: User, chen: User, *, now: datetime) -> Incident:
    start = now - 42 * MINUTE
    labels = {"instance": "gpu-r03-n05:9400", "severity": "critical"}
    members = [{"alertname": "GPULost", "gpu": "5", **labels}]
    members += [{"alertname": "GPUOffBusPeer", "gpu": gpu, **labels} for gpu in ("4", "6")]
    _deliver(source, _body(members, start), at=start + 18 * timedelta(seconds=1))
    incident = _newest()
    lifecycle.acknowledge(incident, by=mara, at=start + 2 * MINUTE)
    log = LOG.format(
        *(moment.strftime("%Y-%m-%dT%H:%M:%S") for moment in (start - MINUTE, start, start, start + MINUTE))
    )
    uploads.add_evidence(incident=incident, name="kernel.log", data=log.encode(), by=mara, at=start + 4 * MINUTE)
    _judge(incident, at=start + 5 * MINUTE)
    root = Finding.objects.filter(incident=incident, root=True).first()
    if root:
        findings.confirm(root, by=mara, at=start + 9 * MINUTE)
    incident.refresh_from_db()
    lifecycle.mitigate(incident, by=mara, at=start + 17 * MINUTE, text="Job restarted without the node, 60 of 64.")
    lifecycle.add_note(
        incident, text="Same slot as two weeks ago; it was only reseated then.", by=chen, at=start + 18 * MINUTE
    )
    lifecycle.start_repair(incident, by=mara, at=start + 20 * MINUTE)
    _work_checklist(incident, by=mara, at=start + 22 * MINUTE, ticks=2)
    incident.refresh_from_db()
    return incident


def _work_checklist(incident: Incident, *, by: User, at: datetime, ticks: int) -> None:
    suggestion = next(iter(knowledge.suggested(incident, "en")), None)
    if suggestion is None:
        return
    run = checklists.start(incident, suggestion.revision, by=by, at=at)
    for number in range(ticks):
        checklist = next(one for one in knowledge.checklists_of(incident) if one.run.pk == run.pk)
        if checklist.current is None:
            return
        step = next(one.step for one in checklist.steps if one.step.key == checklist.current)
        answer = next(iter(step.answers), "")
        checklists.tick(run, step.key, state="done", answer=answer, by=by, at=at + number * MINUTE)


def _to_verifying(incident: Incident, *, by: User, at: datetime) -> None:
    lifecycle.acknowledge(incident, by=by, at=at + 3 * MINUTE)
    lifecycle.mitigate(incident, by=by, at=at + 12 * MINUTE)
    lifecycle.start_repair(incident, by=by, at=at + 20 * MINUTE)
    lifecycle.start_verifying(incident, by=by, at=at + 2 * HOUR)


def _restore(incident: Incident, *, by: User, at: datetime) -> None:
    _to_verifying(incident, by=by, at=at)
    lifecycle.record_verification(
        incident,
        kind="probe",
        passed=True,
        reason="Clean: kernel_log, nvml.",
        by=SICKBAY,
        at=at + 2 * HOUR + 9 * MINUTE,
    )
    lifecycle.restore(incident, by=by, at=at + 2 * HOUR + 12 * MINUTE)


def _past(node: Node, fault: str, *, by: User, at: datetime) -> Incident:
    incident, _new = lifecycle.open_incident(lifecycle.Subject(node=node), fault, by=by, at=at, started_at=at - MINUTE)
    _restore(incident, by=by, at=at)
    after = at + 3 * HOUR
    causes.set_cause(incident, fault_code=fault, by=by, at=after)
    if knowledge.suggested_revision(incident):
        checklists.explain_skip(incident, reason="Done from memory, at night.", by=by, at=after)
    texts = {
        "summary": "A link of the board trained badly after months of heat cycles.",
        "impact": "One node, 2 h 12, one job restarted from its checkpoint.",
        "root_cause": "The riser of the slot.",
        "prevention": "Replace the riser at the second reseat.",
    }
    postmortems.save(incident, by=by, at=after, **texts)
    postmortems.publish(incident, by=by, at=after)
    lifecycle.close(incident, by=by, at=after + MINUTE)
    return incident


def _waits_for_paper(node: Node, *, by: User, at: datetime) -> Incident:
    incident, _new = lifecycle.open_incident(lifecycle.Subject(node=node), "gpu.ecc.uncorrectable", by=by, at=at)
    _restore(incident, by=by, at=at)
    return incident


def _waiting(node: Node, *, by: User, at: datetime) -> None:
    incident, _new = lifecycle.open_incident(lifecycle.Subject(node=node), "host.psu.failed", by=by, at=at)
    lifecycle.acknowledge(incident, by=by, at=at + 20 * MINUTE)
    lifecycle.mitigate(incident, by=by, at=at + HOUR)
    lifecycle.start_repair(incident, by=by, at=at + HOUR)
    lifecycle.wait_for(incident, reason="part", note="PSU 2, ordered", by=by, at=at + 2 * HOUR)


def _unanswered(source: Source, *, now: datetime) -> Incident:
    labels = {
        "alertname": "GPUXidError",
        "xid": "94",
        "instance": "gpu-r02-n07:9400",
        "gpu": "3",
        "severity": "critical",
    }
    _deliver(source, _body([labels], now - 5 * MINUTE), at=now - 4 * MINUTE - 22 * timedelta(seconds=1))
    first = _newest()
    thermal = {"alertname": "GPUThermalSlowdown", "instance": "gpu-r04-n06:9400", "gpu": "2", "severity": "warning"}
    _deliver(source, _body([thermal], now - 14 * MINUTE), at=now - 13 * MINUTE)
    return first


def session_of(user: User) -> str:
    """The key of a session in which this person is signed in."""
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return str(store.session_key)


if __name__ == "__main__":
    built = build(timezone.now())
    sys.stdout.write(
        f"session={session_of(built.mara)} viewer={session_of(built.vera)} off_bus={built.off_bus.pk} "
        f"unanswered={built.unanswered.pk} restored={built.restored.pk} closed={built.closed.pk}\n"
    )
