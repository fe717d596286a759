/** What a program may consist of. */
export const maxProgramFiles = 2000;
export const maxFileBytes = 2 * 1024 * 1024;
/** Of the JavaScript that comes out. */
export const maxProgramBytes = 8 * 1024 * 1024;
/** Errors that are told; a program with more has others to read first. */
export const maxErrors = 50;
/** Programs whose making is remembered; the one asked for longest ago is forgotten first. */
export const maxRemembered = 64;
/** Size of a remembered bundle with its source map; a larger bundle is not remembered. */
export const maxRememberedBytes = 32 * 1024 * 1024;
