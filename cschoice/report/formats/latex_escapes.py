r"""Escapes: any text as LaTeX that compiles, in plain ASCII."""

from __future__ import annotations

import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': "''",
    "[": "{[}",  # after the end of a row it would be an optional argument
    "]": "{]}",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "∞": r"$\infty$",
    "↓": r"$\downarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "₁": "$_1$",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "ß": r"\ss{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "µ": r"$\mu$",
    **{character: rf"\{character}" for character in "&%$#_{}"},
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}


def escaped(text: str) -> str:
    r"""Return a text as LaTeX; a letter that LaTeX cannot show becomes its number.

    >>> print(escaped("50 % of R&D_1, déjà"))
    50 \% of R\&D\_1, d\'{e}j\`{a}
    >>> print(escaped("日"))
    (U+65E5)
    """
    return "".join(_letter(letter) for letter in " ".join(text.split()))


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if letter.isascii() and letter.isprintable():
        return letter
    base, *marks = list(unicodedata.normalize("NFKD", letter))
    if base.isascii() and base.isalnum() and not marks:
        return base
    if base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        base = {"i": r"\i", "j": r"\j"}.get(base, base)
        return rf"\{_ACCENTS[marks[0]]}{{{base}}}"
    return f"(U+{ord(letter):04X})"
