"""Output in encodings other than UTF-8: signs that an encoding lacks are written in plain ones.

A redirected output has the encoding of the system, on Windows one of 256 signs.  Our signs have plain twins;
what is left, letters of names and of other languages, is escaped as in JSON.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from rankstone._basics import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

#: sign = its twin, without quotes and commas, so that CSV and JSON stay what they are
_TWINS: Final = dict(
    pair.split("=", 1)
    for pair in """
    −=- –=- —=- …=... ×=x ·=* ÷=/ ±=+/- √=sqrt ∞=inf ∫=integral Σ=sum Π=prod ½=1/2 ¾=3/4 ²=^2 ³=^3 ¹=^1 ⁵=^5
    ⁶=^6 ⁻=^- ₁=_1 ₂=_2 ₋=_- ᵢ=_i ᵀ=^T ′=' ’=' ‘=' “=' ”=' →=-> ≥=>= ≤=<= ≠=!= ≈=~ ≻=> ∈=in ∩=& ∪=| ∝=~ ‖=||
    ⌊=[ ⌋=] ▲=^ ▼=v ✔=yes ✘=no †=+ ‡=++ §=S ♯=# ─=- │=| ├=+ └=+ ┤=+ ╸=- ╺=- ━=- █=# ▇=# ▆=# ▅=+ ▄=+ ▃=- ▂=-
    ▁=_ •=* ●=o ○=o ■=# □=o
    """.split()  # noqa: SIM905 - pairs are easier to read than a list
)
#: where columns of a table begin
_GAP: Final = re.compile("( {2,})")


@contextmanager
def plain_streams() -> Iterator[None]:
    """Let standard output and error write every text, and say at the end what was escaped in the output."""
    sys.stdout, sys.stderr = map(plain_output, (sys.stdout, sys.stderr))
    yield
    if count := getattr(sys.stdout, "escaped", 0):
        print(
            f"note: {counted(count, 'sign')} escaped that standard output cannot write; "
            "-o FILE or PYTHONIOENCODING=utf-8 keeps them",
            file=sys.stderr,
        )


def plain_output(stream: TextIO) -> TextIO:
    """Return a stream that can write every text: the same one if it is UTF-8 or no file."""
    is_utf = codecs.lookup(stream.encoding or "utf-8").name.startswith("utf")
    if is_utf or not isinstance(stream, io.TextIOWrapper):
        return stream
    plain = PlainText(
        stream.buffer,
        stream.encoding,
        "backslashreplace",
        line_buffering=stream.line_buffering,
    )
    plain.original = stream
    return plain


class PlainText(io.TextIOWrapper):
    """A text stream that writes signs which its encoding lacks in plain ones."""

    #: the signs without a twin, which were escaped
    escaped = 0
    #: the stream that it stands for, which would close the file when it is forgotten
    original: TextIO

    @property
    def encoding(self) -> str:  # type: ignore[override] # nobody sets it
        """The encoding; click takes the name of ASCII for a mistake, and would write UTF-8 instead."""
        name = super().encoding
        return "plain" if codecs.lookup(name).name == "ascii" else name

    def write(self, text: str) -> int:
        """Write a text, line by line where it cannot be written as it is."""
        if not self._can_write(text):
            text = "\n".join("".join(self._plain(line)) for line in text.split("\n"))
        return super().write(text)

    def _can_write(self, text: str) -> bool:
        try:
            text.encode(super().encoding)
        except UnicodeEncodeError:
            return False
        return True

    def _plain(self, line: str) -> Iterator[str]:
        """Yield the parts of a line; a longer twin takes from the blanks before the next column."""
        longer = 0
        for part in _GAP.split(line):
            if part.startswith("  "):
                kept = max(len(part) - max(longer, 0), 1)
                longer -= len(part) - kept
                yield " " * kept
                continue
            text = "".join(map(self._twin, part))
            longer += len(text) - len(part)
            yield text

    def _twin(self, sign: str) -> str:
        if self._can_write(sign):
            return sign
        if sign in _TWINS:
            return _TWINS[sign]
        from unicodedata import name

        *kind, letter = name(sign, "").split(" ")
        if "GREEK" in kind:
            return letter.lower() if "SMALL" in kind else letter.capitalize()
        self.escaped += 1
        return json.dumps(sign)[1:-1]
