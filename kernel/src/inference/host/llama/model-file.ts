import { open, stat, type FileHandle } from "node:fs/promises";
import { messageOf } from "../../../base/errors.ts";
import type { ModelFiles } from "../../messages.ts";
import { unusable, UnusableModel } from "../../unusable.ts";
import { NotGguf, readGgufHead, type GgufHead } from "./gguf.ts";

/** Checks all of a model's files. Throws UnusableModel, with what to do. */
export async function checkModelFiles({ files, place }: ModelFiles): Promise<GgufHead> {
  const [first, ...others] = files;
  const head = await checked(first, place);
  if (head.architecture === null)
    throw unusable(
      `The file ${first} names no architecture, so it is not a language model. Correct ${place} in your lares.yaml.`,
    );
  for (const file of others) await checked(file, place);
  return head;
}

async function checked(file: string, place: string): Promise<GgufHead> {
  await using handle = await opened(file, place);
  const { size } = await handle.stat();
  try {
    return await readGgufHead({
      sizeBytes: size,
      read: (offset, length) => bytesAt(handle, offset, Math.max(0, Math.min(length, size - offset))),
    });
  } catch (error) {
    if (!(error instanceof NotGguf)) throw error;
    throw unusable(`The file ${file} ${error.message} ${place} in your lares.yaml names it.`, error);
  }
}

async function opened(file: string, place: string): Promise<FileHandle> {
  const correct = `Correct ${place} in your lares.yaml.`;
  try {
    // Opening a pipe would wait for its writer.
    const found = await stat(file);
    if (found.isFile()) return await open(file, "r");
    const what = found.isDirectory() ? "a folder" : "no regular file";
    throw unusable(`${file} is ${what}, and not a GGUF file. ${correct}`);
  } catch (error) {
    if (error instanceof UnusableModel) throw error;
    throw unusable(`${reasonOf(error, file)} ${correct}`, error);
  }
}

function reasonOf(error: unknown, file: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return `There is no file at ${file}.`;
  // This process may read the files that the document names, and nothing in a folder.
  if (code === "ERR_ACCESS_DENIED") return `${file} is a folder, and not a GGUF file.`;
  return `The file ${file} cannot be read: ${messageOf(error)}.`;
}

async function bytesAt(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(bytes, read, length - read, offset + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
