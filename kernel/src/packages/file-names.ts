import { named } from "../base/named.ts";
import { foldName } from "../base/names.ts";
import { visibleText } from "../base/visible-text.ts";
import { packageBounds } from "./bounds.ts";

/** Names that Windows gives to devices, also with an ending. */
const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/iu;

/** Returns a path for a sentence, with every character visible. */
export const shownPath = (path: string): string => visibleText(named(path.slice(0, 300)));

/**
 * Returns why no package may have a file of this name, as the end of a sentence that begins with the name; null if it
 * may. A name must mean the same file beneath the folder on every system.
 */
export function nameFault(path: string): string | null {
  const { maxPathBytes, maxPathDepth } = packageBounds;
  if (path === "") return "is empty";
  if (new TextEncoder().encode(path).length > maxPathBytes) return `has more than ${maxPathBytes} bytes`;
  if (!path.isWellFormed() || path.normalize("NFC") !== path) return "is not written in Unicode's form NFC";
  if (path.includes("\\")) return "holds a backslash, which separates folders on Windows";
  if (path.startsWith("/")) return "is absolute";
  if (/[\u0000-\u001f\u007f-\u009f<>:"|?*\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u.test(path))
    return "holds a character that file names cannot have on every system";
  const names = path.split("/");
  if (names.length > maxPathDepth) return `lies more than ${maxPathDepth} folders deep`;
  for (const name of names) {
    if (name === "") return "has an empty part";
    if (name === "." || name === "..") return "leaves its folder";
    if (/[. ]$/.test(name)) return "has a part that ends with a dot or a space";
    if (deviceName.test(name)) return "is the name of a device on Windows";
  }
  // Objects of JavaScript order such keys in their own way, or do not keep them.
  if (path === "__proto__" || /^[0-9]+$/.test(path)) return "is not a name for a file of a package";
  return null;
}

/** Finds names that are one file, or a file and a folder, on a file system that folds case or Unicode. */
export class NameClashes {
  readonly #files = new Map<string, string>();
  /** The spelling of each folder, by its folded form. */
  readonly #folders = new Map<string, string>();

  /** Returns the name with which this one clashes, and remembers it; null if there is none. */
  add(path: string): string | null {
    const names = path.split("/");
    const folded = names.map((name) => foldName(name.normalize("NFKC")));
    for (let depth = 1; depth < names.length; depth++) {
      const key = folded.slice(0, depth).join("/");
      const folder = names.slice(0, depth).join("/");
      const other = this.#files.get(key) ?? this.#folders.get(key) ?? folder;
      if (other !== folder || this.#files.has(key)) return other;
      this.#folders.set(key, folder);
    }
    const key = folded.join("/");
    const other = this.#files.get(key) ?? this.#folders.get(key);
    if (other !== undefined) return other;
    this.#files.set(key, path);
    return null;
  }
}
