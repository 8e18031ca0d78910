"""What people type about an incident. Forms turn text into values; the actions judge them."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from incidents.domain import faults
from incidents.models import CLOCKS, DISPOSITIONS, STATES, TIERS, Node, User, Waiting

CLOCK_WORDS = {
    "impact_started_at": _("Impact started"),
    "detected_at": _("Detected"),
    "declared_at": _("Declared"),
    "acknowledged_at": _("Acknowledged"),
    "mitigated_at": _("Mitigated"),
    "restored_at": _("Restored"),
    "closed_at": _("Closed"),
}


def fault_choices() -> list[tuple[str, str]]:
    """Every fault: its code, and its code with its title in the language of the page."""
    language = get_language() or "en"
    return [(fault.code, f"{fault.code} · {fault.title_in(language)}") for fault in faults.all_faults()]


class TextForm(forms.Form):
    """A note that must be written."""

    text = forms.CharField(max_length=20_000, widget=forms.Textarea)


class OptionalTextForm(forms.Form):
    text = forms.CharField(max_length=20_000, required=False, widget=forms.Textarea)


class VouchForm(forms.Form):
    note = forms.CharField(max_length=20_000, required=False)


class WaitForm(forms.Form):
    reason = forms.ChoiceField(choices=Waiting.Reason.choices)
    note = forms.CharField(max_length=500, required=False)


class SeverityForm(forms.Form):
    tier = forms.ChoiceField(choices=TIERS)
    reason = forms.CharField(max_length=2000, required=False)


class CauseForm(forms.Form):
    fault_code = forms.CharField(max_length=60)
    note = forms.CharField(max_length=2000, required=False)


class CloseForm(forms.Form):
    disposition = forms.ChoiceField(choices=[("", ""), *DISPOSITIONS], required=False)
    note = forms.CharField(max_length=2000, required=False)


class MergeForm(forms.Form):
    """`into` is a reference such as INC-0042, or its number."""

    into = forms.CharField(max_length=20)
    reason = forms.CharField(max_length=2000, required=False)

    def clean_into(self) -> int:
        digits = self.cleaned_data["into"].upper().removeprefix("INC-").strip()
        if not digits.isdecimal():
            raise forms.ValidationError(_("Name the incident as INC-0042."))
        return int(digits)


class AssignForm(forms.Form):
    """Nobody is a choice too."""

    to = forms.ModelChoiceField(queryset=User.objects.none(), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["to"].queryset = User.objects.filter(is_active=True, is_service=False)  # type: ignore[attr-defined]


class ClockForm(forms.Form):
    clock = forms.ChoiceField(choices=[(name, CLOCK_WORDS[name]) for name in CLOCKS])
    to = forms.DateTimeField(
        input_formats=["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"],
        error_messages={"invalid": _("Write the time in UTC as 2026-11-17 01:31:07.")},
    )
    reason = forms.CharField(max_length=2000, required=False)

    def clean_to(self) -> datetime:
        """The page shows UTC, so UTC is what is typed."""
        moment: datetime = self.cleaned_data["to"]
        return moment.replace(tzinfo=UTC)


class OpenForm(forms.Form):
    """An incident opened by hand."""

    node = forms.CharField(max_length=253)
    fault = forms.CharField(max_length=60)
    tier = forms.ChoiceField(choices=[("", _("as the rules say")), *TIERS], required=False)
    text = forms.CharField(max_length=20_000, required=False, widget=forms.Textarea)

    def __init__(self, *args: Any, nodes: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.nodes = nodes

    def clean_node(self) -> Node:
        name = self.cleaned_data["node"].strip().lower()
        node: Node | None = self.nodes.filter(hostname=name).first()
        if node is None:
            raise forms.ValidationError(
                _("No node is called '%(name)s'. Choose one of the list."), params={"name": name}
            )
        return node

    def clean_fault(self) -> str:
        code: str = self.cleaned_data["fault"].strip()
        try:
            return faults.get(code).code
        except faults.UnknownFault as error:
            raise forms.ValidationError(
                _("There is no fault '%(code)s'. Choose one of the list."), params={"code": code}
            ) from error


class FilterForm(forms.Form):
    """What the list of incidents may be filtered by; what cannot be read is left out, never an error page."""

    view = forms.ChoiceField(
        required=False,
        choices=[
            ("open", pgettext_lazy("view", "Open")),
            ("mine", _("Mine")),
            ("unanswered", _("Not acknowledged")),
            ("waiting", _("Waiting")),
            ("paperwork", _("Restored, paperwork missing")),
            ("all", _("All")),
        ],
    )
    state = forms.ChoiceField(required=False, choices=[("", _("any state")), *STATES])
    severity = forms.ChoiceField(required=False, choices=[("", _("any tier")), *TIERS])
    fault = forms.CharField(required=False, max_length=60)
    node = forms.CharField(required=False, max_length=253)
    month = forms.RegexField(r"^\d{4}-(0[1-9]|1[0-2])$", required=False)
    ids = forms.RegexField(r"^\d{1,12}(,\d{1,12})*$", required=False, max_length=20_000)
    q = forms.CharField(required=False, max_length=200)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**62)

    def values(self) -> dict[str, Any]:
        """The filters that could be read and are set."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}


def words_of(form: forms.Form) -> tuple[str, ...]:
    """What is wrong with a form, one sentence each, with the name of the field where it needs one."""
    return tuple(
        f"{form.fields[name].label or name}: {error}" if name in form.fields else str(error)
        for name, errors in form.errors.items()
        for error in errors
    )
