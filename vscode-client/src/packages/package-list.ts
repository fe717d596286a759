import { EventEmitter, type Disposable } from "vscode";
import type { ListedPackage, Updated } from "./answers.ts";
import type { PackageCommands } from "./package-commands.ts";

/** What is installed, as it was listed last, and the newer versions that a check found. */
export class PackageList implements Disposable {
  readonly #commands: PackageCommands;
  readonly #roots: () => readonly string[];
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  #all: readonly ListedPackage[] = [];
  #listing: Promise<void> | null = null;
  #isStale = false;
  readonly #updates = new Map<string, string>();

  constructor(commands: PackageCommands, roots: () => readonly string[]) {
    this.#commands = commands;
    this.#roots = roots;
  }

  get all(): readonly ListedPackage[] {
    return this.#all;
  }

  /** The newer version of a package, by its folder. */
  get updates(): ReadonlyMap<string, string> {
    return this.#updates;
  }

  at(folder: string): ListedPackage | undefined {
    return this.#all.find((item) => item.folder === folder);
  }

  /** Lists again. A call during another is answered by one more. */
  async refresh(): Promise<void> {
    if (this.#listing !== null) {
      this.#isStale = true;
      return this.#listing;
    }
    this.#listing = this.#list();
    try {
      await this.#listing;
    } finally {
      this.#listing = null;
    }
  }

  async #list(): Promise<void> {
    do {
      this.#isStale = false;
      this.#all = await this.#commands.list(this.#roots());
      // A check knows nothing of what was updated or removed since.
      for (const [folder, version] of this.#updates)
        if (this.at(folder) === undefined || this.at(folder)?.version === version)
          this.#updates.delete(folder);
    } while (this.#isStale);
    this.#changed.fire();
  }

  /** Keeps the result of a check that ran in `root`. */
  checked(items: readonly Updated[], root: string): void {
    for (const { id, scope, to, state } of items) {
      const item = this.#all.find(
        (each) => each.id === id && each.scope === scope && (scope === "user" || each.root === root),
      );
      if (item === undefined) continue;
      if (state === "available" && to !== null) this.#updates.set(item.folder, to);
      else if (state !== "failed") this.#updates.delete(item.folder);
    }
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
