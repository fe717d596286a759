import type { CpuBudget } from "../../base/cpu-budget.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { parentOf } from "../../policy/paths.ts";
import { isProgram } from "../../policy/script-targets.ts";
import type { ContentWork } from "../ports.ts";

interface PackageScriptsPorts {
  readonly files: WorkspaceFiles;
  readonly contents: Pick<ContentWork, "scripts">;
}

/** Finds out whether scripts of the packages above a file run it. */
export class PackageScripts {
  readonly #ports: PackageScriptsPorts;
  readonly #isVisible: (path: string) => boolean;
  readonly #budget: CpuBudget;
  /** Whether these folders have a package, for the time of this plan. */
  readonly #found = new Map<string, Promise<boolean>>();

  /** `isVisible`: true if the agent may read this file, whether or not it exists. Reading is charged to the budget. */
  constructor(ports: PackageScriptsPorts, isVisible: (path: string) => boolean, budget: CpuBudget) {
    this.#ports = ports;
    this.#isVisible = isVisible;
    this.#budget = budget;
  }

  /**
   * Returns true if a script of a `package.json` in a folder above names the path, or a member of that folder. Members
   * are relative to the path; a package among them is protected by its own name. If the agent cannot see a
   * `package.json`, every program counts as named by it, whether or not it exists, so that the answer reveals nothing
   * about a hidden file.
   */
  async run(path: string, members: readonly string[] = []): Promise<boolean> {
    for (let folder = parentOf(path); folder !== null; folder = parentOf(folder)) {
      const inside = folder === "." ? path : path.slice(folder.length + 1);
      const isSeen = this.#isVisible(packageIn(folder));
      if (isSeen && !(await this.#hasPackage(folder))) continue;
      const files = [inside, ...members.map((member) => `${inside}/${member}`)];
      const runs = isSeen
        ? await this.#ports.contents.scripts(packageIn(folder), files, this.#budget)
        : files.some(isProgram);
      if (runs) return true;
    }
    return false;
  }

  /**
   * Returns true if the folder has a `package.json`, even if it is not a regular file: the thread handles that case.
   */
  #hasPackage(folder: string): Promise<boolean> {
    const known = this.#found.get(folder) ?? this.#looksFor(packageIn(folder));
    this.#found.set(folder, known);
    return known;
  }

  async #looksFor(path: string): Promise<boolean> {
    try {
      return (await this.#ports.files.stat(path)) !== null;
    } catch {
      // The path may lead through a link; the thread looks again and decides.
      return true;
    }
  }
}

function packageIn(folder: string): string {
  return folder === "." ? "package.json" : `${folder}/package.json`;
}
