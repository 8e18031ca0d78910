"""The timeline in words: the kind of an entry picks the sentence, its data fills it in."""

from collections.abc import Callable, Mapping
from datetime import datetime
from string import Formatter
from typing import Any

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from incidents.forms.incidents import CLOCK_WORDS
from incidents.models import DISPOSITIONS, TimelineEntry, Waiting
from incidents.templatetags.sickbay import fault_title
from incidents.templatetags.stored import in_words

register = template.Library()

SENTENCES: dict[str, str | Promise] = {
    "opened": _("opened at {severity} by the rule {rule}: {fault}"),
    "acknowledge": _("acknowledged"),
    "unacknowledge": _("gave it back; it is not acknowledged any more"),
    "assigned": _("made {to} the owner"),
    "note": _("wrote"),
    "mitigate": _("moved to {mitigated}"),
    "start_repair": _("moved to {repairing}"),
    "start_verifying": _("moved to {verifying}"),
    "verified": _("verified: passed"),
    "fail_verification": _("verification did not pass; back to {repairing}"),
    "verification_unclear": _("the repair could not be checked; give a fresh log as evidence"),
    "restore": _("moved to {restored}: back in service, verified"),
    "close": _("closed it"),
    "close_with_disposition": _("closed it as {disposition}"),
    "reopen": _("opened it again"),
    "merge": _("merged it into {into}"),
    "absorbed": _("took {other} in"),
    "waits": _("marked it as waiting for {reason}"),
    "resumed": _("ended the waiting"),
    "cause": _("set the cause: {fault}"),
    "reclassified": _("the fault is now {fault}"),
    "severity": _("changed the severity from {before} to {after} ({rule})"),
    "clock": _("corrected the clock {clock} from {before} to {after}"),
    "part_joined": _("firing too: {locator}, {fault}"),
    "part_refired": _("firing again: {locator}, {fault}"),
    "part_cleared": _("cleared: {locator}, {fault}; {firing} of {total} still fire"),
    "postmortem_saved": _("wrote the post-mortem"),
    "postmortem_published": _("published the post-mortem"),
    "run_started": _("started diagnostic run {run}"),
    "run_finished": _("diagnostic run {run} finished: {roots}{probes}"),
    "run_cancelled": _("stopped diagnostic run {run}"),
    "no_transport": _("has no way to {node} yet; upload its logs to have them judged"),
    "evidence_added": _("gave {name} as evidence"),
    "archive_added": _("gave {name} as evidence: {files} files"),
    "finding_confirmed": _("confirmed the finding {fault}"),
    "finding_rejected": _("rejected the finding {fault}"),
    "sop_suggested": _("suggested the SOP {title}, r{revision}"),
    "checklist_started": _("started the checklist {title}, r{revision}"),
    "checklist_finished": _("the checklist {title} is finished"),
    "checklist_abandoned": _("did not work through the checklist {title}"),
    "checklist_moved": _("took over the checklist {title} from {other}"),
    "step_done": _("did step {number}, {step_title}"),
    "step_failed": _("step {number} failed, {step_title}"),
    "step_skipped": _("skipped step {number}, {step_title}"),
    "step_undone": _("took the tick of step {number} back, {step_title}"),
}
UNKNOWN = _("did: {kind}")
MOVED = {
    "mitigated": _("Mitigated"),
    "repairing": _("Repairing"),
    "verifying": _("Verifying"),
    "restored": _("Restored"),
}


def _moment(value: str) -> str:
    return datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M:%S")


def _dash(value: Any) -> Any:
    return value if value not in ("", None) else "–"


def _roots(value: list[dict[str, str]]) -> str:
    """The faults that a run found, each once."""
    titles = dict.fromkeys(fault_title(root["fault"]) for root in value)
    return ", ".join(titles) or str(_("no fault found"))


def _unchecked(value: Mapping[str, int]) -> str:
    """What the run did not look at: "no fault found" alone would claim more than it may."""
    silent = value.get("could_not_check", 0) + value.get("not_supported", 0)
    words = {"n": silent, "all": sum(value.values())}
    return str(_("; not checked: %(n)s of %(all)s probes")) % words if silent else ""


# how a value is said; by kind and name, or by name alone
SAID: dict[str, Callable[[Any], Any]] = {
    "fault": lambda value: format_html("<b>{}</b>", fault_title(value)),
    "reason": lambda value: dict(Waiting.Reason.choices).get(value, value),
    "rule": in_words,
    "disposition": lambda value: dict(DISPOSITIONS).get(value, value),
    "clock": lambda value: CLOCK_WORDS.get(value, value),
    "clock.before": _moment,
    "clock.after": _moment,
    "roots": _roots,
    "run_finished.probes": _unchecked,
    "name": lambda value: format_html('<span class="mono">{}</span>', value),
    "title": lambda value: format_html("<b>{}</b>", value),
    "locator": lambda value: format_html('<span class="mono">{}</span>', value),
}


def _said(kind: str, name: str, data: Mapping[str, Any]) -> Any:
    if name in MOVED:
        return format_html("<b>{}</b>", MOVED[name])
    if name == "kind":
        return kind
    value = _dash(data.get(name))
    say = SAID.get(f"{kind}.{name}") or SAID.get(name)
    return say(value) if say and value != "–" else value


@register.filter
def sentence(entry: TimelineEntry) -> SafeString:
    """The entry in the language of the page. Every value is escaped; a kind without a sentence is named as it is."""
    words = str(SENTENCES.get(entry.kind, UNKNOWN))
    names = [name for _text, name, _spec, _conversion in Formatter().parse(words) if name]
    if not names:
        return format_html("{}", words)
    return format_html(words, **{name: _said(entry.kind, name, entry.data) for name in names})
