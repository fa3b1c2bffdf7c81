"""The committee edition of every hospital as one: what all of them say stands once, what some say is marked as theirs.

Nothing is written here: each is composed as for the press, with the hospital that it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dossier.core import bands, types
from dossier.report import compose, draw

FIGURES = "dossier:figures/"
"""Where an image of a page finds its picture."""


@dataclass(frozen=True)
class Edition:
    """An edition before the screen: its body, and the pictures that it shows by the names that it gives them."""

    body: Element
    pictures: Mapping[str, types.Picture]


def whose(gallery: types.Gallery) -> tuple[str | None, ...]:
    """For which hospitals the file holds the committee edition: for none, then each; of many as it was asked for."""
    names = tuple(site.name for site in types.externals(gallery.evidence))
    return (None, *names) if 1 < len(names) < bands.MANY_SITES else (gallery.evidence.local_site,)


def committee(gallery: types.Gallery, draft: bool, text: bytes) -> Edition:
    """The committee edition for all of them; what is not for the hospital that was asked for is hidden.

    What is not for all says for which: `data-for` holds their places, of which 0 is no hospital.
    """
    names = whose(gallery)
    shown, pictures = names.index(gallery.evidence.local_site), dict[str, types.Picture]()
    galleries = draw.at_hospitals(gallery, names) if len(names) > 1 else [gallery]
    bodies = [parsed(html) for html in compose.for_the_screen(galleries, draft, text, "committee")]
    for at, (here, body) in enumerate(zip(galleries, bodies, strict=True)):
        for image in body.iter("img"):
            if (found := here.pictures.get(named(image))) is not None:
                # The same picture of another hospital lends its name.
                same = (name for name, each in pictures.items() if replace(each, name=found.name) == found)
                called = next(same, f"{found.name}-{at}")
                pictures[called] = replace(found, name=called)
                image.attrib["src"] = f"{FIGURES}{called}.svg"
    for sections in zip(*bodies, strict=True):
        sections[0][:] = _together(sections, shown)
    for at, block in enumerate(bodies[0].iterfind("./section/*[@data-for]")):
        for each in block.iter():
            each.attrib |= {"id": f"{each.get('id')}-{at}"} if "id" in each.attrib else {}
    return Edition(bodies[0], pictures)


def parsed(html: str) -> Element:
    """The body of a page as our templates write it, which is XML."""
    return next(ElementTree.fromstring(html).iter("body"))


def named(image: Element) -> str:
    """Which picture an image of a page shows."""
    return image.get("src", "").removeprefix(FIGURES).removesuffix(".svg")


@dataclass
class _Block:
    """What stands by itself in a section, and for which hospitals."""

    element: Element
    text: str
    whose: set[int] = field(default_factory=set)


def _together(sections: Sequence[Element], shown: int) -> list[Element]:
    """The blocks of one section for all hospitals, each once, in an order that is that of each."""
    held: list[_Block] = []
    for at, section in enumerate(sections):
        own = [_Block(each, ElementTree.tostring(each, encoding="unicode").strip()) for each in section]
        matched = SequenceMatcher(None, [each.text for each in held], [each.text for each in own], autojunk=False)
        for kind, first, last, begin, end in reversed(matched.get_opcodes()):
            if kind != "equal":
                held[last:last] = own[begin:end]
                first, last = last, last + end - begin
            for each in held[first:last]:
                each.whose.add(at)
    for each in held:
        if len(each.whose) < len(sections):
            each.element.attrib["data-for"] = " ".join(str(at) for at in sorted(each.whose))
            each.element.attrib |= {} if shown in each.whose else {"hidden": ""}
    return [each.element for each in held]
