from django import forms
from django.utils.translation import gettext_lazy as _


class PostMortemForm(forms.Form):
    """The four parts of a post-mortem; a draft may lack any of them."""

    summary = forms.CharField(label=_("In one paragraph"), required=False, max_length=20_000, widget=forms.Textarea)
    impact = forms.CharField(label=_("Impact"), required=False, max_length=20_000, widget=forms.Textarea)
    root_cause = forms.CharField(label=_("Root cause"), required=False, max_length=20_000, widget=forms.Textarea)
    prevention = forms.CharField(
        label=_("What prevents the next one"), required=False, max_length=20_000, widget=forms.Textarea
    )
