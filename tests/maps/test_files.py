"""Files of maps: what is written comes back, other programs agree, and bad files are refused in words."""

import gzip
import io

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap import CognitiveMap, read_map, write_map
from cogmap.maps import from_text, to_text
from cogmap.maps.files import FORMS

from .made import maps

MEADOW = CognitiveMap(
    ["rain", "grass", "rabbits", "moon"],
    [[0, 0.8, 0, 0], [0, 0, 1 / 3, 0], [0, -0.5, 0.1, 0], [0, 0, 0, 0]],
    [0, 0.25, 0, 0],
    rule="kosko-memory",
    activation="tanh",
    phi=0.9,
    slope=2.0,
)


def reasoning(made):
    return made.rule, made.activation, made.phi, made.slope


@settings(max_examples=40)
@given(made=maps())
def test_json_and_graphml_keep_everything(made):
    for form in ("json", "graphml"):
        assert from_text(to_text(made, form)) == made
        assert from_text(to_text(made, form).encode()) == made


@settings(max_examples=40)
@given(made=maps())
def test_csv_keeps_concepts_weights_and_bias(made):
    back = from_text(to_text(made, "matrix"))
    assert back == CognitiveMap(made.names, made.weights, made.bias)
    listed = from_text(to_text(made, "edges"))
    assert listed.ordered(made.names) == back
    assert reasoning(listed) == reasoning(back) == (None,) * 4


@settings(max_examples=40)
@given(made=maps())
def test_networkx_reads_the_same_graph(made):
    graph = nx.read_graphml(io.BytesIO(to_text(made, "graphml").encode()))
    assert graph.is_directed()
    labels = nx.get_node_attributes(graph, "label")
    assert [labels[f"n{k}"].strip() for k in range(len(made.names))] == list(made.names)
    found = {(labels[a].strip(), labels[b].strip(), w) for a, b, w in graph.edges(data="weight")}
    assert found == set(made.edges)


@settings(max_examples=40)
@given(made=maps(reasoning=False))
def test_graphml_of_networkx_is_read(made):
    graph = nx.DiGraph()
    graph.add_nodes_from((name, {"bias": float(b)}) for name, b in zip(made.names, made.bias, strict=True))
    graph.add_weighted_edges_from(made.edges)
    assert from_text(b"".join(line + b"\n" for line in (s.encode() for s in nx.generate_graphml(graph)))) == made


def test_pandas_reads_the_matrix_with_sources_as_rows():
    frame = pd.read_csv(io.StringIO(to_text(MEADOW, "matrix")), index_col=0)
    assert frame.loc["rain", "grass"] == 0.8
    assert frame.loc["bias", "grass"] == 0.25
    assert np.array_equal(frame.loc[list(MEADOW.names)].to_numpy(), MEADOW.weights)


def test_files_by_their_names(tmp_path):
    for name, form in {
        "a.csv": None,
        "b.csv": "matrix",
        "b.matrix.csv": None,
        "c.graphml": None,
        "d.json": None,
    }.items():
        back = read_map(write_map(MEADOW, tmp_path / name, form=form))
        assert np.array_equal(back.ordered(MEADOW.names).weights, MEADOW.weights)
    assert (tmp_path / "b.matrix.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(to_text(MEADOW, "edges").encode()))
    assert read_map(tmp_path / "e.csv.gz") == read_map(tmp_path / "a.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.csv",
        "b.csv",
        "b.matrix.csv",
        "c.graphml",
        "d.json",
        "e.csv.gz",
    ]
    with pytest.raises(ValueError, match=r"x.txt ends with '.txt': name a map .matrix.csv, .csv, .graphml, .json"):
        write_map(MEADOW, tmp_path / "x.txt")
    with pytest.raises(ValueError, match="form='xml' is unknown"):
        write_map(MEADOW, tmp_path / "x.txt", form="xml")


EXPECTED = CognitiveMap(["a", "b"], [[0, 0.5], [-1, 0]])


@pytest.mark.parametrize(
    "text",
    [
        ",a,b\na,,0.5\nb,-1,\n",  # Mental Modeler leaves cells without an edge empty
        "﻿,b,a\nb,0,-1\na,0.5,0\n",
        "Concepts;a;b\r\na;0;0,5\r\nb;-1,0;0\r\n",
        "a\tb\n0\t0.5\n-1\t0\n",
        "source,target,weight\na,b,0.5\nb,a,-1\n",
        "Source,Target,Type,Id,Label,Weight\na,b,Directed,0,,0.5\nb,a,Directed,1,,-1.0\n",
        ",from,to,value\n0,a,b,0.5\n1,b,a,-1\n",
        "a,b,0.5\nb,a,-1\n",
        '{"edges": [{"source": "a", "target": "b", "weight": 0.5}, {"source": "b", "target": "a", "weight": -1}]}',
    ],
)
def test_forms_of_other_programs(text):
    assert from_text(text).ordered(["a", "b"]) == EXPECTED
    assert from_text(text.encode("utf-16")).ordered(["a", "b"]) == EXPECTED


def test_a_matrix_without_names_and_latin_1():
    assert from_text("0,0.5\n-1,0\n") == CognitiveMap(["C1", "C2"], EXPECTED.weights)
    assert from_text("für,b,1\n".encode("latin-1")).names == ("für", "b")


YED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d6" yfiles.type="nodegraphics"/><key for="edge" id="d9" yfiles.type="edgegraphics"/>
<key for="edge" id="w" attr.name="weight" attr.type="double"/>
<graph edgedefault="directed" id="G">
<node id="n0"><data key="d6"><y:ShapeNode><y:Geometry x="0" y="0"/><y:NodeLabel>a<y:LabelModel/></y:NodeLabel>
</y:ShapeNode></data></node>
<node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>b</y:NodeLabel></y:ShapeNode></data></node>
<edge id="e0" source="n0" target="n1"><data key="d9"><y:PolyLineEdge><y:EdgeLabel>0,5</y:EdgeLabel></y:PolyLineEdge>
</data></edge>
<edge id="e1" source="n1" target="n0">%s</edge>
</graph></graphml>"""


def test_labels_of_yed_count_before_the_data_beside_them():
    label = (
        '<data key="d9"><y:PolyLineEdge><y:EdgeLabel>%s</y:EdgeLabel></y:PolyLineEdge></data><data key="w">%s</data>'
    )
    assert from_text(YED % (label % (-1, 0.3))) == EXPECTED
    assert from_text(YED % (label % ("", -1))) == EXPECTED
    assert from_text(YED % (label % ("prevents", -1))) == EXPECTED
    # The label that cogmap writes is rounded; then the data has the digits.
    assert from_text(YED % (label % ("-0.333", -1 / 3))).weights[1, 0] == -1 / 3


BOMB = '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml><graph edgedefault="directed"/></graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m: the file is empty"),
        ("a,b\n1,2,3\n", "m: row 2 has 3 values where the first has 2"),
        ("source,target\na,b\n", "there is no column 'weight'"),
        ("source,target,weight\na,b,much\n", "row 2, a → b has the weight 'much': give a finite number"),
        ("source,target,weight\na,b,nan\n", "row 2, a → b has the weight 'nan'"),
        ("source,target,weight\na,b,1\na,b,2\n", "The edge a → b is there twice"),
        ("source,target,weight\n,b,1\n,b,2\n", "row 3 has no source and target, or a second bias"),
        (",a,b\na,0,1\nc,1,0\n", "'c' is in one of them only"),
        (",a,b\na,0,1\nb,x,0\n", "b → a has the weight 'x'"),
        (",a,b\na,0,1\nb,1,0\na,1,1\n", "two rows are called 'a'"),
        ('{"edges": [}', "this is not valid JSON"),
        ('{"nodes": []}', "this is no map: write a list named 'edges'"),
        ('{"edges": [], "nodes": 1}', "'nodes' is not known here"),
        ('{"edges": [{"source": "a", "target": "b"}]}', "edge 1 must have"),
        ('{"edges": [{"source": "a", "target": 2, "weight": 1}]}', "the target of edge 1 is 2"),
        ('{"edges": [{"source": "a", "target": "b", "weight": "x"}]}', "the weight of edge 1 is 'x'"),
        ('{"edges": [], "concepts": ["a"], "phi": 2}', "phi=2.0 must be from 0 to 1"),
        ('{"edges": [], "concepts": ["a"], "rule": "x"}', "rule='x' is unknown"),
        ('{"edges": []}', "A concept has no name"),
        ("<a", "this is not valid XML"),
        ("<a/>", "this is XML without a graph"),
        (BOMB, "GraphML has no document type"),
        (YED % "", "the weight of b → a is missing: label the edge with a number"),
        (YED % '<data key="w">x</data>', "the weight of b → a is 'x'"),
        (
            (YED % '<data key="w">1</data>').replace("directed", "undirected"),
            "between a and b has no direction",
        ),
        ((YED % '<data key="w">1</data>').replace(">b<", ">a<"), "Two concepts are called 'a'"),
        ((YED % '<data key="w">1</data>').replace('node id="n1"', 'node id="n0"'), "two nodes have the id 'n0'"),
        ((YED % '<data key="w">1</data>').replace('target="n0"', 'target="n7"'), "from or to 'n7', which is no node"),
    ],
)
def test_bad_files_are_refused_in_words(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        from_text(text, "m")
    assert str(caught.value).startswith("m: ")


@settings(max_examples=150)
@given(
    form=st.sampled_from(FORMS),
    at=st.integers(0, 2000),
    removed=st.integers(0, 20),
    inserted=st.binary(max_size=6) | st.sampled_from([b"<", b'"', b",", b"\x00", b"1e999", b"\n\n", b"{", b"-"]),
)
def test_a_damaged_file_is_read_or_refused_in_words(form, at, removed, inserted):
    content = to_text(MEADOW, form).encode()
    at %= len(content)
    refusal, found = "m: ", MEADOW
    try:
        found = from_text(content[:at] + inserted + content[at + removed :], "m")
    except ValueError as error:
        refusal = str(error)
    assert refusal.startswith("m: ")
    assert np.isfinite(found.weights).all()


def test_what_a_form_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="a character that GraphML cannot hold"):
        to_text(CognitiveMap(["a\x01b"], [[1]]), "graphml")
    with pytest.raises(ValueError, match="a concept has that name"):
        to_text(CognitiveMap(["bias"], [[1]], [1]), "matrix")
    assert set(FORMS) == {"edges", "matrix", "graphml", "json"}
