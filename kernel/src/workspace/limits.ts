import { maxIgnoreBytes } from "../platform/ignore-file.ts";

/** What bounds the workspace's index; each in one place. */
export const workspaceLimits = {
  /** Bytes of one sidecar's canonical JSON. */
  sidecarBytes: 1024 * 1024,
  /** Bytes of one custom field's canonical JSON. */
  fieldBytes: 64 * 1024,
  tagsPerEntry: 256,
  fieldsPerEntry: 256,
  sidecarsPerEntry: 64,
  /** Bytes that one read may ask for. */
  readBytes: 262_144,
  /** Entries that one query answers at most, and by default. */
  queryEntries: 1000,
  queryEntriesByDefault: 100,
  /** Folders inside folders; deeper ones are left out, with a line in the log. */
  depth: 128,
  /** Characters of a path; longer ones are left out. */
  pathLength: 4096,
  /** Bytes of one .gitignore, its rules, and wildcards that cross folders in one rule. */
  ignoreFileBytes: maxIgnoreBytes,
  ignoreRules: 2000,
  ignoreRuleLength: 512,
  ignoreRuleGlobstars: 4,
  /** Answers that a compiled .gitignore remembers before it is compiled anew. */
  ignoreAnswers: 20_000,
  /** Changes stored in one transaction. */
  changesPerBatch: 2000,
  /** Changes that wait for being stored when a scan pauses; at half of it the scan goes on. */
  changesWaiting: 16_000,
  /** Rows that one page holds when the index is loaded: what is put into the tree in one go. */
  rowsPerPage: 4000,
  /** Folders that a scan has listed in advance by another thread. */
  foldersAsked: 8192,
  /** Files hashed at the same time, and bytes up to which a file is rather read at once. */
  hashing: 2,
  smallFileBytes: 64 * 1024,
  /** A larger file is not read for its content id, which stays null. */
  hashedBytes: 16 * 1024 ** 3,
  /** Entries with a tag that are put in order at once; of more, all entries are looked at one after the other. */
  taggedAtOnce: 1000,
  /** Bytes read to recognise files that were moved while nobody was looking, by their content. */
  moveHashBytes: 256 * 1024 * 1024,
} as const;

/** Milliseconds, unless said otherwise. */
export const workspaceTimes = {
  /** A file that has not changed for so long has settled. */
  settleMs: 20,
  /** One that is in the index, did not get smaller and had rested before: so long. */
  settleModifiedMs: 4,
  /** Between two modifications, by the file's own times, for the second to count as the first after a rest. */
  restedMs: 500,
  /** One that never settles (a log under constant writing) is reported as it is after this. */
  settleAtMostMs: 10_000,
  /** A file last written longer ago than this is not being written now. */
  longSettledMs: 1000,
  /** A missing path waits this long for its other half (a move) or its return (a save) before it counts as deleted. */
  goneMs: 20,
  /** How long a scan may hold the loop before it lets others run; the same for all queries together. */
  sliceMs: 8,
  /** How much of the loop's time one query may have in all its slices. */
  queryMs: 5000,
  /** The same for reading small files in the background. */
  hashSliceMs: 4,
  /** Folders that the system refuses to watch are looked at again this often. */
  unwatchedRescanMs: 10_000,
  /** How often it is looked whether each root is still there, and the folder that is watched. */
  rootCheckMs: 2000,
  /** Wait before a batch that could not be stored is tried again: first, and at most. */
  retryFirstMs: 100,
  retryAtMostMs: 5000,
} as const;
