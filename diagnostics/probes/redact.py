"""Takes secrets and names of persons out of evidence before it is hashed and kept. The count of lines stays as it was."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.text import is_binary, is_utf16

HIDDEN = b"***"
UNSEEN = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|\0")
PIECE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Rule:
    """`marks`: the pattern is tried only where one of them occurs, in small letters."""

    marks: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    replacement: bytes


NAMES = (
    rb"passwords?|passwd|passphrase|pwd|secrets?|token|x-auth-token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|"
    rb"client[_-]?secret|identitytoken|refresh[_-]?token|certificate-key-data|client-key-data"
)
CHINESE_NAMES = "|".join(("密码", "口令", "令牌", "密钥")).encode()
UNITS = rb"service|socket|slice|scope|timer|mount|automount|target|device|path|swap"

KEY_BEGINS, KEY_ENDS = b"-----BEGIN ", b"-----END "
KEY_MARK = b"PRIVATE KEY-----"
LONGEST_KEY = 16_384
CUT_KEY = re.compile(rb"(?:[ \t\r]*\n?[A-Za-z0-9+/=]{16,})+")

RULES = (
    Rule((b"bearer ", b"basic "), re.compile(rb"(?i)\b((?:bearer|basic) )([A-Za-z0-9._~+/=-]{8,})"), rb"\1***"),
    Rule(  # in quotes a secret may hold blanks
        (b"passw", b"passphrase", b"pwd", b"secret", b"token", b"key"),
        re.compile(rb"(?i)((?:" + NAMES + rb")[\"']?\s{0,2}[=:]\s{0,2}([\"']))(?!\*\*\*)([^\"'\n]{4,512})(?=\2)"),
        rb"\1***",
    ),
    Rule(
        (b"passw", b"passphrase", b"pwd", b"secret", b"token", b"key"),
        re.compile(rb"(?i)((?:" + NAMES + rb")[\"']?\s{0,2}[=:]\s{0,2}[\"']?)(?!\*\*\*)([^\s\"'&,;)}\]]{4,})"),
        rb"\1***",
    ),
    Rule(
        ("密码".encode(), "口令".encode(), "令牌".encode(), "密钥".encode()),
        re.compile(
            rb"((?:" + CHINESE_NAMES + rb")[\"']?\s{0,2}(?:=|:|\xef\xbc\x9a)\s{0,2}[\"']?)(?!\*\*\*)([!-~]{4,})"
        ),
        rb"\1***",
    ),
    Rule((b"cookie:",), re.compile(rb"(?i)(\b(?:set-)?cookie:\s{0,2})(?!\*\*\*)([^\r\n]{4,4096})"), rb"\1***"),
    Rule(
        (b"eyj",), re.compile(rb"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), HIDDEN
    ),  # a JSON web token
    Rule(
        (b"community",),
        re.compile(
            rb"(?i)(\b(?:snmp[\w-]{0,20}\s+|r[ow])community6?[\"']?\s{0,2}[=: ]\s{0,2}[\"']?)(?!\*\*\*)([^\s\"',;]{3,64})"
        ),
        rb"\1***",
    ),
    Rule(
        (b"snmp",),
        re.compile(rb"(?i)(\bsnmp(?:get|walk|bulkwalk|set|table)\b[^\n]{0,120}?\s-[cAX]\s{0,2})(?!\*\*\*)(\S{3,64})"),
        rb"\1***",
    ),
    Rule(
        (b'"auth"',), re.compile(rb'("auth"\s{0,2}:\s{0,2}")([A-Za-z0-9+/=]{8,})(?=")'), rb"\1***"
    ),  # of docker's config.json
    Rule(  # what tools are given on their command line
        (b" -p", b" -u"),
        re.compile(
            rb"(?i)(\b(?:ipmi[\w-]{0,20}|racadm|redfishtool|ilorest|sshpass|mysql|curl)\b[^\n]{0,200}?\s-(?:p\s?|u\s?[^\s:]{1,64}:))"
            rb"(?!\*\*\*)(\S{3,})"
        ),
        rb"\1***",
    ),
    Rule((b"://",), re.compile(rb"(://[^\s/:@\"']{0,64}:)([^\s/@\"']{1,256})(@)"), rb"\1***\3"),
    Rule((b"akia", b"asia"), re.compile(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    Rule(
        (
            b"hf_",
            b"ghp_",
            b"gho_",
            b"ghs_",
            b"github_pat_",
            b"glpat-",
            b"sk-",
            b"nvapi-",
            b"xox",
            b"aiza",
            b"npm_",
            b"ya29.",
        ),
        re.compile(rb"\b(?:hf_|gh[pos]_|github_pat_|glpat-|sk-|nvapi-|xox[abprs]-|AIza|npm_|ya29\.)[A-Za-z0-9_-]{20,}"),
        HIDDEN,
    ),
    Rule(
        (b"@",),
        # getty@tty1.service and its kind are units of systemd, not addresses of persons.
        re.compile(
            rb"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?![A-Za-z0-9.-]{0,200}\.(?:" + UNITS + rb")\b)"
            rb"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}\b"
        ),
        HIDDEN,
    ),
    Rule((b"/home/", b"/users/"), re.compile(rb"(/(?:home|Users)/)(?!\*\*\*)([^\s/:\"',;)]{1,64})"), rb"\1***"),
)


def redact(data: bytes) -> tuple[bytes, int]:
    """The text without its secrets, and how many were taken out. Archives and other binary data stay as they are."""
    if is_binary(data):
        return data, 0
    if is_utf16(data):
        text, count = _redact_text(data.decode("utf-16", errors="replace").encode())
        # What was changed is kept as UTF-8, which every reader of ours takes.
        return (text, count) if count else (data, 0)
    return _redact_text(data)


def _redact_text(data: bytes) -> tuple[bytes, int]:
    data, total = _without_keys(data) if KEY_MARK in data else (data, 0)
    pieces = [_redact_piece(piece) for piece in _pieces(data)]
    return b"".join(piece for piece, _ in pieces), total + sum(count for _, count in pieces)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Whole lines, some at a time: one pattern over all of a large file would hold up every other thread meanwhile."""
    start = 0
    while start < len(data):
        end = (
            data.rfind(b"\n", start, start + PIECE_BYTES) + 1 or data.find(b"\n", start + PIECE_BYTES) + 1 or len(data)
        )
        yield data[start:end]
        start = end


def _redact_piece(data: bytes) -> tuple[bytes, int]:
    if b"\0" not in data and b"\x1b" not in data:
        return _redact_plain(data)
    lines = [_redact_line(line) for line in data.splitlines(keepends=True)]
    return b"".join(line for line, _ in lines), sum(count for _, count in lines)


def _redact_line(line: bytes) -> tuple[bytes, int]:
    """A reader sees the line without colours and NULs, so that is where a secret is looked for."""
    plain, count = _redact_plain(UNSEEN.sub(b"", line))
    return (plain, count) if count else (line, 0)


def _redact_plain(data: bytes) -> tuple[bytes, int]:
    small, total = data.lower(), 0
    for rule in RULES:
        if any(mark in small for mark in rule.marks):
            data, count = rule.pattern.subn(rule.replacement, data)
            total += count
    return data, total


def _without_keys(data: bytes) -> tuple[bytes, int]:
    """Blocks from "-----BEGIN ... PRIVATE KEY-----" to their end, which need not be there; the lines stay as many."""
    kept, done, count = [], 0, 0
    while (mark := data.find(KEY_MARK, done)) >= 0:
        start = mark + len(KEY_MARK)
        end = _end_of_key(data, start) if KEY_BEGINS in data[max(mark - 40, done) : mark] else start
        kept.append(data[done:start])
        if end > start:
            kept += [HIDDEN, b"\n" * data.count(b"\n", start, end)]
            count += 1
        done = end
    return b"".join((*kept, data[done:])), count


def _end_of_key(data: bytes, start: int) -> int:
    """Where its end is told, or after the last line of nothing but its letters."""
    stop = data.find(KEY_ENDS, start, start + LONGEST_KEY)
    if stop >= 0 and KEY_MARK in data[stop : stop + 60] and KEY_BEGINS not in data[start:stop]:
        return stop
    match = CUT_KEY.match(data, start, start + LONGEST_KEY)
    return match.end() if match else start
