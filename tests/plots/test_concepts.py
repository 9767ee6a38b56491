import numpy as np

from cogmap import LTCNClassifier
from cogmap.plots.concepts import feature_relevance, names_and_blocks


def test_terms_share_the_relevance_of_their_feature(wine):
    X, y = wine
    model = LTCNClassifier(terms=3, max_iter=1).fit(X.assign(constant=1.0), y)
    expected = [model.relevance()[X.columns.get_loc(name.split(" is ")[0])] for name in model.concept_names_]
    np.testing.assert_array_equal(feature_relevance(model), expected)


def test_a_single_network_has_no_blocks(fitted):
    names, blocks = names_and_blocks(fitted)
    assert names.tolist() == fitted.concept_names_.tolist()
    assert blocks is None
