import process from "node:process";
import { pathToFileURL } from "node:url";
import { pathOfFileUri } from "../../base/file-uri.ts";

/** Returns the absolute path that a client's URI of a file names; null for any other, and for one that can name none. */
export function pathOf(uri: string): string | null {
  return pathOfFileUri(uri, process.platform);
}

/** Returns the `file:` URI of an absolute path. */
export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}
