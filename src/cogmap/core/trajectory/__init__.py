"""What every iteration adds to the states, without cancellation, and what of it is new.

Read `increments`, `innovations`, `gradient`.
"""
