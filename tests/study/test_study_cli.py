import pytest

runner = pytest.importorskip("click.testing").CliRunner()
pytest.importorskip("tqdm")
pytest.importorskip("pebble")

from cogmap.cli import main  # noqa: E402  (after the check that click is there)
from cogmap.study.results import read, write  # noqa: E402
from tests.study.made import rows  # noqa: E402


def invoke(*arguments):
    return runner.invoke(main, ["study", *map(str, arguments)])


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.csv"
    write(path, [*rows("banana", "SVM", 0.8), *rows("banana", "LTCN", 0.7), *rows("yeast", "SVM", 0.5, error="bad")])
    return path


def test_the_group_is_in_the_main_command():
    assert "study" in runner.invoke(main, ["--help"]).output
    shown = invoke("--help").output
    for name in ("run", "table", "figure", "ablation", "claim", "claims", "summary", "datasets", "classifiers"):
        assert name in shown


def test_classifiers_say_what_they_need():
    shown = invoke("classifiers").output
    assert "RIPPER" in shown
    assert "HyRS" in shown


def test_run_writes_results_and_tables_read_them(tmp_path):
    path = tmp_path / "results.csv"
    result = invoke(
        "run", "--datasets", "iris", "--classifiers", "DT,RidgeClassifierCV", "--jobs", 1, "--results", path
    )
    assert result.exit_code == 0, result.output
    assert len(read(path)) == 12
    table = invoke("table", "all", "--results", path, "--output", tmp_path / "tables")
    assert "RidgeClassifierCV" in table.output
    assert (tmp_path / "tables" / "all.csv").exists()


def test_a_table_of_the_datasets_that_a_method_is_finished_on(tmp_path):
    path = tmp_path / "results.csv"
    write(path, [*rows("banana", "SVM", 0.8), *rows("yeast", "SVM", 0.4), *rows("banana", "EBM", 0.7)])
    assert "| SVM | 2 | 0.6000 |" in invoke("table", "all", "--results", path).output
    assert "| SVM | 1 | 0.8000 |" in invoke("table", "all", "--finished-by", "EBM", "--results", path).output


def test_summary_names_means_and_errors(results):
    shown = invoke("summary", "--results", results).output
    assert "0.8000" in shown
    assert "5 × SVM, yeast: bad" in shown or "6 × SVM, yeast: bad" in shown


def test_merge_joins_files(results, tmp_path):
    other = tmp_path / "other.csv"
    write(other, rows("yeast", "SVM", 0.5))
    joined = tmp_path / "joined.csv"
    assert invoke("merge", joined, results, other).exit_code == 0
    assert not any(row["error"] for row in read(joined))


def test_claims_say_what_is_undecided(results):
    shown = invoke("claims", "--results", results)
    assert "| black-boxes | LTCN | not decided | Only 1 datasets" in shown.output
    assert "| both-steps | LTCN slopes | not decided | The ablation is not finished" in shown.output


@pytest.mark.slow
def test_figures_of_both_networks_and_of_the_method(results, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    shown = invoke("figure", "rules", "decisions", "--output", tmp_path / "drawn", "--results", tmp_path / "absent.csv")
    assert shown.exit_code == 0, shown.output
    assert {path.name for path in (tmp_path / "drawn").glob("*.png")} == {"rules.png", "decisions.png"}
    made = [
        *(rows("vehicle", "LTCN slopes", 0.5, grid=f"phi={phi:g},max_iter={T}") for phi in (0, 1) for T in (1, 5)),
        *(rows("yeast3", "LTCN slopes", 0.5, grid=f"phi={phi:g},max_iter={T}") for phi in (0, 1) for T in (1, 5)),
    ]
    write(results, [row for part in made for row in part])
    shown = invoke("figure", "maps", "--network", "LTCN slopes", "--output", tmp_path / "maps", "--results", results)
    assert shown.exit_code == 0, shown.output
    assert (tmp_path / "maps" / "maps-slopes.svg").exists()


def test_repeat_runs_drawn_cells_again(tmp_path):
    path = tmp_path / "results.csv"
    invoke("run", "--datasets", "iris", "--classifiers", "LR", "--jobs", 1, "--no-whole", "--results", path)
    shown = invoke("repeat", "--cells", 2, "--results", path)
    assert shown.output.count("the same") == 2, shown.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table", "nothing"), "no table 'nothing'"),
        (("table", "--finished-by", "nothing"), "no method 'nothing'"),
        (("figure", "nothing"), "no figure 'nothing'"),
        (("claim", "nothing"), "no claim 'nothing'"),
        (("figure", "maps"), "cogmap study sweep maps"),
        (("claim", "five-iterations"), "cogmap study sweep maps"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(results, arguments, message):
    result = invoke(*arguments, "--results", results)
    assert result.exit_code != 0
    assert message in result.output


def test_without_results_the_run_is_named(tmp_path):
    result = invoke("table", "--results", tmp_path / "absent.csv")
    assert result.exit_code == 1
    assert "cogmap study run" in result.output
