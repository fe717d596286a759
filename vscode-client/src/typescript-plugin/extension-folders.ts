import { manifestNames } from "../../../kernel/src/documents/names.ts";
import type { ServerHost } from "./tsserver.ts";

/** So long an answer counts, in milliseconds: a manifest that is made or removed is seen then. */
const freshMs = 5_000;
const maxFolders = 2_000;
const maxManifestBytes = 256 * 1024;
/** YAML's `extension:` and TOML's `[extension]` or `extension.id`; others have an `extension.yaml` that says nothing of it. */
const rootKey = /^\s*[[{]?\s*["']?extension["']?\s*[:.\]=]/m;

/** Knows which extension a file belongs to, and looks at the disk seldom. */
export class ExtensionFolders {
  readonly #host: Pick<ServerHost, "fileExists" | "readFile" | "getFileSize">;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly isExtension: boolean; readonly untilMs: number }>();

  constructor(host: Pick<ServerHost, "fileExists" | "readFile" | "getFileSize">, now: () => number) {
    this.#host = host;
    this.#now = now;
  }

  /** The nearest folder above the file that has a manifest of ours; none for what is in a `node_modules` of it. */
  of(file: string): string | undefined {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end);
      if (folder.endsWith("/node_modules")) return undefined;
      if (this.#isExtension(folder)) return folder;
    }
    return undefined;
  }

  #isExtension(folder: string): boolean {
    const nowMs = this.#now();
    const known = this.#known.get(folder);
    if (known !== undefined && nowMs < known.untilMs) return known.isExtension;
    const isExtension = manifestNames.some((name) => this.#isManifest(`${folder}/${name}`));
    if (this.#known.size >= maxFolders) this.#known.clear();
    this.#known.set(folder, { isExtension, untilMs: nowMs + freshMs });
    return isExtension;
  }

  #isManifest(path: string): boolean {
    if (!this.#host.fileExists(path)) return false;
    if ((this.#host.getFileSize?.(path) ?? 0) > maxManifestBytes) return false;
    return rootKey.test(this.#host.readFile(path) ?? "");
  }
}
