from django import forms
from django.utils.translation import gettext_lazy as _


class ProfileForm(forms.Form):
    language = forms.ChoiceField(
        label=_("Language"),
        choices=[("", _("as the browser says")), ("en", "English"), ("zh-hans", "简体中文")],
        required=False,
    )
