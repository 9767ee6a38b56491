"""Statements in files, written by us, by hand, and by those who mean harm."""

import datetime as dt
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap import Knowledge
from cogmap.knowledge import Statement

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = texts.filter(bool)
records = st.fixed_dictionaries(
    {"author": st.none() | texts, "date": st.none() | st.dates(), "reason": st.none() | texts}
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
statements = st.one_of(
    st.builds(lambda k, s, t, v, r: Statement(k, s, t, v, **r), st.sampled_from(["fix", "at_least", "at_most"]), names,
              names, numbers, records),
    st.builds(lambda s, t, v, r: Statement("sign", s, t, v, **r), names, names, st.sampled_from("+-"), records),
    st.builds(lambda s, t, r: Statement("forbid", s, t, **r), names, names, records),
    st.builds(lambda s, r: Statement("irrelevant", s, **r), names, records),
    st.builds(lambda s, v, r: Statement("bias", s, None, v, **r), names, numbers, records),
)  # fmt: skip


@given(statement=statements, suffix=st.sampled_from([".toml", ".json"]))
def test_a_file_gives_back_exactly_what_was_stated(tmp_path_factory, statement, suffix):
    path = tmp_path_factory.mktemp("knowledge") / f"statements{suffix}"
    knowledge = Knowledge([statement]).irrelevant("last")
    knowledge.save(path)
    loaded = Knowledge.load(path)
    assert loaded == knowledge
    assert [str(s.value) for s in loaded] == [str(s.value) for s in knowledge]  # −0.0 equals 0.0
    assert list(path.parent.iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == (knowledge.to_toml() if suffix == ".toml" else knowledge.to_json())


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_no_character_is_too_odd_for_a_file(tmp_path, suffix):
    """Control characters, quotes, escapes, line ends of all kinds, and beyond the basic plane."""
    odd = "".join(map(chr, range(0x100))) + "\\u0041\u2028\ufeff\U0001f377\"\"\"'''"
    Knowledge().fix(odd, odd[::-1], 1e-5, author=odd).save(tmp_path / f"odd{suffix}")
    assert Knowledge.load(tmp_path / f"odd{suffix}") == Knowledge().fix(odd, odd[::-1], 1e-5, author=odd)


BY_HAND = """\
# The cellar's rules

[[statement]]       # seen on every site
kind = "fix"
source = "ash"
target = 'alcohol'
value = 1           # a whole number will do
author = "A. Vintner"
date = 2026-03-01
reason = \"\"\"
Trial of 2025,
second series\"\"\"

[[statement]]
kind = "sign"
source = "alcohol is low"
target = "ash"
value = "-"
date = "2026-03-02"

[[statement]]
kind = "irrelevant"
feature = "proline"
"""


def test_toml_written_by_hand_is_read(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(BY_HAND)
    record = {"author": "A. Vintner", "date": dt.date(2026, 3, 1), "reason": "Trial of 2025,\nsecond series"}
    assert Knowledge.load(path) == (
        Knowledge()
        .fix("ash", "alcohol", 1.0, **record)
        .sign("alcohol is low", "ash", "-", date="2026-03-02")
        .irrelevant("proline")
    )


def test_no_statements_are_knowledge_too(tmp_path):
    for name in ("none.toml", "none.json"):
        Knowledge().save(tmp_path / name)
        assert Knowledge.load(str(tmp_path / name)) == Knowledge()


HEAD = '[[statement]]\nkind = "irrelevant"\nfeature = "a"\n[[statement]]\n'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[[statement]\n", r"this is not valid TOML, .*\(at line 1, column 12\): correct it there"),
        ('[statement]\nkind = "fix"', r"'statement' is not a list: begin each statement with \[\[statement\]\]"),
        ("[[statements]]\n", r"'statements' is not known here: begin each statement with \[\[statement\]\]"),
        ("statement = [3]", "statement 1: this is 3: write keys and values"),
        (HEAD + 'source = "a"', "statement 2: it has no kind: use one of 'fix', 'forbid'"),
        (HEAD + 'kind = "fixed"', "statement 2: kind='fixed' is unknown: use one of 'fix'"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"', "statement 2: 'fix' needs 'value': add it"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"\nvalue = "1"', "statement 2: The value of 'fix' is '1'"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"\nvalue = inf', "statement 2: The value of 'fix' is inf"),
        (HEAD + 'kind = "forbid"\nsourse = "a"', "statement 2: 'sourse' is no key of 'forbid': did you mean 'source'"),
        (HEAD + 'kind = "forbid"\nzzz = "a"', "statement 2: 'zzz' is no key of 'forbid': use 'kind', 'source'"),
        (HEAD + 'kind = "irrelevant"\nfeature = "b"\ndate = "soon"', "statement 2: The date of a statement is 'soon'"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"\nvalue = 2', "statement 2, .* contradicts statement 1, "),
    ],
)
def test_a_malformed_file_is_explained_by_file_and_statement(tmp_path, content, sentence):
    path = tmp_path / "rules.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: {sentence}"):
        Knowledge.load(path)


def test_other_bad_files_are_explained(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text("{,}")
    with pytest.raises(ValueError, match=r"rules.json: this is not valid JSON, .*line 1 column 2"):
        Knowledge.load(path)
    path.write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="a file of statements holds a list named 'statement'"):
        Knowledge.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"rules\.json is not text in UTF-8"):
        Knowledge.load(path)
    for act in (Knowledge().save, Knowledge.load):
        with pytest.raises(ValueError, match=r"ends with '.txt': name a file of statements .toml or .json"):
            act(tmp_path / "rules.txt")
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        Knowledge.load(tmp_path / "missing.toml")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "rules.toml"
    Knowledge().irrelevant("a").save(path)

    def half(self, text, encoding):
        self.write_bytes(text.encode(encoding)[:20])
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", half)
        with pytest.raises(OSError, match="No space"):
            Knowledge().irrelevant("b").save(path)
    assert Knowledge.load(path) == Knowledge().irrelevant("a")
    assert list(tmp_path.iterdir()) == [path]


STATED = '{"statement": [{"kind": "fix", "source": "a", "target": "b", "value": %s}]}'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("deep.json", '{"statement": ' + "[" * 100_000 + "]" * 100_000 + "}", "values are nested too deeply"),
        ("deep.toml", "statement = " + "[" * 100_000 + "]" * 100_000, "values are nested too deeply"),
        ("deep.json", STATED % ("[" * 400 + "]" * 400), r"statement 1: The value of 'fix' is \[\[\[.*\.\.\.\]"),
        ("huge.json", STATED % ("9" * 5000), "a whole number has more digits than can be read"),
        ("huge.toml", '[[statement]]\nkind = "fix"\nvalue = ' + "9" * 5000, "a whole number has more digits"),
        ("large.json", STATED % ("9" * 400), r"The value of 'fix' is 9+\.\.\.9+: give a finite number"),
        ("large.json", STATED % "1e400", "The value of 'fix' is inf: give a finite number"),
        ("twice.json", STATED % '1, "value": 2', "the key 'value' is there twice: leave one of them out"),
        ("twice.json", '{"statement": [], "statement": []}', "the key 'statement' is there twice"),
        ("twice.toml", '[[statement]]\nkind = "fix"\nkind = "forbid"', "this is not valid TOML"),
        ("half.json", STATED.replace('"a"', '"\\ud800"') % "1", r"'\\ud800' holds half of a character"),
    ],
)
def test_hostile_files_are_one_sentence(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=f"{name}: .*{message}") as error:
        Knowledge.load(tmp_path / name)
    assert len(str(error.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize("name", ["marked.toml", "marked.json"])
def test_a_byte_order_mark_is_no_part_of_a_file(name, tmp_path):
    stated = Knowledge().forbid("a", "b")
    (tmp_path / name).write_text("\ufeff" + (stated.to_toml() if name.endswith("toml") else stated.to_json()))
    assert Knowledge.load(tmp_path / name) == stated
