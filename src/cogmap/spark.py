"""Fit to Spark dataframes: every pass is one `mapInArrow`, and the driver joins what the partitions return.

Only the DataFrame API is used, so Spark Connect works too. Functions of a partition are pure, so an executor that dies
costs time and changes no bit. How the passes run is in `intake.spark`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from .estimators.base import NetworkClassifier
from .estimators.classifier import LTCNClassifier
from .estimators.fitting import check_network, fit_supply
from .intake.checks import module
from .intake.spark import Reader, SparkSupply, framed

__all__ = ["SparkLTCNClassifier", "SparkLTCNModel"]


class SparkLTCNClassifier(BaseEstimator):
    """An `LTCNClassifier`, or an `LTCNClassifierCV`, that is fitted to a Spark dataframe.

    Parameters
    ----------
    classifier : LTCNClassifier or LTCNClassifierCV, default=None
        The parameters; by default ``LTCNClassifier()``.
    featuresCol : str or sequence of str, default="features"
        Columns of numbers; or one column of arrays or vectors.
    labelCol : str, default="label"
        Column of the classes, numbers or text.
    weightCol : str, default=None
        Column that says how often each row counts.
    predictionCol, probabilityCol : str, default="prediction", "probability"
        Columns that `SparkLTCNModel.transform` adds.
    """

    def __init__(
        self,
        classifier: NetworkClassifier | None = None,
        featuresCol: str | Sequence[str] = "features",
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
    ) -> None:
        self.classifier = classifier
        self.featuresCol = featuresCol
        self.labelCol = labelCol
        self.weightCol = weightCol
        self.predictionCol = predictionCol
        self.probabilityCol = probabilityCol

    def fit(self, dataset: Any) -> "SparkLTCNModel":
        """Fit to a dataframe; return the fitted transformer."""
        module("pyspark", "spark")
        chosen = LTCNClassifier() if self.classifier is None else clone(self.classifier)
        check_network(chosen, "SparkLTCNClassifier fits")
        reader = Reader(_names(self.featuresCol), self.labelCol, self.weightCol)
        local = fit_supply(chosen, SparkSupply.of(dataset, reader))
        return SparkLTCNModel(local, reader.features, self.predictionCol, self.probabilityCol)


class SparkLTCNModel:
    """A fitted classifier as a Spark transformer.

    Parameters
    ----------
    local : LTCNClassifier or LTCNClassifierCV
        The fitted classifier.
    features : sequence of str
        Columns of numbers, or one column of arrays or vectors.
    prediction, probability : str
        Columns to add.
    """

    def __init__(self, local: NetworkClassifier, features: Sequence[str], prediction: str, probability: str) -> None:
        self._local = local
        self._features = tuple(features)
        self._added = (prediction, probability)

    def to_local(self) -> NetworkClassifier:
        """Return the fitted classifier, which knows nothing of Spark."""
        return self._local

    def transform(self, dataset: Any) -> Any:
        """Return the dataframe with the predicted class and the class probabilities of each row.

        A row with a missing feature has none: both are null.
        """
        types = module("pyspark.sql.types", "spark")
        schema = types.StructType(list(dataset.schema.fields))
        kind = self._local.classes_.dtype.kind
        label = {"i": types.LongType(), "u": types.LongType(), "f": types.DoubleType(), "b": types.BooleanType()}
        schema = schema.add(self._added[0], label.get(kind, types.StringType()))
        schema = schema.add(self._added[1], types.ArrayType(types.DoubleType()))
        reader = Reader(self._features, None, None)
        return dataset.mapInArrow(Prediction(reader, self._local, self._added), schema)


def _names(features: str | Sequence[str]) -> tuple[str, ...]:
    return (features,) if isinstance(features, str) else tuple(features)


@dataclass(frozen=True)
class Prediction:
    """Add predictions to record batches."""

    reader: Reader
    local: NetworkClassifier
    added: tuple[str, str]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Predict."""
        pyarrow = module("pyarrow", "spark")
        for batch in batches:
            if batch.num_rows == 0:
                continue
            predictions, probabilities = self._predicted(batch)
            probability = pyarrow.array(probabilities, pyarrow.list_(pyarrow.float64()))
            names, arrays = (
                [*batch.schema.names, *self.added],
                [*batch.columns, pyarrow.array(predictions), probability],
            )
            yield pyarrow.RecordBatch.from_arrays(arrays, names=names)

    def _predicted(self, batch: Any) -> tuple[list[Any], list[Any]]:
        """Return class and probabilities of each row; None for a row that lacks a feature."""
        table, features = self.reader.table(batch)
        complete = np.isfinite(table.astype(np.float64)).all(axis=1)
        predictions: list[Any] = [None] * len(table)
        probabilities: list[Any] = [None] * len(table)
        if complete.any():
            X = table[complete] if features.names is None else framed(table[complete], features)
            labels, shares = self.local.predict(X).tolist(), self.local.predict_proba(X).tolist()
            for place, row in enumerate(np.flatnonzero(complete)):
                predictions[row], probabilities[row] = labels[place], shares[place]
        return predictions, probabilities
