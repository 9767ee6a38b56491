import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cogmap import LTCNClassifier
from cogmap.knowledge import Knowledge
from cogmap.writing import whole

KILLED = """
import os, signal, sys
from pathlib import Path
from cogmap.writing import whole

with whole(Path(sys.argv[1])) as unfinished:
    unfinished.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_writer_of(path):
    """Let a process die while it writes a file; return what it left."""
    before = set(path.parent.iterdir())
    ran = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert ran.returncode == -signal.SIGKILL
    (left,) = set(path.parent.iterdir()) - before
    assert left.read_text() == "half"
    return left


def test_the_next_save_removes_what_a_killed_one_left(tmp_path):
    model = LTCNClassifier(max_iter=1).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    statements = Knowledge([])
    for path, save in ((tmp_path / "a.cogmap", model.save), (tmp_path / "b.toml", statements.save)):
        kill_a_writer_of(path)
        kill_a_writer_of(path)
        save(path)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.cogmap", tmp_path / "b.toml"]


def test_files_of_other_targets_and_of_users_stay(tmp_path):
    other = kill_a_writer_of(tmp_path / "other-model.txt")
    mine = [tmp_path / name for name in (".cogmap-notes-model.txt", "0123abcd-model.txt", ".0123abcd-model.txt")]
    for path in mine:
        path.touch()
    with whole(tmp_path / "model.txt") as unfinished:
        unfinished.write_text("done")
    assert sorted(tmp_path.iterdir()) == sorted([other, *mine, tmp_path / "model.txt"])


def test_the_file_of_a_writer_at_work_stays(tmp_path):
    path = tmp_path / "model.txt"
    with whole(path) as first:
        first.write_text("first")
        with whole(path) as second:
            second.write_text("second")
        assert first.exists()
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), whole(path) as unfinished:
        unfinished.write_text("new \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="absent is not a folder: create it first"),
        whole(Path(tmp_path / "absent" / "model.txt")),
    ):
        pass
