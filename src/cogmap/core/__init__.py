"""The mathematics of recurrence-aware Long-Term Cognitive Networks, as pure functions on arrays.

The paper, in this order: `activation`, `reasoning`, `inner`, `readout`, `relevance`, `dynamics`. Around it: `scaling`
and `concepts` lead from features to states; `constraints` and `bounded` keep inner weights to what experts state.
Beyond it: `increments`, `innovations` and `shrinkage` are the default readout, `ridge` and `cases` its companions,
`decision` turns scores into classes; `learning` and `model` put all together. `contributions` splits the scores over
concepts and iterations, `derivatives` has their gradients. Nothing here knows scikit-learn, keeps state or reads files.
"""
