import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { SocketPeer } from "../support/socket-peer.ts";
import { until } from "../support/until.ts";

let bench: Bench;
let resident: Client;
let stateFolder: string;
let token: string;
let pid: number;
beforeAll(async () => {
  bench = await Bench.create({ files: { "a.txt": "hello\n" } });
  resident = await bench.open();
  ({ stateFolder, pid } = await bench.status(resident));
  token = await readFile(join(stateFolder, "kernel.token"), "utf8");
});
afterAll(() => bench[Symbol.asyncDispose]());

describe("a local process at the kernel's socket", () => {
  const greetings: [string, () => string][] = [
    ["a wrong token of the right length", () => `lares/1 ${"0".repeat(token.length)}\n`],
    ["the token with one character changed", () => `lares/1 ${token.slice(0, -1)}x\n`],
    ["a token cut short", () => `lares/1 ${token.slice(0, -1)}\n`],
    ["a token with more behind it", () => `lares/1 ${token}0\n`],
    ["no token", () => "lares/1 \n"],
    ["another version", () => `lares/2 ${token}\n`],
    ["an empty line", () => "\n"],
    ["frames instead of a greeting", () => `Content-Length: 2\r\n\r\n{}`],
    ["HTTP, as a browser would be made to speak it", () => "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a greeting without an end", () => "x".repeat(100_000)],
  ];
  test.each(greetings)("%s: it is disconnected, and its messages had no effect", async (_name, greeting) => {
    using peer = await SocketPeer.open(stateFolder, greeting());
    peer.write(frame({ jsonrpc: "2.0", id: 1, method: "initialize", params: bench.initializeParams() }));
    await until("the connection's end", () => !peer.isOpen);
    expect(["refused", null]).toContain(await peer.greeted);
    expect(peer.received).toEqual([]);
    await bench.status(resident);
  });

  test("two hundred refused processes that do not hang up cost the kernel nothing", async () => {
    if (process.platform !== "linux") return;
    const open = (): number => readdirSync(`/proc/${pid}/fd`).length;
    const before = open();
    const peers = await Promise.all(
      Array.from({ length: 200 }, () =>
        SocketPeer.open(stateFolder, `lares/1 ${"0".repeat(64)}\n`, { allowHalfOpen: true }),
      ),
    );
    for (const peer of peers) expect(await peer.greeted).toBe("refused");
    await until("the kernel to have let go", () => open() <= before + 20);
    for (const peer of peers) peer[Symbol.dispose]();
  });

  test("a process that knows the token and begins without initialize gets an error, and may then begin", async () => {
    using peer = await SocketPeer.greet(stateFolder);
    for (const method of ["lares/status", "lares/trust", "lares/tools/list", "textDocument/hover"])
      expect(await peer.request(method)).toHaveProperty("error");
    peer.send({ jsonrpc: "2.0", method: "textDocument/didOpen", params: {} });
    expect(await peer.request("initialize", bench.initializeParams())).toHaveProperty("result");
    expect(await peer.request("lares/status")).toHaveProperty("result");
    expect(await peer.request("initialize", bench.initializeParams({ trusted: true }))).toMatchObject({
      error: { code: -32602 },
    });
  });
});

test("a greeting that arrives byte by byte, directly followed by a frame, is accepted", async () => {
  using peer = await SocketPeer.open(stateFolder, "");
  const first = frame({ jsonrpc: "2.0", id: 7, method: "initialize", params: bench.initializeParams() });
  for (const byte of Buffer.concat([Buffer.from(`lares/1 ${token}\n`), first])) peer.write(Buffer.of(byte));
  expect(await peer.answer(7)).toHaveProperty("result");
});
