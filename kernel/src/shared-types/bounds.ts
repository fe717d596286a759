/** The bounds of shared types. Sizes are characters of canonical JSON. */
export const sharedTypeBounds = {
  valueCharacters: 64 * 1024,
  keyCharacters: 256,
  /** How many values one type has at most. */
  values: 100_000,
  /** The values of one type together. */
  allCharacters: 32 << 20,
  /** Characters of values in one answer; a page that would have more ends earlier. */
  pageCharacters: 512 * 1024,
  /** Values that are read from the ledger at once. */
  readAtOnce: 250,
  /** Characters of values that are read from the ledger, checked or migrated at once, except for a single value. */
  batchCharacters: 512 * 1024,
  /** How long an extension may take to migrate one batch. Milliseconds. */
  migrateMs: 30_000,
} as const;
