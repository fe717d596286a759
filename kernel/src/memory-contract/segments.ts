import { fileSize, joinPath, listFiles } from "../platform/files/data-files.ts";

/** A file of a journal: records, one line each. */
export interface Segment {
  readonly path: string;
  /** Bytes that belong to the journal; what is written later is ignored. */
  readonly size: number;
  /** Offset of the segment in its file, if the file contains more than the segment; default 0. */
  readonly start?: number;
}

export function segmentFileName(number: number): string {
  return `${String(number).padStart(6, "0")}.ndjson`;
}

const segmentName = /^[0-9]{6}\.ndjson$/;

/** Returns the journal's segments in order, with their current sizes. */
export async function findSegments(folder: string): Promise<Segment[]> {
  const names = (await listFiles(folder)).filter((name) => segmentName.test(name));
  return await Promise.all(
    names.map(async (name) => {
      const path = joinPath(folder, name);
      return { path, size: (await fileSize(path)) ?? 0 };
    }),
  );
}
