from typing import Any, cast

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from incidents.models import User


def asker(request: Request) -> User:
    """Who asks; the permission class has let nobody in who is not signed in."""
    return cast(User, request.user)


def valid(form: type[Serializer], request: Request) -> dict[str, Any]:
    serializer = form(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
