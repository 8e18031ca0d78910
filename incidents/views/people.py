"""Signing in and out, one's own settings."""

from django.conf import settings
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from incidents.actions import people
from incidents.actions.rights import who
from incidents.forms.people import ProfileForm
from incidents.lib.errors import Invalid
from incidents.views.doors import see

BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignIn(LoginView):
    template_name = "incidents/signin.html"
    authentication_form = AuthenticationForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs):
        return super().get_context_data(**kwargs) | {"next": self.get_redirect_url()}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return _in_own_language(super().form_valid(form), form.get_user().language)


signin = sensitive_post_parameters()(never_cache(SignIn.as_view()))


def _in_own_language(answer: HttpResponse, language: str) -> HttpResponse:
    """The language that a person chose goes with her to the next browser."""
    if language:
        answer.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=365 * 24 * 3600, samesite="Lax")
    return answer


@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    logout(request)
    return see(reverse("signin"))


@never_cache
@require_http_methods(["GET", "POST"])
def signin_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Opening the link changes nothing (mail programs and chats open links); the button signs in, once."""
    now = timezone.now()
    try:
        if request.method == "POST":
            user = people.use_link(secret, at=now)
            login(request, user, backend=BACKEND)
            return _in_own_language(see(reverse("set_password")), user.language)
        link = people.link_of(secret, at=now)
    except Invalid as error:
        return render(request, "incidents/signin_link.html", {"why": str(error)}, status=410)
    return render(request, "incidents/signin_link.html", {"link": link})


@login_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def set_password(request: HttpRequest) -> HttpResponse:
    """A person who came by a link chooses a password; one who has a password gives a new one."""
    form = SetPasswordForm(who(request), request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, form.user)
        return see(reverse("console"))
    return render(request, "incidents/set_password.html", {"form": form}, status=400 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    user = who(request)
    given = request.POST if request.method == "POST" else None
    form = ProfileForm(given, initial={"language": user.language})
    if given is not None and form.is_valid():
        people.set_language(user, language=form.cleaned_data["language"], at=timezone.now())
        return _in_own_language(see(reverse("profile")), form.cleaned_data["language"])
    context = {
        "form": form,
        "roles": user.role_grants.select_related("team", "cluster"),
        "teams": user.teams.order_by("name"),
        "tokens": user.api_tokens.filter(revoked_at=None).order_by("-id"),
    }
    return render(request, "incidents/profile.html", context, status=400 if form.errors else 200)
