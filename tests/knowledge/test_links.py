import pytest

from diagnostics.models import DiagnosticRun, FindingVerdict
from incidents.actions import reactions
from incidents.events import announce
from knowledge import queries
from knowledge.actions import checklists, links, revisions
from knowledge.models import FindingLink
from tests.incidents import factories
from tests.knowledge.conftest import found
from tests.knowledge.samples import SOP_ZH, changed


@pytest.fixture
def finding(incident, now):
    return found(incident, at=now)


def test_a_finished_run_pins_the_published_sop(published, incident, finding, now, django_capture_on_commit_callbacks):
    announce("run_finished", at=now, run=finding.run_id)
    reactions.react(at=now)
    link = FindingLink.objects.get()
    assert (link.finding, link.incident, link.revision) == (finding, incident, published)
    assert link.content_sha256 == published.content_sha256
    entry = incident.timeline.get(kind="sop_suggested")
    assert (entry.data["sop"], entry.data["revision"], entry.data["fault"]) == ("fan-check", 1, "host.fan.failed")


def test_a_second_look_adds_nothing(published, incident, finding, now):
    assert links.suggest_for_run(finding.run_id, at=now) == 1
    assert links.suggest_for_run(finding.run_id, at=now) == 0
    assert incident.timeline.filter(kind="sop_suggested").count() == 1


def test_a_later_revision_does_not_move_the_link(published, finding, incident, lin, ben, asha, now):
    links.suggest_for_run(finding.run_id, at=now)
    second = revisions.save(published.sop, text=changed("A fan", "One fan"), language="en", base=1, by=lin, at=now)
    revisions.publish(second, by=ben, at=now)
    (suggestion,) = queries.suggested(incident, "en")
    assert (suggestion.revision, suggestion.finding) == (published, finding.pk)
    assert checklists.start(incident, suggestion.revision, by=asha, at=now).revision == published


def test_each_language_is_pinned_and_the_reader_gets_his(published, finding, incident, lin, ben, now):
    chinese = revisions.save(published.sop, text=SOP_ZH, language="zh-hans", base=0, by=lin, at=now)
    revisions.publish(chinese, by=ben, at=now)
    links.suggest_for_run(finding.run_id, at=now)
    assert queries.suggested(incident, "zh-hans")[0].revision == chinese
    assert queries.suggested(incident, "en")[0].revision == published
    assert queries.suggested(incident, "de")[0].revision == published


def test_findings_without_a_sop_or_an_incident_link_nothing(published, incident, now):
    other = found(incident, "host.psu.failed", at=now)
    assert links.suggest_for_run(other.run_id, at=now) == 0
    lonely = DiagnosticRun.objects.create(node=incident.node, plan="triage", purpose="manual", created_at=now)
    assert links.suggest_for_run(lonely.pk, at=now) == 0


def test_a_rejected_finding_suggests_nothing(published, now, asha):
    other = factories.incident("host.psu.failed", at=now)
    finding = found(other, at=now)
    links.suggest_for_run(finding.run_id, at=now)
    assert len(queries.suggested(other, "en")) == 1
    FindingVerdict.objects.create(finding=finding, confirmed=False, by=asha, at=now)
    assert queries.suggested(other, "en") == ()


def test_without_a_finding_the_fault_chooses(published, incident):
    (suggestion,) = queries.suggested(incident, "en")
    assert (suggestion.revision, suggestion.finding, suggestion.fault) == (published, None, "host.fan.failed")


def test_suggestions_cost_the_same_for_many_findings(published, incident, now, django_assert_num_queries):
    run = found(incident, at=now).run
    links.suggest_for_run(run.pk, at=now)
    with django_assert_num_queries(4):
        queries.suggested(incident, "en")
    for number in range(5):
        found(incident, at=now, component=f"fan {number}", run=run)
    links.suggest_for_run(run.pk, at=now)
    assert FindingLink.objects.count() == 6
    with django_assert_num_queries(4):
        assert len(queries.suggested(incident, "en")) == 1
