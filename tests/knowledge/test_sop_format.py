import pytest

from knowledge.domain import sop_format
from knowledge.domain.problems import FormatError, Problem
from tests.knowledge.samples import SOP, SOP_ZH, changed


def problems(text: str) -> list[str]:
    with pytest.raises(FormatError) as caught:
        sop_format.parse(text)
    return [str(problem) for problem in caught.value.problems]


def test_reads_head_sections_and_steps():
    document = sop_format.parse(SOP)
    assert document.head.id == "fan-check"
    assert document.head.title_in("zh-hans") == "检查风扇"
    assert document.head.faults == ("host.fan.failed",)
    assert [section.title for section in document.sections] == ["Meaning", "Steps", "Verification", "Escalation"]
    assert [(step.key, step.type, step.position) for step in document.steps] == [
        ("look", "check", 1),
        ("enough", "decision", 2),
        ("swap", "action", 3),
        ("restore", "rollback", 4),
        ("listen", "verify", 5),
    ]
    assert document.steps[1].branches == {"suffice": "verify", "too_few": "swap"}
    assert document.has_actions


@pytest.mark.parametrize(
    "text",
    [
        SOP,
        SOP_ZH,
        SOP.rstrip("\n"),
        SOP + "\n\n",
        changed("A fan is slow.", "A fan is slow.  \n\n\n```sh\n## no heading\n### step no: step\n```\n"),
        changed("sop: 1", "sop: 1   # the version"),
    ],
)
def test_gives_the_very_bytes_back(text):
    assert sop_format.serialise(sop_format.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1: a SOP begins with a line '---'"),
        ("---\nsop: 1\n", "line 1: the front matter does not end"),
        (changed("sop: 1", "sop: 2"), "line 2: sop: this program reads version 1"),
        (changed("id: fan-check", "id: Fan_Check"), "line 3: id: small letters"),
        (changed("owner:", "ownr:"), "line 6: unknown key 'ownr'"),
        (changed("owner:", "ownr:"), "line 1: the key 'owner' is missing"),
        (changed("owner:", "id: other\nowner:"), "line 6: the key 'id' stands here twice"),
        (changed("id: fan-check", "id: &a fan-check"), "line 3: anchors and aliases"),
        (changed("id: fan-check", "id: *a"), "line 3: anchors and aliases"),
        (changed("id: fan-check", "id: !!str fan-check"), "line 3: tags"),
        (changed('"team:gpu-ops"', "yes"), "line 6: yes is read differently"),
        (changed('"team:gpu-ops"', "0123"), "line 6: 0123 is read differently"),
        (changed('"team:gpu-ops"', "12:30:45"), "line 6: 12:30:45 is read differently"),
        (changed('"team:gpu-ops"', "1.5"), "line 6: 1.5 is read differently"),
        (changed('"team:gpu-ops"', "2026-11-30"), "line 6: 2026-11-30 is read differently"),
        (changed('"team:gpu-ops"', ""), "line 6: a value is missing"),
        (changed('"team:gpu-ops"', "42"), "line 6: owner: write a text"),
        (changed("[host.fan.failed]", "[host.fan.failed"), "not readable"),
        (changed("[host.fan.failed]", "[" * 30 + "]" * 30), "line 5: nested deeper"),
        (changed("host.fan.failed", "host.fan.broke"), "line 5: faults: there is no fault 'host.fan.broke'"),
        (changed("zh-hans:", "fr:"), "line 4: title: unknown language 'fr'"),
        (changed("## Meaning", "stray\n## Meaning"), "line 9: text before the first section"),
        (changed("## Meaning", "## Sense"), "line 9: there is no section 'Sense'"),
        (changed("## Meaning\nA fan is slow.\n", ""), "the section '## Meaning' is missing"),
        (changed("It turns.\n", ""), "line 47: the section 'Verification' is empty"),
        (changed("## Escalation", "## Meaning"), "line 49: the section 'Meaning' stands here twice"),
        (changed("## Meaning", "## Notes\nx\n## Meaning"), "line 11: 'Meaning' comes too late"),
        (changed("### step look: Look", "### step Look: Look"), "line 12: write '### step key: Title'"),
        (changed("~~~sop-step", "~~~yaml"), "line 12: step look needs a block"),
        (changed("type: check", "type: checking"), "line 14: step look: type is one of check, action"),
        (
            changed("expect: {outcome: clean}", "expects: {outcome: clean}"),
            "line 16: step look: a check step has no 'expects'",
        ),
        (changed("probe: kernel_log@1\n", ""), "line 13: step look: a check step needs 'probe'"),
        (changed("kernel_log@1", "rm -rf /"), "line 15: step look: probe: write name@version"),
        (changed("met: enough, ", ""), "line 17: step look: next does not say where 'met' leads"),
        (changed("{met: enough,", "{on: x, met: enough,"), "line 17: on is read differently"),
        (changed("error: escalate}", "errr: escalate}"), "line 17: step look: next: 'errr' cannot happen here"),
        (changed("error: escalate}", "timeout: escalate}"), "line 17: step look: next names a timeout"),
        (changed("met: enough", "met: enuf"), "line 12: step look: 'met' leads to 'enuf', which is no step"),
        (
            changed("suffice: verify, too_few: swap", "suffice: verify"),
            "line 24: step enough: answers: write at least two",
        ),
        (changed("rollback: restore", "rollback: nowhere"), "line 26: step swap: 'rollback' leads to 'nowhere'"),
        (changed("{ok: escalate}", "{ok: restore}"), "line 34: step restore leads back to itself"),
        (changed("rollback: restore\n", ""), "line 33: no step leads to 'restore'"),
        (changed("retry: {max: 2}\n", ""), "line 26: step swap leads back to itself"),
        (changed("retry: {max: 2}", "retry: {max: 0}"), "line 43: step listen: retry: write {max: n}"),
        (changed("step swap:", "step verify:"), "line 27: 'verify' is the name of an end"),
        (changed("step enough:", "step look:"), "line 20: the key 'look' is taken by the step in line 12"),
        (changed("{{ fan.slot }}", "{{ disk.slot }}"), "line 12: step look uses '{{ disk.slot }}'"),
        (
            changed("expect: {outcome: clean}", 'expect: {outcome: "{{ 1 + 1 }}"}'),
            "line 12: step look: '{{ 1 + 1 }}' is no template",
        ),
        (changed("Swap it.\n", ""), "line 26: step swap has no words for people"),
        (changed("A fan", "A\r fan"), "line 10: ends with a carriage return"),
        (changed("A fan", "A\x00 fan"), "line 10: holds a control character"),
        ("\ufeff" + SOP, "line 1: holds a control character or a byte order mark"),
        (SOP + "x" * 600_000, "line 1: longer than 512 KB"),
    ],
)
def test_says_what_is_wrong_and_on_which_line(text, expected):
    found = problems(text)
    assert any(expected in problem for problem in found), found


def test_all_mistakes_are_told_at_once():
    text = changed("owner:", "ownr:", changed("met: enough, ", "", changed("## Escalation", "## Escalate")))
    assert len(problems(text)) >= 4


def test_a_step_that_no_path_leads_out_of_is_refused():
    text = changed(
        "{met: close, not_met: swap}",
        "{met: listen, not_met: swap}",
        changed("error: escalate}\n~~~\nSwap", "error: swap}\n~~~\nSwap"),
    )
    assert any("no path from step listen comes to an end" in problem for problem in problems(text))


def test_a_bomb_of_aliases_is_refused_before_it_unfolds():
    bomb = "a: &a [x, x]\n" + "\n".join(f"b{n}: &b{n} [*a, *a, *a]" for n in range(9))
    assert problems(f"---\n{bomb}\n---\n") == [
        "line 2: anchors and aliases (& and *) are not allowed; write the value out or quote it."
    ]


JUNK = ["[a]", "{a: b}", "7", "true", '""', "{a: [b]}", "[{a: 1}]", "{met: [x], ok: {y: z}}", "'"]


def problems_or_none(text: str) -> tuple[Problem, ...]:
    """Anything else than a FormatError comes through and fails the test."""
    try:
        document = sop_format.parse(text)
    except FormatError as error:
        return error.problems
    assert sop_format.serialise(document) == text
    return ()


@pytest.mark.parametrize("junk", JUNK)
def test_whatever_stands_in_the_place_of_a_value_is_told_with_its_line(junk):
    lines = SOP.split("\n")
    for index, line in enumerate(lines):
        key, colon, _value = line.partition(": ")
        if colon and key.isidentifier():
            text = "\n".join([*lines[:index], f"{key}: {junk}", *lines[index + 1 :]])
            assert all(problem.line >= 1 and problem.text for problem in problems_or_none(text))


def test_a_step_changes_its_hash_with_its_words_but_not_its_neighbours():
    before = {step.key: step.sha256 for step in sop_format.parse(SOP).steps}
    after = {step.key: step.sha256 for step in sop_format.parse(changed("Swap it.", "Swap it now.")).steps}
    assert [key for key in before if before[key] != after[key]] == ["swap"]


def test_a_translation_may_change_words_only():
    source = sop_format.parse(SOP)
    assert sop_format.structure_differences(source, sop_format.parse(SOP_ZH)) == ()
    bent = sop_format.parse(changed("too_few: swap", "too_few: escalate", SOP_ZH))
    assert sop_format.structure_differences(source, bent) == ("step enough has other settings",)
    renamed = sop_format.parse(
        SOP_ZH.replace("step restore:", "step old:").replace("rollback: restore", "rollback: old")
    )
    assert "step restore is missing" in sop_format.structure_differences(source, renamed)
    assert "step old is not in the source" in sop_format.structure_differences(source, renamed)
