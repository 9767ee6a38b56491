"""What reaches a terminal, and which files can be read and written."""

import io
import json
import os
import subprocess
import sys
import threading
import unicodedata
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("click")
from click.testing import CliRunner

from cogmap import LTCNClassifier
from cogmap.cli import main
from cogmap.cli.console import printable, printable_json
from tests.people import people

BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
EVIL = "a\x1b[31m\x9b2J\u202eb\rc"


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result


def safe(text):
    return all(
        letter in "\n\t" or (unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp")
                             and unicodedata.bidirectional(letter) not in BIDI) for letter in text
    )  # fmt: skip


@given(st.text())
def test_no_control_character_is_printed_and_no_other_is_changed(text):
    assert safe(printable(text))
    assert printable(text) == text or not safe(text)


@given(st.text())
def test_json_with_escapes_holds_the_same_text(text):
    written = printable_json(json.dumps({text: text}, ensure_ascii=False))
    assert safe(written)
    assert json.loads(written) == {text: text}


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """Return a table with control characters in names and values, and a model of it."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("evil")
    frame = people()[["age", "sex", "survived"]].fillna(20.0)
    frame["sex"] = frame["sex"].replace("male", EVIL)
    frame = frame.rename(columns={"age": f"age{EVIL}"}).assign(survived=frame["survived"] + EVIL)
    frame.to_parquet(folder / "evil.parquet")
    run("fit", folder / "evil.parquet", "--target", "survived", "--no-tune", "--model", folder / "evil.cogmap")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "evil.parquet", "--target", "survived", "--no-tune"),
        ("fit", "evil.parquet", "--target", "survived", "--no-tune", "--json"),
        ("evaluate", "evil.parquet", "--target", "survived", "--no-tune", "--folds", "2"),
        ("evaluate", "evil.cogmap", "evil.parquet", "--json"),
        ("predict", "evil.cogmap", "evil.parquet", "--json"),
        ("explain", "evil.cogmap", "evil.parquet", "--row", "0"),
        ("explain", "evil.cogmap", "evil.parquet", "--row", "0", "--json"),
        ("explain", "evil.cogmap"),
    ],
)
def test_control_characters_of_a_file_never_reach_the_terminal(arguments, evil):
    result = run(*(evil / part if part.startswith("evil.") else part for part in arguments))
    assert "a\\x1b[31m" in result.stdout or "a\\u001b[31m" in result.stdout
    assert safe(result.stdout)
    assert safe(result.stderr)


def test_neither_do_they_in_messages(evil, tmp_path):
    wrong = run("fit", evil / "evil.parquet", "--target", "nothing", code=2)
    assert safe(wrong.stderr)
    named = tmp_path / f"{EVIL}.csv"
    named.write_text("a,b\n1\n")
    assert "line 2: 1 value" in run("fit", named, "--target", "b", code=2).stderr
    assert safe(run("fit", named, "--target", "b", code=2).stderr)


def test_programs_get_predictions_as_they_are_and_a_terminal_does_not(evil, monkeypatch):
    arguments = ("predict", evil / "evil.cogmap", evil / "evil.parquet", "--keep", "sex")
    assert EVIL.replace("\r", "") in run(*arguments).stdout.replace("\r", "")
    import cogmap.cli.output

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(cogmap.cli.output.sys, "stdout", terminal)
    cogmap.cli.output.hand_over(EVIL)
    assert terminal.getvalue() == "a\\x1b[31m\\x9b2J\\u202eb\\rc"


def test_every_command_prints_through_the_console():
    source = Path(main.callback.__code__.co_filename).parent
    for path in source.glob("*.py"):
        assert path.name in ("output.py", "console.py") or "click.echo(" not in path.read_text(), path


# Files to write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    people().drop(columns="id").to_csv(folder / "people.csv", index=False)
    frame = people()[["fare", "class"]]
    LTCNClassifier().fit(frame, people()["survived"]).save(folder / "plain.cogmap")
    (folder / "expert.toml").write_text("")
    return folder


WRITING = {
    "fit": ("fit", "people.csv", "--target", "survived", "--model"),
    "predict": ("predict", "plain.cogmap", "people.csv", "-o"),
    "report": ("report", "plain.cogmap", "people.csv", "--target", "survived", "-o"),
    "export": ("export", "plain.cogmap"),
    "edit": ("edit", "plain.cogmap", "people.csv", "expert.toml", "--target", "survived", "-o"),
    "explain": ("explain", "plain.cogmap", "--picture"),
    "study": ("study", "run", "--results"),
    "study folder": ("study", "datasets", "--output"),
    "demo": ("demo", "--output"),
}


@pytest.mark.parametrize("command", WRITING)
def test_where_a_result_goes_is_checked_before_any_work(command, model, tmp_path, monkeypatch):
    import cogmap.cli.inputs
    import cogmap.tables.parts

    def work(*_, **__):
        raise AssertionError("work began")

    monkeypatch.setattr(cogmap.cli.inputs, "load_model", work)
    monkeypatch.setattr(cogmap.tables.parts, "open_parts", work)
    monkeypatch.setattr(import_module("cogmap.cli.study"), "follow", work)  # the package has a command of that name
    monkeypatch.setattr(import_module("cogmap.cli.demo"), "measure", work)
    given = [model / part if "." in part else part for part in WRITING[command]]
    (tmp_path / "file").write_text("")
    assert "is not a folder" in run(*given, tmp_path / "file" / "x.out", code=2).stderr
    if command in ("study", "study folder", "demo"):  # these make their folder
        monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
        assert "does not allow to write" in run(*given, tmp_path / "new" / "x.out", code=2).stderr
        return
    assert f"{tmp_path / 'absent'} is not a folder: create it" in run(*given, tmp_path / "absent" / "x", code=2).stderr
    assert f"{tmp_path} is a folder: name a file" in run(*given, tmp_path, code=2).stderr
    assert "/dev/null is a device or a pipe" in run(*given, "/dev/null", code=2).stderr
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    assert "does not allow to write" in run(*given, tmp_path / "x.out", code=2).stderr


# Files to read


def test_pipes_are_read_like_files(model, tmp_path):
    content = (model / "people.csv").read_bytes()
    arguments = ("--target", "survived", "--no-tune", "--json")
    expected = json.loads(run("fit", model / "people.csv", *arguments).stdout)["columns"]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    found = json.loads(run("fit", pipe, *arguments, "--model", tmp_path / "x.cogmap").stdout)
    writer.join()
    assert found["columns"] == expected
    assert not Path(found["data"]).exists()
    assert json.loads(run("fit", "-", *arguments, stdin=content).stdout)["columns"] == expected


def test_devices_are_refused():
    assert "'/dev/zero' is a terminal or another device" in run("fit", "/dev/zero", "--target", "a", code=2).stderr


def test_a_pipe_without_end_is_refused(tmp_path, monkeypatch):
    import shutil

    monkeypatch.setattr(shutil, "disk_usage", lambda _: os.terminal_size((1, 1)) and type("", (), {"free": 4})())
    message = run("fit", "-", "--target", "a", stdin=b"a,b\n1,2\n", code=2).stderr
    assert "the stdin gives more than half of the free space" in message


# Without libraries, and without memory


def test_without_click_the_command_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; from cogmap.__main__ import main; main()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr == 'The command line of cogmap needs more libraries: pip install "cogmap[cli]".\n'


def test_the_command_is_declared_where_it_can_say_so():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("the source tree only has it")
    import tomllib

    assert tomllib.loads(pyproject.read_text())["project"]["scripts"] == {"cogmap": "cogmap.__main__:main"}


def test_without_pandas_the_command_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    message = run("evaluate", model / "people.csv", "--target", "survived", code=1).stderr
    assert 'pip install "cogmap[cli]"' in message


@pytest.mark.parametrize("text", ["", "Unable to allocate 74.5 GiB"])
def test_too_little_memory_is_one_sentence(text, model, monkeypatch):
    import cogmap.tables.table

    def full(*_, **__):
        raise MemoryError(text)

    monkeypatch.setattr(cogmap.tables.table, "read_table", full)
    message = run("evaluate", model / "people.csv", "--target", "survived", code=1).stderr
    assert message.startswith("Error: The memory does not suffice")
    assert text in message
    assert len(message.splitlines()) == 1


def test_examples_of_help_are_lines():
    def texts(command, name):
        yield name, run(*name.split(), "--help").stdout if name else run("--help").stdout
        for inner, found in getattr(command, "commands", {}).items():
            yield from texts(found, f"{name} {inner}".strip())

    for name, text in texts(main, ""):
        assert "\\b" not in text
        lines = [line for line in text.splitlines() if line.strip().startswith("cogmap ")]
        assert all(line.startswith("    cogmap ") and line.split().count("cogmap") == 1 for line in lines), name
        assert not any("xample" in line and " cogmap " in line for line in text.splitlines()), name


def test_formulas_are_made_harmless_where_a_user_asks(model, tmp_path):
    frame = people().drop(columns="id").assign(note="=1+1", sign="-5 apples", number=-5)
    frame.to_csv(tmp_path / "new.csv", index=False)
    keep = ("--keep", "note", "--keep", "sign", "--keep", "number", "--proba")
    plain = run("predict", model / "plain.cogmap", tmp_path / "new.csv", *keep).stdout
    assert ",=1+1,-5 apples,-5," in plain
    safe = run("predict", model / "plain.cogmap", tmp_path / "new.csv", *keep, "--safe").stdout
    assert ",'=1+1,'-5 apples,-5," in safe


def test_probabilities_in_csv_are_short_and_add_up(model):
    text = run("predict", model / "plain.cogmap", model / "people.csv", "--proba").stdout
    found = pd.read_csv(io.StringIO(text), dtype=str).filter(like="probability of ")
    assert found.apply(lambda column: column.str.fullmatch(r"[01]\.\d{6}")).all(axis=None)
    assert found.astype(float).sum(axis=1).sub(1).abs().max() <= 2e-6
