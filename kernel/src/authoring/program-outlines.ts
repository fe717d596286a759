import { basename, dirname, extname, join, normalize, pathInside } from "../platform/files/paths.ts";
import { invalidParams, isLaresError, messageOf, systemCode } from "../base/errors.ts";
import { Lines } from "../documents/text/diagnostics.ts";
import { maxProgramCharacters, readProgram, type ProgramOutline } from "../documents/language/program.ts";
import { defaultPrograms } from "../documents/resolved-manifest.ts";
import { openProgramFolder } from "../platform/files/program-files.ts";
import { entriesIn } from "../platform/files/document-files.ts";
import type { OpenTexts } from "../base/vocabulary/editing.ts";
import { pathOf, uriOf } from "../platform/files/file-uris.ts";

/** Outlines that are cached; the least recently used are evicted first. */
const maxOutlines = 64;
/** Maximum number of files and folders of one extension that are searched for imports of a name. */
const maxSources = 500;
/** Suffixes to try after an import's name, as the bundler does. */
const sourceEndings = ["", ".ts", ".js", "/index.ts", "/index.js"];

/** A file of a program, as the client has it open or as it is on disk. */
export interface ProgramText {
  readonly uri: string;
  /** Relative to the manifest's folder, as imported. */
  readonly path: string;
  readonly text: string;
  /** True if the path contains a link, so that the file has another name too. */
  readonly isLinked: boolean;
}

/** How programs are read, as the bundler reads them. */
export interface SourceReader {
  /** Maximum size of a program file. */
  readonly maxFileBytes: number;
  /**
   * Turns a file into JavaScript. `origin`: the place in the source, lines counted from 1, for a place in the code. Throws
   * an error that lists `errors`, or a SyntaxError, for a file that is not a program.
   */
  transform(
    text: string,
    loader: "ts" | "js",
  ): Promise<{
    readonly code: string;
    origin(line: number, column: number): { readonly line: number; readonly column: number } | null;
  }>;
}

/** Reads the programs of extensions for their outlines. Reads nothing outside the extensions' folders. */
export class ProgramOutlines {
  readonly #sources: SourceReader;
  readonly #known = new Map<string, Promise<ProgramOutline>>();

  constructor(sources: SourceReader) {
    this.#sources = sources;
  }

  /** Returns the program of a manifest; null if the file does not exist or is a module, which has no text. */
  async programOf(manifestFile: string, main: unknown, open: OpenTexts): Promise<ProgramText | null> {
    const names = typeof main === "string" ? [main] : defaultPrograms;
    for (const name of names) {
      const found = await this.read(manifestFile, name, open);
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns a file of the extension by its path from the manifest; null if it cannot be read. */
  async read(manifestFile: string, path: string, open: OpenTexts): Promise<ProgramText | null> {
    if (!/\.[cm]?[jt]s$/.test(path)) return null;
    const folder = dirname(manifestFile);
    const file = join(folder, path);
    try {
      using files = await openProgramFolder(folder);
      const located = await files.locate(path);
      if (typeof located === "string" || located.kind !== "file") return null;
      const opened = openText(open, [file, join(files.root, located.path)]);
      const isLinked = normalize(path) !== normalize(located.path);
      if (opened !== null) return { ...opened, path, isLinked };
      const bytes = await files.read(located.path, this.#sources.maxFileBytes);
      return { uri: uriOf(file), path, text: new TextDecoder().decode(bytes), isLinked };
    } catch (error) {
      // The file was removed, is too large or inaccessible.
      if (isLaresError(error) || isMissing(error)) return null;
      throw error;
    }
  }

  /** Returns the file that an import in this file refers to. */
  async imported(
    manifestFile: string,
    from: ProgramText,
    name: string,
    open: OpenTexts,
  ): Promise<ProgramText | null> {
    if (!/^\.{1,2}\//.test(name)) return null;
    const path = join(dirname(from.path), name);
    const candidates = sourceEndings.map((ending) => path + ending);
    for (const candidate of [...candidates, path.replace(/\.js$/, ".ts")]) {
      const found = await this.read(manifestFile, candidate, open);
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns all files of the extension that may belong to its program, without links; null if there are too many. */
  async sources(manifestFile: string, open: OpenTexts): Promise<readonly ProgramText[] | null> {
    const root = dirname(manifestFile);
    const found: ProgramText[] = [];
    const folders = [root];
    for (const folder of folders) {
      for (const { name, kind } of await entriesIn(folder)) {
        const path = join(folder, name);
        if (kind === "folder" && name !== "node_modules" && name !== ".git") folders.push(path);
        const inside = pathInside(root, path);
        const source =
          kind === "file" && inside !== null ? await this.read(manifestFile, inside, open) : null;
        if (source !== null) found.push(source);
        if (folders.length > maxSources || found.length > maxSources) return null;
      }
    }
    return found;
  }

  /** Returns the outline of the manifest's program, as open in an editor or on disk; null if it cannot be read. */
  async outlineAt(manifestFile: string, main: unknown, open: OpenTexts): Promise<ProgramOutline | null> {
    const program = await this.programOf(manifestFile, main, open);
    return program === null ? null : this.outlineOrNull(program);
  }

  /** Returns null if the file has syntax errors, which its own language server reports. */
  async outlineOrNull(program: ProgramText): Promise<ProgramOutline | null> {
    try {
      return await this.outline(program);
    } catch (error) {
      if (isLaresError(error, "InvalidParams")) return null;
      throw error;
    }
  }

  /** Rejects with InvalidParams and the reason if the file cannot be read as a program. */
  async outline({ path, text }: ProgramText): Promise<ProgramOutline> {
    // Checked before the text becomes a key, so that the cache is bounded.
    if (text.length > maxProgramCharacters)
      throw invalidParams(
        `${basename(path)} cannot be read: it has ${text.length} characters; up to ${maxProgramCharacters} are looked into.`,
      );
    const key = `${path.endsWith("js") ? "js" : "ts"}\n${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) this.#known.delete(key);
    const reading = known ?? outlineOf(this.#sources, text, path.endsWith("js") ? "js" : "ts");
    this.#known.set(key, reading);
    if (this.#known.size > maxOutlines) this.#known.delete(this.#known.keys().next().value ?? "");
    try {
      return await reading;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      throw invalidParams(`${basename(path)} cannot be read: ${firstLine(messageOf(error))}`);
    }
  }
}

async function outlineOf(
  { transform }: SourceReader,
  text: string,
  loader: "ts" | "js",
): Promise<ProgramOutline> {
  const { code, origin } = await transform(text, loader);
  const lines = new Lines(text);
  return readProgram(text, {
    code,
    sourceOffset: (line, column) => {
      const at = origin(line, column);
      return at === null ? null : lines.offset({ line: at.line - 1, character: at.column });
    },
  });
}

/** Returns the first of these files that a client has open, with the client's URI for it. */
export function openText(open: OpenTexts, files: readonly string[]): { uri: string; text: string } | null {
  for (const uri of open.uris()) {
    // Clients write the same path in different ways and have many other files open.
    const path = files.some((file) => uri.endsWith(extname(file))) ? pathOf(uri) : null;
    const text = path !== null && files.includes(path) ? open.text(uri) : null;
    if (text !== null) return { uri, text };
  }
  return null;
}

function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "EPERM";
}

/** The bundler's error lists the problems; the parser throws a SyntaxError, or a RangeError for too deep nesting. */
function isUnreadable(error: unknown): error is Error {
  return (
    error instanceof SyntaxError ||
    error instanceof RangeError ||
    (error instanceof Error && "errors" in error)
  );
}

/** The bundler's message begins with a headline and the place. */
function firstLine(message: string): string {
  const [headline = "", first = headline] = message.split("\n");
  return first.replace(/^<stdin>:(\d+):(\d+): (?:ERROR: )?/, "line $1: ");
}
