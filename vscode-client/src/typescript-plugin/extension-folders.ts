import { manifestNames } from "../../../kernel/src/documents/names.ts";
import type { ServerHost } from "./tsserver.ts";

/** How long an answer is cached, in milliseconds: after this time a created or removed manifest is noticed. */
const freshMs = 5_000;
const maxFolders = 2_000;
const maxManifestBytes = 256 * 1024;
/**
 * YAML's `extension:` and TOML's `[extension]` or `extension.id`; other software has files named `extension.yaml`
 * without this key. The blanks at the beginning are those of one line, so that none is read again for another line.
 */
const rootKey = /^[^\S\n\r\u2028\u2029]*(?:[[{][^\S\n\r\u2028\u2029]*)?["']?extension["']?\s*[:.\]=]/m;

/** Finds the extension that a file belongs to, with few file system accesses. */
export class ExtensionFolders {
  readonly #host: Pick<ServerHost, "fileExists" | "readFile" | "getFileSize">;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly isExtension: boolean; readonly untilMs: number }>();

  constructor(host: Pick<ServerHost, "fileExists" | "readFile" | "getFileSize">, now: () => number) {
    this.#host = host;
    this.#now = now;
  }

  /** Returns the nearest folder above the file that has a Lares manifest; undefined for files in a `node_modules`. */
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
