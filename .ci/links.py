#!/usr/bin/env python3
"""Checks that each link, picture, script and style of the HTML pages in a folder leads to a file of this folder, and each
anchor to an element of its page. Links to the network are not followed.

usage: links.py FOLDER
"""
import html.parser
import pathlib
import sys
import urllib.parse

FEWEST = 500  # links of a whole guide


class Page(html.parser.HTMLParser):
    """Ids and links of a page."""

    def __init__(self, path: pathlib.Path):
        super().__init__()
        self.ids, self.links = {"", "top"}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update({attributes.get("id"), attributes.get("name")})
        self.links += filter(None, (attributes.get("href"), attributes.get("src")))


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    count, faults = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not (target.is_file() and target.is_relative_to(folder)):
                faults.append(f"{path.relative_to(folder)}: {link}: there is no such file")
            elif target in pages and anchor not in pages[target].ids:
                faults.append(f"{path.relative_to(folder)}: {link}: there is no such anchor")
    if count < FEWEST:
        faults.append(f"{count} links are too few for a guide")
    print("\n".join([*faults, f"{len(pages)} pages, {count} links, {len(faults)} dead"]))
    sys.exit(bool(faults))


main()
