"""
Audit: show what a model is and what it rests on
================================================

Someone must sign for the model and asks: what was it trained on, who changed it and why, does it use what it must not,
does it lean on a leak, can I see single decisions, and is this file that model?
"""

# %%
# A model, and an expert's statement in it
# ----------------------------------------

import json
import tempfile
from hashlib import sha256
from pathlib import Path

from palmerpenguins import load_penguins

import cogmap
from cogmap import Knowledge, LTCNClassifier, TabularClassifier

birds = load_penguins().dropna(subset=["sex"])
birds["ring colour"] = birds["sex"].map(
    {"male": "red", "female": "blue"}
)  # a leak: rings were given by sex
folder = Path(tempfile.mkdtemp())
birds.to_csv(folder / "birds.csv", index=False)

stated = Knowledge().irrelevant(
    "year", author="B. Auditor", date="2026-03-01", reason="no property of a bird"
)
model = TabularClassifier(LTCNClassifier(knowledge=stated)).fit(
    birds.drop(columns="sex"), birds["sex"]
)
saved = model.save(folder / "birds.cogmap", data=folder / "birds.csv")

# %%
# Who stated what
# ---------------
# Statements stay with the model, with author, date and reason, and hold exactly:

loaded = cogmap.load(saved)
print(loaded.classifier_.knowledge_)
print(
    "relevance of year:",
    dict(zip(loaded.feature_names_in_, loaded.relevance(), strict=True))["year"],
)

# %%
# What should not be there
# ------------------------
# The report looks for columns that leak the class, repeat another one, are constant, or have many gaps. All of it can
# be had as plain data too:

from cogmap.report import report_facts, write_report

facts = report_facts(loaded, birds, "sex")
for note in facts["notes"]:
    print(f"{note['kind']}: {note['columns']}\n  {note['text']}")

# %%
# ``ring colour`` is found. Leave it out, and see what the model is worth without it:

honest = TabularClassifier(LTCNClassifier(knowledge=stated), drop=["ring colour"])
honest.fit(birds.drop(columns="sex"), birds["sex"])

from cogmap.quality.evaluation import cross_validate

for name, candidate in {"with the leak": model, "without": honest}.items():
    print(
        f"{name:14} accuracy {cross_validate(candidate, birds.drop(columns='sex'), birds['sex']).accuracy:.3f}"
    )

# %%
# Does it use a column that it must not use?
# ------------------------------------------
# Leaving a column out is not enough if others stand for it. Ask how well the remaining columns tell it: can the
# island be guessed from what the model reads?

columns = birds.drop(columns=["sex", "ring colour", "island"])
guess = cross_validate(TabularClassifier(LTCNClassifier()), columns, birds["island"])
print(
    f"island from the others: accuracy {guess.accuracy:.2f}; always the largest: {guess.majority_accuracy:.2f}"
)

# %%
# Single decisions
# ----------------
# The evidence of every row, to be kept beside the decision. It adds up to the log-odds of the probability:

record = honest.explain(birds.drop(columns="sex").iloc[:2]).features_frame()
record[record["class"] == "male"].head(8)

# %%
# The page, and the file
# ----------------------
# One HTML file for people. And in the model file: the digest of the data that it was fitted on, and of each array.
# Loading executes nothing, so an auditor may open a file from a stranger (:doc:`/files`).

write_report(honest, birds, "sex", folder / "birds.html")
header = saved.read_bytes()
length = int.from_bytes(header[:8], "little")
document = json.loads(
    json.loads(header[8 : 8 + length])["__metadata__"]["cogmap"].partition("\n")[2]
)
print({key: document[key] for key in ("format", "library", "data_sha256")})
print(
    "the digest of the data file:", sha256((folder / "birds.csv").read_bytes()).hexdigest()
)

# %%
# The same data and parameters give the same model again, on the same kind of machine, and of ``LTCNClassifier`` the
# same file to the byte (that of a stack also notes how long its fits took): whoever doubts the model can make it again.
# What is not promised: digests are no signature, and a model knows only what its columns say.
