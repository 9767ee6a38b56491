"""
What if it does not rain, and where do two experts disagree?
============================================================

No table and no classes: two people have drawn maps of the same meadow. Merge them, see where they differ, hold one
concept and let the others settle.
"""

import matplotlib.pyplot as plt

from cogmap import CognitiveMap, merge_maps, simulate

ann = CognitiveMap.from_edges(
    [
        ("rain", "grass", 0.8),
        ("grass", "rabbits", 0.6),
        ("rabbits", "grass", -0.5),
        ("rabbits", "foxes", 0.4),
        ("foxes", "rabbits", -0.7),
    ]
)
ben = CognitiveMap.from_edges(
    [
        ("rain", "grass", 0.4),
        ("grass", "rabbits", 0.9),
        ("rabbits", "grass", 0.2),
        ("rabbits", "foxes", 0.6),
    ]
)
merged = merge_maps({"Ann": ann, "Ben": ben}, rule="mean")
merged.to_frame()

# %%
# They give one edge opposed signs: do rabbits eat the grass away, or manure it? That is worth an hour of talk. Both
# maps, each asked what happens without rain:

fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained", sharey=True)
for ax, (name, drawn) in zip(
    axes, {"Ann": ann, "Ben": ben, "merged": merged.map}.items(), strict=True
):
    change = simulate(drawn, clamp={"rain": 0.0}).changes(simulate(drawn))
    change.pop("rain")
    ax.bar(
        change.keys(),
        change.values(),
        color=["#0072b2" if v > 0 else "#d55e00" for v in change.values()],
    )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_title(name)
    ax.spines[["top", "right"]].set_visible(False)
_ = axes[0].set_ylabel("change without rain")

# %%
# How the merged map gets there:

drought = simulate(merged.map, clamp={"rain": 0.0})
print(drought)
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
lines = ax.plot(drought.states)
ax.set(xlabel="iteration", ylabel="activation", ylim=(0, 1))
ax.legend(lines, merged.map.names, frameon=False, ncols=2)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Files of Mental Modeler, yEd and Gephi can be read, and ``map_of(classifier)`` is the map that a network has
# learned, to be compared with what was drawn: :doc:`/maps`.
