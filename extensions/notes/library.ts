import type { Entry } from "@lares/sdk";
import { codeOf, type Context } from "./context.ts";
import type { Note } from "./links.ts";
import { scanNote, type Scan } from "./scan.ts";

/** Longer files are ignored, because a proposal carries the whole text. */
export const maxNoteBytes = 256 * 1024;
/** Notes that are read for one answer; further ones are left out. */
const maxNotes = 5000;
const pageSize = 250;

type ReadNote = Note & Scan & { readonly entry: Entry };

/** Returns the notes that the agent may see, without their texts. */
export async function everyNote(ctx: Context): Promise<Entry[]> {
  const found: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await ctx.vdfs.query({
      kind: "file",
      extension: "md",
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.items.filter(({ size }) => size <= maxNoteBytes));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < maxNotes);
  return found;
}

/** Reads all notes. One that disappears meanwhile is left out. */
export async function readNotes(ctx: Context): Promise<ReadNote[]> {
  const notes: ReadNote[] = [];
  for (const entry of await everyNote(ctx)) {
    const { path } = entry;
    try {
      const text = await ctx.vdfs.readText(path);
      notes.push({ path, text, entry, ...scanNote(text) });
    } catch (error) {
      if (codeOf(error) !== "NotFound") throw error;
    }
  }
  return notes;
}
