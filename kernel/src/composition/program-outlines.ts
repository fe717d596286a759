import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join, normalize, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { invalidParams, isLaresError, messageOf } from "../base/errors.ts";
import { Lines } from "../documents/diagnostics.ts";
import { maxProgramCharacters, readProgram, type ProgramOutline } from "../documents/language/program.ts";
import { defaultPrograms } from "../documents/resolved-manifest.ts";
import { openProgramFolder } from "../platform/program-files.ts";
import { maxFileBytes } from "../sandbox/bundle/bounds.ts";
import { transformFile } from "../sandbox/bundle/transform.ts";
import type { OpenTexts } from "../server/language/ports.ts";
import { pathOf } from "./workspace-paths.ts";

/** Outlines kept, the ones used longest ago being dropped first. */
const maxOutlines = 64;
/** Files, and folders, of one extension that are looked through for whoever imports a name. */
const maxSources = 500;
/** Tried behind an import's name, as the bundler does. */
const sourceEndings = ["", ".ts", ".js", "/index.ts", "/index.js"];

/** A file of a program, as the client has it or as it is on disk. */
export interface ProgramText {
  readonly uri: string;
  /** Relative to the manifest's folder, as it is named. */
  readonly path: string;
  readonly text: string;
  /** A link is on the way to it: the file has another name as well. */
  readonly isLinked: boolean;
}

/** Reads programs of extensions for their outlines, and nothing outside the extensions' folders. */
export class ProgramOutlines {
  readonly #known = new Map<string, Promise<ProgramOutline>>();

  /** The program that a manifest has; null where there is no such file. A module has no text to look into: null too. */
  async programOf(manifestFile: string, main: unknown, open: OpenTexts): Promise<ProgramText | null> {
    const names = typeof main === "string" ? [main] : defaultPrograms;
    for (const name of names) {
      const found = await this.read(manifestFile, name, open);
      if (found !== null) return found;
    }
    return null;
  }

  /** A file of the extension, by its path from the manifest; null where there is none that could be looked into. */
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
      const bytes = await files.read(located.path, maxFileBytes);
      return { uri: pathToFileURL(file).href, path, text: new TextDecoder().decode(bytes), isLinked };
    } catch (error) {
      // Gone meanwhile, too large or out of reach: no program to look into.
      if (isLaresError(error) || isMissing(error)) return null;
      throw error;
    }
  }

  /** The file that an import of this one means. */
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

  /** All files of the extension that may be of its program, links left out; null where they are too many. */
  async sources(manifestFile: string, open: OpenTexts): Promise<readonly ProgramText[] | null> {
    const root = dirname(manifestFile);
    const found: ProgramText[] = [];
    const folders = [root];
    for (const folder of folders) {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git") folders.push(path);
        const source = entry.isFile() ? await this.read(manifestFile, relative(root, path), open) : null;
        if (source !== null) found.push(source);
        if (folders.length > maxSources || found.length > maxSources) return null;
      }
    }
    return found;
  }

  /** Of the manifest's program, as it is open or on disk; null where there is none that can be read. */
  async outlineAt(manifestFile: string, main: unknown, open: OpenTexts): Promise<ProgramOutline | null> {
    const program = await this.programOf(manifestFile, main, open);
    return program === null ? null : this.outlineOrNull(program);
  }

  /** Null where the file is no program yet, as its own editor says. */
  async outlineOrNull(program: ProgramText): Promise<ProgramOutline | null> {
    try {
      return await this.outline(program);
    } catch (error) {
      if (isLaresError(error, "InvalidParams")) return null;
      throw error;
    }
  }

  /** InvalidParams where the file cannot be read as a program; it says why. */
  async outline({ path, text }: ProgramText): Promise<ProgramOutline> {
    // Before it becomes a key: what is kept is bounded by this.
    if (text.length > maxProgramCharacters)
      throw invalidParams(
        `${basename(path)} cannot be read: it has ${text.length} characters; up to ${maxProgramCharacters} are looked into.`,
      );
    const key = `${path.endsWith("js") ? "js" : "ts"}\n${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) this.#known.delete(key);
    const reading = known ?? outlineOf(text, path.endsWith("js") ? "js" : "ts");
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

async function outlineOf(text: string, loader: "ts" | "js"): Promise<ProgramOutline> {
  const { code, origin } = await transformFile(text, loader);
  const lines = new Lines(text);
  return readProgram(text, {
    code,
    sourceOffset: (line, column) => {
      const at = origin(line, column);
      return at === null ? null : lines.offset({ line: at.line - 1, character: at.column });
    },
  });
}

/** The first of these files that a client has open, by the name it has for it. */
export function openText(open: OpenTexts, files: readonly string[]): { uri: string; text: string } | null {
  for (const uri of open.uris()) {
    // Clients write the same path in different ways, and have much else open.
    const path = files.some((file) => uri.endsWith(extname(file))) ? pathOf(uri) : null;
    const text = path !== null && files.includes(path) ? open.text(uri) : null;
    if (text !== null) return { uri, text };
  }
  return null;
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "EPERM";
}

/** The bundler's own error lists what is wrong; the parser throws a SyntaxError, and RangeError is for what is too deep. */
function isUnreadable(error: unknown): error is Error {
  return (
    error instanceof SyntaxError ||
    error instanceof RangeError ||
    (error instanceof Error && "errors" in error)
  );
}

/** The bundler's message has a headline before what went wrong, and the place. */
function firstLine(message: string): string {
  const [headline = "", first = headline] = message.split("\n");
  return first.replace(/^<stdin>:(\d+):(\d+): (?:ERROR: )?/, "line $1: ");
}
