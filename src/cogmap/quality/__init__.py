"""How good models are: `evaluation` of one, `comparison` of two, by models of `folds` that did not see the rows."""
