"""What the doors for machines share."""

from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer


def valid(form: type[Serializer], request: Request) -> dict[str, Any]:
    """The body as the form reads it; a 400 that names the fields otherwise."""
    serializer = form(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
