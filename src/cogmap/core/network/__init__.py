"""The network itself: the paper's equations 1 to 4.

Read `activation`, `reasoning` (`Network`, and its states), `inner` (W and b from concepts), then `bounded` and
`constraints` (W under what experts state), `dynamics` (what trajectories do in the end).
"""
