import process from "node:process";
import { createServer } from "node:net";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { initializeResult } from "../protocol/v1/capabilities.ts";
import { isAlive, until } from "../../../test/support/until.ts";
import { Bench, RequestFailed, type TestClient } from "./testing/client.ts";

const document = (uri: string, text: string) => ({
  textDocument: { uri, languageId: "yaml", version: 1, text },
});
const digest = `sha256:${"a".repeat(64)}`;

async function wireErrorOf(answer: Promise<unknown>): Promise<RequestFailed["wire"]> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof RequestFailed) return error.wire;
    throw error;
  }
  throw new Error("It was answered without an error.");
}

describe.concurrent("a session's life", () => {
  test("initialize is answered with the static capabilities, shutdown and exit end with 0", async () => {
    await using bench = await Bench.open();
    const client = bench.start(["--stdio"]);
    expect(await client.request("initialize", bench.initializeParams())).toEqual({
      serverInfo: { name: "lares", version: "1.2.3" },
      capabilities: expect.objectContaining({ experimental: { lares: { protocol: 1 } } }),
    });
    client.notify("initialized", {});
    expect(await client.request("shutdown")).toBeNull();
    expect((await wireErrorOf(client.request("lares/status"))).code).toBe(-32600);
    client.notify("exit", {});
    expect(await client.exited).toBe(0);
  });

  const ends: readonly { name: string; leave: (client: TestClient) => void }[] = [
    { name: "exit alone", leave: (client) => client.notify("exit", null) },
    { name: "the end of stdin", leave: (client) => client.process.stdin?.end() },
    {
      name: "a client that closes both pipes",
      leave: (client) => (client.process.stdin?.destroy(), client.process.stdout?.destroy()),
    },
  ];
  for (const { name, leave } of ends)
    test(`${name} ends with 1`, async () => {
      await using bench = await Bench.open();
      const client = await bench.joined();
      leave(client);
      expect(await client.exited).toBe(1);
    });

  test("the end of the client's process ends with 1, even if the pipes stay open", async () => {
    await using bench = await Bench.open();
    const parent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const client = bench.start([`--clientProcessId=${parent.pid}`]);
    await client.request("initialize", { processId: null, rootUri: null, capabilities: {} });
    parent.kill("SIGKILL");
    expect(await client.exited).toBe(1);
    expect(client.stderr).toContain("is gone");
  });

  test("out of order: -32002 before initialize, -32600 for a second one", async () => {
    await using bench = await Bench.open();
    const client = bench.start();
    expect((await wireErrorOf(client.request("lares/status"))).code).toBe(-32002);
    await client.request("initialize", bench.initializeParams());
    expect((await wireErrorOf(client.request("initialize", {}))).code).toBe(-32600);
  });

  test("without a workspace, requests fail with the reason", async () => {
    await using bench = await Bench.open();
    const client = bench.start();
    await client.request("initialize", { processId: null, rootUri: null, capabilities: {} });
    expect((await wireErrorOf(client.request("lares/status"))).message).toContain("No workspace is open");
    expect(await wireErrorOf(client.request("workspace/executeCommand", {}))).toMatchObject({ code: -32803 });
    expect(await wireErrorOf(client.request("textDocument/formatting", {}))).toMatchObject({ code: -32601 });
    // Every announced language feature answers null.
    const { capabilities } = initializeResult("1", {}) as { capabilities: Record<string, unknown> };
    const offered = Object.keys(capabilities).flatMap((name) => /^(\w+)Provider$/.exec(name)?.[1] ?? []);
    for (const feature of [...offered, "prepareRename"].filter((name) => name !== "executeCommand"))
      expect([feature, await client.request(`textDocument/${feature}`, {})]).toEqual([feature, null]);
    expect((await wireErrorOf(client.request("foo/bar"))).code).toBe(-32601);
  });

  test("with a workspace folder that does not exist, requests fail and name it", async () => {
    await using bench = await Bench.open();
    const client = bench.start();
    await client.request("initialize", { rootUri: `file://${bench.folder}/nowhere`, capabilities: {} });
    expect((await wireErrorOf(client.request("lares/status"))).message).toContain("/nowhere");
  });

  test("over a pipe that the client opened", async () => {
    await using bench = await Bench.open();
    const path = join(bench.folder, "client.sock");
    const connected = Promise.withResolvers<string>();
    const server = createServer((socket) => {
      socket.once("data", (chunk) => connected.resolve(chunk.toString()));
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
      socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    bench.start([`--pipe=${path}`]);
    expect(await connected.promise).toContain('"name":"lares"');
    server.close();
  });
});

describe.concurrent("the kernel behind it", () => {
  test("is started, given the session, and answers", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined({ approvals: "none" });
    client.notify("textDocument/didOpen", document("file:///a.yaml", "a: 1\n"));
    const state = await client.state();
    expect(state).toMatchObject({
      roots: [bench.workspace],
      heard: ["initialized", "textDocument/didOpen"],
      documents: { "file:///a.yaml": "a: 1\n" },
    });
    expect(state.initializeParams).toMatchObject({
      processId: null,
      initializationOptions: { lares: { approvals: "none" } },
    });
  });

  test("is shared by two clients that connect at the same time", async () => {
    await using bench = await Bench.open();
    const [first, second] = await Promise.all([bench.joined(), bench.joined()]);
    const states = await Promise.all([first.state(), second.state()]);
    expect(states[0].pid).toBe(states[1].pid);
    expect((await first.state()).sessions).toBe(2);
    // A busy machine may have ended a kernel before a client connected, so ended kernels do not count.
    expect((await bench.kernels()).filter(isAlive)).toEqual([states[0].pid]);
  });

  test("that is slow to open the session delays messages and keeps their order", async () => {
    await using bench = await Bench.open({ TOY_FAULT: "slow" });
    const client = await bench.joined();
    const state = client.state();
    client.notify("textDocument/didOpen", document("file:///a.yaml", "one"));
    client.notify("textDocument/didChange", {
      textDocument: { uri: "file:///a.yaml", version: 2 },
      contentChanges: [{ text: "two" }],
    });
    await state;
    expect((await client.state()).documents).toEqual({ "file:///a.yaml": "two" });
  });

  test("that cannot be started fails waiting requests with the log's end, and a later request tries again", async () => {
    await using bench = await Bench.open({ TOY_FAULT: "never starts" });
    const client = await bench.joined();
    const error = await wireErrorOf(client.request("lares/status"));
    expect(error).toMatchObject({
      code: -32803,
      message: expect.stringMatching(/exit code 3, 3 times[^]*told to fail/),
    });
    expect(client.stderr).toContain("told to fail");
    expect((await wireErrorOf(client.request("lares/status"))).message).toContain("3 times");
  });

  test("that refuses the session fails waiting requests with its reason", async () => {
    await using bench = await Bench.open({ TOY_FAULT: "refuses sessions" });
    const client = await bench.joined();
    expect(await wireErrorOf(client.request("lares/status"))).toMatchObject({
      code: -33011,
      message: "The workspace cannot be opened.",
    });
  });

  test("that always dies at initialize fails waiting requests, and the front keeps running", async () => {
    await using bench = await Bench.open({ TOY_FAULT: "dies at initialize" });
    const client = await bench.joined();
    expect((await wireErrorOf(client.request("lares/status"))).message).toContain("ended 3 times in a row");
    expect(client.process.exitCode).toBeNull();
  });

  test("receives cancellations", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    await client.state();
    const { id, answer } = client.ask("lares/agents/list");
    client.notify("$/cancelRequest", { id });
    expect((await wireErrorOf(answer)).code).toBe(-32800);
  });
});

describe.concurrent("a kernel that is killed", () => {
  test("is replaced by one that receives the session: documents, subscriptions, settings", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    client.notify("workspace/didChangeConfiguration", { settings: { a: 1 } });
    client.notify("textDocument/didOpen", document("file:///a.yaml", "one\ntwo\n"));
    client.notify("textDocument/didOpen", document("file:///b.yaml", "closed"));
    client.notify("textDocument/didClose", { textDocument: { uri: "file:///b.yaml" } });
    client.notify("textDocument/didChange", {
      textDocument: { uri: "file:///a.yaml", version: 2 },
      contentChanges: [
        { range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } }, text: "zwei" },
      ],
    });
    const { subscription } = (await client.request("lares/traces/follow", {})) as { subscription: string };
    const before = await client.state();
    process.kill(before.pid, "SIGKILL");

    const after = await client.stateOfNext(before.pid);
    expect(after.heard).toEqual(["initialized", "workspace/didChangeConfiguration", "textDocument/didOpen"]);
    expect(after.documents).toEqual({ "file:///a.yaml": "one\nzwei\n" });
    await until("the next kernel to follow the traces", async () => {
      const { followed } = await client.state();
      return followed.length === 1;
    });
    await client.request("toy/emit");
    const entry = await client.until(() => client.heard("lares/traces/entry")[0]);
    expect(entry).toMatchObject({ params: { subscription, entry: { message: "hello" } } });
    expect(await client.request("lares/traces/unfollow", { subscription })).toBeNull();
    expect((await client.state()).followed).toEqual([]);
  });

  test("is replaced by one that gets a request for the traces after the last one that the client received", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    await client.request("lares/traces/follow", { agent: "a.b" });
    const first = await client.state();
    expect(first.asked).toEqual([null]);
    process.kill(first.pid, "SIGKILL");
    const second = await until("the second kernel to be asked for the traces", async () => {
      const state = await client.stateOfNext(first.pid);
      return state.asked.length === 1 && state;
    });
    // That kernel sent no trace, so the cursor is where it began.
    expect(second.asked).toEqual(["begun 1"]);
    for (const span of ["one", "two"]) await client.request("toy/emit", { span_id: span });
    process.kill(second.pid, "SIGKILL");
    const third = await until("the third kernel to be asked for the traces", async () => {
      const state = await client.stateOfNext(second.pid);
      return state.asked.length === 1 && state;
    });
    expect(third.asked).toEqual(["two"]);
    expect(client.heard("lares/traces/entry")).toHaveLength(2);
  });

  test("is replaced by one that continues a conversation behind the last entry that the client received", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    const { subscription } = (await client.request("lares/conversations/follow", { id: "c", from: 3 })) as {
      subscription: string;
    };
    const first = await client.state();
    expect(first.asked).toEqual([3]);
    for (const seq of [4, 5]) await client.request("toy/say", { seq });
    process.kill(first.pid, "SIGKILL");
    const second = await until("the second kernel to be asked for the conversation", async () => {
      const state = await client.stateOfNext(first.pid);
      return state.asked.length === 1 && state;
    });
    expect(second.asked).toEqual([5]);
    await client.request("toy/say", { seq: 6 });
    const entries = await client.until(() => {
      const heard = client.heard("lares/conversations/entry");
      return heard.length === 3 && heard;
    });
    expect(entries.map((message) => ("params" in message ? message.params : null))).toEqual(
      [4, 5, 6].map((seq) => ({ subscription, entry: expect.objectContaining({ seq }) })),
    );
    expect(client.heard("lares/conversations/delta")).toEqual(
      ["m4", "m5", "m6"].map((message) =>
        expect.objectContaining({ params: expect.objectContaining({ subscription, message }) }),
      ),
    );
    expect(await client.request("lares/conversations/unfollow", { subscription })).toBeNull();
    expect((await client.state()).followed).toEqual([]);
  });

  test("has a message sent again if it has a key, and answered as unknown otherwise", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    const keyed = client.request("lares/conversations/send", { id: "c", text: "hello", key: "k1" });
    const keyless = client.request("lares/conversations/send", { id: "c", text: "hello" });
    const { pid } = await client.state();
    process.kill(pid, "SIGKILL");
    expect(await keyed).toEqual({ entry: "k1 1" });
    expect((await wireErrorOf(keyless)).message).toContain("lares/conversations/entries");
  });

  test("is replaced by one kernel for both clients", async () => {
    await using bench = await Bench.open();
    const clients = await Promise.all([bench.joined(), bench.joined()]);
    const [before] = await Promise.all(clients.map((client) => client.state()));
    process.kill(before?.pid ?? 0, "SIGKILL");
    const after = await Promise.all(clients.map((client) => client.stateOfNext(before?.pid ?? 0)));
    expect(new Set(after.map(({ pid }) => pid)).size).toBe(1);
  });

  test("has its open reads repeated, and its open changes answered as unknown", async () => {
    await using bench = await Bench.open({ TOY_FAULT: "hangs once" });
    const client = await bench.joined();
    const question = client.request("lares/actions/list", {});
    const change = client.request("lares/actions/approve", { id: "a", digest });
    const { pid } = await client.state();
    process.kill(pid, "SIGKILL");
    expect(await question).toEqual([]);
    expect(await wireErrorOf(change)).toMatchObject({
      code: -32803,
      message: expect.stringContaining("lares/actions/get"),
    });
  });

  test("has its question to the client cancelled, and a late answer does not reach the next kernel", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    void client.ask("toy/ask", { type: 3, message: "Approve?" });
    const asked = await client.until(() => client.heard("window/showMessageRequest")[0]);
    const id = "id" in asked ? asked.id : null;
    const [pid] = await bench.kernels();
    process.kill(pid ?? 0, "SIGKILL");
    expect(await client.until(() => client.heard("$/cancelRequest")[0])).toMatchObject({ params: { id } });
    await client.stateOfNext(pid ?? 0);
    const second = client.request("toy/ask", { type: 3, message: "Again?" });
    const askedAgain = await client.until(() => client.heard("window/showMessageRequest")[1]);
    client.send({ jsonrpc: "2.0", id, result: { title: "late" } });
    client.send({
      jsonrpc: "2.0",
      id: "id" in askedAgain ? askedAgain.id : null,
      result: { title: "fresh" },
    });
    expect(await second).toEqual({ title: "fresh" });
  });

  test("trusted: true is sent to the first kernel only, so an acceptance is never renewed without the person", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined({ trusted: true });
    const before = await client.state();
    expect(before.initializeParams.initializationOptions.lares).toEqual({ trusted: true });
    process.kill(before.pid, "SIGKILL");
    expect((await client.stateOfNext(before.pid)).initializeParams.initializationOptions.lares).toEqual({});
  });
});

test("the front waits for a closing kernel and then starts the next one", async () => {
  await using bench = await Bench.open();
  const client = await bench.joined();
  const before = await client.state();
  await client.request("toy/close").catch(() => {});
  await client.stateOfNext(before.pid);
  expect(await bench.kernels()).toHaveLength(2);
});

describe.concurrent("an unreadable frame of the kernel leaves no request open", () => {
  test("an answer nested too deeply fails its request, and the session continues", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    const { id } = client.ask("lares/actions/approve", { id: "a", digest });
    const body = `{"jsonrpc":"2.0","id":${id},"result":${"[".repeat(300)}${"]".repeat(300)}}`;
    client.ask("toy/raw", { bytes: `Content-Length: ${body.length}\r\n\r\n${body}` });
    const answer = await client.until(() =>
      client.messages.find((message) => "id" in message && message.id === id),
    );
    expect(answer).toMatchObject({ error: { code: -33007, data: { limit: "maxJsonDepth" } } });
    expect(await bench.kernels()).toHaveLength(1);
  });

  test("a frame without an id makes the front rejoin the kernel and fail open requests", async () => {
    await using bench = await Bench.open();
    const client = await bench.joined();
    await client.state();
    const change = client.request("lares/actions/approve", { id: "a", digest });
    const broken = client.request("toy/raw", { bytes: "Content-Length: 7\r\n\r\n{broken" });
    for (const request of [change, broken]) expect((await wireErrorOf(request)).code).toBe(-32803);
    expect(await client.state()).toMatchObject({ sessions: 1 });
    expect(client.stderr).toContain("it sent a frame that cannot be read");
  });
});

test("a client that does not read neither delays another client nor fills the memory", async () => {
  await using bench = await Bench.open();
  const [slow, quick] = await Promise.all([bench.joined(), bench.joined()]);
  await Promise.all([slow.state(), quick.state()]);
  slow.process.stdout?.pause();
  slow.notify("x", {});
  void slow.ask("toy/flood", { count: 20_000 });
  await quick.request("toy/emit");
  expect((await quick.state()).sessions).toBe(2);
  slow.process.stdout?.resume();
  await slow.until(() => slow.heard("toy/noise").length === 20_000);
});

test("a client that reads again gets the last state of each agent and everything that must arrive", async () => {
  await using bench = await Bench.open();
  const [slow, quick] = await Promise.all([bench.joined(), bench.joined()]);
  const { pid } = await slow.state();
  slow.process.stdout?.pause();
  // More than the 64 MiB that may be queued for a client.
  const count = 90_000;
  void slow.ask("toy/flood", { count, method: "lares/agents/changed" });
  await quick.request("toy/emit");
  slow.process.stdout?.resume();
  const told = (method: string): { id: string; sent: number }[] =>
    slow.heard(method).map((message) => ("params" in message ? message.params : null) as never);
  const last = await slow.until(() => {
    const lastOf = new Map(told("lares/agents/changed").map(({ id, sent }) => [id, sent]));
    return [...lastOf.values()].includes(count - 1) && lastOf;
  });
  expect([...last.values()].toSorted((a, b) => a - b)).toEqual([count - 3, count - 2, count - 1]);
  expect(told("lares/agents/changed").length).toBeLessThan(count / 2);
  const noise = Array.from({ length: count / 1000 }, (_, index) => index * 1000);
  expect(told("toy/noise").map(({ sent }) => sent)).toEqual(noise);
  expect((await slow.state()).pid).toBe(pid);
});

test("invalid frames are answered and the session continues", async () => {
  await using bench = await Bench.open();
  const client = await bench.joined();
  const bad = [
    "Content-Length: -1\r\n\r\n",
    "Content-Length: 7\r\n\r\n{broken",
    "Content-Length: 1000000000000\r\n\r\n",
    "no header at all\r\n\r\n",
    "Content-Length: 2\r\n\r\n[]",
  ];
  for (const [index, bytes] of bad.entries()) {
    client.sendRaw(bytes);
    expect(await client.state()).toMatchObject({ sessions: 1 });
    const refusals = client.messages.filter((message) => "error" in message && message.id === null);
    expect(refusals).toHaveLength(index + 1);
  }
});
