"""The paper's case study: 48 features of 10,000 web pages, half of them phishing; and a verdict on each of its claims.

    COGMAP_DATA=… python benchmarks/phishing.py --output phishing [--weka-python PATH]

Prints a report in Markdown and writes its pictures into the folder `--output`. `--parts` names the parts to run:
accuracy, weights, cutoffs, relevance, logistic. The readout by Moore–Penrose with all 50 iterations is a singular value
decomposition of 10,000 × 2,398 numbers: it takes a minute or more, twice. Weka's selection needs an interpreter with
python-weka-wrapper3, and Java; without them the report says so.

Easy to get wrong: the two classes' outer weights mirror each other, so that both together have mean 0 and a symmetric
histogram whatever was learned. Tests are on those of one class.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import data
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from cogmap import IllConditionedWarning, LTCNClassifier, UnreliableRelevanceWarning
from cogmap.core.network.reasoning import trajectory
from cogmap.core.readout.states import inverse_one_hot
from cogmap.plots import OuterWeightsDisplay, RelevanceDisplay

PHI, N_ITER = 0.8, 50
NAMED = (
    "NumDash", "NumDashInHostname", "NumQueryComponents", "HttpsInHostname", "HostnameLength",
    "PctNullSelfRedirectHyperlinks",
)  # fmt: skip
"""The features that the paper's relevance puts first, NumDash before the others."""

EQUATION = {
    "NumDots": -6.83, "PathLevel": -7.62, "NumDash": 26.17, "NumNumericChars": -0.41, "NumSensitiveWords": -5.53,
    "PctExtHyperlinks": 8.98, "InsecureForms": -3.14, "PctNullSelfRedirectHyperlinks": 4.51,
    "FrequentDomainNameMismatch": -4.11, "PopUpWindow": 4.5, "SubmitInfoToEmail": 3.79, "ExtMetaScriptLinkRT": -2.37,
    "PctExtNullSelfRedirectHyperlinksRT": 9.37,
}  # fmt: skip
"""The 13 features selected in the paper, with its coefficients; it calls NumNumericChars (f14) NumChars."""

REPEATED = 0.02
"""Change from one iteration to the next, relative to the weights, up to which weights count as repeated.

Rounding moves the weights on equal states by about half of that, since they are large and cancel each other.
"""

CUT_OFFS = (1e-15, 1e-13, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2)
"""Shares of the largest singular value of (H | 1) up to which singular values count as zero; the first is numpy's."""

STRENGTHS = (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
"""Inverse penalties C of the logistic regressions on all features, the weakest penalty first."""


def load():
    """Return the features as a frame, and the class of each page: 1 for phishing."""
    table = pd.read_csv(data.folder() / "phishing.csv.gz").drop(columns="id")
    return table.drop(columns="CLASS_LABEL").astype(float), table["CLASS_LABEL"].to_numpy()


def markdown(rows, header):
    """Return lines of a Markdown table; numbers are short.

    >>> print(markdown([("NumDash", 0.25), ("NumDots", 3)], ("feature", "weight")))
    | feature | weight |
    |---|---|
    | NumDash | 0.25 |
    | NumDots | 3 |
    """
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += [
        "| " + " | ".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row) + " |"
        for row in rows
    ]
    return "\n".join(lines)


def save(figure, folder, name):
    """Write a picture under a temporary name, move it into place, and return the line that names it."""
    unfinished, path = folder / f"{name}.part.png", folder / f"{name}.png"
    figure.savefig(unfinished, dpi=110)
    unfinished.replace(path)
    return f"Picture: {path.name}"


def fitted(model, X, y):
    """Fit without the warning that rounding decides part of the scores, which is the point of the paper's readout."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllConditionedWarning)
        return model.fit(X, y)


def networks():
    """Return the networks whose accuracy is measured, by name: the paper's, and ours step by step."""
    given = {"phi": PHI, "max_iter": N_ITER}
    stable = given | {"alpha": "loo", "tol": 1e-12}
    return {
        "as printed": LTCNClassifier.paper(**given),
        "as printed, the authors' inner weights": LTCNClassifier.paper(inner="slopes", **given),
        "as printed, tanh": LTCNClassifier.paper(activation="tanh", **given),
        "as printed, the authors' inner weights, tanh": LTCNClassifier.paper(
            inner="slopes", activation="tanh", **given
        ),
        'as printed, `alpha="loo"`': LTCNClassifier.paper(**stable),
        'as printed, the authors\' inner weights, `alpha="loo"`': LTCNClassifier.paper(inner="slopes", **stable),
        f"`LTCNClassifier(phi={PHI}, max_iter={N_ITER})`": LTCNClassifier(**given),
        "`LTCNClassifier()`": LTCNClassifier(),
    }


def accuracy(X, y, _):
    """Yield the accuracy in five-fold cross-validation at the paper's φ and T."""
    folds, rows = StratifiedKFold(5, shuffle=True, random_state=0), []
    for name, model in networks().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IllConditionedWarning)
            scores = cross_val_score(model, X, y, cv=folds, scoring="accuracy")
        rows.append((name, f"{scores.mean():.4f}", f"{scores.min():.4f} to {scores.max():.4f}"))
    yield markdown(rows, (f"network, φ = {PHI}, T = {N_ITER}", "accuracy", "folds"))
    near = [name for name, mean, _ in rows if abs(float(mean) - 0.97) < 0.01]
    yield f"Verdict: within a point of the 97 % that the paper reports: {'; '.join(near) or 'none'}."


def first_repeated(weights):
    """Return from which iteration on weights repeat, each within `REPEATED` of the one before; None if they never do.

    >>> first_repeated(np.array([[1.0], [2.0], [3.0], [3.0], [3.0]])[:, :, None])
    3
    """
    change = np.linalg.norm(np.diff(weights, axis=0), axis=(1, 2)) / np.linalg.norm(weights[1:], axis=(1, 2))
    moving = np.flatnonzero(change > REPEATED)
    first = 1 if len(moving) == 0 else int(moving[-1]) + 2
    return first if first < len(weights) else None


def anderson_darling(standard):
    """Return A² of standardised numbers; beyond .752 they are not normal, at the level of 5 %."""
    ordered, n = np.sort(standard), len(standard)
    logs = stats.norm.logcdf(ordered) + stats.norm.logsf(ordered[::-1])
    return float(-n - (2 * np.arange(n) + 1) @ logs / n)


def distribution(values):
    """Return what tells outer weights from a normal sample of mean 0 and from sparse numbers: name and value."""
    standard = (values - values.mean()) / values.std(ddof=1)
    return {
        "number": len(values),
        "mean over its standard error": float(values.mean() / values.std(ddof=1) * np.sqrt(len(values))),
        "excess kurtosis (normal: 0)": float(stats.kurtosis(values)),
        "Anderson–Darling A² (normal at 5 %: .75)": anderson_darling(standard),
        "D'Agostino p": f"{stats.normaltest(values).pvalue:.1e}",
        "share within .1 deviations (normal: 8 %)": f"{(np.abs(standard) < 0.1).mean():.1%}",
        "share beyond 4 deviations (normal: .006 %)": f"{(np.abs(standard) > 4).mean():.2%}",
        "share exactly 0": f"{(values == 0).mean():.1%}",
    }


def weights(X, y, folder):
    """Yield the outer weights by iteration and their distribution, as printed and with the authors' inner weights."""
    for inner in ("regression", "slopes"):
        yield f'### inner="{inner}"'
        model = fitted(LTCNClassifier.paper(phi=PHI, max_iter=N_ITER, inner=inner, tol=0.0), X, y)
        yield f"Reasoning: {model.diagnose(X)}"
        display = OuterWeightsDisplay.from_estimator(model)
        display.ax_[0].get_legend().set_loc("best")
        yield save(display.figure_, folder, f"outer-weights-{inner}")
        yield from weight_lines(display.normalised[:, :, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreliableRelevanceWarning)
            omega = RelevanceDisplay.from_estimator(model, kind="paper", n_features=None)
        yield save(omega.figure_, folder, f"omega-{inner}")
        yield omega_lines(pd.Series(omega.relevance, X.columns))


def weight_lines(values):
    """Yield when the normalised weights of one class, shape (T + 1, M), repeat, and how they are distributed."""
    repeated = first_repeated(values[:, :, None])
    when = "never" if repeated is None else f"from iteration {repeated} of {len(values) - 1} on"
    yield f"Weights repeat, within {REPEATED:.0%}: {when}."
    found, before = distribution(values.ravel()), distribution(values[:repeated].ravel())
    rows = [(name, found[name], before[name]) for name in found]
    yield markdown(rows, ("normalised weights of one class", "all", "before they repeat"))
    normal = found["Anderson–Darling A² (normal at 5 %: .75)"] < 0.752
    shape = "may be" if normal else "are not"
    yield f"Verdict: they {shape} normally distributed; {found['share exactly 0']} of them are 0."


def omega_lines(omega):
    """Return the paper's relevance of the features that the paper names."""
    rank = omega.rank(ascending=False, method="min").astype(int)
    rows = [(name, float(omega[name]), rank[name]) for name in NAMED]
    first = ", ".join(omega.nlargest(6).index)
    return markdown(rows, ("feature the paper names", "Ω", "rank")) + f"\n\nLargest Ω here: {first}."


def solutions(X, y, inner):
    """Yield, for each cut-off, how many singular values it keeps, and inner and outer weights of the paper's network.

    One decomposition serves all cut-offs.
    """
    model = fitted(LTCNClassifier.paper(phi=PHI, max_iter=1, inner=inner, tol=0.0), X, y)
    network, initial = model.fitted_.members[0][0].network, model.trajectory(X)[:, 0]
    H = np.hstack([*trajectory(network, initial, N_ITER).transpose(1, 0, 2), np.ones((len(X), 1))])
    Q, R = np.linalg.qr(H)
    U, s, Vt = np.linalg.svd(R)
    seen = U.T @ (Q.T @ inverse_one_hot(y, 2, network.activation))
    for cut_off in CUT_OFFS:
        kept = s > cut_off * s[0]
        outer = (Vt[kept].T / s[kept]) @ seen[kept]
        yield int(kept.sum()), network.weights, outer[:-1].reshape(N_ITER + 1, len(network.weights), 2)


def cutoffs(X, y, folder):
    """Yield how the ranks by Ω, and the shape of the outer weights, hang on the pseudoinverse's cut-off."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(13, 12), layout="constrained")
    for ax, inner in zip(axes, ("regression", "slopes"), strict=True):
        yield f'### inner="{inner}"'
        columns, shape, varying = {}, [], X.columns[X.nunique() > 1]
        for cut_off, (rank, W, outer) in zip(CUT_OFFS, solutions(X, y, inner), strict=True):
            omega = np.abs(W).sum(axis=1) + np.abs(outer).sum(axis=(0, 2))
            whole = pd.Series(omega, varying).reindex(X.columns, fill_value=0.0)
            columns[f"{cut_off:.0e}"] = whole.rank(ascending=False, method="min").astype(int)
            values = outer[:, :, 1].ravel()
            largest = float(np.abs(values).max())
            shape.append(
                (f"{cut_off:.0e}", rank, largest, float(stats.kurtosis(values)), f"{(values == 0).mean():.1%}")
            )
        ranks = pd.DataFrame(columns)
        yield markdown([(name, *ranks.loc[name]) for name in NAMED], ("rank by Ω at the cut-off", *columns))
        yield "First by Ω: " + "; ".join(f"{cut_off}: {ranks[cut_off].idxmin()}" for cut_off in columns)
        yield markdown(shape, ("cut-off", "kept", "largest weight", "excess kurtosis", "exactly 0"))
        draw_ranks(ax, ranks, inner)
    yield save(figure, folder, "omega-cutoffs")


def draw_ranks(ax, ranks, inner):
    """Draw the rank of every feature at every cut-off; the paper's six have bold names."""
    image = ax.imshow(ranks, aspect="auto", cmap="viridis_r")
    ax.set_xticks(range(ranks.shape[1]), ranks.columns, fontsize=8)
    ax.set_yticks(range(len(ranks)), ranks.index, fontsize=8)
    for label in ax.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in NAMED else "normal")
    for (row, column), rank in np.ndenumerate(ranks.to_numpy()):
        ax.text(column, row, rank, ha="center", va="center", fontsize=7, color="black" if rank < 25 else "white")
    ax.set(title=f'inner="{inner}"', xlabel="cut-off of the pseudoinverse")
    ax.figure.colorbar(image, ax=ax, label="rank by Ω", shrink=0.5)


def relevance(X, y, folder):
    """Yield the relevance by all three kinds of the default network, and what they say about the constant column."""
    from matplotlib import pyplot as plt

    model = LTCNClassifier().fit(X, y)
    figure, axes = plt.subplots(1, 3, figsize=(17, 13), layout="constrained")
    columns, warned = {}, []
    for ax, kind in zip(axes, ("paper", "model", "data"), strict=True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnreliableRelevanceWarning)
            intervals = 0 if kind == "paper" else 200
            display = RelevanceDisplay.from_estimator(
                model, X, kind=kind, n_bootstrap=intervals, n_features=None, ax=ax
            )
        warned += [f"{kind}: {warning.message}" for warning in caught]
        ax.set_xlabel(ax.get_xlabel().replace(": ", "\n"), fontsize=9)
        ax.set_xscale("log" if kind == "paper" else "linear")
        columns[kind] = pd.Series(display.relevance, X.columns)
    yield save(figure, folder, "relevance")
    ranks = pd.DataFrame(columns).rank(ascending=False, method="min").astype(int)
    order = sorted(
        set(NAMED) | {name for kind in columns for name in columns[kind].nlargest(8).index}, key=ranks.model.get
    )
    yield markdown([(name, *ranks.loc[name]) for name in order], ("feature: rank by", *columns))
    yield "Warnings: " + (" ".join(warned) or "none")
    constant = {kind: float(values["HttpsInHostname"]) for kind, values in columns.items()}
    yield (
        f"`HttpsInHostname` has {X['HttpsInHostname'].nunique()} value in 10,000 pages; its relevance: {constant}. "
        f"Verdict: {'exactly 0 by every kind' if not any(constant.values()) else 'NOT 0'}; the paper names it."
    )


def coefficients(X, y, **options):
    """Return the coefficients of a logistic regression on min-max scaled features, and its five-fold accuracy."""
    model = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=5000, **options))
    score = cross_val_score(model, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0)).mean()
    return pd.Series(model.fit(X, y)[-1].coef_[0], X.columns), score


def weka_selection(X, y, python):
    """Return the features that CfsSubsetEval selects, or a sentence that says why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "phishing.csv"
        X.assign(label=np.where(y == 1, "phishing", "legitimate")).to_csv(path, index=False)
        command = [python, str(Path(__file__).parent / "weka_cfs.py"), str(path)]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        except (OSError, subprocess.CalledProcessError) as error:
            reason = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
            return f"Weka is not there ({reason}): give --weka-python."


def logistic(X, y, python):
    """Yield the paper's check against logistic regression on selected features and on all under growing penalty."""
    listed, score = coefficients(X[list(EQUATION)], y, C=np.inf)
    yield "### The 13 features that the paper lists, without penalty\n"
    spread = ((X - X.min()) / (X.max() - X.min())).std()
    moved = (-listed * spread[listed.index]).round(2)
    rank = int(moved.abs().rank(ascending=False)["NumDash"])
    rows = [(name, printed, float(-listed[name]), float(moved[name])) for name, printed in EQUATION.items()]
    yield markdown(rows, ("feature", "the paper's equation", "here, for the legitimate class", "× standard deviation"))
    agreed = sum(np.sign(printed) == np.sign(-listed[name]) for name, printed in EQUATION.items())
    yield (
        f"Accuracy {score:.3f}. {agreed} of 13 signs agree. Largest here: {listed.abs().idxmax()}; largest times its "
        f"standard deviation: {moved.abs().idxmax()}, NumDash is number {rank}."
    )
    yield "### The features that Weka's CfsSubsetEval selects (best first), without penalty\n"
    chosen = weka_selection(X, y, python)
    if isinstance(chosen, str):
        yield chosen
    else:
        yield from _selected(X, y, chosen)
    yield "### All features under growing penalty\n"
    for norm, options in {"L2": {}, "L1": {"l1_ratio": 1, "solver": "liblinear"}}.items():
        yield from _penalised(X, y, norm, options)


def _selected(X, y, chosen):
    found, score = coefficients(X[chosen], y, C=np.inf)
    rows = [(name, "yes" if name in EQUATION else "no", float(-found[name])) for name in chosen]
    yield markdown(rows, ("feature", "listed in the paper", "coefficient, for the legitimate class"))
    missing = [name for name in EQUATION if name not in chosen]
    yield (
        f"Accuracy {score:.3f}; {len(chosen)} features, {sum(name in EQUATION for name in chosen)} of them listed in "
        f"the paper; it lists {', '.join(missing) or 'none'} beyond these. "
        f"Largest: {found.abs().idxmax()}; NumDash is number "
        f"{int(found.abs().rank(ascending=False).get('NumDash', np.nan))}."
    )


def _penalised(X, y, norm, options):
    rows, sizes = [], []
    for C in STRENGTHS:
        found, score = coefficients(X, y, C=C, **options)
        size = found.abs()
        sizes.append(size["NumDash"])
        rank = int(size.rank(ascending=False, method="min")["NumDash"])
        share, largest = float(size["NumDash"] / size.sum()) if size.sum() else 0.0, size.idxmax()
        rows.append(
            (
                norm,
                f"{1 / C:g}",
                float(0.0 - found["NumDash"]),
                rank,
                f"{share:.1%}",
                largest,
                int((size > 1e-6).sum()),
                f"{score:.3f}",
            )
        )
    header = ("penalty", "strength 1 / C", "NumDash", "rank", "share of all", "largest", "not 0", "accuracy")
    yield markdown(rows, header)
    gains = all(later > earlier for earlier, later in pairwise(sizes))
    yield f"Verdict ({norm}): NumDash's coefficient {'grows' if gains else 'does not grow'} with the penalty."


PARTS = {"accuracy": accuracy, "weights": weights, "cutoffs": cutoffs, "relevance": relevance, "logistic": logistic}


def main():
    """Read the command line and print the report part by part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--weka-python", default=sys.executable, help="interpreter that has python-weka-wrapper3")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    X, y = load()
    for part in arguments.parts:
        print(f"## {part.capitalize()}\n", flush=True)
        for text in PARTS[part](X, y, arguments.weka_python if part == "logistic" else arguments.output):
            print(f"{text}\n", flush=True)


if __name__ == "__main__":
    main()
