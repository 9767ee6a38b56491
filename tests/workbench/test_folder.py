import pytest

from cogmap.workbench.folder import LARGEST, Folder

TRAVERSALS = [
    "../secret.csv", "..", ".", "", "/etc/passwd", "a/b.csv", "a\\b.csv", "C:x.csv", ".hidden.csv", "x\0.csv",
    "x\n.csv", " x.csv", "%2e%2e/x.csv", "a" * 300 + ".csv", "\u202ecsv.exe.csv",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "map.csv").write_text("a,b\n")
    (inside / "model.cogmap").write_text("kept")
    (tmp_path / "secret.csv").write_text("secret")
    return Folder.of(inside, kept=[inside / "model.cogmap"])


@pytest.mark.parametrize("name", TRAVERSALS)
def test_names_that_lead_elsewhere_are_refused(folder, name):
    with pytest.raises(ValueError, match="is no name of a file"):
        folder.to_read(name)
    with pytest.raises(ValueError, match="is no name of a file"):
        folder.to_write(name, [".csv"], replace=True)


def test_links_that_lead_out_are_refused_and_not_listed(folder):
    (folder.path / "link.csv").symlink_to(folder.path.parent / "secret.csv")
    with pytest.raises(ValueError, match="leads out of"):
        folder.to_read("link.csv")
    with pytest.raises(ValueError, match="leads out of"):
        folder.to_write("link.csv", [".csv"], replace=True)
    assert [path.name for path in folder.files()] == ["map.csv", "model.cogmap"]


def test_files_are_replaced_only_when_that_is_said(folder):
    with pytest.raises(ValueError, match="is there already"):
        folder.to_write("map.csv", [".csv"], replace=False)
    assert folder.to_write("map.csv", [".csv"], replace=True) == folder.path / "map.csv"
    with pytest.raises(ValueError, match="stays as it is"):
        folder.to_write("model.cogmap", [".cogmap"], replace=True)


def test_names_end_with_what_the_file_is(folder):
    for name in ("map.txt", ".csv", "csv"):
        with pytest.raises(ValueError, match=r"must end with|is no name"):
            folder.to_write(name, [".csv", ".json"], replace=False)


def test_files_that_are_absent_or_huge_are_not_read(folder):
    with pytest.raises(ValueError, match=r"There is no file 'none\.csv'"):
        folder.to_read("none.csv")
    with (folder.path / "huge.csv").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(ValueError, match="has more than 64 MB"):
        folder.to_read("huge.csv")


def test_a_folder_must_be_there(tmp_path):
    with pytest.raises(ValueError, match="is not a folder"):
        Folder.of(tmp_path / "none")
