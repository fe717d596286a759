/** The part of a Node readable stream that framing uses: a socket, a pipe, stdin. */
export interface ByteSource {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The part of a Node writable stream that framing uses: a socket, a pipe, stdout. */
export interface ByteSink {
  on(event: "drain" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** False: full, wait for "drain". */
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): boolean;
  /** Holds back what is written, until `uncork` writes it at once. */
  cork?(): unknown;
  uncork?(): unknown;
  end(done?: () => void): unknown;
  destroy(): unknown;
}
