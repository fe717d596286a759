import { basename, dirname, extname } from "../platform/files/paths.ts";
import { invalidParams } from "../base/errors.ts";
import { Lines } from "../documents/text/diagnostics.ts";
import type { HandlerUse } from "../documents/language/elements.ts";
import { countWords } from "../documents/language/program-names.ts";
import { mayBeNamed, renameInProgram, type ProgramEdit } from "../documents/language/rename.ts";
import type { FileEdits, OpenTexts } from "../base/vocabulary/editing.ts";
import { ProgramLinks, type HandlerFile } from "./program-links.ts";
import type { ProgramOutlines, ProgramText } from "./program-outlines.ts";

interface Renaming {
  readonly use: HandlerUse;
  readonly newName: string;
  readonly links: ProgramLinks;
  /** All files that may import from each other; null if there are too many to search. */
  readonly sources: () => Promise<readonly ProgramText[] | null>;
}

/**
 * Returns the edits that rename a handler in all files of its program. A function in shorthand (`{ name }`) is
 * renamed too if all its uses are known; otherwise it keeps its name (`{ newName: name }`). Rejects with
 * InvalidParams and the reason if the new name is taken, or if the uses of the old one cannot be determined.
 */
export async function renameHandler(
  programs: ProgramOutlines,
  manifestFile: string,
  program: ProgramText,
  { use, newName, open }: { use: HandlerUse; newName: string; open: OpenTexts },
): Promise<readonly FileEdits[]> {
  const links = new ProgramLinks(programs, manifestFile, open);
  const sources = (): Promise<readonly ProgramText[] | null> => programs.sources(manifestFile, open);
  const renaming: Renaming = { use, newName, links, sources };
  const { files, isComplete } = await links.handlers(program, use.kind);
  if (files.some(({ handlers }) => handlers.some(({ name }) => name === newName)))
    throw invalidParams(`The program has a handler "${newName}" among its ${use.kind} already.`);
  const holders = files.filter(({ handlers }) => handlers.some(({ name }) => name === use.name));
  if (holders.length === 0 && !isComplete)
    throw invalidParams(
      `It cannot be told where ${basename(program.path)} has "${use.name}": some of its ${use.kind} are computed, or come from outside the extension. Rename it there and in the manifest by hand.`,
    );
  const edits = new Map<string, { program: ProgramText; edits: ProgramEdit[] }>();
  for (const holder of holders) {
    if (holder.program.uri !== program.uri) await checkReaders(holder, renaming);
    for (const each of await editsOf(holder, renaming)) {
      const before = edits.get(each.program.uri);
      if (before !== undefined)
        throw invalidParams(
          `${basename(each.program.path)} has "${use.name}" in several ways. Rename it there and in the manifest by hand.`,
        );
      edits.set(each.program.uri, each);
    }
  }
  return [...edits.values()].map(({ program: { uri, text }, edits: changes }) => {
    const lines = new Lines(text);
    return {
      uri,
      edits: changes.map(({ start, end, newText }) => ({ range: lines.range(start, end), newText })),
    };
  });
}

async function editsOf(
  { program, outline, handlers }: HandlerFile,
  renaming: Renaming,
): Promise<readonly { program: ProgramText; edits: ProgramEdit[] }[]> {
  const { use, newName } = renaming;
  const inShort = handlers.filter(({ name, isShorthand }) => name === use.name && isShorthand);
  const followed =
    inShort.length === 1 && outline.importedAs(use.name) !== null
      ? await functionEdits(program, renaming)
      : null;
  if (followed !== null) return followed;
  const inFile = { ...outline, handlers: { ...outline.handlers, [use.kind]: handlers } };
  return [{ program, edits: renameInProgram(inFile, program.text, use, newName) }];
}

/** Returns the edits for a function that a file imports and uses in shorthand; null if not all its uses are known. */
async function functionEdits(
  program: ProgramText,
  { use: { name }, newName, links, sources }: Renaming,
): Promise<{ program: ProgramText; edits: ProgramEdit[] }[] | null> {
  const files = await links.filesOfName(program, name);
  if (files === null) return null;
  const all: { program: ProgramText; edits: ProgramEdit[] }[] = [];
  for (const file of files) {
    const places = (await links.outline(file))?.placesOf(name) ?? null;
    if (places === null || file.isLinked || !mayBeNamed(file.text, newName)) return null;
    // Any other shorthand also names a property, which must not change.
    if (places.filter(({ isShorthand }) => isShorthand).length !== (file === program ? 1 : 0)) return null;
    if (places.length === 0) continue;
    all.push({ program: file, edits: places.map(({ start, end }) => ({ start, end, newText: newName })) });
  }
  const known = await sources();
  const others = known?.filter(({ uri }) => !files.some((file) => file.uri === uri)) ?? null;
  if (others === null || others.some((other) => files.some((file) => mayRead(other, file, name))))
    return null;
  return all;
}

/** A record of handlers in its own file may be read from other files (`hooks.name`), which cannot be renamed safely. */
async function checkReaders({ program }: HandlerFile, { use: { name }, sources }: Renaming): Promise<void> {
  if (program.isLinked)
    throw invalidParams(`"${name}" is in a file that is reached through a link. Rename it by hand.`);
  const known = await sources();
  if (known === null)
    throw invalidParams(
      `The extension has too many files to tell which of them use "${name}". Rename it by hand.`,
    );
  const reader = known.find((other) => other.uri !== program.uri && mayRead(other, program, name));
  if (reader !== undefined)
    throw invalidParams(
      `${basename(reader.path)} may use "${name}" of ${basename(program.path)} too, which cannot be told for sure. Rename it by hand.`,
    );
}

/** Returns whether a file may import the other and contains the name. */
function mayRead(reader: ProgramText, file: ProgramText, name: string): boolean {
  const own = basename(file.path, extname(file.path));
  const imported = own === "index" ? basename(dirname(file.path)) : own;
  return countWords(reader.text, name) > 0 && (imported === "." || reader.text.includes(imported));
}
