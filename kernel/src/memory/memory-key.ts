import { invalidParams } from "../base/errors.ts";
import { joinPath } from "../platform/files/data-files.ts";

/** Identifies a memory in its kernel: an extension's own, or one that is shared under a name. */
export type MemoryKey = `extension/${string}` | `namespace/${string}`;

/** A hyphen is read in one way only, as in `extensionIdPattern`: otherwise each one would double the time. */
const extensionKey = /^extension\/([a-z0-9]+[.-][a-z0-9-]+(?:\.[a-z0-9-]+)*)$/;
const namespaceKey = /^namespace\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;

/** Returns the folder of a memory beneath the state folder. Throws InvalidParams for an invalid key. */
export function folderOfMemory(stateFolder: string, key: MemoryKey): string {
  const extension = extensionKey.exec(key)?.[1];
  if (extension !== undefined) return joinPath(stateFolder, "extensions", extension, "memory");
  const namespace = namespaceKey.exec(key)?.[1];
  if (namespace !== undefined) return joinPath(stateFolder, "namespaces", namespace, "memory");
  throw invalidParams(`"${key}" is not the key of a memory. A key begins with "extension/" or "namespace/".`);
}

/** Returns the extension that owns the memory; null for a shared one. */
export function ownerOf(key: string): string | null {
  return key.startsWith("extension/") ? key.slice("extension/".length) : null;
}
