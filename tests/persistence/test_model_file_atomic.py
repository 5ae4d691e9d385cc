"""The old file stays whole until the new one is."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from payload_samples import assert_same, sample_payload

from sparsemix import ModelFileError
from sparsemix.persistence import Payload, read_payload, replacing, write_payload


def disk_full(*_args, **_kwargs):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "target", ["sparsemix.persistence.writer.save_file", "os.fsync", "pathlib.Path.replace"]
)
def test_a_failure_at_any_step_leaves_the_old_file(tmp_path, monkeypatch, target):
    path = tmp_path / "model.smx"
    write_payload(path, sample_payload())
    monkeypatch.setattr(target, disk_full)
    with pytest.raises(ModelFileError, match="No space left on device") as caught:
        write_payload(path, Payload("other"))
    monkeypatch.undo()
    assert repr(str(path)) in str(caught.value)
    assert_same(read_payload(path), sample_payload())
    assert [each.name for each in tmp_path.iterdir()] == ["model.smx"]


def test_an_interruption_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.smx"
    write_payload(path, sample_payload())

    def interrupt(_arrays, temporary, **_options):
        Path(temporary).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("sparsemix.persistence.writer.save_file", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_payload(path, Payload("other"))
    assert_same(read_payload(path), sample_payload())
    assert [each.name for each in tmp_path.iterdir()] == ["model.smx"]


def test_a_missing_folder_and_a_folder_in_the_way(tmp_path):
    with pytest.raises(ModelFileError, match="Choose an existing folder"):
        write_payload(tmp_path / "absent" / "model.smx", sample_payload())
    (tmp_path / "model.smx").mkdir()
    with pytest.raises(ModelFileError, match="is a folder"):
        write_payload(tmp_path / "model.smx", sample_payload())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are for POSIX")
def test_what_is_no_regular_file_stays(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(OSError, match="it is no regular file"), replacing(path):
            pytest.fail("a file was handed out")
        with pytest.raises(ModelFileError, match=r"it is no regular file\. Nothing was changed there"):
            write_payload(path, sample_payload())
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert {each.name for each in tmp_path.iterdir()} == {"pipe", "link"}


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    if os.geteuid() == 0:  # root may write anywhere
        monkeypatch.setattr(Path, "touch", refuse)
    else:
        tmp_path.chmod(0o500)
    with pytest.raises(ModelFileError, match="Permission denied"):
        write_payload(tmp_path / "model.smx", sample_payload())
    tmp_path.chmod(0o700)


def test_the_new_name_is_on_disk_before_the_call_returns(tmp_path, monkeypatch):
    steps = []
    flush, rename = os.fsync, Path.replace

    def seen_flush(descriptor):
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        flush(descriptor)

    def seen_rename(self, target):
        steps.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", seen_flush)
    monkeypatch.setattr(Path, "replace", seen_rename)
    write_payload(tmp_path / "model.smx", sample_payload())
    assert steps == ["file", "rename", "folder"]


def test_a_link_stays_a_link_and_rights_stay(tmp_path):
    real = tmp_path / "real.smx"
    write_payload(real, Payload("old"))
    real.chmod(0o640)
    (tmp_path / "link.smx").symlink_to(real)
    write_payload(tmp_path / "link.smx", sample_payload())
    assert (tmp_path / "link.smx").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert read_payload(real).kind == sample_payload().kind


@pytest.mark.parametrize(
    ("umask", "rights"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600), (0o000, 0o666)]
)
def test_a_new_file_has_the_rights_that_the_umask_leaves(tmp_path, umask, rights):
    before = os.umask(umask)
    try:
        write_payload(tmp_path / "model.smx", sample_payload())
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.smx").stat().st_mode) == rights


def test_the_temporary_file_is_in_the_same_folder(tmp_path):
    with replacing(tmp_path / ("n" * 250)) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("text")
    assert (tmp_path / ("n" * 250)).read_text() == "text"


def test_writing_does_not_change_the_payload(tmp_path):
    payload = sample_payload()
    big_endian = np.arange(3, dtype=">i4")
    payload.arrays["big"] = big_endian
    write_payload(tmp_path / "model.smx", payload)
    assert payload.arrays["big"] is big_endian
    assert big_endian.tolist() == [0, 1, 2]


def test_a_missing_folder_is_told_by_the_name_that_was_asked_for(tmp_path):
    path = tmp_path / "missing" / "report.html"
    with pytest.raises(FileNotFoundError) as raised, replacing(path):
        pass
    assert raised.value.filename == str(path)
