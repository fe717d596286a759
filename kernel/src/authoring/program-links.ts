import type {
  HandlerDeclaration,
  HandlerHolder,
  HandlerKind,
  Imported,
  ProgramOutline,
} from "../documents/language/program.ts";
import type { Extent } from "../documents/fixes/extents.ts";
import type { OpenTexts } from "../base/vocabulary/editing.ts";
import type { ProgramOutlines, ProgramText } from "./program-outlines.ts";

/** Maximum number of files of one program that are followed through imports. */
const maxFilesFollowed = 32;

/** A file of a program that contains handlers. */
export interface HandlerFile {
  readonly program: ProgramText;
  readonly outline: ProgramOutline;
  readonly handlers: readonly HandlerDeclaration[];
}

interface FoundPlace extends Extent {
  readonly program: ProgramText;
}

/** Follows one extension's imports: only relative ones, and never out of the extension's folder. */
export class ProgramLinks {
  readonly #programs: ProgramOutlines;
  readonly #manifestFile: string;
  readonly #open: OpenTexts;

  constructor(programs: ProgramOutlines, manifestFile: string, open: OpenTexts) {
    this.#programs = programs;
    this.#manifestFile = manifestFile;
    this.#open = open;
  }

  /** Returns the files that contain a program's handlers, possibly including the program itself. */
  async handlers(
    program: ProgramText,
    kind: HandlerKind,
  ): Promise<{ readonly files: readonly HandlerFile[]; readonly isComplete: boolean }> {
    const files: HandlerFile[] = [];
    let isComplete = true;
    const asked = new Set<string>();
    const waiting: { program: ProgramText; exported: string; what: HandlerHolder }[] = [
      { program, exported: "default", what: "agent" },
    ];
    for (const { program: file, exported, what } of waiting) {
      const key = `${file.uri}\n${exported}\n${what}`;
      if (asked.has(key)) continue;
      asked.add(key);
      if (asked.size > maxFilesFollowed) return { files, isComplete: false };
      // An unreadable program is reported to the caller; its other files may be incomplete.
      const outline = file === program ? await this.#programs.outline(file) : await this.outline(file);
      if (outline === null) {
        isComplete = false;
        continue;
      }
      const { found, isComplete: isWhole, elsewhere } = outline.handlersOf(exported, what, kind);
      if (found.length > 0) files.push({ program: file, outline, handlers: found });
      isComplete &&= isWhole;
      for (const { from, name, what: holder } of elsewhere) {
        const next = await this.#fileWith(file, { from, name });
        if (next === null) isComplete = false;
        else waiting.push({ program: next, exported: name, what: holder });
      }
    }
    return { files, isComplete };
  }

  /** Returns where a handler's function is; null if that cannot be determined. */
  async functionOf(file: ProgramText, handler: HandlerDeclaration): Promise<FoundPlace | null> {
    if (handler.imported === null) return { program: file, ...(handler.declared ?? handler.key) };
    let imported: Imported | null = handler.imported;
    let from = file;
    for (let followed = 0; imported !== null && followed < maxFilesFollowed; followed++) {
      const next: ProgramText | null = await this.#fileWith(from, imported);
      const outline: ProgramOutline | null = next && (await this.outline(next));
      const found: ReturnType<ProgramOutline["exported"]> = outline?.exported(imported.name) ?? null;
      if (next === null || found === null) return null;
      if ("declared" in found) return { program: next, ...found.declared };
      from = next;
      imported = found.imported;
    }
    return null;
  }

  /** Returns the file that exports the name. `export *` is followed if only one file has the name. */
  async #fileWith(from: ProgramText, { from: path, name }: Imported): Promise<ProgramText | null> {
    const files: ProgramText[] = [];
    const start = await this.#imported(from, path);
    const waiting = start === null ? [] : [start];
    const seen = new Set<string>();
    for (const file of waiting) {
      if (seen.has(file.uri) || seen.size >= maxFilesFollowed) continue;
      seen.add(file.uri);
      const outline = await this.outline(file);
      if (outline === null) return null;
      if (outline.exportedAs(name) !== null) {
        files.push(file);
        continue;
      }
      for (const star of name === "default" ? [] : outline.stars) {
        const next = await this.#imported(file, star);
        // An unreadable file may also export it.
        if (next === null) return null;
        waiting.push(next);
      }
    }
    return files.length === 1 ? (files[0] ?? null) : null;
  }

  /**
   * Returns all files that a name passes through, from the one that imports it to the one that declares it, as
   * long as it has this name there; null if it cannot be followed that far.
   */
  async filesOfName(file: ProgramText, name: string): Promise<readonly ProgramText[] | null> {
    const files = [file];
    let local: string | null = name;
    for (let from = file; local === name;) {
      const outline = await this.outline(from);
      const imported: Imported | null = outline?.importedAs(name) ?? null;
      // Declared here, or exported there under another name.
      if (imported === null || imported.name !== name) break;
      const next = await this.#fileWith(from, imported);
      if (next === null || files.length >= maxFilesFollowed || files.some(({ uri }) => uri === next.uri))
        return null;
      files.push(next);
      from = next;
      local = (await this.outline(next))?.exportedAs(name) ?? null;
    }
    return files;
  }

  outline(file: ProgramText): Promise<ProgramOutline | null> {
    return this.#programs.outlineOrNull(file);
  }

  #imported(from: ProgramText, path: string): Promise<ProgramText | null> {
    return this.#programs.imported(this.#manifestFile, from, path, this.#open);
  }
}
