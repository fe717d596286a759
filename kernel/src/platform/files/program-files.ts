import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { systemCode } from "../../base/errors.ts";
import { isMissing as isNotThere } from "./document-files.ts";
import { isWithin, join, pathInside } from "./paths.ts";
import { openRootedFs } from "./rooted-fs.ts";

export type Located = { readonly kind: "file" | "folder"; readonly path: string } | "missing" | "outside";

/** The files of one folder, by relative path with "/" between names. Nothing outside the folder is read. */
export interface ProgramFolder extends Disposable {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** Returns the real path of a name, links resolved (".": the root itself); "outside" if that leaves the root. */
  locate(path: string): Promise<Located>;
  /** Reads a file by a path that `locate` returned; throws ScopeViolation if a link has replaced it. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
}

/** Opens the real folder of `path`. Throws Node's own error if there is none. */
export async function openProgramFolder(path: string): Promise<ProgramFolder> {
  const root = await realpath(path);
  const files = await openRootedFs(root);
  return {
    root,
    async locate(name) {
      try {
        const real = await realpath(join(root, name));
        const inside = pathInside(root, real);
        if (inside === null) return "outside";
        const found = await stat(real);
        const kind = found.isDirectory() ? "folder" : found.isFile() ? "file" : null;
        return kind === null ? "missing" : { kind, path: inside === "" ? "." : inside };
      } catch (error) {
        if (isMissing(error)) return "missing";
        throw error;
      }
    },
    read: (name, maxBytes) => files.readFile(name, { maxBytes }),
    [Symbol.dispose]: () => files[Symbol.dispose](),
  };
}

const missing = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EACCES"]);

function isMissing(error: unknown): boolean {
  return missing.has(systemCode(error));
}

type ProgramFile =
  | { readonly bytes: Uint8Array; readonly refused?: undefined; readonly size?: undefined }
  | { readonly bytes: null; readonly refused: "missing" | "outside" | "no-file"; readonly size?: undefined }
  | { readonly bytes: null; readonly refused: "too-large"; readonly size: number };

/** Reads one file of a real folder, or returns why it cannot. Rejects with Node's own error if access is refused. */
export async function readProgramFile(folder: string, path: string, maxBytes: number): Promise<ProgramFile> {
  let real: string;
  try {
    real = await realpath(join(folder, path));
  } catch (error) {
    if (isNotThere(error)) return { bytes: null, refused: "missing" };
    throw error;
  }
  if (!isWithin(folder, real)) return { bytes: null, refused: "outside" };
  // Opening a FIFO in place of a module must not block the kernel.
  await using handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const found = await handle.stat();
  if (!found.isFile()) return { bytes: null, refused: "no-file" };
  if (found.size > maxBytes) return { bytes: null, refused: "too-large", size: found.size };
  const bytes = new Uint8Array(found.size);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return { bytes: bytes.subarray(0, bytesRead) };
}
