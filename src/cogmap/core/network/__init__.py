"""The network itself: the paper's equations 1 to 4.

Read `activation`, `reasoning` (states), `inner` (weights), then `constraints` and `bounded` (weights under what experts
state), `dynamics` (what trajectories do in the end).
"""
