from datetime import timedelta

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from incidents.lib import tokens
from incidents.models import ApiToken, User

USED_EVERY = timedelta(minutes=1)  # a row written per request would make each read a write


class TokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer <token>`; the token is looked up by its SHA-256."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in {"bearer", "token"} or not secret:
            return None
        now = timezone.now()
        token = ApiToken.objects.select_related("user").filter(digest=tokens.digest(secret.strip())).first()
        if token is None or not token.is_valid(at=now) or not token.user.is_active:
            raise exceptions.AuthenticationFailed(
                "This token is not known, has expired or was revoked. Make a new one."
            )
        if token.last_used_at is None or now - token.last_used_at > USED_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
