/** The size limits of a program's sources. */
export const maxProgramFiles = 2000;
export const maxFileBytes = 2 * 1024 * 1024;
/** Bytes of the bundled JavaScript. */
export const maxProgramBytes = 8 * 1024 * 1024;
/** The number of errors that are reported; a program with more has these to fix first. */
export const maxErrors = 50;
/** The number of programs whose bundles are cached; the least recently used is evicted first. */
export const maxRemembered = 64;
/** The size of a cached bundle with its source map; a larger bundle is not cached. */
export const maxRememberedBytes = 32 * 1024 * 1024;
