import pytest

from cogmap.knowledge.names import did_you_mean, near_names, no_column

NAMES = ["Species", "bill length (mm)", "body_mass_g", "sex", "island"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("species", "Species"),
        ("Bill_Length_MM", "bill length (mm)"),
        ("body mass", "body_mass_g"),
        ("Isalnd", "island"),
        ("SEX ", "sex"),
    ],
)
def test_the_name_that_was_meant_is_suggested(name, expected):
    assert near_names(name, NAMES)[0] == expected
    assert did_you_mean(name, NAMES) == f" (did you mean {expected!r}?)"


def test_nothing_is_suggested_for_a_name_that_is_like_none():
    assert did_you_mean("temperature", NAMES) == ""
    assert did_you_mean("?", NAMES) == ""


def test_names_that_differ_by_case_only_are_all_suggested():
    assert did_you_mean("AGE", ["age", "Age", "ages"]) == " (did you mean 'age' or 'Age'?)"


def test_the_sentence_names_the_columns_but_not_thousands_of_them():
    assert no_column("Sex", ["sex", "age"]) == (
        "There is no column 'Sex' (did you mean 'sex'?): the columns are 'sex', 'age'."
    )
    many = no_column("y", [f"pixel{k}" for k in range(784)])
    assert many.endswith("'pixel19' and 764 more.")
