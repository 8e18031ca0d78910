"""Sentences that rows hold in English because no reader was there when they were written, in the language of the page.

A sentence that is not in the catalogue is shown as it was stored.
"""

from django import template
from django.utils.translation import get_language, gettext, gettext_noop

from incidents.domain import faults

register = template.Library()

# Where these are written, no Django may be imported, or the row is stored for all readers alike.
MARKED = (
    # incidents.domain.severity, incidents.actions.tiers: names of rules
    gettext_noop("one fault on several nodes of production"),
    gettext_noop("test and staging clusters are never above SEV3"),
    gettext_noop("the fault's own tier"),
    gettext_noop("chosen by a person"),
    # incidents.domain.permissions: roles
    gettext_noop("viewer"),
    gettext_noop("responder"),
    gettext_noop("author"),
    gettext_noop("approver"),
    gettext_noop("operator"),
    gettext_noop("administrator"),
    gettext_noop("service"),
    # incidents.domain.faults: scopes
    gettext_noop("gpu"),
    gettext_noop("part"),
    gettext_noop("node"),
    gettext_noop("rack"),
    gettext_noop("domain"),
    gettext_noop("fabric"),
    gettext_noop("job"),
    # incidents.actions.alerts, incidents.actions.fleet: why
    gettext_noop("The labels name no node and no job that could be found."),
    gettext_noop("It was never seen firing."),
    gettext_noop("named by an alert"),
    gettext_noop("enrolled"),
    # what is known of a node
    gettext_noop("cpu"),
    gettext_noop("memory bytes"),
    gettext_noop("memory gib"),
    gettext_noop("system"),
    gettext_noop("kernel"),
    gettext_noop("architecture"),
    gettext_noop("gpus"),
)


# What is known of a part, and who says what to do about it (diagnostics.engine).
FACTS = {
    "index": gettext_noop("index"),
    "uuid": "UUID",
    "serial": gettext_noop("serial number"),
    "slot": gettext_noop("slot"),
    "model": gettext_noop("model"),
    "pci": gettext_noop("PCI address"),
    "nvidia": "NVIDIA",
    "driver": gettext_noop("the driver"),
    "azure": "Azure",
}


@register.filter
def fact_name(name: str) -> str:
    return gettext(FACTS.get(name, name))


@register.filter
def in_words(text: object) -> str:
    """The sentence in the language of the page."""
    return gettext(str(text)) if text else ""


@register.filter
def first_action(text: str, code: str) -> str:
    """What to do first; the advice of a driver ahead of the catalogue's own words stays as the driver gave it."""
    try:
        fault = faults.get(code)
    except faults.UnknownFault:
        return text
    own = fault.first_action
    return text.removesuffix(own) + fault.first_action_in(get_language() or "en") if text.endswith(own) else text
