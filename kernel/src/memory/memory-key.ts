import { invalidParams } from "../base/errors.ts";
import { joinPath } from "../platform/files/data-files.ts";

/** Names a memory in its kernel: an extension's own, or one that is shared under a name. */
export type MemoryKey = `extension/${string}` | `namespace/${string}`;

const extensionKey = /^extension\/([a-z0-9]+(?:[.-][a-z0-9-]+)+)$/;
const namespaceKey = /^namespace\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;

/** The folder of a memory beneath the state folder. Throws InvalidParams where the key names none. */
export function folderOfMemory(stateFolder: string, key: MemoryKey): string {
  const extension = extensionKey.exec(key)?.[1];
  if (extension !== undefined) return joinPath(stateFolder, "extensions", extension, "memory");
  const namespace = namespaceKey.exec(key)?.[1];
  if (namespace !== undefined) return joinPath(stateFolder, "namespaces", namespace, "memory");
  throw invalidParams(`"${key}" is the key of no memory: neither an extension's nor a namespace's.`);
}
