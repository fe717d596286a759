import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { LaresError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createEndpoint, type Endpoint, type EndpointOptions } from "./endpoint.ts";
import { FrameReader } from "../framing/frame-reader.ts";
import { FrameWriter } from "../framing/frame-writer.ts";
import { kernelFrameLimits } from "../framing/limits.ts";
import { isRequest, type RequestMessage, type ResponseMessage, type RpcMessage } from "../messages.ts";

interface Peer {
  readonly endpoint: Endpoint;
  readonly heard: RpcMessage[];
  readonly logged: string[];
  /** Where the endpoint's bytes go. */
  readonly sink: PassThrough;
  /** Bytes from the peer, as they are. */
  readonly raw: PassThrough;
  send(message: object): void;
  until<Found>(find: () => Found | undefined): Promise<Found>;
  answer(id: number | string | null): Promise<ResponseMessage>;
}

function open(options: Partial<EndpointOptions> = {}): Peer {
  const toEndpoint = new PassThrough();
  const fromEndpoint = new PassThrough();
  const heard: RpcMessage[] = [];
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  let wake = (): void => {};
  const handlers = {
    message: (message: RpcMessage) => (heard.push(message), wake()),
    refused() {},
    closed() {},
  };
  void new FrameReader(fromEndpoint, handlers, kernelFrameLimits);
  const writer = new FrameWriter(toEndpoint);
  const endpoint = createEndpoint({ source: toEndpoint, sink: fromEndpoint, log, ...options });
  const until = async <Found>(find: () => Found | undefined): Promise<Found> => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return {
    endpoint,
    heard,
    logged,
    sink: fromEndpoint,
    raw: toEndpoint,
    send: (message) => writer.write(JSON.stringify({ jsonrpc: "2.0", ...message })),
    until,
    answer: (id) =>
      until(() =>
        heard.find((message): message is ResponseMessage => !("method" in message) && message.id === id),
      ),
  };
}

/** Returns this many nested arrays. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

const agent = { id: "a", command: "enable" };

describe("requests", () => {
  const cases: readonly { name: string; send: object; says: object }[] = [
    {
      name: "an unknown method",
      send: { id: 1, method: "lares/nope" },
      says: { code: -32601, data: { code: "MethodNotFound" } },
    },
    {
      name: "params that do not fit",
      send: { id: 1, method: "lares/agents/control", params: { ...agent, command: "fly" } },
      says: {
        code: -32602,
        message: expect.stringMatching(/"fly"; it must be one of "enable"/),
        data: { code: "InvalidParams", path: "params.command", method: "lares/agents/control" },
      },
    },
    {
      name: "params that are missing",
      send: { id: 1, method: "lares/agents/control" },
      says: { code: -32602, message: expect.stringContaining('no "id"') },
    },
    {
      name: "an error of the catalogue",
      send: { id: 1, method: "lares/agents/control", params: agent },
      says: { code: -33002, message: "It sleeps.", data: { code: "IllegalTransition", state: "Error" } },
    },
    {
      name: "any other error, without its stack",
      send: { id: 1, method: "lares/status", params: {} },
      says: { code: -32603, message: "The kernel failed: boom", data: { code: "InternalError" } },
    },
    {
      name: "an answer that has no JSON form",
      send: { id: 1, method: "x/circular" },
      says: { code: -32603 },
    },
    {
      name: "an answer that is too large",
      send: { id: 1, method: "x/large" },
      says: {
        code: -33007,
        data: { code: "LimitExceeded", limit: "maxFrameBytes", value: kernelFrameLimits.maxFrameBytes + 36 },
      },
    },
    {
      name: "a result that is deeper than the peer reads",
      send: { id: 1, method: "x/deep" },
      says: { code: -33007, data: { code: "LimitExceeded", limit: "maxJsonDepth", value: 200 } },
    },
    {
      name: "a result that is deeper than JSON can be written",
      send: { id: 1, method: "x/deepest" },
      says: { code: -32603, data: { code: "InternalError" } },
    },
  ];
  for (const { name, send, says } of cases)
    test(`are answered for ${name}`, async () => {
      const { endpoint, send: write, answer, logged } = open();
      endpoint.onRequest("lares/agents/control", () => {
        throw new LaresError("IllegalTransition", "It sleeps.", { state: "Error" });
      });
      endpoint.onRequest("lares/status", () => {
        throw new Error("boom");
      });
      endpoint.onStandardRequest("x/circular", () => {
        const circle: { self?: object } = {};
        circle.self = circle;
        return circle;
      });
      endpoint.onStandardRequest("x/deep", () => nested(200));
      endpoint.onStandardRequest("x/deepest", () => nested(100_000));
      endpoint.onStandardRequest("x/large", () => "x".repeat(kernelFrameLimits.maxFrameBytes));
      endpoint.listen();
      write(send);
      const { error } = await answer(1);
      expect(error).toEqual({ ...error, ...says });
      expect(JSON.stringify(error)).not.toContain(".ts:");
      if (name.startsWith("any other")) expect(logged.join()).toContain("boom");
    });

  test("unknown fields of params are ignored, and missing params are none", async () => {
    const { endpoint, send, answer } = open();
    endpoint.onRequest("lares/agents/list", () => []);
    endpoint.listen();
    send({ id: 1, method: "lares/agents/list", params: { later: true } });
    send({ id: "2", method: "lares/agents/list" });
    expect((await answer(1)).result).toEqual([]);
    expect((await answer("2")).result).toEqual([]);
  });

  test("a check before each request answers for it", async () => {
    const { endpoint, send, answer } = open();
    endpoint.beforeRequest((method) => {
      throw new LaresError("Untrusted", `${method} needs trust.`);
    });
    endpoint.onRequest("lares/agents/list", () => []);
    endpoint.listen();
    send({ id: 1, method: "lares/agents/list" });
    expect((await answer(1)).error).toMatchObject({
      code: -33009,
      message: "lares/agents/list needs trust.",
    });
  });

  test("more than may be open are answered Busy", async () => {
    const { endpoint, send, answer } = open({ maxOpenRequests: 2 });
    endpoint.onStandardRequest("x/wait", () => new Promise(() => {}));
    endpoint.listen();
    for (const id of [1, 2, 3]) send({ id, method: "x/wait" });
    expect((await answer(3)).error).toMatchObject({ code: -33010, data: { code: "Busy", limit: 2 } });
  });
});

describe("cancellation", () => {
  for (const isLate of [false, true])
    test(isLate ? "while the handler runs" : "in the same breath as the request", async () => {
      const { endpoint, send, answer, until, heard } = open();
      endpoint.onStandardRequest("x/wait", (_params, signal) => {
        endpoint.notifyStandard("x/started", {});
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("stopped"))),
        );
      });
      endpoint.listen();
      send({ id: 1, method: "x/wait" });
      if (isLate) await until(() => heard.find((message) => "method" in message));
      send({ method: "$/cancelRequest", params: { id: 1 } });
      expect((await answer(1)).error?.code).toBe(-32800);
    });

  test("without params is ignored, and the next request answered", async () => {
    const { endpoint, send, answer, logged } = open();
    endpoint.onRequest("lares/agents/list", () => []);
    endpoint.listen();
    send({ method: "$/cancelRequest" });
    send({ method: "$/cancelRequest", params: { id: {} } });
    send({ id: 1, method: "lares/agents/list" });
    expect((await answer(1)).result).toEqual([]);
    expect(logged).toHaveLength(2);
  });
});

describe("requests to the peer", () => {
  test("resolve with its result, reject with its error in the catalogue's words", async () => {
    const { endpoint, send, until, heard } = open();
    endpoint.listen();
    const asked = [endpoint.request("x/a", { a: 1 }), endpoint.request("x/b", {})];
    asked[1]?.catch(() => {});
    await until(() => heard[1]);
    expect(heard[0]).toMatchObject({ method: "x/a", params: { a: 1 } });
    const ids = heard.map((message) => ("id" in message ? message.id : null));
    send({ id: ids[0], result: "yes" });
    send({ id: ids[1], error: { code: -33006, message: "It changed.", data: { code: "Stale", path: "a" } } });
    expect(await asked[0]).toBe("yes");
    await expect(asked[1]).rejects.toMatchObject({
      code: "Stale",
      message: "It changed.",
      facts: { path: "a" },
    });
  });

  test("reject when the answer is too deep to be read", async () => {
    const { endpoint, send, until, heard } = open();
    endpoint.listen();
    const asked = endpoint.request("x/a", {});
    const [request] = await until(() => (heard.length > 0 ? heard : undefined));
    send({ id: request !== undefined && "id" in request ? request.id : null, result: nested(200) });
    await expect(asked).rejects.toMatchObject({ code: "LimitExceeded", facts: { limit: "maxJsonDepth" } });
  });

  test("leave nothing behind once they are answered", async () => {
    const { endpoint, send, until, heard } = open();
    endpoint.listen();
    const kept = vi.spyOn(endpoint.closed, "then");
    for (let at = 0; at < 10; at++) {
      const asked = endpoint.request("window/showMessageRequest", {});
      const { id } = await until(
        () => heard.filter((message): message is RequestMessage => isRequest(message))[at],
      );
      send({ id, result: at });
      expect(await asked).toBe(at);
    }
    expect(kept).not.toHaveBeenCalled();
  });

  test("reject when the connection closes first, and closing is reported once", async () => {
    const { endpoint, raw } = open();
    endpoint.listen();
    const asked = endpoint.request("x/a", {});
    raw.end();
    await expect(asked).rejects.toMatchObject({ code: "Busy" });
    await endpoint.closed;
    endpoint.notifyStandard("x/late", {});
    await expect(endpoint.request("x/late", {})).rejects.toMatchObject({ code: "Busy" });
  });
});

test("an answer to a peer that has left is dropped, and not logged", async () => {
  const { endpoint, send, sink, logged } = open();
  const begun = Promise.withResolvers<void>();
  const work = Promise.withResolvers<void>();
  endpoint.onRequest("lares/agents/list", async () => {
    begun.resolve();
    await work.promise;
    return [];
  });
  endpoint.listen();
  send({ id: 1, method: "lares/agents/list" });
  await begun.promise;
  sink.destroy();
  await new Promise<void>((resolve) => setImmediate(resolve));
  work.resolve();
  await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(logged).toEqual([]);
});

test("a notification's handler that throws is logged, and the next message is read", async () => {
  const { endpoint, send, answer, logged } = open();
  endpoint.onNotification("x/bad", () => {
    throw new Error("oops");
  });
  endpoint.onRequest("lares/agents/list", () => []);
  endpoint.listen();
  send({ method: "x/bad" });
  send({ method: "x/unknown" });
  send({ id: 1, method: "lares/agents/list" });
  await answer(1);
  expect(logged.map(messageOf).join()).toContain("oops");
});

test("bad frames are answered, and the next request is", async () => {
  const { endpoint, raw, send, answer } = open();
  endpoint.onRequest("lares/agents/list", () => []);
  endpoint.listen();
  raw.write("Content-Length: 3\r\n\r\n{a}");
  expect((await answer(null)).error?.code).toBe(-32700);
  send({ id: 1, method: "lares/agents/list" });
  expect((await answer(1)).result).toEqual([]);
});
