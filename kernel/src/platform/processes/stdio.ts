import { Console } from "node:console";
import { fstatSync, writeSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { type Readable, Writable } from "node:stream";
import type { Log } from "../../base/log.ts";
import { plainLine } from "../../base/plain-text.ts";

/** Both directions of a connection to a client, as streams. */
export interface ByteStreams {
  readonly source: Readable;
  readonly sink: ProtocolSink;
}

interface ProtocolSink {
  on(event: "drain" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): boolean;
  end(done?: () => void): unknown;
  destroy(): unknown;
}

/** Redirects `console` to stderr, because stdout belongs to the protocol. */
export function redirectConsole(): void {
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writeToStderr(chunk.toString("utf8"));
      done();
    },
  });
  globalThis.console = new Console({ stdout: stderr, stderr });
}

/** The number of lines lost since stderr last accepted one. */
let lostLines = 0;
let stderrIsFile: boolean | undefined;

/**
 * Writes a line to stderr and never fails: on a full disk, or without a reader, the line is lost. (Node's own
 * stream for a file would be closed permanently by the first failure and raise it as an uncaught error, which is
 * logged, which fails …) The next accepted line is preceded by the number of lost ones.
 */
export function writeToStderr(line: string): void {
  if (stderrIsFile === undefined) {
    stderrIsFile = fstatSync(2).isFile();
    process.stderr.on("error", () => (lostLines += 1));
  }
  if (!stderrIsFile) {
    process.stderr.write(line);
    return;
  }
  try {
    const bytes = Buffer.from(lostLines === 0 ? line : `(${lostLines} lines could not be written)\n${line}`);
    for (let written = 0; written < bytes.length;) written += writeSync(2, bytes, written);
    lostLines = 0;
  } catch {
    lostLines += 1;
  }
}

/** A log for a person at stderr. Omits debug messages. */
export const stderrLog: Log = {
  debug() {},
  info: writeLine,
  warn: writeLine,
  error: writeLine,
};

function writeLine(message: string): void {
  writeToStderr(`lares: ${plainLine(message)}\n`);
}

/** Takes stdin and stdout for the protocol. Anything else that is written to stdout afterwards goes to stderr. */
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
      // Stdout itself stays open until the process ends.
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
