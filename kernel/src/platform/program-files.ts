import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { openRootedFs } from "./rooted-fs.ts";

export type Located = { readonly kind: "file" | "folder"; readonly path: string } | "missing" | "outside";

/** The files of one folder, by path relative to it with "/" between names; nothing that lies outside is read. */
export interface ProgramFolder extends Disposable {
  /** Absolute, links resolved. */
  readonly root: string;
  /** Where a name really leads, links resolved (".": the root itself); "outside" where that leaves the root. */
  locate(path: string): Promise<Located>;
  /** A file by the path that `locate` gave; a link that took its place since is refused (ScopeViolation). */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
}

/** Opens the real folder behind `path`. Node's own error where there is none. */
export async function openProgramFolder(path: string): Promise<ProgramFolder> {
  const root = await realpath(path);
  const files = await openRootedFs(root);
  return {
    root,
    async locate(name) {
      try {
        const real = await realpath(join(root, name));
        const inside = relative(root, real);
        if (isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`)) return "outside";
        const found = await stat(real);
        const kind = found.isDirectory() ? "folder" : found.isFile() ? "file" : null;
        return kind === null ? "missing" : { kind, path: inside === "" ? "." : inside.split(sep).join("/") };
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
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && missing.has(error.code)
  );
}
