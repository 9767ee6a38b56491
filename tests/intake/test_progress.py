"""Progress of passes: what is counted, and what is written where."""

import io

import pytest

from cogmap.intake import progress
from cogmap.intake.progress import Meter, Progress, Writer, reporter


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_rows_count_after_their_block_and_the_time_left_follows_from_them(monkeypatch):
    clock = iter([0.0, 2.0, 2.0, 4.0, 4.0, 4.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    told = []
    meter = Meter(told.append)
    meter.n_rows = 8
    assert list(meter.counted([(2, "a"), (6, "b")])) == ["a", "b"]
    assert told == [
        Progress(1, 2, 8, 2.0, 6.0),
        Progress(1, 8, 8, 4.0, 0.0),
        Progress(1, 8, 8, 4.0, 0.0, ended=True),
    ]


def test_the_first_pass_does_not_know_how_long_it_takes():
    told = []
    list(Meter(told.append).counted([(5, None)]))
    assert told[0].rows == 5
    assert told[0].seconds_left is None


def test_a_terminal_has_one_line_for_each_pass_and_a_file_few():
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        write = Writer(stream)
        for seconds in (1.0, 2.0, 31.0):
            write(Progress(3, 50, 100, seconds, seconds))
        write(Progress(3, 100, 100, 40.0, 0.0, ended=True))
    assert terminal.getvalue().count("\r") == 4
    assert terminal.getvalue().count("\n") == 1
    assert file.getvalue() == "pass 3: 50 rows in 31 s, 50 %, 31 s left\npass 3: 100 rows in 40 s, 100 %, 0 s left\n"


@pytest.mark.parametrize("given", [None, False])
def test_nothing_is_written_where_nobody_looks(given, capsys):
    reporter(given)(Progress(1, 1, None, 1.0, None, ended=True))
    assert capsys.readouterr().err == ""
