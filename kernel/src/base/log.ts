/** The kernel's own log: what happened to the kernel, not to an agent. Written to stderr, never to stdout. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
