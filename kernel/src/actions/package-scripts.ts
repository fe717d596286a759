import { LaresError } from "../base/errors.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import { parentOf } from "../policy/paths.ts";
import { type ScriptTargets, scriptTargets } from "../policy/script-targets.ts";

/** A larger `package.json` is not read; everything below it counts as run by it. */
const maxPackageBytes = 1024 * 1024;

/** Knows which files the packages above them run. Each package is read once. */
export class PackageScripts {
  readonly #files: WorkspaceFiles;
  readonly #packages = new Map<string, Promise<ScriptTargets | null>>();

  constructor(files: WorkspaceFiles) {
    this.#files = files;
  }

  /**
   * Returns whether a script of a `package.json` in a folder above names the path, or a member of that folder. Members are
   * relative to it; a package among them is protected by its own name.
   */
  async run(path: string, members: readonly string[] = []): Promise<boolean> {
    for (let folder = parentOf(path); folder !== null; folder = parentOf(folder)) {
      const targets = await this.#targetsOf(folder);
      if (targets === null) continue;
      const inside = folder === "." ? path : path.slice(folder.length + 1);
      if (targets(inside) || members.some((member) => targets(`${inside}/${member}`))) return true;
    }
    return false;
  }

  #targetsOf(folder: string): Promise<ScriptTargets | null> {
    const known = this.#packages.get(folder) ?? this.#read(folder);
    this.#packages.set(folder, known);
    return known;
  }

  async #read(folder: string): Promise<ScriptTargets | null> {
    const path = folder === "." ? "package.json" : `${folder}/package.json`;
    try {
      const stat = await this.#files.stat(path);
      if (stat?.kind !== "file") return null;
      if (stat.size > maxPackageBytes) return () => true;
      const bytes = await this.#files.readFile(path, { maxBytes: maxPackageBytes });
      return scriptTargets(new TextDecoder().decode(bytes));
    } catch (error) {
      // It went away, grew, or lies behind a link: the action does not fail for that.
      if (error instanceof LaresError) return error.code === "NotFound" ? null : () => true;
      throw error;
    }
  }
}
