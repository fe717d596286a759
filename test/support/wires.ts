import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { frame, FrameReader, type Message } from "./frames.ts";
import { SocketPeer } from "./socket-peer.ts";
import { until } from "./until.ts";

/** The ways to a kernel that carry frames. */
export const channels = ["stdio", "pipe", "kernel socket"] as const;
type Channel = (typeof channels)[number];

/** One connection whose bytes are handwritten, through any channel. */
export interface Wire extends AsyncDisposable {
  write(bytes: Buffer | string): void;
  /** All received messages, oldest first. */
  readonly received: readonly Message[];
  /** True once nothing arrives any more. */
  isEnded(): boolean;
  /** The front's stderr; empty if there is no front. */
  stderr(): string;
}

/** Opens a connection and waits for the answer to `initialize`. */
export async function openWire(bench: Bench, channel: Channel, stateFolder: string): Promise<Wire> {
  const wire = await connect(bench, channel, stateFolder);
  wire.write(frame({ jsonrpc: "2.0", id: "first", method: "initialize", params: bench.initializeParams() }));
  await answerOn(wire, "first");
  wire.write(frame({ jsonrpc: "2.0", method: "initialized", params: {} }));
  return wire;
}

/** Resolves to the answer to this id. */
export function answerOn(wire: Wire, id: number | string): Promise<Message> {
  return until(`the answer to ${id}; stderr: ${wire.stderr()}`, () =>
    wire.received.find((message) => message.method === undefined && message.id === id),
  );
}

async function connect(bench: Bench, channel: Channel, stateFolder: string): Promise<Wire> {
  switch (channel) {
    case "stdio":
      return overStdio(bench);
    case "pipe":
      return overPipe(bench);
    case "kernel socket": {
      const peer = await SocketPeer.greet(stateFolder);
      return {
        write: (bytes) => peer.write(bytes),
        received: peer.received,
        isEnded: () => !peer.isOpen,
        stderr: () => "",
        [Symbol.asyncDispose]: async () => peer[Symbol.dispose](),
      };
    }
  }
}

function overStdio(bench: Bench): Wire {
  const client = bench.spawn();
  const received: Message[] = [];
  const reader = new FrameReader();
  client.process.stdout.on("data", (chunk: Buffer) => void received.push(...reader.push(chunk)));
  let hasEnded = false;
  void client.exited.then(() => (hasEnded = true));
  return {
    write: (bytes) => client.write(bytes),
    received,
    isEnded: () => hasEnded,
    stderr: () => client.stderr,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

let lastPipe = 0;

/** The client opens the pipe, and the front connects to it. */
async function overPipe(bench: Bench): Promise<Wire> {
  const name = join(bench.base, `client-${++lastPipe}.sock`);
  const connected = Promise.withResolvers<Socket>();
  const server = createServer(connected.resolve);
  await new Promise<void>((resolve) => server.listen(name, resolve));
  const client = bench.spawn({ args: [`--pipe=${name}`], channel: [] });
  const socket = await connected.promise;
  server.close();
  const received: Message[] = [];
  const reader = new FrameReader();
  let hasEnded = false;
  void client.exited.then(() => (hasEnded = true));
  socket.on("data", (chunk) => void received.push(...reader.push(chunk)));
  socket.on("error", () => undefined); // the front may end first; `isEnded` shows that
  return {
    write: (bytes) => void socket.write(bytes),
    received,
    isEnded: () => hasEnded,
    stderr: () => client.stderr,
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await client[Symbol.asyncDispose]();
    },
  };
}
