"""The report as one HTML file that needs nothing else: no network, no build, no server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from cschoice.report.compute.summary import Summary
from cschoice.report.contents.details import as_json, details
from cschoice.report.contents.outline import TITLE, Section, outline
from cschoice.report.contents.pictures import Picture
from cschoice.report.figures.drawing import drawn
from cschoice.report.formats.html.graphics import inline
from cschoice.report.formats.html.tables import html_table
from cschoice.report.formats.text import Files


def html(summary: Summary) -> Files:
    """Return the page."""
    about = f"{summary.inputs.experiment}, profile {summary.inputs.profile}"
    shown = as_json(details(summary))
    return {"report.html": document(TITLE, about, outline(summary), shown).encode()}


def document(heading: str, about: str, sections: Sequence[Section], details: str = "{}") -> str:
    """Return a page of sections."""
    return page(
        title=escape(f"{heading}: {about}" if about else heading),
        heading=escape(heading),
        about=escape(about),
        links="\n".join(
            f'<li><a href="#{section.name}">{escape(section.title)}</a></li>'
            for section in sections
        ),
        sections="\n".join(_section(section) for section in sections),
        details=details,
    )


def page(
    *, title: str, heading: str, about: str, sections: str, links: str = "", details: str = "{}"
) -> str:
    """Return a page with the style and the script of all pages; all parts are HTML."""
    parts = {
        "title": title,
        "heading": heading,
        "about": about,
        "style": _file("page.css"),
        "script": _file("page.js"),
        "links": links,
        "sections": sections,
        "details": details,
    }
    # One pass, so that nothing that is put in is taken for a place to put something.
    pieces = _file("page.html").split("{{")
    return pieces[0] + "".join(
        parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:])
    )


def _file(name: str) -> str:
    return (files("cschoice.report.formats.html") / name).read_text(encoding="utf-8")


def _section(section: Section) -> str:
    """Return a section with its tables, figures and details."""
    return "\n".join(
        [
            f'<section id="{section.name}" aria-labelledby="{section.name}-title">',
            f'<h2 id="{section.name}-title">{escape(section.title)}</h2>',
            *_text(section),
            *(html_table(table) for table in section.tables),
            *(_figure(picture) for picture in section.pictures),
            *(_further(section)),
            "</section>",
        ]
    )


def _text(section: Section) -> Iterator[str]:
    if len(section.text) > 2:
        items = "".join(f"<li>{escape(line)}</li>" for line in section.text)
        yield f"<ul>{items}</ul>"
    else:
        yield from (f"<p>{escape(line)}</p>" for line in section.text)


def _figure(picture: Picture) -> str:
    svg = inline(drawn(picture, "svg").decode(), picture.name, picture.caption)
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
    label = escape(f"Figure: {picture.caption}", quote=True)
    scroll = f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{svg}</div>'
    return f'<figure id="figure-{escape(picture.name)}">{scroll}{caption}</figure>'


def _further(section: Section) -> Iterator[str]:
    for table in (*section.behind_pictures, *section.further):
        yield f"<details><summary>{escape(table.caption)}</summary>{html_table(table)}</details>"
