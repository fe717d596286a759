import { maxReadBytes } from "../base/vocabulary/bounds.ts";
import { maxIgnoreBytes } from "../platform/files/ignore-file.ts";

/** The bounds on the workspace's index. */
export const workspaceLimits = {
  /** One sidecar's canonical JSON, in bytes. */
  sidecarBytes: 1024 * 1024,
  /** One custom field's canonical JSON, in bytes. */
  fieldBytes: 64 * 1024,
  tagsPerEntry: 256,
  fieldsPerEntry: 256,
  sidecarsPerEntry: 64,
  /** Bytes that one read may ask for. */
  readBytes: maxReadBytes,
  /** Entries that one query returns at most, and by default. */
  queryEntries: 1000,
  queryEntriesByDefault: 100,
  /** Nested folders; deeper ones are excluded and logged. */
  depth: 128,
  /** Characters of a path; longer ones are excluded. */
  pathLength: 4096,
  /** Per .gitignore: bytes, rules, characters of a rule, and wildcards that cross folders in one rule. */
  ignoreFileBytes: maxIgnoreBytes,
  ignoreRules: 2000,
  ignoreRuleLength: 512,
  ignoreRuleGlobstars: 4,
  /** Answers that a compiled .gitignore caches before it is compiled again. */
  ignoreAnswers: 20_000,
  /** Changes stored in one transaction. */
  changesPerBatch: 2000,
  /** Unstored changes at which a scan pauses; it continues at half of that. */
  changesWaiting: 16_000,
  /** Rows per page when the index is loaded: what is added to the tree in one go. */
  rowsPerPage: 4000,
  /** Folders that a scan requests from the lister thread in advance. */
  foldersAsked: 8192,
  /** Files hashed concurrently, and the size in bytes up to which a file is read at once instead. */
  hashing: 2,
  smallFileBytes: 64 * 1024,
  /** A larger file is not read; its content id stays null. */
  hashedBytes: 16 * 1024 ** 3,
  /** Entries with a tag that are sorted at once; if there are more, the query walks all entries instead. */
  taggedAtOnce: 1000,
  /** Bytes read to recognize, by content, files that were moved while the kernel was not running. */
  moveHashBytes: 256 * 1024 * 1024,
} as const;

/** In milliseconds, unless stated otherwise. */
export const workspaceTimes = {
  /** A file that has not changed for this long has settled. */
  settleMs: 20,
  /** The same for a file that is in the index, did not shrink and had rested before. */
  settleModifiedMs: 4,
  /** The time between two modifications, by the file's own times, after which the file counts as having rested. */
  restedMs: 500,
  /** A file that never settles (a log under constant writing) is reported as it is after this time. */
  settleAtMostMs: 10_000,
  /** A file last written longer ago than this is not being written now. */
  longSettledMs: 1000,
  /** How long a missing path may reappear elsewhere (a move) or in place (a save) before it counts as deleted. */
  goneMs: 20,
  /** The same while what was reported has not been looked at yet. */
  goneAtMostMs: 1000,
  /** How long a new entry waits at most for a look at what was reported until it was seen: it may come from there. */
  sightedMs: 200,
  /** How long a file that is found under the name of a backup may reappear in place before it counts as moved. */
  backupMs: 500,
  /** How long a scan may hold the event loop before it lets others run; the same for all queries together. */
  sliceMs: 8,
  /** How much of the event loop's time one query may take, over all its slices. */
  queryMs: 5000,
  /** The same for reading small files in the background. */
  hashSliceMs: 4,
  /** How often folders that the system refuses to watch are scanned again. */
  unwatchedRescanMs: 10_000,
  /** How often each root is checked: whether it exists and is still the watched folder. */
  rootCheckMs: 5000,
  /** The delay before a failed batch is retried: first, and at most. */
  retryFirstMs: 100,
  retryAtMostMs: 5000,
} as const;
