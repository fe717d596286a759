/** What the WebAssembly shim gives the runtime: the whole of the guest's ambient authority. */
export interface Native {
  /** Writes the text as UTF-8 to file descriptor `fd`; 0, or, over `limitBytes`, writes nothing and answers the size in bytes. */
  write(fd: 1 | 2, text: string, limitBytes: number): number;
  /** Cryptographically random bytes. */
  random(size: number): Uint8Array;
  /** Milliseconds of the monotonic clock. */
  now(): number;
  /** How deep the brackets of a JSON text nest. */
  depth(text: string): number;
  /** The micro HNSW: all it does, by number, on blocks of memory that the program holds; negative where it refuses. */
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

/** ABI v1: a line in either direction, without its newline, in bytes. */
export const maxLineBytes = 1024 * 1024;
/** ABI v1: calls that may wait for the kernel's answer at one time. */
export const maxOpenCalls = 64;
/** Exit code of a guest whose runtime has no memory left to go on with: ENOMEM. */
export const outOfMemoryExit = 12;
/** One report on stderr; longer ones are cut. */
export const maxReportCharacters = 16 * 1024;
/** JSON nested deeper is refused: the engine's parser would run out of native stack, which nothing can catch. */
export const maxJsonDepth = 2000;
