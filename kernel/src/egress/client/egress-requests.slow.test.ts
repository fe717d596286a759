import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { egressBounds as bounds } from "../bounds.ts";
import { failureOf, openClient, read, requestTo, rulesFor, serve } from "./testing/requests.ts";

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
}

test("a request is answered and traced once, without its query", async () => {
  const { url } = await serve((request, response) => {
    response.setHeader("x-seen", String(request.headers["x-test"]));
    void bodyOf(request).then((text) => response.end(`${request.method} ${text}`));
  });
  const { client, traces } = openClient();
  expect(client.pid).toBe(null);
  const answer = await client.request(
    requestTo(`${url}/a/b?key=secret`, {
      method: "POST",
      headers: [
        ["x-test", "1"],
        ["host", "elsewhere.example"],
      ],
      body: new TextEncoder().encode("hello"),
    }),
  );
  expect(answer).toMatchObject({ status: 200, viaProxy: false, redirects: [] });
  expect(new Map(answer.headers).get("x-seen")).toBe("1");
  expect(await read(answer)).toEqual({ text: "POST hello", isTruncated: false });
  expect(traces).toHaveLength(1);
  expect(traces[0]).toMatchObject({
    who: "agent:test",
    method: "POST",
    host: new URL(url).host,
    path: "/a/b",
    sentBytes: 5,
    receivedBytes: 10,
    status: 200,
    failure: null,
  });
  expect(JSON.stringify(traces)).not.toContain("secret");
});

test("a host that is prepared runs before the first request, sends nothing, and is prepared again after its death", async () => {
  let count = 0;
  const { url } = await serve((_request, response) => {
    count++;
    response.end("here");
  });
  const { client } = openClient();
  client.prepare("openai-compatible");
  // A provider that there is no SDK for.
  client.prepare("ollama");
  const first = await until("a host", () => client.pid);
  expect(count).toBe(0);
  expect(await read(await client.request(requestTo(url)))).toMatchObject({ text: "here" });
  expect(client.pid).toBe(first);
  process.kill(first, "SIGKILL");
  await until("the host to be gone", () => client.pid === null);
  client.prepare("openai-compatible");
  expect(await until("another host", () => client.pid)).not.toBe(first);
});

test("the host's environment holds what it was given, and its threads for look-ups", async () => {
  const { url } = await serve((_request, response) => response.end());
  const { client } = openClient({ NO_PROXY: "*" });
  await read(await client.request(requestTo(url)));
  if (process.platform === "linux")
    expect(readFileSync(`/proc/${client.pid}/environ`, "utf8")).toMatch(
      /^NO_PROXY=\*\0UV_THREADPOOL_SIZE=\d+\0$/,
    );
});

test("every spelling of an address of this machine is denied", async () => {
  const { port, sockets } = await serve((_request, response) => response.end("reached"));
  const { client } = openClient();
  const spellings = ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]"];
  for (const spelling of [...spellings, "localhost", "localhost.", "[::1]", "0.0.0.0"]) {
    const url = `http://${spelling}:${port}/`;
    const host = new URL(url).hostname.replace(/^\[|\]$|\.$/g, "");
    const rules = { ...rulesFor(host), privateHosts: [] };
    const failure = await failureOf(client.request(requestTo(url, { rules })));
    expect([spelling, failure]).toMatchObject([spelling, { class: "Denied", host, mayHaveLeft: false }]);
  }
  expect(sockets.size).toBe(0);
});

test("a redirect to a host that is not allowed is denied", async () => {
  const { url, port } = await serve((_request, response) =>
    response.writeHead(302, { location: `http://localhost:${port}/inner` }).end(),
  );
  const { client } = openClient();
  const failure = await failureOf(client.request(requestTo(url, { rules: rulesFor("127.0.0.1") })));
  expect(failure).toMatchObject({ class: "Denied", host: "localhost", mayHaveLeft: true });
});

test("a redirect to another origin carries no credentials and no body", async () => {
  const seen: (string | undefined)[] = [];
  const { port } = await serve((request, response) => {
    seen.push(request.headers.authorization, String(request.headers["x-api-key"]), request.headers.accept);
    response.end("there");
  });
  const { url } = await serve((_request, response) =>
    response.writeHead(307, { location: `http://localhost:${port}/` }).end(),
  );
  const { client } = openClient();
  const headers = [
    ["authorization", "Bearer x"],
    ["x-api-key", "x"],
    ["accept", "text/plain"],
  ] as const;
  const answer = await client.request(requestTo(url, { headers }));
  expect(answer.redirects).toEqual([{ host: "localhost", path: "/" }]);
  expect(await read(answer)).toMatchObject({ text: "there" });
  expect(seen).toEqual([undefined, "undefined", "text/plain"]);
  const body = new Uint8Array([1]);
  const failure = await failureOf(client.request(requestTo(url, { method: "POST", body })));
  expect(failure).toMatchObject({ class: "Denied", host: "localhost" });
});

test("more than five redirects, and any redirect of a provider, are denied", async () => {
  let count = 0;
  const { url } = await serve((_request, response) => {
    count++;
    response.writeHead(302, { location: "/again" }).end();
  });
  const { client } = openClient();
  expect(await failureOf(client.request(requestTo(url)))).toMatchObject({ class: "Denied" });
  expect(count).toBe(6);
  const rules = { ...rulesFor("127.0.0.1"), provider: "lab" };
  expect(await failureOf(client.request(requestTo(url, { rules })))).toMatchObject({ class: "Denied" });
  expect(count).toBe(7);
});

test("a gzip bomb is cut off at the bound and its connection is closed", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const { url, sockets } = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).write(bomb),
  );
  const { client, traces } = openClient();
  const { text, isTruncated } = await read(await client.request(requestTo(url)));
  expect([text.length, isTruncated]).toEqual([1024 * 1024, true]);
  await expect.poll(() => sockets.size).toBe(0);
  expect(traces[0]?.receivedBytes).toBe(1024 * 1024);
});

test("an answer that stalls, and one that drips for too long, time out", async () => {
  const { url } = await serve((request, response) => {
    response.write("x");
    if (request.url === "/stall") return;
    const drip = setInterval(() => response.write("x"), 5);
    response.once("close", () => clearInterval(drip));
  });
  const { client } = openClient();
  for (const [path, limits] of [
    ["/stall", { timeoutMs: 30_000, idleMs: 50, maxBytes: 1000 }],
    ["/drip", { timeoutMs: 300, idleMs: 30_000, maxBytes: 1_000_000 }],
  ] as const) {
    const failure = await failureOf(client.request(requestTo(url + path, { limits })).then(read));
    expect([path, failure.class, failure.mayHaveLeft]).toEqual([path, "Timeout", true]);
  }
});

test("cancelling closes the connection", async () => {
  const { url, sockets } = await serve((_request, response) => response.write("x"));
  const { client, traces } = openClient();
  const aborter = new AbortController();
  const answer = await client.request(requestTo(url, { signal: aborter.signal }));
  const reading = failureOf(read(answer));
  aborter.abort();
  expect(await reading).toMatchObject({ class: "Cancelled" });
  await expect.poll(() => sockets.size).toBe(0);
  expect(traces).toMatchObject([{ status: 200, failure: { class: "Cancelled" } }]);
});

test("one asker's open requests have a bounded size, and another asker's are still sent", async () => {
  const { url } = await serve((request, response) =>
    request.resume().once("end", () => response.flushHeaders()),
  );
  const { client } = openClient();
  const post = { method: "POST", body: new Uint8Array(bounds.maxRequestBytes) };
  const answers = [1, 2].map(() => client.request(requestTo(url, post)));
  await expect(client.request(requestTo(url, post))).rejects.toMatchObject({ code: "Busy" });
  const other = client.request(requestTo(url, { ...post, who: "agent:other" }));
  for (const answer of await Promise.all([...answers, other])) expect(answer.status).toBe(200);
});

test("a request whose connection breaks is not sent again", async () => {
  let count = 0;
  const { url } = await serve((request) => {
    count++;
    request.socket.destroy();
  });
  const { client } = openClient();
  expect(await failureOf(client.request(requestTo(url)))).toMatchObject({
    class: "Network",
    mayHaveLeft: true,
  });
  expect(count).toBe(1);
});

test("a host that nobody answers at is a network failure before any byte left", async () => {
  const { server, url } = await serve(() => undefined);
  server.close();
  await once(server, "close");
  const { client } = openClient();
  expect(await failureOf(client.request(requestTo(url)))).toMatchObject({
    class: "Network",
    mayHaveLeft: false,
  });
});

test("fifty streams end with a class when the host is killed, and the next request starts another", async () => {
  let count = 0;
  const { url } = await serve((_request, response) => {
    count++;
    response.write("x");
  });
  const { client, traces } = openClient();
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.request(requestTo(url))));
  const failures = answers.map((answer) => failureOf(read(answer)));
  const { pid } = client;
  process.kill(pid ?? 0, "SIGKILL");
  for (const failure of await Promise.all(failures))
    expect(failure).toMatchObject({ class: "Network", mayHaveLeft: true });
  expect([count, traces.length]).toEqual([50, 50]);
  const next = await client.request(requestTo(url));
  expect(client.pid).not.toBe(pid);
  await next.body.return({ isTruncated: true });
});

test("a long answer waits until it is read", async () => {
  const total = 100 * 1024 * 1024;
  let written = 0;
  const piece = Buffer.alloc(1024 * 1024);
  const { url } = await serve((_request, response) => {
    const more = (): void => {
      while (written < total) {
        written += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const { client } = openClient();
  const limits = { timeoutMs: 60_000, idleMs: 60_000, maxBytes: total };
  const { body } = await client.request(requestTo(url, { limits }));
  await body.next();
  // Buffers of the sockets and of the host take some; without back-pressure everything would have been written.
  expect(written).toBeLessThan(total / 2);
  let received = 0;
  for await (const chunk of body) received += chunk.length;
  expect(received).toBeGreaterThan(total - 1024 * 1024);
});

test("names go through the proxy, addresses are refused there, and this machine is reached directly", async () => {
  const asked: string[] = [];
  const { server, url: proxy } = await serve((_request, response) => response.writeHead(502).end());
  const { url, port } = await serve((_request, response) => response.end("direct"));
  server.on("connect", (request, socket) => {
    asked.push(String(request.url));
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const upstream = connect(port, "127.0.0.1");
    upstream.pipe(socket).pipe(upstream);
    for (const end of [socket, upstream]) end.on("error", () => undefined);
  });
  const { client } = openClient({ HTTPS_PROXY: proxy, NO_PROXY: "" });
  expect(await read(await client.request(requestTo(url)))).toMatchObject({ text: "direct" });
  const rules = rulesFor("93.184.216.34", "example.test");
  expect(await failureOf(client.request(requestTo("https://93.184.216.34/", { rules })))).toMatchObject({
    class: "Denied",
  });
  // The server behind the tunnel speaks no TLS.
  expect(await failureOf(client.request(requestTo("https://example.test/", { rules })))).toMatchObject({
    class: "Network",
  });
  expect(asked).toEqual(["example.test:443"]);
});
