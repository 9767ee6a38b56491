"""Damaged and hostile model files, made from sound ones.

`damaged` is what happens to files: flipped bits, lost or added bytes, wrong lengths, parts that changed places. Digests
are left as they were, so such a file is the same model or none. `forged` is what an attacker does: the document or an
array is replaced and all digests are computed anew, so such a file may be another model, but must not do harm.
"""

import json
from contextlib import suppress
from hashlib import sha256

import numpy as np
from safetensors.numpy import load, save

HOSTILE = (
    None, True, False, 0, 1, -1, 2, 10**6, 2**31, 2**63, 10**30, 0.0, -1.5, 1e308, 1e-308, "", "x", "inf", "nan",
    "Infinity", "\x00", "\ud800", "LTCNClassifier", "__class__", [], {}, [[]], [0], [1e9], {"tuple": []},
    {"tuple": [0.5, 0.9]}, {"range": [0, 10**9, 1]}, {"range": [0, 5, 0]}, {"dict": [1, 2]}, {"dict": [[], 1]},
    {"array": {}}, {"objects": {"shape": [10**9, 10**9], "entries": []}}, {"float": "nan"}, {"float": "inf"},
    {"estimator": {"class": "LTCNClassifier", "parameters": {}}}, {"estimator": {"class": "os", "parameters": {}}},
    [None] * 1000, "y" * 100_000, "\x1b[31m", "x0", 10**9, 2**53,
)  # fmt: skip


def _pick(rng, options):
    return options[int(rng.integers(len(options)))]


def header_of(content):
    """Return the length of the header, the header and the data of a safetensors file."""
    length = int.from_bytes(content[:8], "little")
    return length, json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header, data):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def document_of(content):
    return json.loads(header_of(content)[1]["__metadata__"]["cogmap"].partition("\n")[2])


def sealed(document, arrays):
    """Return a file with this document and its right digest."""
    text = document if isinstance(document, str) else json.dumps(document)
    return save(arrays, metadata={"cogmap": f"{sha256(text.encode()).hexdigest()}\n{text}"})


def with_array(document, arrays, path, new):
    """Return a file with another array in a place, all digests right."""
    node = document
    for key in path.split("."):
        node = node[int(key)] if isinstance(node, list) else node[key]
    node["shape"], node["sha256"] = list(new.shape), sha256(new.tobytes()).hexdigest()
    node["dtype"] = {"f": "F64", "i": "I64", "b": "BOOL"}[new.dtype.kind]
    return sealed(document, arrays | {path: new})


# Damage


def flip_bits(rng, content):
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        found[int(rng.integers(len(found)))] ^= 1 << int(rng.integers(8))
    return bytes(found)


def flip_header(rng, content):
    found = bytearray(content)
    found[int(rng.integers(8 + header_of(content)[0]))] ^= 1 << int(rng.integers(8))
    return bytes(found)


def truncate(rng, content):
    return content[: int(rng.integers(len(content)))]


def extend(rng, content):
    return content + _pick(rng, (b"\0", b"\0" * 4096, b"}", rng.bytes(100), content))


def wrong_length(rng, content):
    length = header_of(content)[0]
    huge = (0, 1, length - 1, length + 1, 2 * length, len(content), 2**31, 2**32, 2**63 - 1, 2**64 - 9, 2**64 - 1)
    return _pick(rng, huge).to_bytes(8, "little") + content[8:]


def move_slice(rng, content):
    a, b, c = sorted(int(i) for i in rng.integers(0, len(content), 3))
    return _pick(rng, (content[:a] + content[b:], content[:b] + content[a:], content[:a] + content[b:c] + content[a:b]))


def swap_tensors(rng, content):
    _, header, data = header_of(content)
    first, second = rng.choice([name for name in header if name != "__metadata__"], 2, replace=False)
    header[first], header[second] = header[second], header[first]
    return with_header(header, data)


def edit_tensor(rng, content):
    _, header, data = header_of(content)
    name = _pick(rng, [name for name in header if name != "__metadata__"])
    key = _pick(rng, list(header[name]))
    choices = {
        "dtype": ("F32", "I64", "BOOL", "F64", "BF16", "O", "C64", 3),
        "shape": ([], [0], [2**62, 4], [2**63], [-1], [10**30], header[name]["shape"][::-1], "x", [[1]]),
        "data_offsets": ([0, 8], [8, 0], [0, 2**63], [-8, 0], [0, len(data) + 8], [0], None),
    }
    header[name][key] = _pick(rng, choices[key])
    return with_header(header, data)


def edit_header(rng, content):
    _, header, data = header_of(content)
    name = _pick(rng, list(header))
    what = rng.integers(3)
    if what == 0:
        del header[name]
    elif what == 1:
        header[name] = _pick(rng, HOSTILE)
    else:
        header["extra" if what else name] = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    return with_header(header, data)


def edit_sealed_text(rng, content):
    _, header, data = header_of(content)
    text = header["__metadata__"]["cogmap"]
    at, other = (int(i) for i in rng.integers(0, len(text), 2))
    header["__metadata__"]["cogmap"] = text[:at] + text[other] + text[at + 1 :]
    return with_header(header, data)


DAMAGE = (
    flip_bits, flip_header, truncate, extend, wrong_length, move_slice, swap_tensors, edit_tensor, edit_header,
    edit_sealed_text,
)  # fmt: skip


# Forgery


def _places(node, path=()):
    """Yield the path of every node within a JSON document."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield (*path, key)
        yield from _places(child, (*path, key))


def _parent(document, path):
    for key in path[:-1]:
        document = document[key]
    return document


def replace_value(rng, content):
    document = document_of(content)
    path = _pick(rng, list(_places(document)))
    _parent(document, path)[path[-1]] = _pick(rng, HOSTILE)
    return sealed(document, load(content))


def scale_number(rng, content):
    document = document_of(content)
    numbers = [p for p in _places(document) if type(_parent(document, p)[p[-1]]) in (int, float)]
    path = _pick(rng, numbers)
    value = _parent(document, path)[path[-1]]
    _parent(document, path)[path[-1]] = _pick(rng, (value + 1, value - 1, value * 2, -value, value * 10**9, str(value)))
    return sealed(document, load(content))


def edit_keys(rng, content):
    document = document_of(content)
    path = _pick(rng, list(_places(document)))
    parent = _parent(document, path)
    what = rng.integers(3)
    if what == 0:
        del parent[path[-1]]
    elif what == 1 and isinstance(parent, list):
        parent.insert(0, parent[path[-1]])
    elif isinstance(parent, dict):
        parent[_pick(rng, ("extra", "__class__", "_scores", "predict", path[-1] + " "))] = parent[path[-1]]
    return sealed(document, load(content))


def swap_values(rng, content):
    document = document_of(content)
    places = list(_places(document))
    first, second = (_pick(rng, places) for _ in range(2))
    a, b = (json.loads(json.dumps(_parent(document, p)[p[-1]])) for p in (first, second))
    _parent(document, first)[first[-1]] = b
    with suppress(KeyError, IndexError, TypeError):  # the second place may have been within the first, and be gone
        _parent(document, second)[second[-1]] = a
    return sealed(document, load(content))


def forge_array(rng, content):
    """Replace entries of an array, or the array, with all digests made anew."""
    document, arrays = document_of(content), load(content)
    path = _pick(rng, sorted(arrays))
    old = arrays[path]
    entry = old.copy().ravel()
    if entry.size:
        values = (0, 1, -1, 2**62) if entry.dtype.kind in "iu" else (np.nan, np.inf, 0, -1, 1e308, -1e308, 1e-320)
        entry[rng.integers(entry.size)] = _pick(rng, values)
    bare = _pick(rng, (entry.reshape(old.shape), old[::-1], old[:-1], np.zeros((0, 10**6)), old.astype(np.float64)))
    return with_array(document, arrays, path, np.ascontiguousarray(bare))


def forge_truth(rng, content):
    """Write a byte other than 0 and 1 into an array of truth values."""
    document, arrays = document_of(content), load(content)
    path = _pick(rng, sorted(name for name in arrays if name.endswith(".varies")))
    new = arrays[path].copy()
    new.view(np.uint8)[rng.integers(len(new))] = rng.integers(2, 256)
    return with_array(document, arrays, path, new)


def hostile_text(rng, content):
    """Seal text that is no document, or a document with a hostile part in it."""
    text = json.dumps(document_of(content))
    deep, many = "[" * int(rng.integers(1, 200_000)), "[" + "0," * 100_000 + "0]"
    at = int(rng.integers(len(text)))
    choices = (deep, deep + "]" * len(deep), many, text[:at], text[:at] + deep + text[at:], text + text, "9" * 5000)
    more = (text.replace(": ", ": NaN, ", 1), text.replace("{", '{"format": 1, ', 1), text[:at] + "1e999" + text[at:])
    return sealed(_pick(rng, (*choices, *more)), load(content))


def forge_magnitudes(rng, content):
    """Make the numbers of an array huge, all of them finite."""
    document, arrays = document_of(content), load(content)
    path = _pick(rng, sorted(name for name in arrays if arrays[name].dtype.kind == "f" and arrays[name].size))
    factor = float(_pick(rng, (1e10, 1e50, 1e100, 1e200, 1e305, 1e308)))
    with np.errstate(over="ignore"):
        new = np.clip(arrays[path] * factor, -1.7e308, 1.7e308)
    return with_array(document, arrays, path, np.ascontiguousarray(new))


def forge_names(rng, content):
    """Exchange, repeat or spoil names of concepts, features, networks or classes."""
    document = document_of(content)
    lists = [p for p in _places(document) if _is_names(_parent(document, p)[p[-1]])]
    path = _pick(rng, lists)
    names = _parent(document, path)[path[-1]]
    i, j = (int(k) for k in rng.integers(0, len(names), 2))
    what = rng.integers(3)
    if what == 0:
        names[i], names[j] = names[j], names[i]
    elif what == 1:
        names[i] = names[j]
    else:
        names[i] = names[i][: len(names[i]) // 2] + str(_pick(rng, ("\ud800", "\x1b[2J", "\r", " ", "\u202e")))
    return sealed(document, load(content))


def _is_names(node):
    return isinstance(node, list) and bool(node) and all(isinstance(entry, str) for entry in node)


def forge_number(rng, content):
    """Write a number of the document as one that is too large for 64 bits, or that is none."""
    document = document_of(content)
    numbers = [p for p in _places(document) if type(_parent(document, p)[p[-1]]) in (int, float)]
    path = _pick(rng, numbers)
    _parent(document, path)[path[-1]] = "here"
    number = _pick(rng, ("1e400", "-1e400", "1e308", "-0.0", "9007199254740993", "1E+2", "1e-400", "2.0", "1000000000"))
    return sealed(json.dumps(document).replace('"here"', str(number)), load(content))


def mix_labels(rng, content):
    """Give the classes labels of several types."""
    document = document_of(content)
    places = [p for p in _places(document) if p[-1] == "classes_"]
    labels = _parent(document, _pick(rng, places))["classes_"]
    labels["values"][int(rng.integers(len(labels["values"])))] = _pick(
        rng, (0, 1.5, True, "a", None, "\ud800", [1], {})
    )
    labels["dtype"] = _pick(rng, ("object", "object", "float64", "str", "bool"))
    return sealed(document, load(content))


FORGERY = (
    replace_value, scale_number, edit_keys, swap_values, forge_array, forge_truth, hostile_text, forge_magnitudes,
    forge_names, forge_number, mix_labels,
)  # fmt: skip
