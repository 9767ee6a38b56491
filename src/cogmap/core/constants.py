"""Every constant of the readout.

`benchmarks/constants.py` measures what each of them buys, on folds that no other benchmark reports; its table is in
`docs/accuracy.md`. Values are those in use; where the table is flat, the value is the simplest one.
"""

import numpy as np

AMPLIFICATION = 3e10
"""Largest factor by which an innovation may magnify a rounding error of the increments.

Larger is more accurate and less reproducible: this keeps the promise of 1e-6 of the largest score on all of the paper's
sets (`benchmarks/contract.py`).
"""

NOVELTY = 1e-10
"""A column enters if more than this part of its spread is not explained by earlier columns."""

MAX_RANK = 600
"""Most innovations of a network, unless the concepts alone are more."""

INNOVATIONS_PER_ROW, CONCEPTS_PER_ROW = 0.3, 0.6
"""Most innovations as a share of the rows; and most concepts for which innovations are tried at all."""

BASIS_ROWS = (2, 1)
"""Rows on which the map to innovations is built, spread ones and outlying ones, for each innovation there may be.

Which rows these are depends on their content alone (`sampling`). As good as all rows: mean kappa .7887 against
.7884, on folds of another seed (`benchmarks/constants.py` varies them).
"""

SAMPLE_GAIN = 1.5
"""Rows, in units of that sample, up to which the map is built on all of them: a matter of cost, not of accuracy."""

GATE_FLOOR, GATE_MULTIPLE = 0.501, 3.0
"""A row stops reasoning where its leverage passes max(floor, multiple · p / (n − p)), p innovations being in use.

Two rows that alone have a value have a leverage of a half each: the floor is above it, or rounding would decide. A
multiple of 10 has the larger kappa by .0005, and of 3 the smaller log loss: a row with a rare value, for which few
others speak, is less sure of itself (`docs/accuracy.md`).
"""

LEAST_FREE = 1e-9
"""Smallest 1 − leverage to divide by: a row that alone determines its fit has no prediction without it."""

LEAST_EIGENVALUE = 1e-6
"""Share of a class scoring's variance that must be explained for it to take part in the decision."""

PRIOR_EXPONENTS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25])
"""Candidates for the exponent of the class priors in the decision."""

CORRECTION_RIDGES = 30.0, 0.01
"""Ridges of what each class of more than two adds to the weights of the discriminant variables, which have a spread of
1 within the classes, and to its own offset: as if so many rows spoke against it.

On the first folds of the paper's sets without any the log loss is .2946, with 30 it is .2773, with 100 .2796; on 43
further sets .3409, .3365 and .3373.
"""

INNER_RIDGE, INNER_NORM = 0.01, 2.0
"""Ridge, in units of a scaled feature's variance, and largest spectral norm of the stable regression weights."""

FEW_ROWS = 6
"""Rows for each concept below which a ridge over the increments is tried beside the innovations."""

RIDGE_PENALTIES = np.logspace(-4, 1, 16)
"""Candidates for the ridge penalty, as a share of the design's squared Frobenius norm divided by its rank."""

RIDGE_DECAYS = (1.0, 0.1)
"""Candidates for the weight of each further iteration in the ridge.

With .3 and .03 beside them nothing changes on 40 sets of up to 1,300 rows, and each takes a Gram matrix.
"""

RIDGE_ITERATIONS = (0, 3)
"""Candidates for the number of iterations in the ridge, beside all up to the fixed point.

With 0, 1, 2, 5 and 10 a fit costs 2 % more, and on 40 sets of up to 1,300 rows the stack's log loss is .0025 higher and
its accuracy .0007 lower; on the wide ones of docs/accuracy.md one network's kappa is .004 higher, its log loss .002
lower.
"""

HELD_BYTES = 64_000_000
"""Most bytes of increments that a ridge may hold; beyond, it goes through its dual (`dual`)."""

RIDGE_ROWS = 4000
"""Most rows for which all decays are tried, because each takes a Gram matrix of the rows; beyond, the first."""

RIDGE_WORTH, HOPELESS = 0.001, 1.05
"""Share by which a neighbouring penalty must be better for a walk to move on; and how many times the least error so
far a walk for other iterations, another decay or another size of distances may begin with.
"""

TRAJECTORY_SHARE, CASE_DECAY = 3.0, 0.3
"""Weight of the innovations beside the cases, and its decay with each iteration."""

CASE_RIDGES = (1.0, 10.0)
"""Ridge of the cases' metric, in units of the mean variance of a concept; the second for few rows."""

CASE_PENALTIES, CASE_START = 0.4 * 4.0 ** np.arange(-6, 4), 6
"""Candidates for the penalty of a readout with cases, and the one to start from."""

CASE_SAMPLES = (400, 800)
"""Rows on which that penalty is chosen: a few to come near it, then more, because it moves with their number.

With 1,600 instead of 800 fits of 1,000 to 6,000 rows cost 10 % more, and on 32 sets accuracy and log loss are the same,
in a version whose stack had such cases too.
"""

CASE_CONCEPTS = 1000
"""Most concepts of a network in which rows are remembered: their metric is a matrix of the concepts."""

CASE_ROWS, CASE_NUMBERS = 100_000, 10_000_000
"""Most rows that are remembered where they are many, and most numbers that their coordinates may be."""

TERMS, TERM_CONCEPTS = 5, 300
"""Linguistic terms that `LTCNClassifierCV` tries beside none, and the most concepts that they may make."""

REGION_ROWS = 3000
"""Most cases of a region: the cost of a fit grows with their square, that of a prediction with their number.

With 3,000 instead of 1,500 accuracy is .0007 higher on 40 sets of 1,600 to 80,000 rows to learn from (standard error
.0003), and log loss .0013 lower (.0005). 6,000 would halve the predictions a second.
"""

REGION_SHARE = 0.1
"""Least share of its rows that a cut of a region leaves on either side."""

METRIC_FOLDS = {200: 5, 500: 3, 6000: 2}
"""Folds in which a metric is judged, by the most rows for so many; beyond, one group of rows teaches and one judges.

With five up to 400 rows and three up to 800 a fit of up to 1,300 rows takes 14 % longer; on 40 sets accuracy is .0016
and log loss .0004 higher.
"""

METRIC_JUDGES = 100
"""Rows of the first folds that suffice to choose kind, rounds and penalties of a metric: further folds only follow.

If all folds choose, and average 10,000 gradients, accuracy is .0004 lower on 49 sets of up to 2,126 rows and log loss
.0011 higher, which is noise, and a fit takes half as long again.
"""

METRIC_ROWS, METRIC_GROUP = 800, 1600
"""Most rows of one lesson; and of each of the two groups that teach and judge where rows are too many for folds.

Errors of krkopt and connect-4 are .205 and .175 with them, and .221 and .176 with three groups of 800 that teach.
"""

METRIC_GRADIENTS = {METRIC_ROWS: 2000, METRIC_GROUP: 10_000}
"""Most gradients, of rows and classes, that a round of a metric averages, by the most rows that teach it.

Many classes need fewer rows. On 49 sets with folds 10,000 are no better. Of more rows 2,000 raise krkopt's error from
.199 to .206.
"""

METRIC_ROUNDS, METRIC_FLOOR = 6, 0.02
"""Most rounds in which a metric is learned, and how far each direction counts at least, as a share of the first."""

METRIC_GAIN = 0.03
"""Share of the error that a round must save for the next step of a metric of the axes to be a large one.

With small steps alone the log loss of 55 sets of up to 2,000 rows is .3507 instead of .3437, most of it on one of them,
and accuracy .8560 instead of .8580; on 17 larger sets .1433 instead of .1427, and .9466 instead of .9467.
"""

METRIC_WORTH = 0.01
"""Share of the error that another penalty must promise, by the slope, or save, for a metric or a region to take it."""

METRIC_CONCEPTS = 200
"""Most concepts for which directions other than those of single concepts are learned."""

AXES_CONCEPTS, AXES_ROWS = 64, 60
"""Most concepts for which distances are also added up along the axes, each concept being compared by itself; and most
rows whose gradients a round then averages.

Without such distances the log loss of 55 sets is larger by .0168 in the mean, and by .0115 on the half that other
constants are confirmed on; accuracy is lower by .0073 and .0026. Both halves were looked at when they were chosen, so
that neither confirms it. With gradients of 200 rows a fit costs 3 % more; log loss is larger by .0004, and accuracy
higher by .0005, which is noise.
"""

UNITS = (1.0, 2.0, 4.0, 8.0)
"""Candidates for how many times as large distances are: the nearer the rows, the less far each is to be heard.

One size for all is worse by .001 in log loss on the same sets, .0023 on that half, which was looked at here too.
"""

SQUARE_ROWS = 1000
"""Rows from which metrics of straight distances are taught by their squares, and heard as either.

On 31 sets of 1,250 to 7,400 rows log loss is .0021 lower than with what was there before, and accuracy .0006 higher; of
fewer rows squares gained nothing.
"""

PAIR_ROWS = 100
"""Least weight of rows for which `LTCNClassifierCV` tries curves and surfaces."""

CURVE_KNOTS = (64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)
"""Most knots of a curve, and fewer where the curves' columns would be too many."""

FINE_KNOTS, FINE_ROWS = 24, 400
"""Knots that a curve may have of any rows, and rows for each where it has more.

64 instead of 24 took adult from .8646 to .8708 and fars from .7937 to .7977.
"""

VALUES, VALUE_ROWS = 128, 200
"""Different values of a concept up to which each has a knot of its own, and rows for each of so many.

Gains of capital say one thing at one value and another at the next: without these knots adult's accuracy is .0042 lower
and its log loss .0102 higher. Of concepts with more values more knots are no better.
"""

SURFACE_KNOTS = ((8, 6), (6, 6), (5, 5), (4, 4), (3, 3), (2, 2))
"""Knots up to which a surface has all of the curve's, and as many as it has of more; fewer where concepts are many."""

CURVE_COLUMNS, SURFACE_COLUMNS = (600, 1500, 0.04), (900, 0.2)
"""Most columns of curves, of few rows and of many, and for each row of these; of surfaces: in all, and for each row."""

JUDGING_COLUMNS = 0.6
"""Columns, as a share of those of surfaces, that pairs may add which only judge the choice of pairs."""

SCANNED = 300, 4_000_000
"""Most knots of all surfaces together, and most numbers that the search for pairs sums for one half of the rows."""

CELL_RIDGE = 10.0
"""Weight of rows that is added to that of a cell in the search for pairs: an almost empty cell says little."""

PAIR_PENALTIES, PAIR_RATIOS = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]), np.array([1.0, 3.0, 10.0, 30.0])
"""Candidates for the penalty of curves, and for that of surfaces as a multiple of it."""

ODDS_ROWS, DOUBT, ODDS_PENALTY = 2000, 0.02, 2.0
"""Rows of two classes from which curves and surfaces are read by logistic regression; how far what least squares say
stays from certainty; and the penalty as a multiple of theirs, once both are in units of how far rows count.

By least squares the log loss of the stack is larger by .0124 on adult, by .0014 on seven sets of 2,000 to 10,000 rows.
"""

PAIR_SHARES = (0.0, 0.25, 0.5, 1.0)
"""Candidates for the share of the columns that surfaces may have."""
