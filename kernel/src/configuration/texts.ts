import type { FileText } from "../documents/ports.ts";
import { isRefused } from "../platform/files/document-files.ts";
import { readProgramFile } from "../platform/files/program-files.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a text beneath a real folder, in UTF-8, with its byte order mark; or returns why it is not read. */
export async function readTextIn(folder: string, path: string, maxBytes: number): Promise<FileText> {
  try {
    const { bytes, refused, size } = await readProgramFile(folder, path, maxBytes);
    if (refused === "too-large") return { text: null, refused, size };
    if (bytes === null) return { text: null, refused };
    const text = strict.decode(bytes);
    return text.includes("\0") ? { text: null, refused: "encoding" } : { text };
  } catch (error) {
    if (error instanceof TypeError) return { text: null, refused: "encoding" };
    // Links may have changed since they were resolved.
    if (isRefused(error)) return { text: null, refused: "unreadable" };
    return { text: null, refused: "missing" };
  }
}
