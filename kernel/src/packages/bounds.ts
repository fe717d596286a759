/** Bounds of a package. All are checked before the first byte of a content is inflated. */
export const packageBounds = {
  /** The whole file. */
  maxPackageBytes: 64 * 1024 * 1024,
  maxFiles: 2_000,
  maxFileBytes: 48 * 1024 * 1024,
  /** All files together, unpacked. */
  maxUnpackedBytes: 128 * 1024 * 1024,
  /** Bytes of a file for each byte of it in the package. */
  maxRatio: 200,
  maxPathBytes: 240,
  maxPathDepth: 16,
  /** PACKAGE.json. */
  maxRecordBytes: 1024 * 1024,
} as const;

/** Bounds of an index. */
export const indexBounds = {
  maxIndexBytes: 8 * 1024 * 1024,
  maxExtensions: 10_000,
} as const;

/** The file of a package that describes and signs the others. */
export const recordName = "PACKAGE.json";

/** The names of manifests in a package, as in a folder. */
export const packageEnding = ".lares";
