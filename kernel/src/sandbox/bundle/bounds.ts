/** The size limits of a program's sources. */
export const maxProgramFiles = 2000;
export const maxFileBytes = 2 * 1024 * 1024;
/** Bytes of the bundled JavaScript. */
export const maxProgramBytes = 8 * 1024 * 1024;
/** The number of errors that are reported; a program with more has these to fix first. */
export const maxErrors = 50;
/** The number of programs whose bundles are cached; the least recently used is evicted first. */
export const maxRemembered = 2000;
/** The size of all cached bundles with their source maps; the kernel holds those of its agents anyway. */
export const maxRememberedBytes = 128 * 1024 * 1024;
