"""``cogmap workbench``: from files to a URL, and from the wire to the session."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from cogmap.workbench import held, server
from tests.workbench.conftest import EDGE, SAID, Inline

runner = pytest.importorskip("click.testing").CliRunner()
pytest.importorskip("uvicorn", reason="the server needs uvicorn")
pytest.importorskip("starlette", reason="the server needs starlette")


@pytest.fixture
def files(network, iris, tmp_path):
    network.save(tmp_path / "iris.cogmap")
    iris[0].assign(species=iris[1]).to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path


@pytest.fixture
def run(files, monkeypatch):
    """Return a function that runs the command on files of the folder, and what it would have served."""
    from cogmap.cli import main

    served = []
    monkeypatch.setattr(held, "Worker", Inline)
    monkeypatch.setattr(server, "serve", lambda bench, **options: served.append((bench, options)))

    def run(*options, code=0):
        given = [str(files / "iris.cogmap"), str(files / "iris.csv"), "--target", "species", *map(str, options)]
        result = runner.invoke(main, ["workbench", *given])
        assert result.exit_code == code, result.output
        return result, served

    return run


def test_the_session_is_beside_the_model_and_opens_again(run, files):
    _, served = run("--no-browser", "--port", 8042, "--folds", 2)
    bench, options = served[0]
    assert (options["browser"], options["port"]) == (False, 8042)
    assert bench.file.path == files / "iris.session.json"
    bench.forbid(*EDGE, **SAID)
    run("--folds", 2)
    assert served[1][0].state()["version"] == 1
    for name in ("iris.cogmap", "iris.csv", "iris.session.json"):
        with pytest.raises(ValueError, match=r"stays as it is|must end with"):
            bench.export("model" if name.endswith(".cogmap") else "map", name, replace=True)


def test_session_and_folder_are_those_given(run, files):
    (files / "out").mkdir()
    _, served = run("--session", files / "mine.json", "--folder", files / "out", "--folds", 2)
    bench = served[0][0]
    assert (bench.file.path, bench.folder.path) == (files / "mine.json", files / "out")
    assert bench.title == "iris"


def test_mistakes_are_one_sentence(run, files):
    (files / "no.json").write_text("[]")
    result, _ = run("--session", files / "no.json", code=2)
    assert "is no session that can be opened" in result.output
    assert run("--port", 70000, code=2)[0].exit_code == 2
    assert "does not exist" in run("--folder", files / "none", code=2)[0].output


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(files):
    """One real process, from the command line to an answer over the wire."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "cogmap", "workbench", "iris.cogmap", "iris.csv", "--target", "species"]
    process = subprocess.Popen(
        [*command, "--no-browser"],
        cwd=files,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address, token = process.stdout.readline().strip().split("/#token=")
        headers = {"Authorization": f"Bearer {token}", "Origin": address, "Content-Type": "application/json"}
        said = json.dumps({"source": EDGE[0], "target": EDGE[1], **SAID, "version": 0}).encode()
        request = urllib.request.Request(f"{address}/call/forbid", said, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["version"] == 1
        with urllib.request.urlopen(f"{address}/", timeout=60) as page:
            assert page.read() == server.page_files()["index.html"]
    finally:
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=60)
    assert "The session is kept in iris.session.json" in printed
    assert token not in printed
    assert json.loads((files / "iris.session.json").read_text())["entries"][1]["author"] == SAID["author"]
