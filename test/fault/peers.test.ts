import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { SocketPeer } from "../support/socket-peer.ts";
import { until } from "../support/until.ts";

/** Kibibytes of the kernel's memory, as Linux counts them. */
const memoryOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

let bench: Bench;
let neighbour: Client;
let stateFolder: string;
let pid: number;
beforeEach(async () => {
  const files = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`files/${index}.txt`, "x"]));
  bench = await Bench.create({ files });
  neighbour = await bench.open();
  ({ stateFolder, pid } = await bench.status(neighbour));
});
afterEach(() => bench[Symbol.asyncDispose]());

async function session(): Promise<SocketPeer> {
  const peer = await SocketPeer.greet(stateFolder);
  await peer.request("initialize", bench.initializeParams({ trusted: true }));
  peer.send({ jsonrpc: "2.0", method: "initialized", params: {} });
  return peer;
}

/** Sends as fast as the kernel reads; returns true while it does. */
async function pour(peer: SocketPeer, bytes: Buffer): Promise<boolean> {
  if (!peer.isOpen) return false;
  if (peer.socket.write(bytes)) return true;
  let isDrained = false;
  peer.socket.once("drain", () => (isDrained = true));
  // If a kernel has stopped reading, the neighbour checks that it still answers.
  await until("the kernel to take more, or to hang up", async () => {
    await bench.status(neighbour);
    return isDrained || !peer.isOpen;
  });
  return isDrained;
}

test("100,000 requests at once: each is answered once, and the neighbour is answered meanwhile", async () => {
  const count = 100_000;
  using peer = await session();
  const before = peer.received.length;
  peer.write(
    Buffer.concat(
      Array.from({ length: count }, (_, id) =>
        frame({ jsonrpc: "2.0", id, method: "lares/status", params: {} }),
      ),
    ),
  );
  let neighbourAnswers = 0;
  await until(
    "all answers",
    async () => {
      await bench.status(neighbour);
      if (peer.received.length - before < count) neighbourAnswers++;
      return peer.received.length - before >= count;
    },
    300_000,
  );
  expect(new Set(peer.received.slice(before).map(({ id }) => id)).size).toBe(count);
  // Requests of many clients take turns: the neighbour did not wait for the flood's end.
  expect(neighbourAnswers).toBeGreaterThan(10);
});

test.runIf(process.platform === "linux")(
  "a flood of notifications uses less memory than was sent, however fast it is",
  async () => {
    using peer = await session();
    const one = frame({
      jsonrpc: "2.0",
      method: "textDocument/didSave",
      params: { textDocument: { uri: "file:///x" }, junk: "x".repeat(16_000) },
    });
    const flood = async (messages: number): Promise<number> => {
      for (let count = 0; count < messages; count++) await pour(peer, one);
      expect(await peer.request("lares/status")).toHaveProperty("result");
      return messages * one.length;
    };
    // The first flood makes the heap as large as the collector allows; a queue would also grow with the second.
    await flood(15_000);
    const before = memoryOf(pid);
    const sent = await flood(25_000);
    expect((memoryOf(pid) - before) * 1024).toBeLessThan(sent / 2);
  },
);

test.runIf(process.platform === "linux")(
  "a client that opens ever more documents: the kernel's memory for them is bounded",
  async () => {
    using peer = await session();
    const text = "x".repeat(4 * 1024 * 1024 - 1);
    const before = memoryOf(pid);
    let sent = 0;
    for (let count = 0; count < 130; count++) {
      const bytes = frame({
        jsonrpc: "2.0",
        method: "textDocument/didOpen",
        params: { textDocument: { uri: `file:///x${count}`, languageId: "x", version: 1, text } },
      });
      await pour(peer, bytes);
      sent += bytes.length;
    }
    expect(await peer.request("lares/status")).toHaveProperty("result");
    expect((memoryOf(pid) - before) * 1024).toBeLessThan(sent / 2);
  },
);

test.runIf(process.platform === "linux")(
  "a client that sends requests and does not read is disconnected; its memory is released, the neighbour is unharmed",
  async () => {
    const peer = await session();
    const query = { limit: 1000 };
    const answer = await peer.request("lares/entries/query", query);
    const answerBytes = JSON.stringify(answer).length;
    const before = { memory: memoryOf(pid), descriptors: descriptorsOf(pid) };
    peer.socket.pause();
    let asked = 0;
    for (; asked < 3000; asked++)
      if (
        !(await pour(
          peer,
          frame({ jsonrpc: "2.0", id: asked, method: "lares/entries/query", params: query }),
        ))
      )
        break;
    await until("the kernel to have hung up", () => descriptorsOf(pid) < before.descriptors);
    expect((memoryOf(pid) - before.memory) * 1024).toBeLessThan((asked * answerBytes) / 2);
    expect((await neighbour.request<unknown[]>("lares/agents/list")).length).toBe(0);
    peer[Symbol.dispose]();
  },
);

test.runIf(process.platform === "linux")(
  "clients that vanish, half-close, or send an unreadable stream leave nothing: descriptors are released",
  async () => {
    const before = descriptorsOf(pid);
    const token = await readFile(join(stateFolder, "kernel.token"), "utf8");
    const peers: SocketPeer[] = [];
    for (let count = 0; count < 60; count++) {
      const peer = await SocketPeer.open(stateFolder, `lares/1 ${token}\n`, { allowHalfOpen: true });
      await peer.greeted;
      await peer.request("initialize", bench.initializeParams({ trusted: true }));
      await peer.request("lares/traces/follow");
      if (count % 3 === 0) peer.socket.destroy();
      else if (count % 3 === 1) peer.socket.end();
      else peer.socket.end("Content-Length: 100\r\n\r\n{");
      peers.push(peer);
    }
    await until("the descriptors to be given back", () => descriptorsOf(pid) <= before);
    for (const peer of peers) peer[Symbol.dispose]();
    await bench.status(neighbour);
  },
);

test("a stream without a frame is abandoned, and the connection is closed with one line in the log", async () => {
  using peer = await session();
  const garbage = Buffer.alloc(1024 * 1024, "x");
  let isTaken = true;
  for (let count = 0; count < 200 && isTaken; count++) isTaken = await pour(peer, garbage);
  await until("the end of the connection", () => !peer.isOpen);
  const lines = readFileSync(join(stateFolder, "kernel.log"), "utf8").trim().split("\n");
  expect(lines.filter((line) => line.includes("cannot be followed"))).toHaveLength(1);
  await bench.status(neighbour);
});

test("unexpected answers and a hundred thousand cancels: the log stays a fraction of what was sent", async () => {
  using peer = await session();
  let sent = 0;
  const say = async (message: unknown): Promise<void> => {
    const bytes = frame(message);
    sent += bytes.length;
    await pour(peer, bytes);
  };
  for (let count = 0; count < 50_000; count++) {
    await say({ jsonrpc: "2.0", id: count, result: "unasked" });
    await say({ jsonrpc: "2.0", method: "$/cancelRequest", params: {} });
    await say({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: count } });
  }
  await say({ jsonrpc: "2.0", id: null, error: { code: 1, message: "x".repeat(5_000_000) } });
  expect(await peer.request("lares/status")).toHaveProperty("result");
  expect(statSync(join(stateFolder, "kernel.log")).size).toBeLessThan(sent / 20);
});
