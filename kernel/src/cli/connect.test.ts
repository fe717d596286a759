import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { createMessageConnection, ResponseError } from "vscode-jsonrpc";
import { StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { connectThroughFront, openSession } from "./connect.ts";

/** The other side of a session: a peer that answers over real streams. */
function peer() {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: [method: string, params: unknown][] = [];
  const connection = createMessageConnection(new StreamMessageReader(output), new StreamMessageWriter(input));
  connection.onRequest((method, params) => {
    heard.push([method, params]);
    if (method === "lares/actions/undo") {
      return new ResponseError(-33006, "It has changed since.", { code: "Stale", path: "a.txt" });
    }
    if (method === "lares/never") return new Promise(() => {});
    return { echoed: method };
  });
  connection.onNotification((method, params) => void heard.push([method, params]));
  connection.listen();
  const { promise: exited, resolve: end } = Promise.withResolvers<{ reason: string }>();
  return { streams: { input, output, exited, leave: () => Promise.resolve() }, connection, heard, end };
}

it("says hello as the protocol wants it, asks, hears, and says goodbye", async () => {
  const other = peer();
  const session = await openSession(other.streams, { folder: "/some/where", trusted: true });
  const heard = Promise.withResolvers<[string, unknown]>();
  using _listening = session.onNotification((method, params) => heard.resolve([method, params]));
  await other.connection.sendNotification("lares/notify", { title: "x" });
  expect(await heard.promise).toEqual(["lares/notify", { title: "x" }]);
  expect(await session.request("lares/status", {})).toEqual({ echoed: "lares/status" });
  await session[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(other.heard.at(-1)?.[0]).toBe("exit"));
  expect(other.heard.map(([method]) => method)).toEqual([
    "initialize",
    "initialized",
    "lares/status",
    "shutdown",
    "exit",
  ]);
  expect(other.heard[0]?.[1]).toMatchObject({
    rootUri: "file:///some/where",
    initializationOptions: { lares: { approvals: "client", trusted: true } },
  });
});

it("an error arrives as the catalogue's, with its facts", async () => {
  const session = await openSession(peer().streams, { folder: "/w" });
  await expect(session.request("lares/actions/undo", { id: "1" })).rejects.toMatchObject({
    name: "LaresError",
    code: "Stale",
    facts: { path: "a.txt" },
  });
  await session[Symbol.asyncDispose]();
});

it("a request that is open when the other side dies is refused with the reason, and so is goodbye no trouble", async () => {
  const other = peer();
  const session = await openSession(other.streams, { folder: "/w" });
  const open = session.request("lares/never", {});
  other.end({ reason: "it ended with 9" });
  await expect(open).rejects.toThrow("it ended with 9");
  expect(await session.closed).toEqual({ reason: "it ended with 9" });
  await session[Symbol.asyncDispose]();
});

it("a front that fails at once is reported with what it said", async () => {
  const script = "process.stderr.write('no such option'); process.exit(2)";
  const connecting = connectThroughFront(process.execPath, ["-e", script], { folder: "/w" });
  await expect(connecting).rejects.toThrow(/ended with 2\s+no such option/);
});

it("a front that cannot be started is reported", async () => {
  await expect(connectThroughFront("/no/such/program", [], { folder: "/w" })).rejects.toThrow(
    "could not be started",
  );
});
