"""What mail, chat, wikis and pagers put before each line of something pasted: "> ", numbers of lines, "| ", bullets.

It is taken off only where nearly every line has it, so that the layout of tables and of nested settings stays as it was.
"""

import re
from dataclasses import replace

from diagnostics.engine.types import Part

LARGEST = 64 << 20  # bytes; what is larger was not pasted
_FORMS = (
    re.compile(rb"[ \t]{0,4}(?:>[ \t]?){1,4}"),
    re.compile(rb"[ \t]{0,6}\d{1,7}(?:\t|:?[ ]{1,2}(?=[\[<]|[A-Z][a-z]{2} [ \d]\d \d\d:))"),
    re.compile(rb"[ \t]{0,4}(?:\xe2\x94\x82|\xe2\x96\x8f) ?"),  # a bar drawn at the left
)
_FENCE = re.compile(rb"(?m)^[ \t>]*(?:```|~~~)[\w-]*[ \t\r]*$")
_NUMBERS = _FORMS[1]


def without(part: Part) -> Part:
    """The part with as many lines as before."""
    if part.rest is not None or len(part.data) > LARGEST:
        return part
    data = _FENCE.sub(b"", part.data) if b"```" in part.data or b"~~~" in part.data else part.data
    for form in _FORMS:
        if _has(form, data):
            data = b"\n".join(form.sub(b"", line, count=1) if form.match(line) else line for line in data.split(b"\n"))
    return part if data is part.data else replace(part, data=data)


def _has(form: re.Pattern[bytes], data: bytes) -> bool:
    """True if at least four of five lines that are not empty begin so; numbers must rise as well."""
    rows = [row for row in data[: 1 << 16].split(b"\n") if row.strip()]
    hits = [match for row in rows if (match := form.match(row))]
    if len(hits) * 5 < len(rows) * 4 or not hits:
        return False
    if form is not _NUMBERS:
        return True
    numbers = [int(re.sub(rb"\D", b"", match.group())) for match in hits]
    return len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
