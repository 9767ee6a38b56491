"""A synthetic passenger list with text, numbers and missing values, whose classes follow a known rule."""

import sys

import numpy as np
import pandas as pd


def people(n=300, seed=0):
    """Return a frame; some ages and ports are missing, and most decks."""
    rng = np.random.default_rng(seed)
    sex, level = rng.choice(["male", "female"], n, p=[0.65, 0.35]), rng.choice([1, 2, 3], n, p=[0.25, 0.2, 0.55])
    age = np.round(rng.uniform(1, 75, n), 1)
    age[rng.random(n) < 0.2] = np.nan
    port = rng.choice(["S", "C", "Q"], n, p=[0.7, 0.2, 0.1]).astype(object)
    port[rng.random(n) < 0.02] = None
    deck = np.where(rng.random(n) < 0.7, None, rng.choice(["A", "B", "C"], n).astype(object))
    chance = 0.1 + 0.65 * (sex == "female") + 0.2 * (level == 1)
    return pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "age": age,
            "sex": sex,
            "class": level,
            "fare": np.round(np.exp(rng.normal(4 - level, 0.5)), 2),
            "port": port,
            "deck": deck,
            "survived": np.where(rng.random(n) < chance, "yes", "no"),
        }
    )


if __name__ == "__main__":
    people().to_csv(sys.stdout, index=False)
