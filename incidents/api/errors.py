"""Maps our errors to answers, once."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from incidents.domain.faults import UnknownFault
from incidents.lib import errors

STATUS: dict[type[Exception], int] = {
    errors.NotAllowed: status.HTTP_403_FORBIDDEN,
    errors.Refused: status.HTTP_409_CONFLICT,
    errors.Invalid: status.HTTP_400_BAD_REQUEST,
    errors.Unavailable: status.HTTP_503_SERVICE_UNAVAILABLE,
    UnknownFault: status.HTTP_400_BAD_REQUEST,
    ObjectDoesNotExist: status.HTTP_404_NOT_FOUND,
}


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to one of our errors as `{"detail", "missing"}`; DRF's own answer otherwise."""
    for kind, code in STATUS.items():
        if isinstance(error, kind):
            body: dict[str, Any] = {"detail": str(error)}
            missing = getattr(error, "missing", ())
            if missing:
                body["missing"] = list(missing)
            return Response(body, status=code)
    return exception_handler(error, context)
