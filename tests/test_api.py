from pathlib import Path

from tests.api import documented, listing, signature

HERE = Path(__file__).parent
CHANGED = """The public API is not what tests/api.txt says.
{lines}
If that is meant, say so in CHANGELOG.md (see "What is public" in CONTRIBUTING.md), and run
python -m tests.api > tests/api.txt"""


def test_public_api_is_the_committed_one():
    agreed, found = set((HERE / "api.txt").read_text(encoding="utf-8").splitlines()), set(listing())
    lines = [f"- {line}" for line in sorted(agreed - found)] + [f"+ {line}" for line in sorted(found - agreed)]
    assert not lines, CHANGED.format(lines="\n".join(lines))


def test_signatures_have_names_kinds_and_defaults_only():
    def function(first: int, /, second: str = "x", *rest: int, third: float = 0.5, **more: int) -> None: ...

    assert signature(function) == "(first, /, second='x', *rest, third=0.5, **more)"


def test_attributes_are_read_from_docstrings():
    class Thing:
        """A thing.

        Attributes
        ----------
        one, two : int
            Numbers: not a name.
        three_ : array of shape (n,)
            More.

        Examples
        --------
        four : five
        """

    assert documented(Thing) == {"one", "two", "three_"}
    assert documented(type("Bare", (), {})) == set()
