"""Replacing files: as a whole, by several writers at once, with permissions, through links, but not pipes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import FileError, TemplateDataError

WRITER = """
import sys, tensorbackend as tb
path, number = sys.argv[1], int(sys.argv[2])
for _ in range(30):
    tb.save(path, {"x": tb.full(50_000, number), "y": tb.full(1000 * number, number)})
"""


def numbers(path: Path) -> set[int]:
    """Return the numbers in a file that several writers save: one number, or more if the file is torn."""
    loaded: Any = tb.load(path)
    distinct_numbers = {int(extreme) for x in loaded.values() for extreme in (tb.min(x), tb.max(x))}
    assert loaded["y"].shape == (1000 * min(distinct_numbers),)
    return distinct_numbers


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_threads_that_save_to_one_path(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    seen: list[set[int]] = []

    def write(number: int) -> None:
        for _ in range(20):
            tb.save(path, {"x": tb.full(50_000, number), "y": tb.full(1000 * number, number)})
            seen.append(numbers(path))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(seen) == 80
    assert all(len(distinct_numbers) == 1 for distinct_numbers in seen)
    assert os.listdir(tmp_path) == [path.name]


def test_processes_that_save_to_one_path(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tb.save(path, {"x": tb.full(5, 1), "y": tb.full(1000, 1)})
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(number)]) for number in (1, 2, 3)]
    while any(writer.poll() is None for writer in writers):
        assert len(numbers(path)) == 1
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert os.listdir(tmp_path) == [path.name]


def test_no_two_scratch_files_have_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Processes in different containers may have the same process number.
    names: set[str] = set()
    replace = os.replace

    def noted(source: str, target: str) -> None:
        names.add(source)
        replace(source, target)

    monkeypatch.setattr(os, "replace", noted)
    monkeypatch.setattr(os, "getpid", lambda: 7)
    for _ in range(10):
        tb.save(tmp_path / "x.npy", tb.zeros(2))
    assert len(names) == 10


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_an_old_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x.npy"
    tb.save(path, tb.zeros(2))
    path.chmod(mode)
    tb.save(path, tb.ones(3))
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        tb.save(tmp_path / "x.npy", tb.zeros(2))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.npy").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    target, link, dangling = tmp_path / "runs" / "1.npy", tmp_path / "latest.npy", tmp_path / "next.npy"
    tb.save(target, tb.zeros(1))
    link.symlink_to("runs/1.npy")
    dangling.symlink_to("runs/2.npy")
    tb.save(link, tb.ones(2))
    tb.save(dangling, tb.ones(3))
    assert (link.is_symlink(), dangling.is_symlink()) == (True, True)
    assert np.load(target).tolist() == [1.0, 1.0]
    assert np.load(tmp_path / "runs" / "2.npy").tolist() == [1.0, 1.0, 1.0]
    round_trip = tmp_path / "loop.npy"
    round_trip.symlink_to("loop.npy")
    with pytest.raises(OSError, match="symbolic links"):
        tb.save(round_trip, tb.zeros(2))
    assert round_trip.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_and_directories_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "folder.npy").mkdir()
    for name, kind in (("pipe.npy", "a pipe"), ("folder.npy", "a directory")):
        with pytest.raises(FileError, match=f"expected a regular file, got path='.*{name}', found='{kind}'"):
            tb.load(tmp_path / name)
        with pytest.raises(FileError, match=r"expected the path of a regular file, or a path that does not exist yet"):
            tb.save(tmp_path / name, tb.zeros(2))
    assert sorted(os.listdir(tmp_path)) == ["folder.npy", "pipe.npy"]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_what_fails_leaves_the_old_file(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"x{suffix}"
    x, without = tb.zeros(2), tb.template((2,), "f32")
    tb.save(path, x if suffix == ".npy" else {"x": x})
    before = path.read_bytes()
    with pytest.raises(TemplateDataError):
        tb.save(path, without if suffix == ".npy" else {"x": x, "y": without})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        tb.save(path, x + 1 if suffix == ".npy" else {"x": x + 1})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


KILLED = """
import os, signal, sys
from tensorbackend.files.replace import replace_file
with replace_file(sys.argv[1]) as file:
    file.write(bytes(1000))
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_what_a_killed_program_left_is_removed_at_the_next_save(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        (scratch,) = os.listdir(tmp_path)
        tb.save(path, {"x": tb.zeros(2)})
        assert sorted(os.listdir(tmp_path)) == sorted([scratch, path.name])  # it may still be written
        writer.kill()
        writer.wait()
    (tmp_path / ".other.tmp").write_bytes(b"of somebody else")
    (tmp_path / ".tensorbackend-link.tmp").symlink_to(path)
    tb.save(path, {"x": tb.ones(2)})
    assert sorted(os.listdir(tmp_path)) == [".other.tmp", ".tensorbackend-link.tmp", path.name]
