"""Model files that are damaged, hostile, or none."""

import json
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from sklearn.datasets import load_iris, load_wine

import cogmap
from cogmap import LTCNClassifier, LTCNClassifierCV, ModelFileError
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.resemblance.regions import RegionReadout
from cogmap.files.model import container, estimators
from tests import mutations

pytestmark = pytest.mark.filterwarnings("ignore::cogmap.IllConditionedWarning")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def sound(iris, tmp_path_factory):
    """Return the content of a sound file with all kinds of parts, and a way to load an edited one."""
    folder = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.2))
        model = LTCNClassifierCV(max_iter=3, terms=(None, 3)).fit(iris[0][::4], iris[1][::4])
    assert {type(member.readout) for member, _ in model.fitted_.members} >= {ShrunkReadout, RegionReadout}
    content = model.save(folder / "sound.cogmap").read_bytes()

    def load(edited):
        (folder / "edited.cogmap").write_bytes(edited)
        return cogmap.load(folder / "edited.cogmap")

    return content, load


def resolved(content, path):
    """Return a path with the numbers of members: that reads innovations alone, or remembers rows by either distance."""
    members = mutations.document_of(content)["model"]["fitted"]["_members"]["members"]
    kinds = [member["readout"]["type"] for member in members]
    straight = kinds.index("regions")
    numbers = {"INNOVATIONS": kinds.index("innovations"), "REGIONS": straight, "AXES": straight + 1}
    for name, number in numbers.items():
        path = path.replace(name, str(number))
    return path


def at(document, path):
    node = document
    for key in path.split(".")[:-1]:
        node = node[int(key)] if isinstance(node, list) else node[key]
    last = path.split(".")[-1]
    return node, int(last) if isinstance(node, list) else last


FITTED, NETWORK = "model.fitted.", "model.fitted._members.networks.0."
READOUT = "model.fitted._members.members.INNOVATIONS.readout."
REGIONS = "model.fitted._members.members.REGIONS.readout.value."
AXES = "model.fitted._members.members.AXES.readout.value."
EDITS = [
    ("format", 3, "it has format 3 and was written by 'cogmap [^']+', but cogmap .* reads formats up to 2"),
    ("format", "1", "its format is '1', which is none"),
    ("format", True, "its format is True"),
    ("format", "1" * 999, r"its format is '1{79}, which is none"),
    ("epsilon", [0] * 999, "its epsilon is .{80}, and this version"),
    ("epsilon", 0.02, "its epsilon is 0.02, and this version of cogmap has 0.01"),
    ("library", None, "document.library must be a line of text"),
    ("library", "cogmap\x1b[31m", "document.library must be a line of text"),
    ("data_sha256", "abc", "document.data_sha256 must be null or 64 hexadecimal digits"),
    ("extra", 1, "document has the unknown key 'extra'"),
    ("model.class", "Pipeline", "model must be one of LTCNClassifier, LTCNClassifierCV"),
    ("model.parameters.evil", 1, "model.parameters has the unknown key 'evil'"),
    ("model.parameters.phi", 2.0, "the estimator refuses its parameters: phi=2.0 must be a number from 0 to 1"),
    ("model.parameters.phi", {"range": [0, 10**8, 1]}, "phi.range must be a range of at most 65536 numbers"),
    ("model.parameters.phi", {"tuple": [0.5] * 9}, "results for each combination of the grids"),
    ("model.parameters.phi", {"pickle": "…"}, "phi must be an object with one of the keys float, tuple"),
    ("model.parameters.tol", 10**20, "tol must be a number of 64 bits"),
    ("model.parameters.class_weight", {"dict": [1]}, "class_weight.dict must be keys and values in turn"),
    ("model.parameters.class_weight", {"dict": [1, 2, 1, 2]}, "class_weight.dict must be keys that differ"),
    ("model.parameters.class_weight", [[[[[[[[[0]]]]]]]]], "must be nested at most 8 deep"),
    (f"{FITTED}predict", 1, "model.fitted has the unknown key 'predict'"),
    (f"{FITTED}classes_.values", [0, 1], "class_count_ has size 3 where 2 is expected"),
    (f"{FITTED}classes_.values", [0, 2, 1], "classes_ must be two or more different labels of dtype int64"),
    (f"{FITTED}classes_.values", [0, 1, 2**64], "classes_ must be two or more different labels"),
    (f"{FITTED}classes_.values", [0, 1, 2.0], "classes_ must be labels that are int64"),
    (f"{FITTED}classes_.dtype", "object_", "classes_ must be labels of dtype bool, str"),
    (f"{FITTED}classes_", {"dtype": "str", "values": ["a"] * 999 + ["b" * 10**5]}, "labels of a sensible length"),
    (f"{FITTED}n_features_in_", 5, "concepts.varies has size 4 where 5 is expected"),
    (f"{FITTED}n_features_in_", -1, "n_features_in_ must be a whole number, 0 or larger"),
    (f"{FITTED}concept_names_", ["x0"], "outer_weights_ has size .* where 1 is expected"),
    (f"{FITTED}concept_names_", [0] * 16, "concept_names_ must be a list of text"),
    (f"{FITTED}condition_", "huge", "condition_ must be a finite number with a decimal point"),
    (f"{FITTED}degrees_of_freedom_", "inf", "degrees_of_freedom_ must be a finite number"),
    (f"{FITTED}outer_bias_.dtype", "F32", "outer_bias_ must be an array of F64"),
    (f"{FITTED}outer_bias_.shape", [1, 3], "outer_bias_ must be an array of 1 dimensions"),
    (f"{FITTED}outer_bias_.order", "A", "outer_bias_ must be an array of order C or F"),
    (f"{FITTED}outer_bias_.sha256", "0" * 64, "outer_bias_ must be what its SHA-256 says: the file is damaged"),
    (f"{FITTED}outer_bias_.extra", 0, "outer_bias_ has the unknown key 'extra'"),
    (f"{FITTED}_members.members", [], "_members must be networks that members read"),
    (f"{FITTED}_members.networks", [], "networks must be 1 to 256 networks"),
    (f"{FITTED}_members.members.0.network", 7, "members.0 must be a member of a known network"),
    (f"{FITTED}_members.members.0.weight", -1.0, "weight must be a number from 0 to inf"),
    (f"{FITTED}cv_results_", {"dict": []}, "results with a list of params"),
    (f"{NETWORK}network.activation", "relu", "activation must be one of sigmoid, tanh"),
    (f"{NETWORK}network.phi", 1.5, "phi must be a number from 0 to 1"),
    (f"{NETWORK}network.weights.shape", [4, 5], "weights has size 5 where 4 is expected"),
    (f"{FITTED}_longest", 2**40, r"_longest must be a number from \d, the iterations that are read, to 1000000"),
    (f"{FITTED}_longest", 1, r"_longest must be a number from \d, the iterations that are read, to 1000000"),
    ("model.parameters.max_iter", 2**40, "max_iter must be at most 1000000"),
    (f"{FITTED}rank_", 10**9, "rank_ must be a number up to .* that of the readout's columns"),
    (f"{FITTED}degrees_of_freedom_", 1e9, "degrees_of_freedom_ must be a number from 0 to"),
    (f"{FITTED}degrees_of_freedom_", -1.0, "degrees_of_freedom_ must be a number from 0 to"),
    (f"{FITTED}classes_", {"dtype": "object", "values": [0, 1, 2.5]}, "classes_ must be labels of one type"),
    (f"{FITTED}classes_", {"dtype": "object", "values": [0, "a", "b"]}, "classes_ must be labels of one type"),
    (f"{FITTED}_network_names", ["a", "a"], "_network_names must be one name for each network"),
    (f"{READOUT}type", "os.system", "type must be one of states, innovations, increments, cases, pairs, regions"),
    (f"{READOUT}type", "states", "value lacks 'bias'"),
    (f"{REGIONS}metric.distance", "turned", "distance must be one of straight, squared, axes"),
]


@pytest.mark.parametrize(("path", "value", "sentence"), EDITS)
def test_what_does_not_fit_is_refused(sound, path, value, sentence):
    content, load = sound
    document = mutations.document_of(content)
    parent, key = at(document, resolved(content, path))
    parent[key] = value
    with pytest.raises(ModelFileError, match=f"edited.cogmap' cannot be loaded: .*{sentence}"):
        load(mutations.sealed(document, load_tensors(content)))


def test_a_metric_without_a_distance_is_straight(sound, iris):
    """Earlier files do not name it."""
    content, load = sound

    def scores(distance):
        document = mutations.document_of(content)
        metric, _ = at(document, resolved(content, f"{REGIONS}metric.distance"))
        del metric["distance"]
        metric |= {"distance": distance} if distance else {}
        return load(mutations.sealed(document, load_tensors(content))).decision_function(iris[0])

    assert (scores(None) == scores("straight")).all()
    assert (scores(None) != scores("squared")).any()


def _one_knot(lengths):
    """Leave the first feature one knot, and give the second the others."""
    return lengths + (lengths[0] - 1) * np.array([-1, 1, 0, 0])


def _span(knots, end):
    """Leave the knots in order, and move the ends of the first feature apart."""
    moved = knots.copy()
    moved[0], moved[np.flatnonzero(np.diff(knots) < 0)[0]] = -end, end
    return moved


ARRAYS = [
    (f"{FITTED}outer_bias_", lambda a: a * np.nan, "outer_bias_ must be an array of finite numbers"),
    (f"{FITTED}outer_weights_", lambda a: a[:-1], "model.fitted has size . where . is expected"),
    (f"{FITTED}outer_weights_", lambda a: a[:, :0], "outer_weights_ has size 0 where .* is expected"),
    (f"{FITTED}_constant", lambda a: np.arange(3), "_constant must be an array of F64"),
    (f"{NETWORK}concepts.varies", lambda a: (a * np.uint8(2)).view(bool), "varies must be an array of 0 and 1"),
    (f"{NETWORK}concepts.varies", lambda a: ~a, "concepts must be a scaling for each feature that varies"),
    (f"{NETWORK}concepts.scaling.values.entries", lambda a: a[::-1], "scaling must be knots in increasing order"),
    (f"{NETWORK}concepts.scaling.values.lengths", lambda a: -a, "values must be arrays whose lengths add up"),
    (
        f"{NETWORK}concepts.scaling.values.lengths",
        _one_knot,
        "scaling must be two or more knots",
    ),
    (f"{READOUT}value.basis.columns.entries", lambda a: a + 99, "basis must be columns that are concepts"),
    (f"{READOUT}value.basis.columns.entries", lambda a: -1 - a, "basis must be columns that are concepts"),
    (f"{READOUT}value.basis.map", lambda a: -a, "basis must be a basis whose constant is positive"),
    (f"{READOUT}value.basis.map", lambda a: a[1:, 1:], "whiten has size .* where .* is expected"),
    (f"{READOUT}value.shrink", lambda a: a[1:], "shrink has size . where . is expected"),
    (f"{READOUT}value.shrink", lambda a: -a, "shrink must be numbers from 0 on"),
    (f"{AXES}metric.map", lambda a: a + 1, "map must be diagonal where distances are sums along the axes"),
    (f"{REGIONS}ends", lambda a: a + 1, "ends must be the ends of regions that hold all cases"),
    (f"{REGIONS}ends", lambda a: np.r_[a, a], "ends has size 2 where 1 is expected"),
    (f"{REGIONS}boxes.low", lambda a: a + 9, "boxes must be boxes whose lower sides are below their upper ones"),
    (f"{REGIONS}constants", lambda a: a[:, 1:], "constants has size 2 where 3 is expected"),
    (f"{READOUT}value.reference", lambda a: a + 2, "reference must be numbers from -1 to 1"),
    (f"{NETWORK}concepts.scaling.values.entries", lambda a: _span(a, 1.5e308), "scaling must be knots whose span is"),
    (f"{NETWORK}concepts.scaling.heights.entries", lambda a: 2 * a, "scaling must be numbers from -1 to 1"),
    (f"{NETWORK}network.weights", lambda a: np.full_like(a, 1e308), "network must be weights whose sums are numbers"),
    (f"{FITTED}_decision.projection", lambda a: np.full_like(a, 1e308), "probabilities; its weights are too large"),
    (f"{FITTED}_constant", lambda a: np.full_like(a, -1e308), "probabilities; its weights are too large"),
    (f"{READOUT}value.coefficients", lambda a: np.sign(a) * 1e308, "probabilities; its weights are too large"),
    (f"{READOUT}value.basis.whiten", lambda a: a * 1e307, "probabilities; its weights are too large"),
]


@pytest.mark.parametrize(("path", "change", "sentence"), ARRAYS)
def test_arrays_that_do_not_fit_are_refused(sound, path, change, sentence):
    content, load = sound
    arrays, path = load_tensors(content), resolved(content, path)
    new = np.ascontiguousarray(change(arrays[path]))
    with pytest.raises(ModelFileError, match=sentence):
        load(mutations.with_array(mutations.document_of(content), arrays, path, new))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return a sound file's content, with curves and surfaces, their path, and a way to load an edited one."""
    folder, X = tmp_path_factory.mktemp("drawn"), np.random.default_rng(0).uniform(-1, 1, size=(300, 3))
    model = LTCNClassifierCV(inner="slopes", max_iter=2, cases=False).fit(X, X[:, 0] * X[:, 2] > 0)
    content = model.save(folder / "sound.cogmap").read_bytes()
    members = mutations.document_of(content)["model"]["fitted"]["_members"]["members"]
    number = next(i for i, member in enumerate(members) if member["readout"]["type"] == "pairs")

    def load(edited):
        (folder / "edited.cogmap").write_bytes(edited)
        return cogmap.load(folder / "edited.cogmap")

    return content, f"{FITTED}_members.members.{number}.readout.value.", load


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("curves.entries", lambda a: a[::-1], "value must be two or more knots in increasing order"),
        ("surfaces.entries", lambda a: 0 * a, "value must be two or more knots in increasing order"),
        ("surfaces.entries", lambda a: 2 * a, "value must be numbers from -1 to 1"),
        ("means", lambda a: a + 2, "means must be numbers from -1 to 1"),
        ("means", lambda a: a[1:], "means has size .* where .* is expected"),
        ("pairs", lambda a: a + 2, "pairs must be pairs of concepts"),
        ("pairs", lambda a: a[:, ::-1], "pairs must be pairs of concepts"),
        ("pairs", lambda a: a - 1, "pairs must be pairs of concepts"),
        ("pairs", lambda a: np.repeat(a, 4, axis=0), "pairs must be pairs of concepts, each once"),
        ("pairs", lambda a: a[:, :1], "pairs has size 1 where 2 is expected"),
        ("coefficients", lambda a: a[1:], "coefficients has size .* where .* is expected"),
        ("coefficients", lambda a: np.sign(a) * 1e308, "probabilities; its weights are too large"),
        ("constant", lambda a: a[1:], "constant has size 1 where 2 is expected"),
    ],
)
def test_curves_and_surfaces_that_do_not_fit_are_refused(drawn, name, change, sentence):
    content, path, load = drawn
    arrays = load_tensors(content)
    new = np.ascontiguousarray(change(arrays[path + name]))
    with pytest.raises(ModelFileError, match=sentence):
        load(mutations.with_array(mutations.document_of(content), arrays, path + name, new))


def test_an_array_without_entries_cannot_claim_a_huge_dimension(tmp_path):
    model = LTCNClassifier.paper(max_iter=2).fit(np.ones((4, 2)), [0, 1, 1, 1])
    content = model.save(tmp_path / "model.cogmap").read_bytes()
    document, arrays = mutations.document_of(content), load_tensors(content)
    (tmp_path / "edited.cogmap").write_bytes(
        mutations.with_array(
            document, arrays, f"{FITTED}_members.members.0.readout.value.weights", np.zeros((10**15, 0, 2))
        )
    )
    with pytest.raises(ModelFileError, match="weights must be an array with entries, or a small one"):
        cogmap.load(tmp_path / "edited.cogmap")


TEXTS = [
    ("[" * 100_000, "its document is nested too deeply"),
    ("[" * container.BRACKET_LIMIT + "[", "more than 1048576 lists and objects"),
    ('{"format": 1, "format": 1}', "a key occurs twice in one object"),
    ('{"format": NaN}', "NaN is no JSON number"),
    ("9" * 5000, "its document is no JSON that cogmap writes"),
    ("[]", "document must be a JSON object"),
    ("{}", "its format is None"),
]


@pytest.mark.parametrize(("text", "sentence"), TEXTS, ids=range(len(TEXTS)))
def test_documents_that_are_none_are_refused(sound, text, sentence):
    content, load = sound
    with pytest.raises(ModelFileError, match=sentence):
        load(mutations.sealed(text, load_tensors(content)))


NAMES = [
    ("concept_names_", lambda names: [names[1], names[0], *names[2:]]),
    ("concept_names_", lambda names: [names[0], names[0], *names[2:]]),
    ("concept_names_", lambda names: [*names[:-1], names[-1] + " "]),
    ("concept_names_", lambda names: [*names[:-1], "x3\x1b[31m"]),
]


@pytest.mark.parametrize(("key", "change"), NAMES)
def test_names_that_are_not_those_of_the_features_are_refused(sound, key, change):
    content, load = sound
    document = mutations.document_of(content)
    fitted = document["model"]["fitted"]
    fitted[key] = change(fitted[key])
    with pytest.raises(ModelFileError, match="concept_names_ must be the names of the features and their terms"):
        load(mutations.sealed(document, load_tensors(content)))


def test_names_of_terms_are_not_exchanged_and_may_differ_in_their_last_digit(iris, tmp_path):
    model = LTCNClassifier(max_iter=1, terms=7).fit(*iris)
    content = model.save(tmp_path / "model.cogmap").read_bytes()
    names = model.concept_names_.tolist()
    assert names[:2] == ["x0 is about 4.3", "x0 is about 5"]

    def load(first, second):
        document = mutations.document_of(content)
        document["model"]["fitted"]["concept_names_"] = [first, second, *names[2:]]
        (tmp_path / "edited.cogmap").write_bytes(mutations.sealed(document, load_tensors(content)))
        return cogmap.load(tmp_path / "edited.cogmap")

    assert load("x0 is about 4.301", names[1]).concept_names_[0] == "x0 is about 4.301"
    for first, second in ((names[1], names[0]), ("x0 is about 4.4", names[1]), ("x1 is about 4.3", names[1])):
        with pytest.raises(ModelFileError, match="concept_names_ must be the names"):
            load(first, second)


def test_numbers_beyond_all_bounds_and_halves_of_characters_are_refused(sound):
    content, load = sound
    document = mutations.document_of(content)
    text = json.dumps(document)
    condition = json.dumps(document["model"]["fitted"]["condition_"])
    with pytest.raises(ModelFileError, match="1e400 is no number of 64 bits"):
        load(mutations.sealed(text.replace(condition, "1e400"), load_tensors(content)))
    document["model"]["fitted"]["concept_names_"][0] = "x\ud800"
    with pytest.raises(ModelFileError, match=r"half a character, a lone surrogate: .*x\\ud800'"):
        load(mutations.sealed(document, load_tensors(content)))


def test_a_million_iterations_are_allowed_and_take_no_memory(iris, tmp_path):
    model = cogmap.load(LTCNClassifier(max_iter=10**6).fit(*iris).save(tmp_path / "model.cogmap"))
    tracemalloc.start()
    text = model.explain(iris[0][:50]).dynamics
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "50 of 50 rows reach a fixed point" in str(text)
    assert peak < 2e7
    with pytest.raises(ModelFileError, match="max_iter must be at most 1000000"):
        model.set_params(max_iter=10**6 + 1).save(tmp_path / "model.cogmap")


def test_other_files_are_refused(sound, tmp_path):
    content, load = sound
    length = int.from_bytes(content[:8], "little")
    tensors = load_tensors(content)
    damaged = {
        b"": "its 0 bytes are fewer than it announces",
        content[:-1]: "it is damaged, or no cogmap model",
        content + b"\0": "it is damaged, or no cogmap model",
        (2**63).to_bytes(8, "little") + content[8:]: "bytes are fewer than it announces",
        content[: 8 + length // 2]: "bytes are fewer than it announces",
        b"PK\x03\x04" + content: "bytes are fewer than it announces",
        mutations.save(tensors): "its safetensors metadata must have the entry 'cogmap' alone",
        mutations.save(tensors, metadata={"cogmap": "{}"}): "its document does not match its SHA-256",
        mutations.sealed(mutations.document_of(content), tensors | {"evil": np.zeros(3)}): "no field names its array",
    }
    for edited, sentence in damaged.items():
        with pytest.raises(ModelFileError, match=sentence):
            load(edited)
    with pytest.raises(ModelFileError, match="it is no file"):
        cogmap.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        cogmap.load(tmp_path / "absent.cogmap")


def test_a_header_of_any_length_is_not_read(tmp_path):
    with (tmp_path / "huge.cogmap").open("wb") as file:
        file.write((container.HEADER_LIMIT + 1).to_bytes(8, "little"))
        file.truncate(container.HEADER_LIMIT + 100)
    with pytest.raises(ModelFileError, match="its header has 16777217 bytes, more than the 16777216 that are read"):
        cogmap.load(tmp_path / "huge.cogmap")


def test_a_stack_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(estimators, "NETWORKS", 1)
    with pytest.raises(ModelFileError, match="networks must be 1 to 1 networks"):
        LTCNClassifierCV(max_iter=2, pairs=False).fit(*load_wine(return_X_y=True)).save(tmp_path / "model.cogmap")


def test_mutated_files_are_the_same_model_or_refused(sound, iris, tmp_path):
    content, load = sound
    rng, scores = np.random.default_rng(0), load(content).decision_function(iris[0]).tobytes()
    outcomes = {"same": 0, "refused": 0, "another": 0}
    operations = [*mutations.DAMAGE, *mutations.FORGERY]
    for i in range(150):
        operation = operations[i % len(operations)]
        try:
            model = load(operation(rng, content))
        except ModelFileError:
            outcomes["refused"] += 1
            continue
        with np.errstate(all="ignore"):
            found = model.decision_function(iris[0])
            same = found.tobytes() == scores and model.save(tmp_path / "again.cogmap").read_bytes() == content
        assert same or operation in mutations.FORGERY, operation
        outcomes["same" if same else "another"] += 1
    assert outcomes["refused"] > 100
    assert outcomes["same"] > 0


def test_a_lack_of_memory_is_an_error_of_the_file(sound, monkeypatch):
    content, load = sound

    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(container.np, "fromfile", fail)
    with pytest.raises(ModelFileError, match="it needs more memory than there is"):
        load(content)
