import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { isAlive, until } from "../support/until.ts";

let bench: Bench;
/** Connected for the whole file, so that the kernel keeps running. */
let resident: Client;
beforeAll(async () => {
  bench = await Bench.create({ files: { "a.txt": "hello\n" } });
  resident = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const KERNEL_METHODS = [
  "lares/status",
  "lares/agents/list",
  "lares/actions/list",
  "textDocument/hover",
  "shutdown",
];

describe("initialize", () => {
  test("answers with serverInfo, capabilities and the protocol's version", async () => {
    await using client = bench.spawn();
    const result = await client.request<Record<string, Record<string, unknown>>>(
      "initialize",
      bench.initializeParams(),
    );
    expect(result["serverInfo"]).toEqual({ name: "lares", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(result["capabilities"]).toMatchObject({
      textDocumentSync: expect.anything(),
      experimental: { lares: { protocol: 1 } },
    });
  });

  test("names the workspace by workspaceFolders as well as by rootUri", async () => {
    await using client = bench.spawn();
    const { rootUri, ...params } = bench.initializeParams({ trusted: true });
    const folders = [{ uri: rootUri, name: "workspace" }];
    await client.request("initialize", { ...params, rootUri: null, workspaceFolders: folders });
    client.notify("initialized", {});
    expect((await bench.ready(client)).workspace).toBe(bench.root);
  });

  test.each(KERNEL_METHODS)("before it, %s is refused with ServerNotInitialized", async (method) => {
    await using client = bench.spawn();
    expect(await client.raw(method, {})).toMatchObject({ error: { code: -32002 } });
  });

  test("a second one is refused and the session continues", async () => {
    await using client = await bench.connect();
    expect(await client.raw("initialize", bench.initializeParams())).toMatchObject({
      error: { code: -32600 },
    });
    await bench.status(client);
  });

  test("an unknown method is MethodNotFound, an unknown notification is ignored", async () => {
    resident.notify("lares/nothing", {});
    resident.notify("$/nothing", {});
    expect(await resident.raw("lares/nothing", {})).toMatchObject({ error: { code: -32601 } });
    expect(resident.strays).toEqual([]);
  });

  test.each([
    ["lares/agents/control", { id: 7, command: "enable" }],
    ["lares/agents/control", { id: "test.probe", command: "explode" }],
    ["lares/actions/get", {}],
    ["lares/actions/approve", { id: "x", digest: "not a hash" }],
    ["lares/traces/query", { limit: "many" }],
    ["lares/tools/call", { agent: "a" }],
  ])("%s with %j is InvalidParams", async (method, params) => {
    expect(await resident.raw(method, params)).toMatchObject({ error: { code: -32602 } });
  });
});

describe("shutdown", () => {
  test("after it, requests are InvalidRequest; exit then ends with 0", async () => {
    await using client = await bench.connect();
    expect(await client.raw("shutdown")).toMatchObject({ result: null });
    for (const method of ["lares/status", "textDocument/hover", "shutdown"]) {
      expect(await client.raw(method, {})).toMatchObject({ error: { code: -32600 } });
    }
    client.notify("exit");
    expect(await client.exited).toEqual({ code: 0, signal: null });
  });

  const endings: [string, (client: Client) => unknown, { initialized: boolean; code: number }][] = [
    ["exit alone", (client) => client.notify("exit"), { initialized: true, code: 1 }],
    ["exit before initialize", (client) => client.notify("exit"), { initialized: false, code: 1 }],
    ["end of stdin", (client) => client.process.stdin.end(), { initialized: true, code: 1 }],
    [
      "end of stdin before initialize",
      (client) => client.process.stdin.end(),
      { initialized: false, code: 1 },
    ],
    ["shutdown and exit", (client) => client.shutdown(), { initialized: true, code: 0 }],
  ];
  test.each(endings)("%s", async (_name, end, { initialized, code }) => {
    await using client = initialized ? await bench.connect() : bench.spawn();
    await end(client);
    expect(await client.exited).toEqual({ code, signal: null });
  });

  test("the front ends with 1 when the process named by --clientProcessId is gone", async () => {
    const parent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await using client = bench.spawn({ args: [`--clientProcessId=${parent.pid}`] });
    await client.request("initialize", { ...bench.initializeParams(), processId: null });
    parent.kill("SIGKILL");
    expect(await client.exited).toEqual({ code: 1, signal: null });
  });

  test("the kernel ends after its last client left", async () => {
    await using alone = await Bench.create();
    await using client = await alone.open();
    const { pid } = await alone.status(client);
    await client.shutdown();
    await until("the kernel to end", () => !isAlive(pid));
  });
});

describe("frames", () => {
  const valid = (id: number): Buffer => frame({ jsonrpc: "2.0", id, method: "lares/status", params: {} });
  const body = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

  /** Faults after which the next frame's start is known: that frame alone is dropped, and answered. */
  const recoverable: [string, string | Buffer, number[]][] = [
    ["a body that is not JSON", body("{nope"), [-32700]],
    ["an empty body", body(""), [-32700, -32600]],
    ["a body that is no message", body("42"), [-32600]],
    ["a body without jsonrpc", body('{"id":1,"foo":2}'), [-32600]],
    ["a body over 10 MiB", body(`"${"x".repeat(10 * 1024 * 1024)}"`), [-32600, -32700]],
    [
      "invalid UTF-8",
      Buffer.concat([Buffer.from("Content-Length: 3\r\n\r\n"), Buffer.of(0x22, 0xff, 0x22)]),
      [-32700, -32600],
    ],
  ];
  test.each(recoverable)("%s is answered and the next message is not lost", async (_name, bytes, codes) => {
    await using client = await bench.connect();
    const next = await client.answerTo(9001, "the message after it", () => {
      client.write(bytes);
      client.write(valid(9001));
    });
    expect(next).toHaveProperty("result");
    const stray = client.strays.map((message) => (message["error"] as { code: number }).code);
    expect(stray).toHaveLength(1);
    expect(codes).toContain(stray[0]);
  });

  /** Faults in the header: dropped and answered, or the connection closes with one clear line. Never silence. */
  const headers: [string, string][] = [
    ["a negative length", "Content-Length: -5\r\n\r\n"],
    ["a missing length", "Content-Type: application/json\r\n\r\n"],
    ["a length that is no number", "Content-Length: ten\r\n\r\n"],
    ["a fractional length", "Content-Length: 1.5\r\n\r\n"],
    ["an absurd length", "Content-Length: 1000000000000\r\n\r\n"],
    ["a header over 8 KiB", `X-Filler: ${"x".repeat(9000)}\r\nContent-Length: 2\r\n\r\n{}`],
    ["a header over 8 KiB without an end", "x".repeat(9000)],
  ];
  test.each(headers)("%s never hangs and is never lost in silence", async (_name, bytes) => {
    await using client = await bench.connect();
    let ended = false;
    void client.exited.then(() => (ended = true));
    const answered = client
      .answerTo(9002, "the message after it", () => {
        client.write(bytes);
        client.write(valid(9002));
      })
      .then(
        () => "answered",
        () => "closed",
      );
    await until("an error answer or the end", () => client.strays.length > 0 || ended);
    for (const stray of client.strays) {
      expect([-32700, -32600]).toContain((stray["error"] as { code: number }).code);
    }
    if ((await Promise.race([answered, client.exited.then(() => "closed")])) === "closed") {
      expect((await client.exited).code).toBe(1);
      expect(client.stderr.trim().split("\n")).toHaveLength(1);
      expect(client.stderr).toMatch(/\w{4}/);
    }
  });

  test("a message that arrives byte by byte, with extra headers and multi-byte characters, is read", async () => {
    await using client = await bench.connect();
    const message = Buffer.from(
      JSON.stringify({ jsonrpc: "2.0", id: "ü-1", method: "lares/status", params: {} }),
    );
    const header = `content-length: ${message.length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n`;
    const answer = await client.answerTo("ü-1", "the slow message", () => {
      for (const byte of Buffer.concat([Buffer.from(header), message])) client.write(Buffer.of(byte));
    });
    expect(answer).toHaveProperty("result");
  });
});
