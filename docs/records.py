#!/usr/bin/env python3
"""Preprocessor of mdBook: adds the files outside of docs to which the guide links, so that its links lead somewhere.

Every file of text that the guide links, or that such a file links in turn, becomes a chapter of a last part. Markdown
becomes a chapter as it is; a source becomes a block of code. The path of a chapter is the path in the repository, without
`docs`. A link to anything else, such as a folder, becomes text followed by the path.

mdBook writes `[context, book]` as JSON to the standard input, and reads the book from the standard output.
"""
import json
import os
import pathlib
import re
import sys

PART = "Records and files"
LANGUAGES = {".toml": "toml", ".rs": "rust", ".py": "python", ".sh": "bash"}
LARGEST = 64_000  # bytes of a source that is shown

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:`[^`\n]*`|[^\[\]`])*)\]\(([^()\s]+)\)")


def chapters(items: list):
    """Yields all chapters with a file, also those below others."""
    for chapter in (item["Chapter"] for item in items if "Chapter" in item):
        if chapter["path"]:
            yield chapter
        yield from chapters(chapter["sub_items"])


def is_shown(path: pathlib.Path) -> bool:
    """Whether a file outside of the guide becomes a chapter."""
    source = path.suffix in LANGUAGES and path.is_file() and path.stat().st_size <= LARGEST
    return source or path.suffix == ".md" and path.is_file()


def in_book(path: pathlib.Path) -> pathlib.Path:
    """Path of the chapter of a file, or of a picture of the guide, in the book."""
    path = path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)
    if path.name == "README.md":
        return path.with_name("index.md")
    return path.with_name(path.name + ".md") if path.suffix in LANGUAGES else path


def linked(text: str, file: pathlib.Path, found: dict) -> str:
    """Returns the text of a file with links as they are in the book. Adds the linked files outside of docs to `found`."""

    def link(match: re.Match) -> str:
        picture, label, target = match.groups()
        if re.match("[a-z]+:|#", target):
            return match[0]
        name, hash_, anchor = target.partition("#")
        path = pathlib.Path(os.path.normpath(file.parent / name))
        if not path.exists():
            sys.exit(f"error: {file.relative_to(ROOT)}: {target}: there is no such file")
        outside = not path.is_relative_to(DOCS)
        if outside and (picture or not is_shown(path)):
            return f"{label} (`{path.relative_to(ROOT)}`)"
        if outside:
            found.setdefault(path)
        way = os.path.relpath(in_book(path), in_book(file).parent)
        return f"{picture}[{label}]({way}{hash_}{anchor})"

    # code stays as it is, except in the label of a link
    code = [range(*match.span()) for match in CODE.finditer(text)]
    return LINK.sub(lambda match: match[0] if any(match.start() in span for span in code) else link(match), text)


def record(path: pathlib.Path, found: dict) -> dict:
    """Returns the chapter of a file outside of docs."""
    text, name = path.read_text(), str(path.relative_to(ROOT))
    if path.suffix == ".md":
        title = re.search("^# (.*)", text, re.MULTILINE)[1].replace("`", "")
        text = linked(text, path, found)
    else:
        title, text = name, f"# {name}\n\n```{LANGUAGES[path.suffix]}\n{text}```\n"
    place = {"path": str(in_book(path)), "source_path": None, "number": None, "parent_names": [], "sub_items": []}
    return {"Chapter": {"name": title, "content": text, **place}}


def main():
    if sys.argv[1:2] == ["supports"]:
        sys.exit(sys.argv[2] != "html")
    book = json.load(sys.stdin)[1]
    found = {}
    for chapter in chapters(book["items"]):
        chapter["content"] = linked(chapter["content"], DOCS / chapter["source_path"], found)
    records = {}
    while waiting := found.keys() - records.keys():
        records.update({path: record(path, found) for path in waiting})
    book["items"] += [{"PartTitle": PART}, *(records[path] for path in sorted(records, key=lambda path: path.parts))]
    json.dump(book, sys.stdout)


main()
