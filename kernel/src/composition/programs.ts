import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, extname, join, sep } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { CarriedFile } from "../decisions/wishes.ts";
import { sha256 } from "../platform/hash.ts";
import { gitIgnored } from "./git-ignored.ts";
import { isMissing } from "./read-documents.ts";

/** What is loaded into a guest. */
export interface Program {
  readonly kind: "javascript" | "wasm";
  /** Over everything that went into it. */
  readonly digest: Hash;
  readonly bytes: Uint8Array;
  readonly sourceMap?: string;
  /** Of its files those that a person is shown by name; see `CarriedFile`. */
  readonly carries?: readonly CarriedFile[];
}

/** A program, or the sentence that says why there is none; `digest`: of a module that was read and cannot be run. */
export type LoadedProgram =
  | {
      readonly program: Program;
      readonly fault?: undefined;
      readonly digest?: undefined;
      readonly faults?: undefined;
    }
  | {
      readonly program: null;
      readonly fault: string;
      readonly digest?: Hash;
      /** Of its source: how many, and the first. */
      readonly faults?: {
        readonly count: number;
        /** Relative to the extension's folder. */
        readonly file: string;
        /** Counted from 1. */
        readonly line: number;
        readonly message: string;
      };
    };

/** Of a program's files, also where it was found that they cannot be run; null where they could not be read. */
export function digestOfProgram({ program, digest }: LoadedProgram): Hash | null {
  return program?.digest ?? digest ?? null;
}

export interface ProgramLoader {
  /**
   * `main` is relative to the extension's folder. Never throws for what the files hold. A module is looked into
   * only where it may come to run: `looksInto`.
   */
  load(folder: string, main: string, looksInto: boolean): Promise<LoadedProgram>;
}

/** A module larger than this is refused unread. */
export const maxModuleBytes = 32 * 1024 * 1024;

export type Bundle = (source: { folder: string; main: string }) => Promise<
  | {
      ok: true;
      program: {
        digest: Hash;
        bytes: Uint8Array;
        sourceMap?: string;
        /** Of the extension, whose contents are in the program. */
        files: readonly { readonly path: string; readonly bytes: number; readonly isData: boolean }[];
      };
    }
  | { ok: false; errors: readonly { file: string; line: number; column: number; message: string }[] }
>;

/** Says what is wrong with a module, in a sentence; null where it can be run. */
export type CheckModule = (bytes: Uint8Array) => Promise<string | null>;

export function createProgramLoader(bundle: Bundle, checkModule: CheckModule): ProgramLoader {
  return {
    async load(folder, main, looksInto) {
      return extname(main) === ".wasm"
        ? loadModule(folder, main, looksInto ? checkModule : async () => null)
        : loadBundle(folder, main, bundle);
    },
  };
}

async function loadBundle(folder: string, main: string, bundle: Bundle): Promise<LoadedProgram> {
  const result = await bundle({ folder, main });
  if (result.ok) {
    const { digest, bytes, sourceMap, files } = result.program;
    const carries = await carriedFiles(folder, main, files);
    if (typeof carries === "string") return { program: null, fault: carries, digest };
    const map = sourceMap === undefined ? {} : { sourceMap };
    return { program: { kind: "javascript", digest, bytes, ...map, carries } };
  }
  const [first] = result.errors;
  if (first === undefined) return { program: null, fault: `${main} cannot be bundled.` };
  const more = result.errors.length > 1 ? ` (and ${result.errors.length - 1} more)` : "";
  return {
    program: null,
    fault: `${first.file}:${first.line}:${first.column}: ${first.message}${more}`,
    faults: { count: result.errors.length, file: first.file, line: first.line, message: first.message },
  };
}

/** Files that a program may carry; each is named to the person who accepts it. */
export const maxCarriedFiles = 200;

/**
 * What of a program's files a person is shown by name: data, source that lies beside the folder of `main`, and source
 * that git leaves out. Source of packages is not. A sentence where a file may be in no program: data that git leaves out.
 */
async function carriedFiles(
  folder: string,
  main: string,
  files: readonly { readonly path: string; readonly bytes: number; readonly isData: boolean }[],
): Promise<CarriedFile[] | string> {
  const home = dirname(join("/", main)).replaceAll(sep, "/");
  const isOfPackage = (path: string): boolean => path.split("/").includes("node_modules");
  const isBeside = (path: string): boolean => home !== "/" && !`/${path}`.startsWith(`${home}/`);
  const own = files.filter(({ path }) => !isOfPackage(path));
  const ignored = await gitIgnored(
    folder,
    own.map(({ path }) => path),
  );
  const secret = own.find(({ path, isData }) => isData && ignored.has(path));
  if (secret !== undefined)
    return `The program imports ${secret.path}, which git leaves out: such a file may hold secrets, and becomes part of no program. Rename it, or take it out of .gitignore.`;
  const carried = files.filter(
    ({ path, isData }) => isData || (!isOfPackage(path) && (isBeside(path) || ignored.has(path))),
  );
  if (carried.length > maxCarriedFiles)
    return `The program contains ${carried.length} files of data; at most ${maxCarriedFiles} can be shown to whoever accepts it.`;
  return carried.map(({ path, bytes }) => ({ path, bytes }));
}

async function loadModule(folder: string, main: string, checkModule: CheckModule): Promise<LoadedProgram> {
  const bytes = await readModule(folder, main);
  if (typeof bytes === "string") return { program: null, fault: bytes };
  const fault = await checkModule(bytes).catch((error: unknown) => messageOf(error));
  const digest = sha256(bytes);
  return fault === null
    ? { program: { kind: "wasm", digest, bytes } }
    : { program: null, fault: `${main}: ${fault}`, digest };
}

/** The module's bytes, or the sentence that says why not. Nothing outside the extension's folder is read. */
async function readModule(folder: string, main: string): Promise<Uint8Array | string> {
  let real: string;
  try {
    real = await realpath(join(folder, main));
  } catch (error) {
    if (isMissing(error)) return `${main} does not exist.`;
    throw error;
  }
  if (!real.startsWith(folder + sep)) return `${main} leads out of the extension's folder.`;
  // A fifo in a module's place must not hold the kernel up.
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const found = await handle.stat();
    if (!found.isFile()) return `${main} is no file.`;
    if (found.size > maxModuleBytes)
      return `${main} has ${found.size} bytes; a module may have ${maxModuleBytes}.`;
    const bytes = new Uint8Array(found.size);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
