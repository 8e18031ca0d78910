from typing import cast

from rest_framework.request import Request

from incidents.models import User


def asker(request: Request) -> User:
    """Who asks; the permission class has let nobody in who is not signed in."""
    return cast(User, request.user)
