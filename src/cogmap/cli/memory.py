"""Amounts of memory on the command line, such as 500MB or 2GB."""

import re
from typing import Any

import click

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Memory(click.ParamType):
    """An amount of memory as a number of bytes."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", str(value).lower())
        if match is None:
            self.fail(f"{value!r} is not an amount of memory: give it as 500MB or 2GB.", param, ctx)
        return round(float(match[1]) * UNITS[match[2]])


MEMORY = Memory()
