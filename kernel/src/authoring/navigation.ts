import { basename, dirname, join, resolve } from "../platform/files/paths.ts";
import { isLaresError } from "../base/errors.ts";
import { plainMessage } from "../base/plain-text.ts";
import { Lines, type Position, type Range } from "../documents/text/diagnostics.ts";
import { extensionUses, handlerUses, isAt, type ExtensionUse } from "../documents/language/elements.ts";
import { readForEditor } from "../documents/language/for-editors.ts";
import type { HandlerKind } from "../documents/language/program.ts";
import { checkHandlerName, handlerAt, renameInManifest } from "../documents/language/rename.ts";
import { outlineOf } from "../documents/language/symbols.ts";
import { documentKind } from "../documents/names.ts";
import { valueAt, type ParsedDocument } from "../documents/text/source.ts";
import type {
  AgentPlace,
  Declaration,
  EditedDocument,
  FileEdits,
  OpenTexts,
  OutlinePart,
} from "../base/vocabulary/editing.ts";
import type { NavigationService } from "../services/editing.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { diagnosticsOf, faultOf } from "./document-checks.ts";
import type { ExtensionOnDisk } from "../configuration/find-extensions.ts";
import { handlerInProgram, mayBeProgram, type HandlerInProgram } from "./program-handlers.ts";
import { ProgramLinks } from "./program-links.ts";
import type { ProgramOutlines, ProgramText } from "./program-outlines.ts";
import { renameHandler } from "./rename-handler.ts";
import { pathOf, uriOf } from "../platform/files/file-uris.ts";

/** Creates outlines, definitions, renames and quick fixes, and finds the places that represent agents. */
export function createNavigation(
  documents: WorkspaceDocuments,
  programs: ProgramOutlines,
): NavigationService {
  return new Navigation(documents, programs);
}

class Navigation implements NavigationService {
  readonly #documents: WorkspaceDocuments;
  readonly #programs: ProgramOutlines;

  constructor(documents: WorkspaceDocuments, programs: ProgramOutlines) {
    this.#documents = documents;
    this.#programs = programs;
  }

  handles(uri: string): boolean {
    return documentKind(uri) !== undefined;
  }

  async outline({ uri, text }: EditedDocument): Promise<readonly OutlinePart[]> {
    return outlineOf(await readForEditor(text, uri));
  }

  async definition(
    { uri, text }: EditedDocument,
    position: Position,
    open: OpenTexts,
  ): Promise<Declaration[]> {
    const file = pathOf(uri);
    if (file === null) return [];
    const document = await readForEditor(text, uri);
    const offset = document.lines.offset(position);
    if (documentKind(uri) === "lares") {
      const use = extensionUses(document).find(({ pointer }) => isAt(document, pointer, offset));
      return use === undefined ? [] : this.#manifestOf(document, use, file);
    }
    const handler = handlerAt(document, offset);
    if (handler === null && !isAt(document, "/extension/main", offset)) return [];
    const program = await this.#programOf(document, file, open);
    if (program === null) return [];
    if (handler === null) return [link(document, "/extension/main", program.uri, startOfText)];
    const found = await this.#declarationOf(program, file, handler, open);
    return [link(document, handler.pointer, found.uri, found.range)];
  }

  renames(uri: string): boolean {
    return documentKind(uri) === "manifest" || mayBeProgram(uri);
  }

  async prepareRename(edited: EditedDocument, position: Position, open: OpenTexts) {
    const named = await this.#handlerNamed(edited, position, open);
    return named === null ? null : { range: named.range, placeholder: named.use.name };
  }

  async rename(
    edited: EditedDocument,
    position: Position,
    newName: string,
    open: OpenTexts,
  ): Promise<readonly FileEdits[] | null> {
    const named = await this.#handlerNamed(edited, position, open);
    if (named === null) return null;
    const { use, manifest, program } = named;
    if (use.name === newName) return [];
    checkHandlerName(newName);
    const inManifest = { uri: named.manifestUri, edits: renameInManifest(manifest, use, newName) };
    if (program === null) return [inManifest];
    const renaming = { use, newName, open };
    return [inManifest, ...(await renameHandler(this.#programs, named.manifestFile, program, renaming))];
  }

  /** Returns the handler whose name is at the position, in a manifest or its program. */
  async #handlerNamed(
    edited: EditedDocument,
    position: Position,
    open: OpenTexts,
  ): Promise<NamedHandler | null> {
    const { uri, text } = edited;
    if (mayBeProgram(uri)) return handlerInProgram(this.#programs, edited, position, open);
    const file = pathOf(uri);
    if (file === null || documentKind(uri) !== "manifest") return null;
    const manifest = await readForEditor(text, uri);
    const use = handlerAt(manifest, manifest.lines.offset(position));
    if (use === null) return null;
    // Without the quotes.
    const range = manifest.locateWithin(use.pointer, 0, use.name.length);
    const program = await this.#programOf(manifest, file, open);
    return { use, range, manifest, manifestUri: uri, manifestFile: file, program };
  }

  async fixes({ uri, text }: EditedDocument, range: Range, open: OpenTexts) {
    const file = pathOf(uri);
    if (file === null) return [];
    const asked = { file, text, open, leavesForeign: true };
    const { diagnostics: faults } = await diagnosticsOf(this.#documents, this.#programs, asked);
    return faults
      .filter((fault) => touches(fault.range, range))
      .flatMap((fault) => {
        const shown = faultOf(fault);
        return fault.fixes.map(({ title, edits, isPreferred = false }) => ({
          title: plainMessage(title),
          edits,
          isPreferred,
          fault: shown,
        }));
      });
  }

  async agentPlaces({ uri, text }: EditedDocument, limit: number): Promise<readonly AgentPlace[]> {
    const file = pathOf(uri);
    if (file === null) return [];
    const document = await readForEditor(text, uri);
    if (documentKind(uri) === "manifest") return placesOfManifest(document).slice(0, limit);
    const finder = this.#documents.createFinder();
    const found: AgentPlace[] = [];
    // Each requires reading from disk, and a document may contain very many.
    for (const { reference, pointer } of extensionUses(document).slice(0, limit)) {
      const extension =
        "path" in reference ? await finder.byPath(reference.path, file) : await finder.byId(reference.id);
      const agent = extension?.checked.value?.id;
      if (agent !== undefined) found.push({ range: document.locate(pointer), agent });
    }
    return found;
  }

  async #manifestOf(document: ParsedDocument, use: ExtensionUse, file: string): Promise<Declaration[]> {
    const finder = this.#documents.createFinder();
    const { reference } = use;
    const found =
      "path" in reference ? await finder.byPath(reference.path, file) : await finder.byId(reference.id);
    if (found === null) return [];
    const { locate } = found.checked.document;
    const id = locate("/extension/id");
    return [link(document, use.pointer, uriOf(manifestFile(use, found, file)), id)];
  }

  /** Returns null if there is no source to read: no file, or a module. */
  #programOf(document: ParsedDocument, file: string, open: OpenTexts): Promise<ProgramText | null> {
    return this.#programs.programOf(file, valueAt(document.value, "/extension/main"), open);
  }

  /** Returns where a handler is written, or the program's beginning if that cannot be determined. */
  async #declarationOf(
    program: ProgramText,
    file: string,
    { kind, name }: { kind: HandlerKind; name: string },
    open: OpenTexts,
  ): Promise<{ uri: string; range: Range }> {
    const links = new ProgramLinks(this.#programs, file, open);
    const known = await links.handlers(program, kind).catch((error: unknown) => {
      // Incomplete: fall back to the program's beginning.
      if (isLaresError(error, "InvalidParams")) return { files: [] };
      throw error;
    });
    for (const { program: holder, handlers } of known.files) {
      const handler = handlers.find((each) => each.name === name);
      if (handler === undefined) continue;
      const found = (await links.functionOf(holder, handler)) ?? { program: holder, ...handler.key };
      const { uri, text } = found.program;
      return { uri, range: new Lines(text).range(found.start, found.end) };
    }
    return { uri: program.uri, range: startOfText };
  }
}

type NamedHandler = Omit<HandlerInProgram, "program"> & { readonly program: ProgramText | null };

const startOfText: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

function placesOfManifest(document: ParsedDocument): AgentPlace[] {
  const agent = valueAt(document.value, "/extension/id");
  if (typeof agent !== "string") return [];
  const hooks = handlerUses(document).filter(({ kind }) => kind === "hooks");
  return [
    { range: document.locate("/extension", "key"), agent },
    ...hooks.map(({ owner, name }) => {
      const on = valueAt(document.value, `${owner}/on`);
      const event = typeof on === "string" ? on : "ScheduleFired";
      return { range: document.locate(owner), agent, hook: { handler: name, event } };
    }),
  ];
}

/** Returns the path as the document names it, so that an editor opens the file under the name it knows. */
function manifestFile({ reference }: ExtensionUse, found: ExtensionOnDisk, file: string): string {
  return "path" in reference
    ? join(resolve(dirname(file), reference.path), basename(found.manifest.file))
    : found.manifest.file;
}

function link(document: ParsedDocument, pointer: string, uri: string, range: Range): Declaration {
  return { origin: document.locate(pointer), uri, range };
}

function touches(one: Range, other: Range): boolean {
  return !isBefore(one.end, other.start) && !isBefore(other.end, one.start);
}

function isBefore(one: Position, other: Position): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}
