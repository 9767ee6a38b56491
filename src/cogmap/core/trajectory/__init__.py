"""What every iteration adds to the states, without cancellation, and what of it is new.

Read `increments` (the recursion, its step once for all libraries, in place for numpy and as a CUDA kernel),
`innovations` (what an iteration adds beyond all before it, as orthonormal columns), `gradient` (of scores by A⁰).
"""
