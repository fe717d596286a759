const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits on the work and the results of the file tools. */
export const fileToolBounds = {
  /** JSON of one result. Bytes. */
  resultBytes: 256 * KiB,
  /** Entries or matches in one result. Bytes; the rest is for notes and separators. */
  itemsBytes: 192 * KiB,
  /** One piece of a file. Bytes. */
  pieceBytes: 256 * KiB,

  readLinesByDefault: 2000,
  readLines: 10_000,
  /** Text of one `files/read`. Bytes. */
  readBytes: 64 * KiB,
  /** How far `files/read` looks for a line. Bytes. */
  lookBytes: 32 * MiB,

  /** How much of a file is read on, behind the wanted lines, to know which content they are of. Bytes. */
  readOnBytes: 4 * MiB,

  listByDefault: 200,
  list: 1000,

  searchByDefault: 50,
  search: 500,
  /** Characters of the text that is searched for. */
  searchText: 1000,
  searchFiles: 5000,
  /** Bytes of one file that are searched, and of all files. */
  searchFileBytes: 4 * MiB,
  searchBytes: 64 * MiB,
  /** How long a search may take. Milliseconds. */
  searchMs: 20_000,
  /** Characters of a line that a match is shown with. */
  lineCharacters: 200,
  /** Text that is kept while a line has no end. Characters. */
  openLineCharacters: 64 * KiB,
} as const;
