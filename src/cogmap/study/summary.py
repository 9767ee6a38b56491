"""Where a run stands, in a few lines, from rows as they are in the results file."""

from collections import defaultdict

from .protocol import WHOLE, Row


def summary_lines(rows: list[Row]) -> list[str]:
    """Return one line for each classifier and grid, the largest mean kappa first, and one for each kind of error."""
    kappas: dict[tuple[str, str], list[float]] = defaultdict(list)
    sets: dict[tuple[str, str], set[str]] = defaultdict(set)
    errors: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        method = row["classifier"], row["grid"]
        if row["error"]:
            errors[row["classifier"], f"{row['dataset']}: {row['error']}"] += 1
        elif row["fold"] != WHOLE:
            kappas[method].append(float(row["kappa"]))
            sets[method].add(row["dataset"])
    best_first = sorted(kappas, key=lambda method: -sum(kappas[method]) / len(kappas[method]))
    lines = [f"{'classifier':<22}{'grid':<24}{'sets':>5}{'folds':>7}{'mean kappa':>12}"]
    lines += [
        f"{name:<22}{grid:<24}{len(sets[name, grid]):>5}{len(kappas[name, grid]):>7}"
        f"{sum(kappas[name, grid]) / len(kappas[name, grid]):>12.4f}"
        for name, grid in best_first
    ]
    return lines + [f"{count} × {name}, {what}" for (name, what), count in sorted(errors.items())]
