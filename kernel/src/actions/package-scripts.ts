import { LaresError } from "../base/errors.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import { parentOf } from "../policy/paths.ts";
import { type ScriptTargets, scriptTargets } from "../policy/script-targets.ts";

/** A larger `package.json` is not read; everything below it counts as run by it. */
const maxPackageBytes = 1024 * 1024;

/** Knows which files the packages above them run. Each package is read once. */
export class PackageScripts {
  readonly #files: WorkspaceFiles;
  readonly #isVisible: (path: string) => boolean;
  readonly #packages = new Map<string, Promise<ScriptTargets | null>>();

  /** `isVisible`: the agent may read this file, if it is there. */
  constructor(files: WorkspaceFiles, isVisible: (path: string) => boolean) {
    this.#files = files;
    this.#isVisible = isVisible;
  }

  /**
   * Returns whether a script of a `package.json` in a folder above names the path, or a member of that folder. Members are
   * relative to it; a package among them is protected by its own name. Where the agent cannot see a `package.json`, every
   * program counts as named by it, whether or not it is there: the answer tells nothing about a hidden file.
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

  async #targetsOf(folder: string): Promise<ScriptTargets | null> {
    if (!this.#isVisible(packageIn(folder))) return isProgram;
    const known = this.#packages.get(folder) ?? this.#read(folder);
    this.#packages.set(folder, known);
    return known;
  }

  async #read(folder: string): Promise<ScriptTargets | null> {
    const path = packageIn(folder);
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

function packageIn(folder: string): string {
  return folder === "." ? "package.json" : `${folder}/package.json`;
}

/** Returns whether a script of a package could run the file by its name's ending, or by its lack of one. */
function isProgram(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return !name.includes(".") || programEnding.test(name);
}

const programEnding =
  /\.(?:[cm]?[jt]sx?|coffee|py[wc]?|rb|pl|pm|php|lua|tcl|r|jl|go|rs|java|kts?|scala|swift|cs|fsx?|groovy|gradle|exs?|erl|hs|clj|awk|sed|mk|wasm|vue|svelte)$/i;
