import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from diagnostics.engine import bundle
from diagnostics.engine.bundle import Limits

LOG = b"[ 1.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"
SMALL = Limits(parts=3, part_bytes=1000, total_bytes=2000, ratio=10, ratio_from=500)


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
    return bundle.read(str(path), **limits)


PACKERS = [gzip.compress, lzma.compress, bz2.compress, zstandard.ZstdCompressor().compress]


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
    assert [part.name for part in bundle.read(str(folder)).parts] == ["logs/kern.log"]


def test_an_archive_in_a_folder_is_not_opened_and_said_so(tmp_path: Path):
    (tmp_path / "a.tar").write_bytes(tar_of(x=LOG))
    found = bundle.read(str(tmp_path))
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


def test_what_is_too_long_is_cut_and_said_so(tmp_path: Path):
    found = read(tmp_path, bytes(range(33, 127)) * 20, limits=SMALL)
    assert len(found.parts[0].data) == 1000
    assert "only the first" in found.problems[0].reason


def test_too_many_files_are_left_out_and_said_so(tmp_path: Path):
    found = read(tmp_path, tar_of(**{f"f{n}": b"x" for n in range(9)}), limits=Limits(parts=3))
    assert len(found.parts) == 3
    assert "only the first 3 files" in found.problems[0].reason


def test_a_cut_packed_file_gives_what_came_before_the_damage(tmp_path: Path):
    whole = gzip.compress(b"".join(b"line %d\n" % n for n in range(200_000)))
    found = read(tmp_path, whole[: len(whole) // 2])
    assert found.parts[0].data.startswith(b"line 0\nline 1\n")
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
