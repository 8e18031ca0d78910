"""A named table that upper apps add to."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries by name, in the order of their registration; a name is taken once."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        if self._entries.setdefault(name, entry) is not entry:
            raise ValueError(f"{self.title}: the name {name!r} is taken.")

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """As a decorator."""

        def put(entry: Entry) -> Entry:
            self.add(name, entry)
            return entry

        return put

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def items(self) -> Iterator[tuple[str, Entry]]:
        yield from self._entries.items()

    def values(self) -> Iterator[Entry]:
        yield from self._entries.values()
