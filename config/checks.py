"""System checks: each setting that could not be read, with the hint that mends it."""

from django.conf import settings
from django.core.checks import Error, register


@register()
def settings_can_be_read(**_kwargs: object) -> list[Error]:
    return [
        Error(
            f"{problem.name} is set to {problem.value!r}, which cannot be used.", hint=problem.hint, id="sickbay.E001"
        )
        for problem in settings.ENV.problems
    ]
