import { invalidParams } from "../../base/errors.ts";
import type { TextEdit } from "../text/diagnostics.ts";
import { forbiddenKeys, type ParsedDocument } from "../text/source.ts";
import { replaceString } from "../fixes/edits.ts";
import { handlerUses, isAt, type HandlerUse } from "./elements.ts";
import type { Extent } from "../fixes/extents.ts";
import type { HandlerDeclaration, HandlerKind, ProgramOutline } from "./program.ts";

/** Maximum length of a handler's name, as in the schema. */
const maxNameCharacters = 128;

/** An edit of a program's text. */
export interface ProgramEdit extends Extent {
  readonly newText: string;
}

/** Returns the handler whose name is at this offset of a manifest, or null. */
export function handlerAt(document: ParsedDocument, offset: number): HandlerUse | null {
  return handlerUses(document).find(({ pointer }) => isAt(document, pointer, offset)) ?? null;
}

/** Checks a handler's new name. Throws InvalidParams with the reason if it is not valid. */
export function checkHandlerName(name: string): void {
  const isIdentifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name);
  if (isIdentifier && name.length <= maxNameCharacters && !forbiddenKeys.includes(name)) return;
  throw invalidParams(
    `${JSON.stringify(name.slice(0, maxNameCharacters))} is not a name for a handler. Use letters, digits, _ and $, not a digit first, and at most ${maxNameCharacters} characters.`,
  );
}

/** Returns the edits of a manifest. Throws InvalidParams if another handler already has the name. */
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

/** Returns the edits of one program file; none if it does not contain the handler. */
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
  // `{ name }` also names the function, which is renamed too if nothing else uses its name.
  const places = mayBeNamed(source, newName) ? references(name) : null;
  return places?.map((place) => ({ ...place, newText: newName })) ?? [renameKey(key, source, name, newName)];
}

/** True if a function in this file can have the name: it is neither used nor reserved. */
export function mayBeNamed(source: string, newName: string): boolean {
  return !reserved.has(newName) && !source.includes(newName);
}

/**
 * Renames a property. Quotes stay, because without them a name in brackets would be a variable. `{ name }` keeps
 * its variable.
 */
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

/** Names that are valid for a property but not for a function. */
const reserved: ReadonlySet<string> = new Set(
  (
    "arguments async await break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function if implements import in instanceof interface let new null package private " +
    "protected public return static super switch this throw true try typeof undefined var void while with yield"
  ).split(" "),
);
