"""Print the features that Weka's CfsSubsetEval selects from a CSV file with a header, one a line.

    python benchmarks/weka_cfs.py table.csv

The last column is the class and must not look like a number. Best-first search from the empty set, both with Weka's
defaults. Needs Java and python-weka-wrapper3, which ships Weka; `phishing.py` calls it with the interpreter that has
them, because it starts a virtual machine and brings packages that nothing else here needs.
"""

import sys


def selected(path):
    """Return the names of the features selected."""
    from weka.attribute_selection import ASEvaluation, ASSearch, AttributeSelection
    from weka.core.converters import load_any_file

    rows = load_any_file(path)
    rows.class_is_last()
    selection = AttributeSelection()
    selection.evaluator(ASEvaluation("weka.attributeSelection.CfsSubsetEval"))
    selection.search(ASSearch("weka.attributeSelection.BestFirst"))
    selection.select_attributes(rows)
    positions = [int(position) for position in selection.selected_attributes]
    return [rows.attribute(position).name for position in positions if position != rows.class_index]


def main():
    """Start Weka, select, stop."""
    import weka.core.jvm as jvm

    jvm.start(logging_level=40)
    try:
        print("\n".join(selected(sys.argv[1])))
    finally:
        jvm.stop()


if __name__ == "__main__":
    main()
