"""The timeline speaks: every kind of entry that the code writes has a sentence."""

import re
from pathlib import Path

import pytest

from incidents.actions import tiers
from incidents.domain.workflow import Move
from incidents.templatetags.timeline import SENTENCES, sentence
from tests.incidents.factories import incident as open_incident

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = re.compile(r"(?:\bnote|\b_tell|\btell)\(\s*[\w.]+,\s*\"([a-z_]+)\"")
NAMED = re.compile(r"StepState\.\w+: \"([a-z_]+)\"|kind = \"(finding_\w+)\" if \w+ else \"(finding_\w+)\"")


def kinds_in_the_code() -> set[str]:
    found = set(Move)
    for app in ("incidents", "diagnostics", "knowledge"):
        for path in (ROOT / app / "actions").glob("*.py"):
            text = path.read_text()
            found |= set(WRITTEN.findall(text)) | {name for names in NAMED.findall(text) for name in names if name}
    return found - {Move.FAIL_VERIFICATION} | {"fail_verification"}


def test_every_kind_that_is_written_has_a_sentence():
    kinds = kinds_in_the_code()
    assert {"opened", "run_finished", "step_done", "finding_rejected", "checklist_started", "acknowledge"} <= kinds
    assert kinds - SENTENCES.keys() == set()


@pytest.mark.django_db
def test_an_entry_is_said_with_its_values_escaped(asha, now):
    incident = open_incident("gpu.off_bus", at=now)
    tiers.set_severity(incident, tier="SEV1", reason="two nodes", by=asha, at=now)
    entry = incident.timeline.get(kind="severity")
    entry.data["rule"] = "<i>"
    assert sentence(entry) == "changed the severity from SEV2 to SEV1 (&lt;i&gt;)"
    opened = incident.timeline.get(kind="opened")
    assert "<b>GPU fallen off the bus</b>" in sentence(opened)


@pytest.mark.django_db
def test_a_kind_of_a_later_version_is_still_shown(now):
    entry = open_incident(at=now).timeline.first()
    entry.kind = "teleported"
    assert sentence(entry) == "did: teleported"
