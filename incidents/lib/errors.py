"""The few errors that actions raise; the doors map each once to an answer."""


class SickbayError(Exception):
    """What, where and what to do, in the words of the reader."""


class NotAllowed(SickbayError):
    """The person's roles do not reach this. 403."""


class Refused(SickbayError):
    """Not possible in the present state; `missing` lists what is wanting, one sentence each. 409."""

    def __init__(self, message: str, missing: tuple[str, ...] = ()) -> None:
        self.missing = missing
        super().__init__(message)


class Invalid(SickbayError):
    """The input cannot be used. 400."""


class Unavailable(SickbayError):
    """For the moment; try again later. 503."""
