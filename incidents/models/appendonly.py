from typing import Any, NoReturn

from django.db import models


class HistoryIsFixed(TypeError):
    """Somebody tried to change or delete a row of history."""


class AppendOnlyQuerySet(models.QuerySet):
    def update(self, **kwargs: Any) -> NoReturn:
        raise HistoryIsFixed(f"{self.model.__name__} rows are added, never changed.")

    def delete(self) -> NoReturn:
        raise HistoryIsFixed(f"{self.model.__name__} rows are added, never deleted.")


class AppendOnly(models.Model):
    """A row of history: it can be added, not changed and not deleted."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise HistoryIsFixed(f"{type(self).__name__} rows are added, never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise HistoryIsFixed(f"{type(self).__name__} rows are added, never deleted.")
