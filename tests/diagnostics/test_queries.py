import pytest

from diagnostics import queries
from diagnostics.actions import probing, runs, uploads
from incidents.domain.actors import SICKBAY
from tests.diagnostics.conftest import QUIET, XID_79
from tests.diagnostics.worker import work_off
from tests.incidents.factories import incident as open_incident

pytestmark = pytest.mark.django_db


def read(incident):
    """Everything that a page shows of it."""
    for finding in queries.findings_of(incident):
        str((finding.evidence, finding.node, finding.part, list(finding.verdicts.all())))
        [[str(one.evidence), list(one.consequences.all())] for one in finding.consequences.all()]
    for run in queries.runs_of(incident):
        str(queries.run_progress(run))
    for row in queries.evidence_of(incident):
        str((row, row.purged_at, row.uploaded_by))


def test_the_page_of_an_incident_costs_the_same_however_much_was_found(
    here, recording, asha, now, django_assert_num_queries
):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    sxid = "2026-11-30T02:51:13,550120+00:00 nvidia-nvswitch0: SXid (PCI:0000:84:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
    for number in range(2):
        uploads.add_evidence(
            incident=incident, name=f"{number}.log", data=f"{QUIET}{XID_79}{sxid}".encode(), by=asha, at=now
        )
    work_off(at=now)
    with django_assert_num_queries(7):
        read(incident)
    for number in range(2, 12):
        uploads.add_evidence(
            incident=incident, name=f"{number}.log", data=f"{number}\n{XID_79}{sxid}".encode(), by=asha, at=now
        )
    work_off(at=now)
    with django_assert_num_queries(7):
        read(incident)


def test_what_several_runs_found_is_shown_once_from_the_newest(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    for name in ("a.log", "b.log"):
        uploads.add_evidence(incident=incident, name=name, data=XID_79.encode(), by=asha, at=now)
    work_off(at=now)
    (finding,) = queries.latest_findings(incident)
    assert finding.evidence.name == "b.log"


def test_the_version_of_a_run_changes_with_each_step(here, now):
    run = runs.start(node=here, by=SICKBAY, at=now)
    seen = [queries.run_progress(run).version]
    for row in run.probes.all():
        probing.take_probe(row.pk, at=now)
        run.refresh_from_db()
        seen.append(queries.run_progress(run).version)
    assert len(set(seen)) == len(seen)


def test_a_finding_names_the_part_that_it_is_about(here, asha, now):
    part = here.parts.create(kind="gpu", slot="3", pci_address="0000:91:00.0", installed_at=now)
    incident = open_incident("gpu.off_bus", on=here, at=now)
    uploads.add_evidence(incident=incident, name="a.log", data=XID_79.encode(), by=asha, at=now)
    work_off(at=now)
    assert queries.latest_findings(incident)[0].part == part
