import { messageOf } from "../base/errors.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { CarriedFile, ProgramSource } from "../decisions/requested-permissions.ts";
import type { MindFiles } from "../documents/resolved-manifest.ts";
import { sha256 } from "../platform/files/hash.ts";
import { dirname, extname, join, pathInside } from "../platform/files/paths.ts";
import { readProgramFile } from "../platform/files/program-files.ts";

/** What is loaded into a guest. */
export interface Program extends Accepted {
  readonly kind: "javascript" | "wasm";
}

/** The texts of a mind without a program, in a program's place: accepted, stored and shown in the same way. */
export interface MindAlone extends Accepted {
  readonly kind: "mind";
}

/** The parts of an extension that a person accepts besides the manifest. */
interface Accepted {
  /** Digest over every file of the program and of its mind. */
  readonly digest: Hash;
  readonly bytes: Uint8Array;
  readonly sourceMap?: string;
  /** The files that the user is shown by name; see `CarriedFile`. */
  readonly carries?: readonly CarriedFile[];
  /** The program's files, with those of packages last; absent for a module. */
  readonly sources?: readonly ProgramSource[];
  /** The texts of its mind, if it has one. */
  readonly mind?: MindFiles;
}

/** Why an extension with hooks, tools or commands has nothing that could handle them. */
export const noProgram =
  "It has no program: its folder holds no agent.wasm, agent.ts or agent.js, and its manifest names no main.";

/** A program, or the reason why there is none. `digest` is set for a module that was read but cannot run. */
export type LoadedProgram =
  | {
      readonly program: Program | MindAlone;
      readonly fault?: undefined;
      readonly digest?: undefined;
      readonly faults?: undefined;
    }
  | {
      readonly program: null;
      readonly fault: string;
      readonly digest?: Hash;
      /** The errors in its source: how many, and the first. */
      readonly faults?: {
        readonly count: number;
        /** Relative to the extension's folder. */
        readonly file: string;
        /** Counted from 1. */
        readonly line: number;
        readonly message: string;
      };
    };

/** Returns the digest of a program's files, also if they cannot be run; null if they could not be read. */
export function digestOfProgram({ program, digest }: LoadedProgram): Hash | null {
  return program?.digest ?? digest ?? null;
}

export interface ProgramLoader {
  /**
   * Loads a program; `main` is relative to the extension's folder. Never rejects because of what the files hold. A module
   * is checked only if it may run: `checksModules`.
   */
  load(folder: string, main: string, checksModules: boolean): Promise<LoadedProgram>;
}

/** A module larger than this is refused unread. */
const maxModuleBytes = 32 * 1024 * 1024;

export type Bundle = (source: { folder: string; main: string }) => Promise<
  | {
      ok: true;
      program: {
        digest: Hash;
        bytes: Uint8Array;
        sourceMap?: string;
        /** The extension's files whose contents are in the program. */
        files: readonly {
          readonly path: string;
          readonly bytes: number;
          readonly hash: Hash;
          readonly isData: boolean;
        }[];
      };
    }
  | { ok: false; errors: readonly { file: string; line: number; column: number; message: string }[] }
>;

/** Returns the reason why a module cannot run; null if it can. */
type CheckModule = (bytes: Uint8Array) => Promise<string | null>;

/** Says which paths of a folder, relative to it, git leaves out; `fault`: a `.gitignore` that cannot be read. */
type FindGitIgnored = (
  folder: string,
  paths: readonly string[],
) => Promise<{ readonly paths: ReadonlySet<string>; readonly fault: string | null }>;

interface ProgramPorts {
  readonly bundle: Bundle;
  readonly checkModule: CheckModule;
  readonly gitIgnored: FindGitIgnored;
}

export function createProgramLoader(ports: ProgramPorts): ProgramLoader {
  return {
    async load(folder, main, checksModules) {
      return extname(main) === ".wasm"
        ? loadModule(folder, main, checksModules ? ports.checkModule : async () => null)
        : loadBundle(folder, main, ports);
    },
  };
}

async function loadBundle(
  folder: string,
  main: string,
  { bundle, gitIgnored }: Omit<ProgramPorts, "checkModule">,
): Promise<LoadedProgram> {
  const result = await bundle({ folder, main });
  if (result.ok) {
    const { digest, bytes, sourceMap, files } = result.program;
    const carries = await carriedFiles(folder, main, files, gitIgnored);
    if (typeof carries === "string") return { program: null, fault: carries, digest };
    const map = sourceMap === undefined ? {} : { sourceMap };
    const [own, packaged] = [false, true].map((isPackaged) =>
      files.filter(({ path }) => isOfPackage(path) === isPackaged).map(({ path, hash }) => ({ path, hash })),
    );
    const sources = [...(own ?? []), ...(packaged ?? [])];
    return { program: { kind: "javascript", digest, bytes, ...map, carries, sources } };
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

const isOfPackage = (path: string): boolean => path.split("/").includes("node_modules");

/** Files that a program may contain; the user who accepts it is shown each by name. */
const maxCarriedFiles = 200;

/**
 * Returns the files of a program that the user is shown by name: data, source outside the folder of `main`, and
 * source that git ignores; not the source of packages. Returns an error message if the program contains a
 * forbidden file: data that git ignores.
 */
async function carriedFiles(
  folder: string,
  main: string,
  files: readonly { readonly path: string; readonly bytes: number; readonly isData: boolean }[],
  gitIgnored: FindGitIgnored,
): Promise<CarriedFile[] | string> {
  const home = pathInside("/", dirname(join("/", main))) ?? "";
  const isBeside = (path: string): boolean => home !== "" && !path.startsWith(`${home}/`);
  const own = files.filter(({ path }) => !isOfPackage(path));
  const { paths: ignored, fault } = await gitIgnored(
    folder,
    own.map(({ path }) => path),
  );
  const secret = own.find(({ path, isData }) => isData && ignored.has(path));
  if (secret !== undefined && fault !== null)
    return `The program imports ${secret.path}, and git may leave it out: ${fault}. Such a file may hold secrets, and becomes part of no program. Make the .gitignore readable.`;
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

/** Reads the module's bytes, or returns the reason why it cannot. */
async function readModule(folder: string, main: string): Promise<Uint8Array | string> {
  const { bytes, refused, size } = await readProgramFile(folder, main, maxModuleBytes);
  switch (refused) {
    case undefined:
      return bytes;
    case "missing":
      return `${main} does not exist.`;
    case "outside":
      return `${main} leads out of the extension's folder.`;
    case "no-file":
      return `${main} is not a file.`;
    case "too-large":
      return `${main} has ${size} bytes; a module may have ${maxModuleBytes}.`;
  }
}
