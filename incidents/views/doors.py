"""What every door does: call one verb, and answer a refusal in words instead of a traceback."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from incidents.domain.faults import UnknownFault
from incidents.forms.incidents import words_of
from incidents.lib import errors

STATUS: dict[type[Exception], int] = {
    errors.NotAllowed: 403,
    errors.Refused: 409,
    errors.Invalid: 400,
    errors.Unavailable: 503,
    UnknownFault: 400,
}


@dataclass(frozen=True)
class Refusal:
    """Why nothing was changed, what is wanting, and the code of the answer."""

    message: str
    missing: Sequence[str] = ()
    status: int = 409


Page = Callable[[Refusal], HttpResponse]
"""Renders the page that the person came from, with the refusal on it."""


def refusal_of(error: Exception) -> Refusal:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    return Refusal(str(error), tuple(getattr(error, "missing", ())), status)


def refuse_form(form: forms.Form) -> Refusal:
    return Refusal(_("That could not be read. Nothing was changed."), words_of(form), 400)


def attempt(act: Callable[[], Any], *, then: str, page: Page) -> HttpResponse:
    """Do it and go to `then` (an address); if it is refused, show `page` with the reasons and the code of the error."""
    try:
        act()
    except tuple(STATUS) as error:
        return page(refusal_of(error))
    return see(then)


def see(address: str) -> HttpResponse:
    """303: the browser gets the page anew, so that reloading never sends a form twice."""
    answer = redirect(address)
    answer.status_code = 303
    return answer


def plain_refusal(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """A page of its own, for doors that belong to no page."""
    return render(request, "incidents/refused.html", {"refusal": refusal}, status=refusal.status)
