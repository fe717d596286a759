/** What the WebAssembly shim offers to the runtime: the guest's entire ambient authority. */
export interface Native {
  /**
   * Writes the text as UTF-8 to file descriptor `fd` and returns 0. If it exceeds `limitBytes`, writes nothing and
   * returns its size in bytes.
   */
  write(fd: 1 | 2, text: string, limitBytes: number): number;
  /** Returns cryptographically random bytes. */
  random(size: number): Uint8Array;
  /** Returns the milliseconds of the monotonic clock. */
  now(): number;
  /** Returns the nesting depth of a JSON text. */
  depth(text: string): number;
  /**
   * The micro HNSW: runs an operation, given by number, on blocks of memory that the program holds; returns a negative
   * number if it refuses.
   */
  vectors(
    operation: number,
    block: ArrayBuffer | null,
    other: ArrayBuffer | null,
    a: number,
    b: number,
    c: number,
    d: number,
  ): number;
  /** Ends the guest. */
  exit(code: number): void;
}

/** ABI v1: the length of a line in either direction, without its newline, in bytes. */
export const maxLineBytes = 1024 * 1024;
/** ABI v1: the number of calls that may wait for the kernel's answer concurrently. */
export const maxOpenCalls = 64;
/** The exit code of a guest that ran out of memory: ENOMEM. */
export const outOfMemoryExit = 12;
/** The length of one report on stderr; longer ones are cut. */
export const maxReportCharacters = 16 * 1024;
/** JSON nested deeper is rejected: the engine's parser would overflow its native stack, which cannot be caught. */
export const maxJsonDepth = 2000;
