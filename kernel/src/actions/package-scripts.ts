import type { CpuBudget } from "../base/cpu-budget.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import { parentOf } from "../policy/paths.ts";
import type { ContentWork } from "./ports.ts";

export interface PackageScriptsPorts {
  readonly files: WorkspaceFiles;
  readonly contents: Pick<ContentWork, "scripts">;
}

/** Knows which files the packages above them run. */
export class PackageScripts {
  readonly #ports: PackageScriptsPorts;
  readonly #isVisible: (path: string) => boolean;
  readonly #budget: CpuBudget;
  /** Whether there is a package in these folders, during this plan. */
  readonly #found = new Map<string, Promise<boolean>>();

  /** `isVisible`: the agent may read this file, if it is there. What is read is charged to the budget. */
  constructor(ports: PackageScriptsPorts, isVisible: (path: string) => boolean, budget: CpuBudget) {
    this.#ports = ports;
    this.#isVisible = isVisible;
    this.#budget = budget;
  }

  /**
   * Returns whether a script of a `package.json` in a folder above names the path, or a member of that folder. Members are
   * relative to it; a package among them is protected by its own name. Where the agent cannot see a `package.json`, every
   * program counts as named by it, whether or not it is there: the answer tells nothing about a hidden file.
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
   * Returns whether the folder has a `package.json`. True even if it is not a plain file: the thread handles that case.
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
      // A link on the way, perhaps: asked again, and judged, by the thread.
      return true;
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
