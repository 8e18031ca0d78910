"""Django settings; every value that a site may change comes from `config.env`."""

from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from config import env as environment

ROOT = environment.ROOT
ENV = environment.load()
DATA_DIR: Path = environment.data_dir(ENV.values)
BROKER = environment.broker(ENV, DATA_DIR)

DEBUG = ENV.boolean("SICKBAY_DEBUG", False)
SECRET_KEY = ENV.text("SICKBAY_SECRET_KEY") or environment.keep_secret(DATA_DIR / "secret_key")
PORT = ENV.integer("PORT", 8000, low=1, high=65535)
HOST = ENV.text("HOST", "127.0.0.1")
# A second terminal does not know the port that `make run` was given; the one who named a port means it.
RUNNING_URL = ("" if ENV.text("PORT") else environment.running_url(DATA_DIR)) or f"http://localhost:{PORT}"
BASE_URL = ENV.url("SICKBAY_URL", ("http", "https"), RUNNING_URL).rstrip("/")
HTTPS = BASE_URL.startswith("https://")
ALLOWED_HOSTS = ENV.words(
    "SICKBAY_HOSTS", ("*",) if HOST in {"127.0.0.1", "localhost"} else ("localhost", "127.0.0.1", HOST)
)
CSRF_TRUSTED_ORIGINS = [BASE_URL]

INSTALLED_APPS = [
    "config",
    "incidents",
    "diagnostics",
    "knowledge",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "incidents.views.context.rail",
            ],
        },
    }
]

SQLITE_OPTIONS = {
    # Django's deferred mode upgrades a read lock in mid-transaction and fails at once when another writer was first.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # With synchronous=NORMAL a committed row can vanish on power loss, and the 2xx of an ingest would be a lie.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
}


def database(url: str) -> dict:
    """The connection of the URL, with what each engine needs to be durable and bounded."""
    config: dict = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    if config["ENGINE"].endswith("sqlite3"):
        config["OPTIONS"] = {**SQLITE_OPTIONS, **config.get("OPTIONS", {})}
    else:
        config["OPTIONS"] = {"connect_timeout": 5, **config.get("OPTIONS", {})}
    return config


DATABASE_URL = ENV.url("DATABASE_URL", ("sqlite", "postgres", "postgresql"))
if not DATABASE_URL:
    environment.make_private(DATA_DIR)
    DATABASE_URL = f"sqlite:///{DATA_DIR / 'sickbay.sqlite3'}"
DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "incidents.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "signin"
LOGIN_REDIRECT_URL = "console"
LOGOUT_REDIRECT_URL = "signin"
SESSION_COOKIE_AGE = 7 * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.boolean("SICKBAY_BEHIND_PROXY", False) else None
SECURE_HSTS_SECONDS = 3600 * 24 * 365 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_SSL_REDIRECT = HTTPS and ENV.boolean("SICKBAY_SSL_REDIRECT", True)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [ROOT / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [ROOT / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": DATA_DIR / "evidence",
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
EVIDENCE_UPLOAD_MAX_BYTES = ENV.integer("SICKBAY_UPLOAD_MAX_MB", 64, low=1, high=4096) * 1024 * 1024
INGEST_MAX_BYTES = ENV.integer("SICKBAY_INGEST_MAX_MB", 4, low=1, high=256) * 1024 * 1024
# Files arrive through a temporary folder that only the owner can read.
FILE_UPLOAD_PERMISSIONS = 0o600

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

CELERY_BROKER_URL = BROKER.celery_url
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 5.0  # seconds for what runs; then it is put back
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
if CELERY_BROKER_URL.startswith("redis"):
    # Without a socket timeout a stopped broker holds whoever rings the bell for ever.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "socket_connect_timeout": 1, "socket_timeout": 5}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "incidents.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "incidents.api.pagination.NewestFirst",
    "DEFAULT_FILTER_BACKENDS": ["incidents.api.filters.StrictFilters"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "incidents.api.errors.answer",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Sickbay",
    "DESCRIPTION": "Incidents, diagnostics and knowledge of GPU clusters.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "IncidentStateEnum": "incidents.models.incident.STATES",
        "TierEnum": "incidents.models.incident.TIERS",
        "ProbeStateEnum": "diagnostics.models.runs.ProbeResult.State",
        "RunStateEnum": "diagnostics.models.runs.DiagnosticRun.State",
        "ChecklistStateEnum": "knowledge.models.checklists.ChecklistRun.State",
        "StepStateEnum": "knowledge.models.checklists.StepResult.STATES",
    },
}

# The supervisor puts the time before each line itself.
LINE = ("" if ENV.boolean("SICKBAY_SUPERVISED", False) else "{asctime} ") + "{levelname} {name}: {message}"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.Discreet", "format": LINE, "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": ENV.text("SICKBAY_LOG_LEVEL", "INFO").upper()},
    "loggers": {"django.server": {"level": "WARNING"}, "celery.beat": {"level": "WARNING"}},
}
if LOGGING["root"]["level"] not in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}:  # type: ignore[index]
    ENV.problems.append(
        environment.Problem("SICKBAY_LOG_LEVEL", LOGGING["root"]["level"], "Give DEBUG, INFO, WARNING or ERROR.")  # type: ignore[index]
    )
    LOGGING["root"]["level"] = "INFO"  # type: ignore[index]
