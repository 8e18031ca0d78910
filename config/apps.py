from django.apps import AppConfig

from config import checks

__all__ = ["checks"]  # imported so that the checks register themselves


class ConfigConfig(AppConfig):
    name = "config"
