"""The language server with the scripted client pytest-lsp: each request, and latencies during edits."""

import json
import os
import statistics
import time
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

PROJECT = Path(os.environ["PROJECT"])
DOCUMENT = PROJECT / "openapi" / "library.yaml"
TEXT = DOCUMENT.read_text()
SERIES = 100
LARGE = 4_000_000


@pytest_lsp.fixture(config=ClientServerConfig(server_command=json.loads(os.environ["SERVER"])))
async def client(lsp_client: LanguageClient):
    folder = types.WorkspaceFolder(uri=PROJECT.as_uri(), name="library")
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities("neovim"), root_uri=folder.uri, workspace_folders=[folder]
        )
    )
    yield
    await lsp_client.shutdown_session()


class Editor:
    """A document that is open in the client."""

    def __init__(self, client: LanguageClient, path: Path, text: str):
        self.client, self.uri, self.lines, self.version = client, path.as_uri(), text.split("\n"), 1
        item = types.TextDocumentItem(uri=self.uri, language_id="yaml", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    @property
    def identifier(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(uri=self.uri)

    def position(self, text: str, after: str = "") -> types.Position:
        """Returns where a text begins, after the line that contains `after`. The text must be ASCII up to there."""
        first = next(number for number, line in enumerate(self.lines) if after in line)
        number = next(n for n in range(first, len(self.lines)) if text in self.lines[n])
        return types.Position(line=number, character=self.lines[number].index(text))

    def at(self, kind, text: str, after: str = "", **more):
        """Returns the parameters of a request at a text."""
        return kind(text_document=self.identifier, position=self.position(text, after), **more)

    def replace(self, old: str, new: str, after: str = "") -> None:
        """Replaces a text within a line."""
        start = self.position(old, after)
        end = types.Position(line=start.line, character=start.character + len(old))
        line = self.lines[start.line]
        self.lines[start.line] = line[: start.character] + new + line[end.character :]
        self.version += 1
        change = types.TextDocumentContentChangePartial(range=types.Range(start=start, end=end), text=new)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                text_document=types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version),
                content_changes=[change],
            )
        )

    async def checked(self) -> None:
        """Waits until the document was checked for the first time."""
        while self.uri not in self.client.diagnostics:
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)

    async def diagnostics(self, rule: str, expected: bool = True) -> list[types.Diagnostic]:
        """Waits until a rule reports something, or nothing any more. Returns what it reports."""
        while True:
            known = self.client.diagnostics.get(self.uri)
            found = [one for one in known or [] if one.code == rule]
            if known is not None and bool(found) == expected:
                return found
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


def applied(editor: Editor, edit: types.WorkspaceEdit) -> str:
    """Returns the text of a document after an edit of it."""
    edits = edit.changes[editor.uri] if edit.changes else edit.document_changes[0].edits
    lines = list(editor.lines)
    for one in sorted(edits, key=lambda it: (it.range.start.line, it.range.start.character), reverse=True):
        start, end = one.range.start, one.range.end
        rest = lines[start.line][: start.character] + one.new_text + lines[end.line][end.character :]
        lines[start.line : end.line + 1] = rest.split("\n")
    return "\n".join(lines)


@pytest.mark.asyncio
async def test_each_request(client: LanguageClient):
    editor = Editor(client, DOCUMENT, TEXT)
    reference = "'#/components/schemas/Book'"

    hover = await client.text_document_hover_async(editor.at(types.HoverParams, "listBooks"))
    assert "list_books.rs" in hover.contents.value
    assert "1.0.0" in hover.contents.value

    code = await client.text_document_definition_async(editor.at(types.DefinitionParams, "listBooks"))
    code = code[0] if isinstance(code, list) else code
    assert code.uri.endswith("/src/operations/list_books.rs")

    target = await client.text_document_definition_async(editor.at(types.DefinitionParams, reference))
    target = target[0] if isinstance(target, list) else target
    assert (target.uri, editor.lines[target.range.start.line].strip()) == (editor.uri, "Book:")

    at_component = types.Position(line=target.range.start.line, character=target.range.start.character)
    uses = await client.text_document_references_async(
        types.ReferenceParams(
            text_document=editor.identifier,
            position=at_component,
            context=types.ReferenceContext(include_declaration=False),
        )
    )
    assert {editor.lines[use.range.start.line].strip() for use in uses} >= {f"$ref: {reference}"}

    renamed = await client.text_document_rename_async(
        types.RenameParams(text_document=editor.identifier, position=at_component, new_name="Volume")
    )
    text = applied(editor, renamed)
    assert reference not in text
    assert text.count("'#/components/schemas/Volume'") == TEXT.count(reference)

    symbols = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text_document=editor.identifier)
    )
    names = json.dumps([one.name for one in symbols] + [c.name for s in symbols for c in s.children or []])
    assert "listBooks" in names or "/books" in names

    editor.replace(reference, "'#/components/schemas/'")
    inside = editor.position("'#/components/schemas/'")
    inside.character += len("'#/components/schemas/")
    offered = await client.text_document_completion_async(
        types.CompletionParams(text_document=editor.identifier, position=inside)
    )
    items = offered.items if isinstance(offered, types.CompletionList) else offered
    assert any("Book" in item.label for item in items)

    found = await editor.diagnostics("invalid-ref")
    assert len(found) == 1
    editor.replace("'#/components/schemas/'", reference)
    await editor.diagnostics("invalid-ref", expected=False)


@pytest.mark.asyncio
async def test_rubbish_does_not_end_the_server(client: LanguageClient):
    editor = Editor(client, DOCUMENT, "\0\u2028[{:")
    far = types.Position(line=2**31 - 1, character=2**31 - 1)
    assert await client.text_document_hover_async(
        types.HoverParams(text_document=editor.identifier, position=far)
    ) is None
    missing = types.TextDocumentIdentifier(uri="untitled:none")
    assert await client.text_document_hover_async(types.HoverParams(text_document=missing, position=far)) is None
    with pytest.raises(Exception, match="not supported"):
        await client.protocol.send_request_async("no/such", {"x": [None]})
    ours = Editor(client, PROJECT / "openapi" / "other.yaml", TEXT)
    hover = await client.text_document_hover_async(ours.at(types.HoverParams, "listBooks"))
    assert hover is not None


def large() -> str:
    """Returns a document of 4 MB: the operations of the frozen one, again and again under other paths."""
    begin = TEXT.index("\npaths:\n") + len("\npaths:\n")
    end = TEXT.index("\ncomponents:\n") + 1
    paths = TEXT[begin:end]
    copies = LARGE // len(paths)
    numbered = (
        paths.replace("  /books", f"  /books{n}").replace("operationId: ", f"operationId: n{n}")
        for n in range(copies)
    )
    return TEXT[:end] + "".join(numbered) + TEXT[end:]


@pytest.mark.asyncio
@pytest.mark.parametrize("text", [TEXT, large()], ids=["library", "large"])
async def test_latencies_while_typing(client: LanguageClient, text: str):
    """Each request is sent right after a typed character. The figures are printed, not judged."""
    editor = Editor(client, PROJECT / "openapi" / "typed.yaml", text)
    since = time.perf_counter()
    await editor.checked()
    print(f"{len(text):,} bytes: open and checked after {time.perf_counter() - since:.2f} s")
    durations: dict[str, list[float]] = {"hover": [], "definition": [], "completion": []}
    for number in range(SERIES):
        editor.replace("title: ", f"title: {number} ")
        for name, request, parameters in [
            ("hover", client.text_document_hover_async, editor.at(types.HoverParams, "listBooks")),
            ("definition", client.text_document_definition_async, editor.at(types.DefinitionParams, "'#/comp")),
            ("completion", client.text_document_completion_async, editor.at(types.CompletionParams, "summary:")),
        ]:
            since = time.perf_counter()
            await request(parameters)
            durations[name].append((time.perf_counter() - since) * 1000)
    for name, series in durations.items():
        median, longest = statistics.median(series), max(series)
        print(f"{len(text):,} bytes: {name}: median {median:.1f} ms, longest {longest:.1f} ms of {SERIES}")
