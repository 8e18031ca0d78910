"""The SOPs that ship."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from incidents.domain import faults
from incidents.lib.errors import Invalid
from knowledge import queries
from knowledge.actions import library, revisions
from knowledge.actions.library import Fate
from knowledge.domain import render, sop_format
from knowledge.domain.steps import ENDS, StepType
from knowledge.models import Publication, Sop, SopRevision
from tests.knowledge.samples import SOP, SOP_ZH, changed

FILES = sorted(library.FOLDER.glob("*/*.md"))
SLUGS = sorted({path.stem for path in FILES})
OUGHT = [
    "gpu-memory-ecc-row-remap",
    "gpu-off-bus",
    "node-triage-unclassified",
    "node-unreachable-or-rebooted",
    "nvlink-nvswitch-fabric",
]


def parsed(language, slug):
    return sop_format.parse((library.FOLDER / language / f"{slug}.md").read_text(encoding="utf-8"))


def test_these_sops_ship_in_both_languages():
    assert set(OUGHT) <= set(SLUGS)
    assert {(path.parent.name, path.stem) for path in FILES} == {
        (lang, slug) for lang in ("en", "zh-hans") for slug in SLUGS
    }


@pytest.mark.parametrize("slug", SLUGS)
def test_both_languages_have_equal_steps_and_settings(slug):
    english, chinese = parsed("en", slug), parsed("zh-hans", slug)
    assert sop_format.structure_differences(english, chinese) == ()
    for ours, theirs in zip(english.steps, chinese.steps, strict=True):
        assert ours.title != theirs.title, f"step {ours.key} is not translated"
        assert re.search(r"[\u4e00-\u9fff]", theirs.title + theirs.prose), f"step {ours.key} has no Chinese"
        assert len(re.findall(r"^```", ours.prose, re.M)) == len(re.findall(r"^```", theirs.prose, re.M))
        assert set(theirs.spec.get("labels", {})) == set(theirs.spec.get("answers", {}))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_shipped_file_reads_and_gives_its_bytes_back(path):
    text = path.read_bytes().decode()
    assert sop_format.serialise(sop_format.parse(text)) == text
    assert "<p>" in render.html(text)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_branch_of_every_step_comes_to_an_end(slug):
    document = parsed("en", slug)
    steps = {step.key: step for step in document.steps}

    def ends(key, depth=0):
        if key in ENDS or steps[key].type == StepType.ESCALATE:
            return True
        return depth < len(steps) and any(ends(target, depth + 1) for target in steps[key].branches.values())

    for step in document.steps:
        for outcome, target in step.branches.items():
            assert ends(target), f"{step.key} {outcome}"


@pytest.mark.parametrize("slug", SLUGS)
def test_a_sop_that_changes_a_node_saves_evidence_holds_work_off_and_proves(slug):
    document = parsed("en", slug)
    assert {step.type for step in document.steps} >= {StepType.VERIFY, StepType.MANUAL, StepType.DECISION}
    if document.has_actions:
        assert any(step.spec.get("action", "").startswith("scheduler.drain") for step in document.steps)
        assert any("escalate" in step.branches.values() for step in document.steps)


def test_a_load_publishes_all_and_a_second_one_changes_nothing(db, now):
    report = library.load(at=now)
    assert report.count(Fate.LOADED) == len(FILES)
    assert Publication.objects.count() == len(FILES)
    again = library.load(at=now)
    assert again.count(Fate.UNCHANGED) == len(FILES)
    assert SopRevision.objects.count() == len(FILES)
    for code in ("gpu.off_bus", "gpu.ecc.uncontained", "gpu.fabric_manager", "host.unreachable", "node.unclassified"):
        assert queries.sop_of_fault(code, "zh-hans").language == "zh-hans"


def test_a_dry_load_writes_nothing(db, now):
    assert library.load(at=now, dry=True).count(Fate.LOADED) == len(FILES)
    assert not Sop.objects.exists()


@pytest.fixture
def folder(tmp_path):
    for language, text in (("en", SOP), ("zh-hans", SOP_ZH)):
        (tmp_path / language).mkdir()
        (tmp_path / language / "fan-check.md").write_text(text, encoding="utf-8")
    return tmp_path


def put(folder, text, language="en"):
    (folder / language / "fan-check.md").write_text(text, encoding="utf-8")


def test_a_changed_file_is_a_new_revision(db, folder, now):
    library.load(at=now, folder=folder)
    put(folder, changed("A fan is slow.", "A fan is too slow."))
    report = library.load(at=now, folder=folder)
    assert report.fates == (("fan-check", "en", Fate.LOADED), ("fan-check", "zh-hans", Fate.UNCHANGED))
    assert queries.article("fan-check", "en").revision.number == 2


def test_a_sites_own_revision_is_never_overwritten(folder, lin, ben, now):
    library.load(at=now, folder=folder)
    own = revisions.save(
        Sop.objects.get(), text=changed("Swap it.", "Call Kim, then swap it."), language="en", base=1, by=lin, at=now
    )
    revisions.publish(own, by=ben, at=now)
    put(folder, changed("A fan is slow.", "A fan is too slow."))
    assert ("fan-check", "en", Fate.KEPT) in library.load(at=now, folder=folder).fates
    assert queries.article("fan-check", "en").revision == own


def test_what_a_site_took_back_is_not_published_again(folder, ben, now):
    library.load(at=now, folder=folder)
    revisions.retire(Sop.objects.get(), reason="we have no fans", by=ben, at=now)
    put(folder, changed("A fan is slow.", "A fan is too slow."))
    assert ("fan-check", "en", Fate.KEPT) in library.load(at=now, folder=folder).fates
    assert not Publication.objects.exists()


def test_one_mistake_keeps_the_whole_library_out(db, folder, now):
    put(folder, changed("too_few: swap", "too_few: escalate", SOP_ZH), "zh-hans")
    (folder / "en" / "other.md").write_text(changed("met: enough", "met: enuf"), encoding="utf-8")
    with pytest.raises(Invalid) as caught:
        library.load(at=now, folder=folder)
    assert "other.md: line 12: step look: 'met' leads to 'enuf'" in str(caught.value)
    assert "step enough has other settings" in str(caught.value)
    assert not Sop.objects.exists()


def test_the_command_tells_what_it_did(db):
    out = StringIO()
    call_command("sops", "load", "--dry-run", stdout=out)
    assert f"{len(FILES)} loaded, 0 unchanged, 0 kept (nothing was written)." in out.getvalue()
    call_command("sops", "load", stdout=out)
    assert "loaded: gpu-off-bus (zh-hans)" in out.getvalue()


def test_the_command_checks_files(folder):
    out = StringIO()
    call_command("sops", "check", str(folder), stdout=out)
    assert "no mistakes" in out.getvalue()
    bad = folder / "en" / "fan-check.md"
    bad.write_bytes(SOP.replace("owner", "ownr").encode() + b"\xff")
    with pytest.raises(CommandError, match="the file is not UTF-8"):
        call_command("sops", "check", str(bad))
    put(folder, changed("owner", "ownr"))
    with pytest.raises(CommandError, match=r"fan-check.md: line 6: unknown key 'ownr'"):
        call_command("sops", "check", str(folder))
    with pytest.raises(CommandError, match="is not there"):
        call_command("sops", "check", str(folder / "nowhere"))


def test_the_list_costs_the_same_for_few_sops_and_many(db, now, folder, django_assert_num_queries):
    library.load(at=now, folder=folder)
    with django_assert_num_queries(5):
        (row,) = queries.library("zh-hans")
    assert (row.title, row.languages, row.step_count, row.number) == ("检查风扇", ("en", "zh-hans"), 5, 1)
    library.load(at=now)
    with django_assert_num_queries(5):
        assert len(queries.library("en")) == len(SLUGS) + 1


def test_coverage_names_the_sop_of_each_fault(db, now, django_assert_num_queries):
    library.load(at=now)
    with django_assert_num_queries(1):
        rows = queries.coverage()
    assert len(rows) == len(faults.all_faults())
    covered = {row.fault.code: row.slug for row in rows if row.slug}
    assert covered["gpu.off_bus"] == "gpu-off-bus"
    assert covered["host.monitoring_lost"] == "node-triage-unclassified"
