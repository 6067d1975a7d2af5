r"""Escapes: any text as LaTeX that compiles with the packages of the tables and no others."""

from __future__ import annotations

from unicodedata import normalize

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
    "µ": r"$\mu$",
    "ρ": r"$\rho$",
    "χ": r"$\chi$",
    "λ": r"$\lambda$",
    "²": r"\textsuperscript{2}",
    **{character: rf"\{character}" for character in "&%$#_{}"},
}
# Letters that LaTeX reads as they are, in the fonts of every installation: these, and those of
# Western and Central Europe whose accent is one of the following.
_LETTERS = "ßøØæÆœŒłŁ"
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
_LAST = "\u017f"


def escaped(text: str) -> str:
    r"""Return a text as LaTeX; a letter that LaTeX cannot show becomes its number.

    >>> print(escaped("50 % of R&D_1, déjà"))
    50 \% of R\&D\_1, déjà
    >>> print(escaped("日"))
    (U+65E5)
    """
    return "".join(_letter(letter) for letter in " ".join(normalize("NFC", text).split()))


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if letter in _LETTERS or (letter.isascii() and letter.isprintable()):
        return letter
    base, *marks = list(normalize("NFKD", letter))
    if base.isascii() and base.isalnum() and not marks:
        return base
    if letter <= _LAST and base.isascii() and base.isalpha() and marks[0] in _ACCENTS:
        return letter
    return f"(U+{ord(letter):04X})"
