import { fileSize, joinPath, listFiles } from "../platform/files/data-files.ts";

/** A file of a journal: records, one line each. */
export interface Segment {
  readonly path: string;
  /** Bytes that belong to the journal; what is written later is not looked at. */
  readonly size: number;
  /** Where it begins in its file, which is then not the segment alone; default 0. */
  readonly start?: number;
}

const segmentName = /^[0-9]{6}\.ndjson$/;

/** The journal's segments in order, with their sizes of this moment. */
export async function findSegments(folder: string): Promise<Segment[]> {
  const names = (await listFiles(folder)).filter((name) => segmentName.test(name));
  return await Promise.all(
    names.map(async (name) => {
      const path = joinPath(folder, name);
      return { path, size: (await fileSize(path)) ?? 0 };
    }),
  );
}
