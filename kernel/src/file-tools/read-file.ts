import { invalidParams, isLaresError } from "../base/errors.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import { missingError } from "./missing.ts";
import { bytesOf } from "./names.ts";
import type { FilesOfCall } from "./ports.ts";
import { describePicture, type PictureFacts } from "./read-picture.ts";
import { textPieces } from "./text-pieces.ts";

export interface ReadArguments {
  readonly path: string;
  readonly offset?: number;
  readonly length?: number;
}

/** The result of `files/read`. */
export interface ReadResult {
  readonly path: string;
  /** Absent if the file is not text. Line ends are those of the file. */
  readonly text?: string;
  readonly first_line?: number;
  readonly last_line?: number;
  /**
   * The hash of the content that was read, which a change may name as `expected`; of a file that was not read to its end,
   * as the index knows it.
   */
  readonly hash?: string;
  readonly picture?: PictureFacts;
  /** A note on the rest of the file, or the reason why there is no text. */
  readonly note?: string;
}

/** Returns lines of a text file. Throws NotFound, and InvalidParams if there is no such line. */
export async function readFile(
  files: FilesOfCall,
  { path, offset = 1, length = bounds.readLinesByDefault }: ReadArguments,
  signal: AbortSignal,
): Promise<ReadResult> {
  const lines = new LinesTaken(offset, length);
  const { isText, eof, content } = await takeLines(files, path, lines, signal);
  const entry = await files.get(path);
  if (entry === null) throw await missingError(files, "file", path);
  const hash = content?.hash ?? entry.content_id;
  files.show(
    content === null
      ? { path: entry.path, listed: entry.content_id }
      : { path: entry.path, read: content.hash },
  );
  // Its pieces may be of several contents: what the index has for it by now decides too.
  if (content !== null && !content.isOne && hash !== entry.content_id)
    files.show({ path: entry.path, listed: entry.content_id });
  const known = { path: entry.path, ...(hash === null ? {} : { hash }) };
  const size = `${entry.size.toLocaleString("en")} bytes`;
  if (!isText) {
    const described = await describePicture(files, entry);
    return { ...known, ...(described ?? { note: `It is not text: ${size}, media type ${entry.mime}.` }) };
  }
  if (lines.seen === 0) return { ...known, text: "", note: "The file is empty." };
  if (lines.seen < offset)
    throw invalidParams(
      eof
        ? `${JSON.stringify(entry.path)} has ${lines.seen} lines; offset is ${offset}.`
        : `Line ${offset} of ${JSON.stringify(entry.path)} lies beyond its first ${bounds.lookBytes / 1024 / 1024} MiB, which is as far as lines are looked for. Use files/search.`,
      { path: "offset" },
    );
  const notes = [
    ...(lines.isCut
      ? [`Line ${lines.last} is longer than ${bounds.readBytes / 1024} KiB; the rest of it is left out.`]
      : []),
    ...(lines.isMore || !eof
      ? [
          `These are lines ${offset} to ${lines.last} of a file of ${size}. Continue with offset ${lines.last + 1}.`,
        ]
      : []),
    ...(lines.text.includes("\ufffd") ? ["U+FFFD stands for bytes that are not valid UTF-8."] : []),
  ];
  return {
    ...known,
    text: lines.text,
    first_line: offset,
    last_line: lines.last,
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  };
}

interface Taken {
  readonly isText: boolean;
  /** `lines` have seen all of the file. */
  readonly eof: boolean;
  /** The whole content, and whether it was read at once; null if it was not read to its end. */
  readonly content: { readonly hash: string; readonly isOne: boolean } | null;
}

/**
 * The index may have another version of the file than the one that is read, so what was read is known by its own hash. A
 * file is read on for that, unless it is long.
 */
async function takeLines(
  files: FilesOfCall,
  path: string,
  lines: LinesTaken,
  signal: AbortSignal,
): Promise<Taken> {
  const sum = files.sum();
  let pieces = 0;
  let readOn = 0;
  let isWanted = true;
  try {
    for await (const piece of textPieces(files, path, bounds.lookBytes, signal, (bytes) => sum.add(bytes))) {
      if (piece === null) return { isText: false, eof: false, content: null };
      pieces += 1;
      if (isWanted) isWanted = lines.take(piece.text);
      else readOn += piece.bytes;
      if (piece.eof)
        return { isText: true, eof: isWanted, content: { hash: sum.hash(), isOne: pieces === 1 } };
      if (readOn >= bounds.readOnBytes) break;
    }
    return { isText: true, eof: false, content: null };
  } catch (error) {
    if (!isLaresError(error, "NotFound")) throw error;
    const entry = await files.get(path);
    if (entry?.kind === "folder")
      throw invalidParams(`${JSON.stringify(path)} is a folder. Use files/list.`, { path: "path" });
    throw await missingError(files, "file", path);
  }
}

/** Takes the wanted lines from the text of a file, whose pieces may break lines anywhere. */
class LinesTaken {
  text = "";
  /** Lines that have begun so far. */
  seen = 0;
  /** The last line in `text`. */
  last = 0;
  /** The last line is not whole. */
  isCut = false;
  /** There is something after the last line. */
  isMore = false;
  readonly #first: number;
  readonly #end: number;
  #bytes = 0;
  #lineStart = 0;
  #isInLine = false;

  constructor(first: number, length: number) {
    this.#first = first;
    this.#end = first + length;
  }

  /** Returns false if nothing of what follows is wanted. */
  take(piece: string): boolean {
    for (let at = 0; at < piece.length;) {
      if (!this.#isInLine) {
        if (this.seen + 1 === this.#end) {
          this.isMore = true;
          return false;
        }
        this.seen += 1;
        this.#isInLine = true;
        this.#lineStart = this.text.length;
      }
      const feed = piece.indexOf("\n", at);
      const end = feed === -1 ? piece.length : feed + 1;
      if (this.seen >= this.#first && !this.#add(piece.slice(at, end))) return false;
      this.#isInLine = feed === -1;
      at = end;
    }
    return true;
  }

  /** Returns false if the line does not fit any more. */
  #add(part: string): boolean {
    const size = bytesOf(part);
    if (this.#bytes + size <= bounds.readBytes) {
      this.text += part;
      this.#bytes += size;
      this.last = this.seen;
      return true;
    }
    this.isMore = true;
    if (this.seen > this.#first) {
      this.text = this.text.slice(0, this.#lineStart);
      this.last = this.seen - 1;
      return false;
    }
    // A line that fits no result is shown as far as it fits.
    this.text += beginningOf(part, bounds.readBytes - this.#bytes);
    this.last = this.seen;
    this.isCut = true;
    return false;
  }
}

/** Returns as much of the beginning of a text as fits into so many bytes of UTF-8. */
function beginningOf(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
