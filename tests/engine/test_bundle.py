import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest
import zstandard

from diagnostics.engine import bundle, bundle_archives
from diagnostics.engine.bundle import Limits
from diagnostics.engine.types import Part

LOG = b"[ 1.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"
SMALL = Limits(parts=3, archive_bytes=2 << 20, ratio=10, ratio_from=500)
MIB = 1 << 20


def tar_of(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def read(tmp_path: Path, data: bytes, **limits: Limits) -> bundle.Bundle:
    path = tmp_path / "input"
    path.write_bytes(data)
    return whole(bundle.read(str(path), **limits))


def whole(found: bundle.Bundle) -> bundle.Bundle:
    """With every part read to its end, as judging does."""
    found.parts = [Part(part.name, part.data + (part.rest.read() if part.rest else b"")) for part in found.parts]
    return found


def log_of(size: int) -> bytes:
    return b"".join(b"line %d of a log that is long\n" % n for n in range(size // 30))


PACKERS = [gzip.compress, partial(lzma.compress, preset=0), bz2.compress, zstandard.ZstdCompressor().compress]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_file_is_one_part(tmp_path: Path, pack):
    found = read(tmp_path, pack(LOG))
    assert ([part.data for part in found.parts], found.is_bundle) == ([LOG], False)


@pytest.mark.parametrize("pack", [*PACKERS, bytes])
def test_an_archive_is_a_bundle_of_its_files(tmp_path: Path, pack):
    found = read(tmp_path, pack(tar_of(dmesg=LOG, df=b"x")))
    assert ([part.name for part in found.parts], found.is_bundle) == (["dmesg", "df"], True)


def test_a_zip_is_a_bundle_too(tmp_path: Path):
    assert [part.data for part in read(tmp_path, zip_of(a=LOG)).parts] == [LOG]


def test_a_folder_is_read_without_following_links(tmp_path: Path):
    (tmp_path / "outside").write_bytes(b"secret")
    folder = tmp_path / "bundle"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "kern.log").write_bytes(LOG)
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    assert [part.name for part in whole(bundle.read(str(folder))).parts] == ["logs/kern.log"]


def test_an_archive_in_a_folder_is_not_opened_and_said_so(tmp_path: Path):
    (tmp_path / "a.tar").write_bytes(tar_of(x=LOG))
    found = whole(bundle.read(str(tmp_path)))
    assert not found.parts
    assert "not opened" in found.problems[0].reason


def test_a_hostile_name_is_only_a_name(tmp_path: Path):
    found = read(tmp_path, tar_of(**{"../../etc/passwd": LOG}))
    assert found.parts[0].data == LOG
    assert not (tmp_path.parent / "etc").exists()


def test_links_and_devices_in_an_archive_are_left_out(tmp_path: Path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert not read(tmp_path, buffer.getvalue()).parts


@pytest.mark.parametrize("pack", PACKERS[:3])
def test_a_bomb_is_not_unpacked(tmp_path: Path, pack):
    found = read(tmp_path, pack(b"0" * 900), limits=SMALL)
    assert not found.parts
    assert "bomb" in found.problems[0].reason


@pytest.mark.parametrize("pack", [*PACKERS, bytes])
def test_a_long_log_is_read_in_full(tmp_path: Path, pack):
    log = log_of(2 * MIB)
    found = read(tmp_path, pack(log))
    assert (found.parts[0].data, found.problems) == (log, [])


def test_of_a_long_archive_the_beginning_is_read_and_said_so(tmp_path: Path):
    log = log_of(MIB)
    found = read(tmp_path, tar_of(a=log, b=log, c=log, d=log), limits=Limits(archive_bytes=2 * MIB + 1000))
    assert [part.name for part in found.parts] == ["a", "b"]
    assert "only the first 2 MiB" in found.problems[0].reason


def test_packed_files_in_an_archive_count_as_they_are_unpacked(tmp_path: Path):
    found = read(tmp_path, tar_of(a=gzip.compress(log_of(4 * MIB)), b=LOG), limits=SMALL)
    assert len(found.parts[0].data) <= SMALL.archive_bytes
    assert len(found.parts) == 1
    assert "only the first 2 MiB" in found.problems[0].reason


@pytest.mark.parametrize("archive", [tar_of, zip_of])
@pytest.mark.parametrize("pack", [*PACKERS, bytes])
def test_long_files_in_archives_are_read_one_after_another(tmp_path: Path, archive, pack):
    logs = {name: log_of(MIB) + name.encode() for name in ("a", "b", "c")}
    found = read(tmp_path, pack(archive(**logs)))
    assert {part.name: part.data for part in found.parts} == logs
    assert not found.problems


def test_a_rest_that_was_not_read_does_not_spoil_the_next_part(tmp_path: Path):
    path = tmp_path / "input"
    path.write_bytes(tar_of(a=log_of(3 * MIB), b=LOG))
    assert [part.data for part in bundle.read(str(path)).parts][1] == LOG


def test_a_zip_member_that_grows_like_a_bomb_is_left_and_the_others_are_read(tmp_path: Path):
    found = read(tmp_path, zip_of(bomb=b"0" * 100_000, log=LOG), limits=SMALL)
    assert [part.data for part in found.parts] == [LOG]
    assert "bomb" in found.problems[0].reason


def test_a_log_that_packs_very_well_is_no_bomb(tmp_path: Path):
    log = LOG * 500_000
    packed = gzip.compress(log)
    assert len(log) > 200 * len(packed)
    assert not read(tmp_path, packed).problems


def test_too_many_files_are_left_out_and_said_so(tmp_path: Path):
    found = read(tmp_path, tar_of(**{f"f{n}": b"x" for n in range(9)}), limits=Limits(parts=3))
    assert len(found.parts) == 3
    assert "only the first 3 files" in found.problems[0].reason


@pytest.mark.parametrize("pack", PACKERS)
def test_a_cut_packed_file_gives_what_came_before_the_damage(tmp_path: Path, pack):
    log = b"".join(b"line %d %d\n" % (n, n * n * 7919 % 1_000_003) for n in range(120_000))
    whole_file = pack(log)
    found = read(tmp_path, whole_file[: len(whole_file) // 2])
    kept = found.parts[0].data
    assert log.startswith(kept)
    assert len(kept) > len(log) // 4
    assert "broken" in found.problems[0].reason


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8bnonsense", b"PK\x03\x04nonsense", b"\x28\xb5\x2f\xfdnonsense", b"\xfd7zXZ\x00non", b"BZhnonsense"],
)
def test_a_broken_archive_is_a_clear_gap(tmp_path: Path, data: bytes):
    found = read(tmp_path, data)
    assert not found.parts
    assert found.problems


def test_a_missing_file_is_told_in_one_line(tmp_path: Path):
    with pytest.raises(bundle.Unreadable, match="No such file"):
        bundle.read(str(tmp_path / "nothing"))


def test_gzip_members_follow_one_another_and_padding_is_forgiven(tmp_path: Path):
    log = log_of(MIB)
    found = read(tmp_path, gzip.compress(log) + gzip.compress(LOG) + b"\0" * 5000)
    assert (found.parts[0].data, found.problems) == (log + LOG, [])


def test_what_follows_a_gzip_file_and_is_none_is_told(tmp_path: Path):
    found = read(tmp_path, gzip.compress(LOG) + b"garbage")
    assert found.parts[0].data == LOG
    assert found.problems


@pytest.mark.parametrize("level", [1, 12])
@pytest.mark.parametrize("options", [{}, {"write_checksum": True}, {"write_content_size": False}])
def test_zstandard_frames_of_every_form_end_where_they_end(tmp_path: Path, level: int, options: dict[str, bool]):
    log = log_of(MIB) + b"0" * 300_000
    frame = zstandard.ZstdCompressor(level=level, **options).compress(log)
    skippable = b"\x50\x2a\x4d\x18\x05\0\0\0abcde"
    assert not read(tmp_path, frame).problems
    found = read(tmp_path, frame + skippable + frame)
    assert (found.parts[0].data, found.problems) == (log * 2, [])
    assert read(tmp_path, frame[:-1]).problems
    assert read(tmp_path, frame + frame[:200]).problems


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch):
    log = log_of(3 * MIB)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(log))))
    found = whole(bundle.read("-"))
    assert [(part.name, part.data) for part in found.parts] == [("standard input", log)]


def reasons(found: bundle.Bundle) -> dict[str, str]:
    return {problem.name: problem.reason for problem in found.problems}


def names(found: bundle.Bundle) -> list[str]:
    return [part.name for part in found.parts]


def test_a_folder_that_may_not_be_entered_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "kern.log").write_bytes(LOG)
    scandir = os.scandir

    def refusing(path):  # root, who may run this, is never refused
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = whole(bundle.read(str(tmp_path)))
    assert names(found) == ["kern.log"]
    assert reasons(found) == {str(tmp_path / "closed"): "cannot be read: Permission denied"}


def test_a_pipe_in_a_folder_is_told_and_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "a-pipe")
    (tmp_path / "kern.log").write_bytes(LOG)
    found = whole(bundle.read(str(tmp_path)))
    assert names(found) == ["kern.log"]
    assert reasons(found) == {"a-pipe": "not read: this is no file but a pipe, a socket or a device"}


def test_a_device_never_ends_and_is_refused():
    with pytest.raises(bundle.Unreadable, match="/dev/zero: this is a device"):
        bundle.read("/dev/zero")


def test_an_encrypted_file_of_a_zip_hides_none_of_the_others(tmp_path: Path):
    data = bytearray(zip_of(**{"a.log": b"secret", "b.log": LOG}))
    data[6] |= 1  # the flag of the first file, once before it and once in the list at the end
    data[data.index(b"PK\x01\x02") + 8] |= 1
    found = read(tmp_path, bytes(data))
    assert names(found) == ["b.log"]
    assert "encrypted" in reasons(found)["a.log"]


def test_a_file_of_a_zip_that_is_packed_in_an_unknown_way_hides_none_of_the_others(tmp_path: Path):
    data = bytearray(zip_of(**{"a.log": b"odd", "b.log": LOG}))
    data[data.index(b"PK\x01\x02") + 10] = 99
    found = read(tmp_path, bytes(data))
    assert names(found) == ["b.log"]
    assert "compression" in reasons(found)["a.log"]


def tar_with(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_a_file_with_holes_is_not_filled_with_nothing(tmp_path: Path):
    holes = tarfile.TarInfo("holes")
    holes.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 40), "GNU.sparse.name": "holes"}
    found = read(tmp_path, tar_with((holes, b""), (tarfile.TarInfo("kern.log"), LOG)))
    assert names(found) == ["kern.log"]
    assert "holes" in reasons(found)["holes"]


def test_a_flood_of_entries_that_are_no_files_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundle_archives, "MOST_HEADERS", 20)
    folders = [tarfile.TarInfo(f"d{n}") for n in range(30)]
    for one in folders:
        one.type = tarfile.DIRTYPE
    found = read(tmp_path, tar_with((tarfile.TarInfo("kern.log"), LOG), *((one, b"") for one in folders)))
    assert names(found) == ["kern.log"]
    assert reasons(found) == {"input": "the archive is broken: it has more than 20 entries"}


def test_a_name_of_megabytes_is_not_read_into_memory(tmp_path: Path):
    long = tarfile.TarInfo("long")
    long.type = tarfile.GNUTYPE_LONGNAME
    found = read(tmp_path, tar_with((tarfile.TarInfo("kern.log"), LOG), (long, b"x" * (2 * MIB))))
    assert names(found) == ["kern.log"]
    assert "a name or attributes of 2097152 bytes" in reasons(found)["input"]
