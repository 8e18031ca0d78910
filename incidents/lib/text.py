"""Text of strangers, made visible."""

# Control and direction characters would make a text show something else than it holds.
DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
VISIBLE = {**CONTROLS, 0x7F: 0x2421, **dict.fromkeys(DIRECTIONS, 0xFFFD)}


def visible(text: str) -> str:
    """The text with a mark in place of each character that would act instead of being seen; tabs and line ends stay."""
    return text.translate(VISIBLE)
