from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularSwaggerSplitView

# Swagger UI writes style attributes. This page, and no other, may have them; its script is a file of its own.
API_BROWSER_POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF, UNSAFE_INLINE],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}


@method_decorator([login_required, csp(API_BROWSER_POLICY)], name="dispatch")
class ApiBrowser(SpectacularSwaggerSplitView):
    """The API to look at and to try; the named exception of the content security policy."""


def api_not_found(request: HttpRequest, rest: str) -> JsonResponse:
    return JsonResponse({"detail": f"There is no /api/v1/{rest[:200]}. /api/ lists what there is."}, status=404)
