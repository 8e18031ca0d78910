from threading import Barrier, Thread

import pytest
from django.db import connection

from incidents.lib.errors import Invalid, NotAllowed, Refused
from incidents.models import AuditEntry, Event
from knowledge import queries
from knowledge.actions import revisions
from knowledge.models import Draft, Sop, SopRevision
from tests.knowledge.samples import SOP, SOP_ZH, changed


def test_a_save_adds_a_revision_and_keeps_the_old_one(published, lin, now):
    text = changed("A fan is slow.", "A fan is slow or stands still.")
    second = revisions.save(published.sop, text=text, language="en", base=1, change_note="Say more", by=lin, at=now)
    assert (second.number, second.parent, second.author, second.change_note) == (2, published, lin, "Say more")
    assert SopRevision.objects.get(pk=published.pk).body == SOP
    assert queries.article("fan-check", "en").revision == published, "saved is not published"
    assert [step.key for step in second.steps.all()] == ["look", "enough", "swap", "restore", "listen"]


def test_a_save_without_a_change_makes_no_revision(published, lin, now):
    same = revisions.save(published.sop, text=SOP.replace("\n", "\r\n"), language="en", base=1, by=lin, at=now)
    assert same == published
    assert published.sop.revisions.count() == 1
    assert not Draft.objects.exists()


def test_who_saves_on_an_old_base_is_refused_and_keeps_his_text(published, lin, ben, now):
    revisions.save(published.sop, text=changed("A fan", "One fan"), language="en", base=1, by=ben, at=now)
    mine = changed("A fan", "Some fan")
    with pytest.raises(Refused, match="Ben saved revision 2 meanwhile"):
        revisions.save(published.sop, text=mine, language="en", base=1, by=lin, at=now)
    assert Draft.objects.get(user=lin).body == mine


def test_a_text_with_mistakes_is_refused_with_lines_and_kept(published, lin, now):
    bad = changed("met: enough", "met: enuf")
    with pytest.raises(Invalid, match="line 12: step look: 'met' leads to 'enuf'"):
        revisions.save(published.sop, text=bad, language="en", base=1, by=lin, at=now)
    assert Draft.objects.get(user=lin).body == bad


def test_a_probe_that_is_not_there_is_refused(published, lin, now):
    with pytest.raises(Invalid, match="there is no probe kernel_log@7; the probes are disk@1"):
        revisions.save(
            published.sop, text=changed("kernel_log@1", "kernel_log@7"), language="en", base=1, by=lin, at=now
        )


def test_the_id_never_changes(published, lin, now):
    with pytest.raises(Invalid, match="fan-check and never changes"):
        revisions.save(published.sop, text=changed("id: fan-check", "id: fans"), language="en", base=1, by=lin, at=now)
    with pytest.raises(Refused, match="There is a SOP 'fan-check' already"):
        revisions.create(text=SOP, language="en", by=lin, at=now)


@pytest.mark.django_db(transaction=True)
def test_of_many_who_save_at_once_one_wins_and_no_text_is_lost(published, now):
    from incidents.domain.permissions import Role
    from tests.conftest import person

    writers = [person(f"writer{n}", Role.AUTHOR) for n in range(4)]
    barrier, won, refused = Barrier(len(writers)), [], []

    def write(user):
        barrier.wait()
        text = changed("A fan is slow.", f"Said by {user}.")
        try:
            won.append(revisions.save(published.sop, text=text, language="en", base=1, by=user, at=now).author)
        except Refused:
            refused.append(user)
        finally:
            connection.close()

    threads = [Thread(target=write, args=[user]) for user in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert published.sop.revisions.count() == 2
    assert {draft.user for draft in Draft.objects.select_related("user")} == set(refused) == set(writers) - set(won)
    assert all(f"Said by {draft.user}." in draft.body for draft in Draft.objects.select_related("user"))


def test_publishing_moves_the_pointer_and_leaves_traces(draft, ben, now):
    revisions.publish(draft, by=ben, at=now, reason="reviewed")
    assert queries.is_published(draft)
    assert Sop.objects.get().status == "published"
    assert [link.fault for link in draft.sop.fault_links.all()] == ["host.fan.failed"]
    assert AuditEntry.objects.get(verb="sop.publish").after["sha256"] == draft.content_sha256
    assert Event.objects.get(kind="revision_published").payload["action"] == "publish"
    revisions.publish(draft, by=ben, at=now)
    assert draft.publish_events.count() == 1, "a second publish is no second event"


def test_nobody_publishes_his_own_action_sop(ben, lin, asha, now):
    own = revisions.create(text=SOP, language="en", by=ben, at=now)
    with pytest.raises(NotAllowed, match="somebody else than its author"):
        revisions.publish(own, by=ben, at=now)
    for stranger in (lin, asha):
        with pytest.raises(NotAllowed, match=r"no role that allows 'sop\.publish'"):
            revisions.publish(own, by=stranger, at=now)


def test_an_older_revision_is_not_published_again(published, lin, ben, now):
    second = revisions.save(published.sop, text=changed("A fan", "One fan"), language="en", base=1, by=lin, at=now)
    revisions.publish(second, by=ben, at=now)
    with pytest.raises(Refused, match="Revision 2 is published"):
        revisions.publish(published, by=ben, at=now)


def test_a_forged_text_is_not_published(published, lin, ben, now):
    second = revisions.save(published.sop, text=changed("A fan", "One fan"), language="en", base=1, by=lin, at=now)
    second.body = second.body.replace("Swap it.", "Open the chassis under power.")
    with pytest.raises(Refused, match="hash differs"):
        revisions.publish(second, by=ben, at=now)


def test_a_withdrawn_revision_is_suggested_no_more_and_says_why(published, incident, ben, now):
    revisions.withdraw(published, reason="The fan runs on", by=ben, at=now)
    assert queries.suggested(incident, "en") == ()
    article = queries.article("fan-check", "en")
    assert (article.withdrawn, article.is_published, article.status) == ("The fan runs on", False, "withdrawn")
    with pytest.raises(Refused, match="was withdrawn"):
        revisions.publish(published, by=ben, at=now)


def test_a_retired_sop_stays_readable(published, ben, now):
    revisions.retire(published.sop, reason="no such fans any more", by=ben, at=now)
    assert queries.library("en") == ()
    assert queries.article("fan-check", "en").title == "Check a fan"


def test_a_translation_follows_its_source_and_says_when_it_lags(published, lin, ben, now):
    chinese = revisions.save(published.sop, text=SOP_ZH, language="zh-hans", base=0, by=lin, at=now)
    revisions.publish(chinese, by=ben, at=now)
    assert (chinese.number, chinese.based_on, chinese.title) == (1, published, "检查风扇")
    assert queries.article("fan-check", "zh-hans").lags_behind is None
    second = revisions.save(
        published.sop, text=changed("Swap it.", "Swap it now."), language="en", base=1, by=lin, at=now
    )
    revisions.publish(second, by=ben, at=now)
    article = queries.article("fan-check", "zh-hans")
    assert (article.lags_behind, article.stale_steps) == (2, ("swap",))
    bent = changed("too_few: swap", "too_few: escalate", SOP_ZH)
    with pytest.raises(Refused) as caught:
        revisions.save(published.sop, text=bent, language="zh-hans", base=1, by=lin, at=now)
    assert caught.value.missing == ("step enough has other settings",)


def test_old_revisions_are_shown_as_old(published, lin, ben, now):
    second = revisions.save(published.sop, text=changed("A fan", "One fan"), language="en", base=1, by=lin, at=now)
    revisions.publish(second, by=ben, at=now)
    old = queries.article("fan-check", "en", 1)
    assert (old.revision, old.newer, old.is_published) == (published, 2, False)
    assert [(row.number, row.is_published) for row in old.revisions] == [(2, True), (1, False)]
