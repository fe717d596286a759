import * as v from "valibot";
import type { RunCommand } from "../kernel/run-command.ts";
import {
  Installed,
  Listed,
  Offered,
  Removal,
  Removed,
  Search,
  Updates,
  type FoundExtension,
  type ListedPackage,
  type Updated,
} from "./answers.ts";

/** A package to install: `reference` as `lares install` takes it; `from`: the index in which an id is looked up. */
export interface Wanted {
  readonly reference: string;
  readonly from?: string;
}

/** Where a command runs, and what ends it. */
export interface Where {
  /** A folder of the workspace, absolute. */
  readonly root: string;
  readonly signal?: AbortSignal;
}

/**
 * The package commands of `lares`, run as a person would in a terminal: they verify, compare with the pinned publisher and write.
 * What a person is asked comes from a dry run, and the answer names the package by its digest.
 */
export class PackageCommands {
  readonly #run: RunCommand;

  constructor(run: RunCommand) {
    this.#run = run;
  }

  /** Returns what is installed for the person and in these folders; each package once. */
  async list(roots: readonly string[]): Promise<ListedPackage[]> {
    const found = new Map<string, ListedPackage>();
    for (const root of roots) {
      const { items } = v.parse(Listed, await this.#run(["list", "--json"], root));
      for (const item of items) {
        const known = found.get(item.folder);
        // Commands about the person's own extension run where it is used.
        if (known === undefined || (item.inUse && !known.inUse)) found.set(item.folder, { ...item, root });
      }
    }
    return [...found.values()];
  }

  /** Verifies a package and returns its own statements; installs nothing. Rejects if it would be refused. */
  async look(wanted: Wanted, where: Where): Promise<Offered> {
    return v.parse(Offered, await this.#act(["install", "--dry-run"], wanted, where));
  }

  /** Installs the package with this digest. It is allowed nothing yet. */
  async install(wanted: Wanted, sha256: string, where: Where): Promise<void> {
    v.parse(Installed, await this.#act(["install", "--accept", sha256], wanted, where));
  }

  /** Returns how each installed extension compares with where it came from. `id`: this one only. */
  async updates({ root, signal }: Where, id?: string): Promise<Updated[]> {
    const words = ["update", "--dry-run", "--json", ...(id === undefined ? [] : ["--", id])];
    return v.parse(Updates, await this.#run(words, root, signal)).items;
  }

  async update(id: string, sha256: string, { root, signal }: Where): Promise<Updated[]> {
    const words = ["update", "--accept", sha256, "--json", "--", id];
    return v.parse(Updates, await this.#run(words, root, signal)).items;
  }

  async lookAtRemoval(id: string, { root }: Where): Promise<Removal> {
    return v.parse(Removal, await this.#run(["remove", "--dry-run", "--json", "--", id], root));
  }

  /** `forgets`: also deletes what it remembers, for which no kernel may have its workspaces open. */
  async remove(id: string, forgets: boolean, { root }: Where): Promise<void> {
    const words = ["remove", "--yes", ...(forgets ? ["--forget"] : []), "--json", "--", id];
    v.parse(Removed, await this.#run(words, root));
  }

  /** Returns the extensions of an index that have all of the words. */
  async search(index: string, words: string, { root, signal }: Where): Promise<FoundExtension[]> {
    return v.parse(Search, await this.#run(["search", "--from", index, "--json", "--", words], root, signal))
      .items;
  }

  #act(words: readonly string[], { reference, from }: Wanted, { root, signal }: Where): Promise<unknown> {
    const all = [...words, ...(from === undefined ? [] : ["--from", from]), "--json", "--", reference];
    return this.#run(all, root, signal);
  }
}
