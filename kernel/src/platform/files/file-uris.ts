import process from "node:process";
import { pathToFileURL } from "node:url";
import { pathOfFileUri } from "../../base/file-uri.ts";

/** Returns the absolute path of a client's `file:` URI; null for any other URI, and for an invalid one. */
export function pathOf(uri: string): string | null {
  return pathOfFileUri(uri, process.platform);
}

/** Returns the `file:` URI of an absolute path. */
export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}
