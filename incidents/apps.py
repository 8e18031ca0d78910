from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "incidents"

    def ready(self) -> None:
        from incidents import receivers  # noqa: F401  # the models must be there first
