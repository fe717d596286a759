import { LaresError } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { sha256 } from "../../platform/files/hash.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { type ScriptTargets, scriptTargets } from "../../policy/script-targets.ts";
import type { ScriptsRequest } from "../content-requests.ts";

/** A larger `package.json` is not read; everything below it counts as run by it. */
const maxPackageBytes = 1024 * 1024;
/**
 * The number of packages whose targets are cached. The key is the content, so a changed file is never confused with its
 * old version.
 */
const maxPackages = 8;

/** Determines which files packages run. Reading and matching may take long, so this runs in the content thread. */
export class Packages {
  readonly #files: WorkspaceFiles;
  readonly #known = new Map<Hash, ScriptTargets>();

  constructor(files: WorkspaceFiles) {
    this.#files = files;
  }

  async runOne({ path, files }: ScriptsRequest): Promise<boolean> {
    const targets = await this.#targetsOf(path);
    return targets !== null && files.some(targets);
  }

  async #targetsOf(path: string): Promise<ScriptTargets | null> {
    try {
      const stat = await this.#files.stat(path);
      if (stat?.kind !== "file") return null;
      if (stat.size > maxPackageBytes) return () => true;
      const bytes = await this.#files.readFile(path, { maxBytes: maxPackageBytes });
      const hash = sha256(bytes);
      const known = this.#known.get(hash);
      if (known !== undefined) return known;
      const targets = scriptTargets(new TextDecoder().decode(bytes));
      const oldest = this.#known.keys().next();
      if (this.#known.size >= maxPackages && oldest.done !== true) this.#known.delete(oldest.value);
      this.#known.set(hash, targets);
      return targets;
    } catch (error) {
      // The file disappeared, grew, or lies behind a link; the action does not fail because of that.
      if (error instanceof LaresError) return error.code === "NotFound" ? null : () => true;
      throw error;
    }
  }
}
