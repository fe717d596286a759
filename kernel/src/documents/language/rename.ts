import { invalidParams } from "../../base/errors.ts";
import type { TextEdit } from "../text/diagnostics.ts";
import { forbiddenKeys, type ParsedDocument } from "../text/source.ts";
import { replaceString } from "../fixes/edits.ts";
import { handlerUses, isAt, type HandlerUse } from "./elements.ts";
import type { Extent } from "../fixes/extents.ts";
import type { HandlerDeclaration, HandlerKind, ProgramOutline } from "./program.ts";

/** As long as the schema lets a handler's name be. */
const maxNameCharacters = 128;

/** A change of a program's text. */
export interface ProgramEdit extends Extent {
  readonly newText: string;
}

/** The handler whose name stands at this offset of a manifest; null where there is none. */
export function handlerAt(document: ParsedDocument, offset: number): HandlerUse | null {
  return handlerUses(document).find(({ pointer }) => isAt(document, pointer, offset)) ?? null;
}

/** What a handler may be called in a program; throws InvalidParams, saying why a name is none. */
export function checkHandlerName(name: string): void {
  const isIdentifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name);
  if (isIdentifier && name.length <= maxNameCharacters && !forbiddenKeys.includes(name)) return;
  throw invalidParams(
    `${JSON.stringify(name.slice(0, maxNameCharacters))} is no name for a handler: letters, digits, _ and $, not a digit first, at most ${maxNameCharacters} characters.`,
  );
}

/** The new name at each place where the manifest names this handler; InvalidParams where another has it already. */
export function renameInManifest(
  document: ParsedDocument,
  { kind, name }: HandlerUse,
  newName: string,
): TextEdit[] {
  const uses = handlerUses(document).filter((use) => use.kind === kind);
  if (uses.some((use) => use.name === newName))
    throw invalidParams(
      `The manifest names a handler "${newName}" already; the two could not be told apart.`,
    );
  return uses
    .filter((use) => use.name === name)
    .map(({ pointer }) => replaceString(document, pointer, newName))
    .filter((edit) => edit !== null);
}

/** The new name in a file of the program; nothing where that does not have the handler. */
export function renameInProgram(
  { handlers, references, reads }: Pick<ProgramOutline, "handlers" | "references" | "reads">,
  source: string,
  { kind, name }: { readonly kind: HandlerKind; readonly name: string },
  newName: string,
): ProgramEdit[] {
  const declared = handlers[kind].filter((handler) => handler.name === name);
  if (declared.length === 0) return [];
  return [
    ...declared.flatMap((handler) => renameDeclaration(handler, references, source, newName)),
    ...reads(kind, name).map((read) => renameKey(read, source, read.isShorthand ? name : null, newName)),
  ];
}

function renameDeclaration(
  { name, key, isShorthand }: HandlerDeclaration,
  references: ProgramOutline["references"],
  source: string,
  newName: string,
): ProgramEdit[] {
  if (!isShorthand) return [renameKey(key, source, null, newName)];
  // `{ name }` is the function's name as well: it goes along where nothing else speaks of it.
  const places = mayBeNamed(source, newName) ? references(name) : null;
  return places?.map((place) => ({ ...place, newText: newName })) ?? [renameKey(key, source, name, newName)];
}

/** Whether a function of this file can have the name: it means nothing else, there or in the language. */
export function mayBeNamed(source: string, newName: string): boolean {
  return !reserved.has(newName) && !source.includes(newName);
}

/** A property's name; quotes stay, for in brackets it would be a variable's without them. `{ name }` keeps its variable. */
function renameKey(
  { start, end }: Extent,
  source: string,
  variable: string | null,
  newName: string,
): ProgramEdit {
  if (variable !== null) return { start, end, newText: `${newName}: ${variable}` };
  const quotes = /["'`]/.test(source.charAt(start)) ? 1 : 0;
  return { start: start + quotes, end: end - quotes, newText: newName };
}

/** Names that a property may have, and a function may not. */
const reserved: ReadonlySet<string> = new Set(
  (
    "arguments async await break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function if implements import in instanceof interface let new null package private " +
    "protected public return static super switch this throw true try typeof undefined var void while with yield"
  ).split(" "),
);
