import { appendFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { LaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { acquireLock } from "../../platform/processes/lock.ts";
import { listenLocal, type LocalSocket } from "../../platform/sockets/socket.ts";
import { parseKernelArguments } from "../../platform/processes/spawn-kernel.ts";
import { createEndpoint } from "../../protocol/v1/endpoint.ts";

/**
 * A kernel that only records what its sessions sent, for tests of the front. `TOY_FAULT` in the environment makes it
 * misbehave.
 */
const lingerMs = 300;
const lockPollMs = 20;
/** Gives the client time to send something to a kernel that is slow to open its session. */
const slowMs = 300;
/** Maximum wait for the first session, in milliseconds. */
const loneMs = 10_000;
const log: Log = { debug: write, info: write, warn: write, error: write };
const { stateFolder, roots } = parseKernelArguments(process.argv.slice(3));
const fault = process.env["TOY_FAULT"] ?? "";

function write(message: string): void {
  process.stderr.write(`toy: ${message}\n`);
}

if (fault === "never starts") {
  write("this kernel was told to fail");
  process.exit(3);
}

for (;;) {
  const lock = await acquireLock(join(stateFolder, "kernel.lock"));
  if (!("heldBy" in lock)) break;
  await delay(lockPollMs);
}
appendFileSync(join(stateFolder, "starts"), `${process.pid}\n`);

let sessions = 0;
let isClosing = false;
let lastFollow = 0;

await listenLocal({ stateFolder, log, phase: () => (isClosing ? "closing" : "open"), accept: serve });

function serve(socket: LocalSocket): void {
  sessions++;
  const endpoint = createEndpoint({ source: socket, sink: socket, log });
  const documents = new Map<string, unknown>();
  const followed: string[] = [];
  /** `after` or `from` of each follow. */
  const asked: (string | number | null)[] = [];
  const heard: string[] = [];
  let initializeParams: unknown = null;

  endpoint.onStandardRequest("initialize", async (params) => {
    initializeParams = params;
    if (fault === "dies at initialize") process.kill(process.pid, "SIGKILL");
    if (fault === "refuses sessions") throw new LaresError("StorageError", "The workspace cannot be opened.");
    if (fault === "slow") await delay(slowMs);
    return { capabilities: {} };
  });
  for (const method of [
    "initialized",
    "textDocument/didOpen",
    "textDocument/didChange",
    "workspace/didChangeConfiguration",
  ])
    endpoint.onNotification(method, (params) => {
      heard.push(method);
      const document =
        isJsonObject(params) && isJsonObject(params["textDocument"]) ? params["textDocument"] : {};
      if (method === "textDocument/didOpen") documents.set(String(document["uri"]), document["text"]);
      // A front sends whole texts, and passes an editor's ranges on.
      const changes = isJsonObject(params) ? params["contentChanges"] : null;
      const [change] = Array.isArray(changes) ? (changes as unknown[]) : [];
      if (isJsonObject(change) && change["range"] === undefined)
        documents.set(String(document["uri"]), change["text"]);
    });
  endpoint.onRequest("lares/traces/follow", ({ after }) => {
    const subscription = `toy-${process.pid}-${++lastFollow}`;
    followed.push(subscription);
    asked.push(after ?? null);
    return { subscription, cursor: `begun ${lastFollow}` };
  });
  endpoint.onRequest("lares/traces/unfollow", ({ subscription }) => {
    const at = followed.indexOf(subscription);
    if (at === -1) throw new LaresError("NotFound", `There is no subscription "${subscription}".`);
    followed.splice(at, 1);
    return null;
  });
  endpoint.onRequest("lares/conversations/follow", ({ from }) => {
    const subscription = `toy-${process.pid}-${++lastFollow}`;
    followed.push(subscription);
    asked.push(from ?? null);
    return { subscription, seq: 0 };
  });
  endpoint.onRequest("lares/conversations/unfollow", ({ subscription }) => {
    const at = followed.indexOf(subscription);
    if (at === -1) throw new LaresError("NotFound", `There is no subscription "${subscription}".`);
    followed.splice(at, 1);
    return null;
  });
  endpoint.onStandardRequest("toy/say", (params) => {
    const seq = isJsonObject(params) ? Number(params["seq"]) : 1;
    for (const subscription of followed) {
      const message = `m${seq}`;
      endpoint.notify("lares/conversations/delta", {
        subscription,
        process: "p",
        message,
        part: 0,
        type: "text",
        text: "hel",
      });
      endpoint.notify("lares/conversations/entry", {
        subscription,
        entry: {
          seq,
          id: message,
          conversation: "c",
          process: "p",
          created: "2026-01-01T00:00:00.000Z",
          origin: "model",
          turn: "t",
          kind: "message",
          role: "assistant",
          parts: [{ type: "text", text: "hello" }],
        },
      });
    }
  });
  // Without an answer from the first kernel.
  let sends = 0;
  endpoint.onRequest("lares/conversations/send", async ({ key }) => {
    sends++;
    if ((await startCount()) === 1) return new Promise(() => {});
    return { entry: `${key} ${sends}` };
  });
  endpoint.onRequest("lares/actions/approve", () => new Promise(() => {}));
  endpoint.onRequest("lares/actions/list", async () => {
    if (fault !== "hangs once" || (await startCount()) > 1) return [];
    return new Promise(() => {});
  });
  endpoint.onStandardRequest(
    "lares/agents/list",
    (_params, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cancelled")));
      }),
  );
  endpoint.onStandardRequest("toy/state", () => ({
    pid: process.pid,
    roots,
    sessions,
    initializeParams,
    heard,
    documents: Object.fromEntries(documents),
    followed,
    asked,
  }));
  endpoint.onStandardRequest("toy/emit", (params) => {
    const span = isJsonObject(params) ? String(params["span_id"]) : "s";
    for (const subscription of followed)
      endpoint.notify("lares/traces/entry", {
        subscription,
        entry: {
          timestamp: "2026-01-01T00:00:00.000Z",
          level: "info",
          agent: "toy",
          message: "hello",
          trace_id: "t",
          span_id: span,
        },
      });
  });
  endpoint.onStandardRequest("toy/ask", (params) => endpoint.request("window/showMessageRequest", params));
  endpoint.onStandardRequest("toy/flood", (params) => {
    const count = isJsonObject(params) ? Number(params["count"]) : 0;
    const wanted = isJsonObject(params) ? params["method"] : undefined;
    const method = typeof wanted === "string" ? wanted : "toy/noise";
    for (let sent = 0; sent < count; sent++)
      endpoint.notifyStandard(sent % 1000 === 0 ? "toy/noise" : method, {
        id: `${sent % 3}`,
        sent,
        filler: "x".repeat(1000),
      });
  });
  // Answers with these bytes instead of a valid frame.
  endpoint.onStandardRequest("toy/raw", (params) => {
    socket.write(Buffer.from(isJsonObject(params) ? String(params["bytes"]) : ""));
    return new Promise(() => {});
  });
  endpoint.onStandardRequest("toy/close", () => {
    isClosing = true;
    setTimeout(() => process.exit(0), lingerMs);
    endpoint.end();
  });
  endpoint.listen();
  void endpoint.closed.then(() => {
    if (--sessions === 0) setTimeout(() => sessions === 0 && process.exit(0), lingerMs);
  });
}

async function startCount(): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  return (await readFile(join(stateFolder, "starts"), "utf8")).trim().split("\n").length;
}

// No client connected.
setTimeout(() => sessions === 0 && process.exit(0), loneMs);
