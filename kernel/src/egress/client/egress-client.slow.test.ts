import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { seeded } from "../../../../test/support/seed.ts";
import { until } from "../../../../test/support/until.ts";
import { systemClock } from "../../platform/clock.ts";
import { EgressError, type EgressTrace } from "./answer.ts";
import { EgressClient } from "./egress-client.ts";
import { failureOf, openClient, requestTo, rulesFor, serveSockets } from "./testing/requests.ts";

test("a thousand requests cancelled at random moments end as cancelled and close their connections", async () => {
  const random = seeded();
  let openAnswers = 0;
  const server = createServer((_request, response) => {
    openAnswers++;
    response.once("close", () => openAnswers--);
    response.write("x");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const traces: EgressTrace[] = [];
  const client = new EgressClient({
    clock: systemClock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    environment: () => ({}),
    trace: (trace) => traces.push(trace),
  });
  const rules = { allowedHosts: ["127.0.0.1"], privateHosts: ["127.0.0.1"], providerHosts: [] };
  const limits = { timeoutMs: 60_000, idleMs: 60_000, maxBytes: 1000 };
  const cancelled = async (): Promise<unknown> => {
    const aborter = new AbortController();
    const { signal } = aborter;
    void pause(random() * 40).then(() => aborter.abort());
    try {
      const answer = await client.request({
        who: "test",
        method: "GET",
        url,
        headers: [],
        rules,
        limits,
        signal,
      });
      for await (const _ of answer.body);
      return null;
    } catch (error) {
      return error instanceof EgressError ? error.failure.class : error;
    }
  };
  for (let round = 0; round < 20; round++) {
    const ends = await Promise.all(Array.from({ length: 50 }, cancelled));
    expect(new Set(ends)).toEqual(new Set(["Cancelled"]));
  }
  expect(traces).toHaveLength(1000);
  await expect.poll(() => openAnswers).toBe(0);
  await client[Symbol.asyncDispose]();
  server.close();
});

test("a proxy that never answers ends the request by the limit of a connection, before any byte left", async () => {
  const proxy = await serveSockets(() => undefined);
  const { client } = openClient({ HTTPS_PROXY: proxy.url });
  const failure = await failureOf(
    client.request(requestTo("https://example.test/", { rules: rulesFor("example.test") })),
  );
  expect(failure).toMatchObject({
    class: "Network",
    mayHaveLeft: false,
    message: expect.stringMatching(
      /example\.test could not be reached: the proxy 127\.0\.0\.1:\d+ did not connect: .*egress\.proxy/,
    ) as string,
  });
  await until("0 connections", () => proxy.sockets.size === 0);
});
