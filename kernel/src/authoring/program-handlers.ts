import { dirname, join } from "../platform/files/paths.ts";
import type { Range } from "vscode-languageserver";
import { isLaresError } from "../base/errors.ts";
import { handlerKinds, type HandlerDeclaration, type HandlerKind } from "../documents/language/program.ts";
import { Lines, type Position } from "../documents/text/diagnostics.ts";
import { handlerUses, type HandlerUse } from "../documents/language/elements.ts";
import { readForEditor } from "../documents/language/for-editors.ts";
import { manifestNames } from "../documents/names.ts";
import { valueAt, type ParsedDocument } from "../documents/text/source.ts";
import type { EditedDocument, OpenTexts } from "../base/vocabulary/editing.ts";
import { ProgramLinks } from "./program-links.ts";
import { openText, type ProgramOutlines, type ProgramText } from "./program-outlines.ts";
import { readText } from "../platform/files/document-files.ts";
import { pathOf, uriOf } from "../platform/files/file-uris.ts";

/** Maximum number of folders above a program that are searched for its manifest, including its own. */
const maxFoldersAbove = 8;

/** Returns whether a file may be a program. */
export function mayBeProgram(uri: string): boolean {
  return /\.[cm]?[jt]s$/.test(uri);
}

/** A handler's name in a program, and the manifest that calls it by that name. */
export interface HandlerInProgram {
  readonly use: HandlerUse;
  /** The range of the name without its quotes. */
  readonly range: Range;
  readonly program: ProgramText;
  readonly manifestUri: string;
  readonly manifestFile: string;
  readonly manifest: ParsedDocument;
}

/**
 * Returns the handler whose name is at the position. Returns null for everything else, which its own language
 * server handles: a file that is not a manifest's program, or a handler that the manifest does not name.
 */
export async function handlerInProgram(
  programs: ProgramOutlines,
  { uri, text }: EditedDocument,
  position: Position,
  open: OpenTexts,
): Promise<HandlerInProgram | null> {
  const file = pathOf(uri);
  const found = file === null ? null : await manifestAbove(file, open);
  if (file === null || found === null) return null;
  const manifest = await readForEditor(found.text, found.file);
  const program = await programs.programOf(found.file, valueAt(manifest.value, "/extension/main"), open);
  if (program === null) return null;
  const lines = new Lines(text);
  const offset = lines.offset(position);
  const links = new ProgramLinks(programs, found.file, open);
  const uses = handlerUses(manifest);
  for (const kind of handlerKinds) {
    for (const { name, key } of await handlersIn(links, program, kind, file)) {
      const use = uses.find((each) => each.kind === kind && each.name === name);
      if (use === undefined || offset < key.start || key.end < offset) continue;
      const quotes = key.end - key.start === name.length + 2 ? 1 : 0;
      const range = lines.range(key.start + quotes, key.end - quotes);
      return { use, range, program, manifestUri: found.uri, manifestFile: found.file, manifest };
    }
  }
  return null;
}

/** Returns the program's handlers that are written in this file. */
async function handlersIn(
  links: ProgramLinks,
  program: ProgramText,
  kind: HandlerKind,
  file: string,
): Promise<readonly HandlerDeclaration[]> {
  try {
    const { files } = await links.handlers(program, kind);
    return files.filter((each) => pathOf(each.program.uri) === file).flatMap(({ handlers }) => handlers);
  } catch (error) {
    // One of its files has syntax errors, which its own language server reports.
    if (isLaresError(error, "InvalidParams")) return [];
    throw error;
  }
}

async function manifestAbove(
  file: string,
  open: OpenTexts,
): Promise<{ file: string; uri: string; text: string } | null> {
  let folder = dirname(file);
  for (let above = 0; above < maxFoldersAbove; above++) {
    for (const name of manifestNames) {
      const manifest = join(folder, name);
      const opened = openText(open, [manifest]);
      if (opened !== null) return { ...opened, file: manifest };
      const text = await readText(manifest);
      if (text !== null) return { file: manifest, uri: uriOf(manifest), text };
    }
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return null;
}
