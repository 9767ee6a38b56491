"""The mathematics of recurrence-aware Long-Term Cognitive Networks, as pure functions on arrays.

Read in this order: `activation`, `reasoning`, `inner`, `readout`, `relevance`, `dynamics`.
Nothing here knows scikit-learn, keeps state, draws random numbers or reads files.
"""
