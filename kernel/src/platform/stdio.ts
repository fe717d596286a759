import { Console } from "node:console";
import { connect } from "node:net";
import process from "node:process";
import type { Readable } from "node:stream";
import type { Log } from "../base/log.ts";

/** Both directions of a connection to a client, as streams. */
export interface ByteStreams {
  readonly source: Readable;
  readonly sink: ProtocolSink;
}

export interface ProtocolSink {
  on(event: "drain" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): boolean;
  end(done?: () => void): unknown;
  destroy(): unknown;
}

/** From here on `console` writes to stderr: stdout belongs to the protocol. */
export function redirectConsole(): void {
  globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });
}

/** A log whose lines a person at stderr can tell from a client's. Debug messages are left out. */
export const stderrLog: Log = {
  debug() {},
  info: writeLine,
  warn: writeLine,
  error: writeLine,
};

function writeLine(message: string): void {
  process.stderr.write(`lares: ${message}\n`);
}

/** Takes stdin and stdout for the protocol. What anything else writes to stdout afterwards goes to stderr. */
export function takeStdio(): ByteStreams {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return {
    source: stdin,
    sink: {
      on: (event: "drain" | "close" | "error", listener: (error: Error) => void) =>
        stdout.on(event, listener),
      write: (bytes, done) => write(bytes, done),
      // Stdout itself stays open: its end is the process's.
      end: (done) => write(new Uint8Array(0), () => done?.()),
      destroy: () => stdin.destroy(),
    },
  };
}

/** Connects to the pipe (or Unix domain socket) that the client opened and named. */
export function connectToPipe(name: string): Promise<ByteStreams> {
  return new Promise((resolve, reject) => {
    const socket = connect(name);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve({ source: socket, sink: socket });
    });
  });
}
