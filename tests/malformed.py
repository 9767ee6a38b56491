"""Malformed CSV files, made from good ones by a seeded generator."""

import gzip

GOOD = (
    b"age,sex,fare,port,survived\n22,male,7.25,S,no\n38,female,71.28,C,yes\n26,female,,S,yes\n35,male,8.05,?,no\n" * 3,
    b'name;height;note\n"Smith; Ann";1,62;"two\nlines"\nBob;1,80;\n"Eve ""E""";1,75;plain\n',
    "größe\tname\n1.5\tJürgen\n2.5\tÆsa\n".encode(),
    "größe,name\n1.5,Jürgen\n2.5,Æsa\n".encode("latin-1"),
    b"1,2,a\n3,4,b\n5,6,a\n",
    "a,b\r\n1,2\r\n3,4\r\n".encode("utf-16"),
)
PIECES = (
    b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\x1f\x8b", b"PAR1", b"ARROW1", b"PK\x03\x04", b"\xed\xa0\x80", b"1e999999", b"-inf", b"NaN", b"9" * 400, b"0x1F",
    b"1_000", b"2020-01-01", b"\\", b"#", b"x" * 200_000, b",,,,,,", b'"\n"', b" ", "\u2028\u0663".encode(), b"\x85",
    b"99999999999999999999", b"True", b"<NA>",
)  # fmt: skip


def _flip(rng, data):
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 8))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(data)


def _cut(rng, data):
    return data[: int(rng.integers(len(data)))]


def _insert(rng, data):
    for _ in range(int(rng.integers(1, 5))):
        at, piece = int(rng.integers(len(data) + 1)), PIECES[int(rng.integers(len(PIECES)))]
        data = data[:at] + piece + data[at:]
    return data


def _delete(rng, data):
    start = int(rng.integers(len(data)))
    return data[:start] + data[start + int(rng.integers(1, 20)) :]


def _shuffle_lines(rng, data):
    lines = data.split(b"\n")
    return b"\n".join(lines[i] for i in rng.integers(len(lines), size=len(lines)))


def _swap(rng, data):
    old, new = (PIECES[int(i)] for i in rng.integers(12, size=2))
    return data.replace(old, new)


def _join(rng, data):
    return data + GOOD[int(rng.integers(len(GOOD)))]


def _noise(rng, data):
    return rng.bytes(int(rng.integers(0, 400)))


def _zip(rng, data):
    packed = gzip.compress(data, mtime=0)
    return (_cut, _flip)[int(rng.integers(2))](rng, packed)


MUTATIONS = (_flip, _cut, _insert, _insert, _delete, _shuffle_lines, _swap, _join, _noise, _zip)

SUFFIXES = (".csv",) * 8 + (".csv.gz", ".tsv", ".parquet", ".txt")


def malformed(rng):
    """Return the bytes of one file, and a suffix for its name."""
    data = GOOD[int(rng.integers(len(GOOD)))]
    for _ in range(int(rng.integers(1, 4))):
        if data:
            data = MUTATIONS[int(rng.integers(len(MUTATIONS)))](rng, data)
    return data, SUFFIXES[int(rng.integers(len(SUFFIXES)))]
