"""The marks of the pages: icons, severity, state, times, faces, entries of the rail."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.template.context import RequestContext
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from incidents.actions import rights
from incidents.domain import faults

register = template.Library()

STATES = {
    "open": _("Open"),
    "acknowledged": _("Acknowledged"),
    "mitigated": _("Mitigated"),
    "repairing": _("Repairing"),
    "verifying": _("Verifying"),
    "restored": _("Restored"),
    "closed": _("Closed"),
    "merged": _("Merged"),
}
HEALTH = {
    "ok": _("no open incident"),
    "warn": _("degraded"),
    "bad": pgettext_lazy("health", "failed"),
    "out": _("taken out"),
    "unknown": _("not known"),
}
LOOKS = {
    "theme": ("light", "dark"),
    "density": ("comfortable", "compact"),
}
NOTHING = "–"


@register.simple_tag
def icon(name: str, size: int = 16, id: str = "") -> SafeString:
    """One symbol of `static/icons.svg`; 12 in a chip, 14 in a footer, 20 in an empty state."""
    named = format_html(' id="{}"', id) if id else ""
    return format_html(
        '<svg class="ic"{} width="{}" height="{}" aria-hidden="true"><use href="{}#{}"/></svg>',
        named, size, size, static("icons.svg"), name,
    )  # fmt: skip


@register.simple_tag
def sev(severity: str) -> SafeString:
    """A tier, `SEV1` to `SEV4`: shape, word and weight."""
    word = str(severity).upper()
    return format_html('<span class="sev" data-tier="{}">{}</span>', word[-1:], word)


@register.simple_tag
def state(value: str, word: str = "") -> SafeString:
    """The state of an incident; `word` says it in another way ("Not acknowledged")."""
    return format_html('<span class="state" data-s="{}">{}</span>', value, word or STATES.get(value, value))


@register.simple_tag
def health(value: str) -> SafeString:
    """The health of a node: its shape and its word."""
    return format_html('<span class="health" data-h="{}">{}</span>', value, HEALTH.get(value, value))


@register.filter
def percent(share: float) -> int:
    return round(100 * share)


@register.filter
def state_word(value: str) -> str:
    return str(STATES.get(value, value))


@register.filter
def duration(length: timedelta | None) -> str:
    """The two largest units that matter: "38 s", "42 min", "3 h 17", "1 d 2 h"; a dash for none."""
    if length is None:
        return NOTHING
    seconds = int(abs(length.total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 1:
        words = gettext("%(seconds)d s") % {"seconds": seconds}
    elif hours < 1:
        words = gettext("%(minutes)d min") % {"minutes": minutes}
    elif days < 1:
        words = gettext("%(hours)d h %(minutes)02d") % {"hours": hours, "minutes": minutes % 60}
    else:
        words = gettext("%(days)d d %(hours)d h") % {"days": days, "hours": hours % 24}
    return f"−{words}" if length < timedelta(0) else words


@register.filter
def magnitude(length: timedelta) -> timedelta:
    """The time without its sign, where the words say on which side it lies."""
    return abs(length)


@register.filter
def utc_stamp(moment: datetime | None) -> str:
    """The moment in UTC as plain text, to be put into an attribute."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if moment else NOTHING


@register.filter
def utc_time(moment: datetime | None) -> SafeString:
    """A `<time>` in UTC: the clock alone today, with its date on any other day."""
    if moment is None:
        return format_html("{}", NOTHING)
    at = moment.astimezone(UTC)
    today = at.date() == timezone.now().astimezone(UTC).date()
    shown = at.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")
    return format_html('<time datetime="{}" title="{} UTC">{}</time>', at.isoformat(), utc_stamp(at), shown)


@register.filter
def utc_clock(moment: datetime | None) -> str:
    """The time of day alone, "01:31", where the place is narrow."""
    return moment.astimezone(UTC).strftime("%H:%M") if moment else NOTHING


@register.filter
def utc_day(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d") if moment else NOTHING


@register.filter
def trail_time(moment: datetime) -> SafeString:
    """The time of a timeline entry: minutes, small seconds, and the day if it is not today."""
    at = moment.astimezone(UTC)
    is_today = at.date() == timezone.now().astimezone(UTC).date()
    day = "" if is_today else format_html('<span class="block-cut xs">{}</span>', at.strftime("%m-%d"))
    return format_html(
        '<time datetime="{}" title="{} UTC">{}<span class="s muted">{}</span>{}</time>',
        at.isoformat(), utc_stamp(at), at.strftime("%H:%M"), at.strftime(":%S"), day,
    )  # fmt: skip


@register.filter
def tail(text: str, length: int) -> str:
    """The last characters of a serial."""
    return text[-length:]


@register.filter
def firing(parts: list[Any]) -> int:
    """How many of the parts fire."""
    return sum(part.firing for part in parts)


@register.filter
def minus(number: int, other: int) -> int:
    return number - other


@register.simple_tag
def now_utc(form: str = "%H:%M") -> str:
    return timezone.now().astimezone(UTC).strftime(form)


@register.simple_tag
def person(user: Any) -> str:
    """The name a person is called by; a dash for nobody."""
    return str(user) if user else NOTHING


@register.simple_tag
def face(user: Any) -> SafeString:
    """The initials of a person in a disc; a dashed disc for nobody."""
    if not user:
        return format_html('<span class="face none" title="{}">–</span>', gettext("Nobody"))
    return format_html('<span class="face" title="{}">{}</span>', person(user), initials(person(user)))


def initials(name: str) -> str:
    """ "Mara Lindqvist" and "mara.lindqvist" -> "ML"; a Chinese name -> its first character."""
    words = name.replace(".", " ").replace("_", " ").replace("-", " ").split() or ["?"]
    if not words[0].isascii() and words[0][0] >= "\u2e80":
        return words[0][0]
    return "".join(word[0] for word in (words[0], words[-1])[: len(words)]).upper()


@register.filter
def fault_title(code: str) -> str:
    """The title of a fault in the language of the page; a code that is not known stays as it is."""
    try:
        return faults.get(code).title_in(get_language() or "en")
    except faults.UnknownFault:
        return code


@register.filter
def short_words(length: timedelta | None) -> str:
    """A target in words: "5 min", "4 h", "7 d"."""
    if length is None:
        return NOTHING
    minutes = int(length.total_seconds()) // 60
    if minutes % 1440 == 0:
        return gettext("%(days)d d") % {"days": minutes // 1440}
    if minutes % 60 == 0:
        return gettext("%(hours)d h") % {"hours": minutes // 60}
    return gettext("%(minutes)d min") % {"minutes": minutes}


@register.filter
def seconds(length: timedelta | None) -> str:
    """A short time exactly: "3.1 s"; a dash for none."""
    return NOTHING if length is None else gettext("%(seconds).1f s") % {"seconds": length.total_seconds()}


@register.filter
def since(moment: datetime | None, now: datetime) -> timedelta | None:
    """The time from the moment to now, for `duration`."""
    return now - moment if moment else None


@register.filter
def of(table: Any, name: Any) -> Any:
    """The entry of a table; nothing if it has none."""
    return table.get(name, "")


@register.simple_tag(takes_context=True)
def may(context: RequestContext, verb: str, thing: Any = None) -> bool:
    """True if the reader's roles allow the verb there."""
    user = context["user"]
    return bool(user.is_authenticated and rights.may(user, verb, thing))


@register.simple_tag(takes_context=True)
def look(context: RequestContext) -> SafeString:
    """The attributes of `<html>` that a person chose: theme and density, from the cookies of keys.js."""
    request = context.get("request")
    cookies = request.COOKIES if request else {}
    chosen = {name: cookies.get(f"sickbay_{name}", "") for name in LOOKS}
    known = ((name, value) for name, value in chosen.items() if value in LOOKS[name])
    return format_html_join("", ' data-{}="{}"', known)


@register.inclusion_tag("_parts/_rail_link.html", takes_context=True)
def rail_link(
    context: RequestContext,
    name: str,
    word: str,
    *,
    icon: str,
    go: str,
    count: int | None = None,
    minor: bool = False,
    under: str = "",
) -> dict[str, Any]:
    """An entry of the rail, current where the path starts with its address or `under`; nothing if it has no page."""
    href = address_of(name)
    request = context.get("request")
    path = request.path if request else ""
    here = path == href or any(place and place != "/" and path.startswith(place) for place in (href, under))
    return {"href": href, "word": word, "icon": icon, "go": go, "count": count, "minor": minor, "here": here}


@register.inclusion_tag("_parts/_menu_link.html")
def menu_link(name: str, word: str, *, icon: str) -> dict[str, str]:
    """An entry of the menu that a phone needs, because the rail has no room for it."""
    return {"href": address_of(name), "word": word, "icon": icon}


def address_of(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
