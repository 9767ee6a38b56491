"""Write tables, claims and figures of docs/study.md anew from benchmarks/results/study.csv; its sentences stay.

Run from the repository root, after `cogmap study merge` or a run into that file:

    python benchmarks/study_page.py

It prints the comparisons that the page's sentences quote: read them again where a number has changed.
"""

import re
from pathlib import Path

import pandas as pd

from cogmap.study.claims import claims_table
from cogmap.study.figures import FIGURES
from cogmap.study.results import frame
from cogmap.study.sweeps import INNER, classic_kappas, readout_curves, swept
from cogmap.study.tables import TABLES, TITLES, by_dataset, markdown, ranks_note, select
from cogmap.study.verdict import wilcoxon
from cogmap.writing import whole

ROOT = Path(__file__).parents[1]
RESULTS, PAGE, IMAGES = ROOT / "benchmarks/results/study.csv", ROOT / "docs/study.md", ROOT / "docs/images"
OURS = ("LTCNClassifier", "LTCNClassifierCV")


def with_table(page: str, table: str) -> str:
    """Replace the page's first table with the same header."""
    header, rule = (re.escape(line) for line in table.splitlines()[:2])
    page, found = re.subn(f"{header}\n{rule}\n(\\|.*\n)*", lambda _: f"{table}\n", page, count=1)
    if not found:
        raise ValueError(f"{PAGE} has no table with the header {table.splitlines()[0]}: put it there first.")
    return page


def cut_offs(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean kappa of the final state by φ, for both networks and both cut-offs of the pseudoinverse."""
    rows = []
    for network in INNER:
        ours, theirs = readout_curves(swept(results, network))["final"].unstack("phi"), classic_kappas(results, network)
        for name, kappa in (("1e-6", ours), ("1e-15", theirs)):
            by_phi = {f"φ = {phi:g}": f"{value:.3f}" for phi, value in kappa.mean().items()}
            rows.append({"network": network, "cut-off": name, "sets": len(kappa), **by_phi})
    return pd.DataFrame(rows)


def rewritten(page: str, results: pd.DataFrame) -> str:
    """Return the page with the tables of the results."""
    runs = select(results)
    for name in ("all", "binary", "leak", "ablation", "ranks"):
        before, title, after = page.partition(f"### {TITLES[name]}\n")
        page = before + title + with_table(after, markdown(TABLES[name](runs)))
    page = re.sub("Friedman over .*", lambda _: ranks_note(runs), page, count=1)
    return with_table(with_table(page, markdown(cut_offs(results))), markdown(claims_table(results)))


def draw(results: pd.DataFrame) -> None:
    """Draw ranks, and both readouts for both networks; the maps are as `cogmap study figure maps` drew them."""
    for name, network in [("ranks", "LTCN"), *(("readouts", network) for network in INNER)]:
        path = IMAGES / f"study-{name}{network.removeprefix('LTCN').replace(' ', '-')}.png"
        with whole(path) as unfinished:
            FIGURES[name](results, network).savefig(unfinished, dpi=120)


def quoted(results: pd.DataFrame) -> list[str]:
    """Return our own classifiers against the SVM, as the page's sentences and the README quote it."""
    runs = select(results)
    lines = []
    for value in ("kappa", "accuracy"):
        table = by_dataset(runs[runs["grid"] == "small"], value)
        table = table[~table.index.str.endswith("-clean")]
        for name in OURS:
            gain = (table[name] - table["SVM"]).dropna()
            lines.append(
                f"{name} against the SVM, {value}, {len(gain)} sets: {gain.mean():+.4f} (p = {wilcoxon(gain):.2g})"
            )
    return lines


def main() -> None:
    """Rewrite the page and its figures."""
    results = frame(RESULTS)
    text = rewritten(PAGE.read_text(encoding="utf-8"), results)
    with whole(PAGE) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    draw(results)
    print(*quoted(results), sep="\n")


if __name__ == "__main__":
    main()
