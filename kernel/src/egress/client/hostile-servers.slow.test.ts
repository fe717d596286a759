/** The egress host against servers, proxies and addresses that do what they should not. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { egressBounds as bounds } from "../bounds.ts";
import { streamFromProvider } from "./task.ts";
import {
  failureOf,
  listen,
  openClient,
  read,
  requestTo,
  rulesFor,
  serve,
  serveSockets,
} from "./testing/requests.ts";

/** Other implementations of the command (LibreSSL) cannot sign with an authority in one step. */
const hasOpenssl = /^OpenSSL [3-9]/.test(String(spawnSync("openssl", ["version"]).stdout ?? ""));

/** Makes a certificate authority and a certificate of it for "localhost", valid for a day. */
async function certificates() {
  const folder = await temporaryFolder();
  const file = (name: string): string => join(folder, name);
  const request = (options: string): void =>
    void execFileSync(
      "openssl",
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 ${options}`.split(" "),
      { cwd: folder, stdio: "ignore" },
    );
  request("-subj /CN=Authority -keyout ca.key -out ca.pem");
  const names = "-subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=CA:FALSE";
  request(`-CA ca.pem -CAkey ca.key ${names} -keyout server.key -out server.pem`);
  return {
    ca: file("ca.pem"),
    key: readFileSync(file("server.key")),
    cert: readFileSync(file("server.pem")),
  };
}

describe("https", () => {
  test.skipIf(!hasOpenssl)(
    "a certificate is accepted only from a known authority, and for the host that it names",
    async () => {
      const { ca, key, cert } = await certificates();
      let asked = 0;
      const { port } = await listen(
        createServer({ key, cert }, (_request, response) => {
          asked++;
          response.end("over TLS");
        }),
      );
      const url = `https://localhost:${port}/`;

      const trusting = openClient({ NODE_EXTRA_CA_CERTS: ca }).client;
      expect(await read(await trusting.request(requestTo(url)))).toMatchObject({ text: "over TLS" });
      const byAddress = await failureOf(trusting.request(requestTo(`https://127.0.0.1:${port}/`)));
      expect(byAddress).toMatchObject({ class: "Network", mayHaveLeft: false });
      expect(asked).toBe(1);

      const { client } = openClient();
      const failure = await failureOf(client.request(requestTo(url)));
      expect(failure).toMatchObject({
        class: "Network",
        mayHaveLeft: false,
        message: expect.stringMatching(/certificate.*egress\.ca_file/) as string,
      });
      expect(asked).toBe(1);
    },
  );

  test("a file of certificates that cannot be read changes nothing for other hosts", async () => {
    const { url } = await serve((_request, response) => response.end("fine"));
    const { client } = openClient({ NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" });
    expect(await read(await client.request(requestTo(url)))).toMatchObject({ text: "fine" });
  });
});

describe("a server that hangs", () => {
  const limits = { timeoutMs: 30_000, idleMs: 100, maxBytes: 1000 };

  test.each<[string, string]>([
    ["answers nothing", ""],
    ["answers half a head", "HTTP/1.1 200 OK\r\nx-a: "],
    ["answers a head, and then nothing", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"],
    [
      "answers half of a compressed body",
      "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 99\r\n\r\n\x1f",
    ],
  ])("and %s ends by the idle limit, and its connection is closed", async (_what, words) => {
    const { url, sockets } = await serveSockets((socket) => socket.write(words, "latin1"));
    const { client, traces } = openClient();
    const failure = await failureOf(client.request(requestTo(url, { limits })).then(read));
    expect(failure).toMatchObject({
      class: "Timeout",
      mayHaveLeft: true,
      message: expect.stringContaining("127.0.0.1 sent nothing within 100 ms") as string,
    });
    await until("0 connections", () => sockets.size === 0);
    expect(traces).toMatchObject([{ failure: { class: "Timeout" } }]);
  });

  test("and drips its head or its body for too long ends by the total limit", async () => {
    for (const words of ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"]) {
      let drops = 0;
      const { url, sockets } = await serveSockets((socket) => {
        socket.write(words);
        const drip = setInterval(() => {
          drops++;
          socket.write(words.endsWith("\r\n\r\n") ? "x" : `x-${drops}: y\r\n`);
        }, 5);
        socket.once("close", () => clearInterval(drip));
      });
      const { client } = openClient();
      const patient = { timeoutMs: 500, idleMs: 30_000, maxBytes: 1_000_000 };
      const failure = await failureOf(client.request(requestTo(url, { limits: patient })).then(read));
      expect(failure).toMatchObject({ class: "Timeout", mayHaveLeft: true });
      expect(drops).toBeGreaterThan(2);
      await until("0 connections", () => sockets.size === 0);
    }
  });

  test("does not hold up requests to others", async () => {
    const hung = await serveSockets(() => undefined);
    const { url } = await serve((_request, response) => response.end("here"));
    const { client } = openClient();
    const waiting = Array.from({ length: 20 }, () => failureOf(client.request(requestTo(hung.url))));
    await until("20 connections", () => hung.sockets.size === 20);
    expect(await read(await client.request(requestTo(url)))).toMatchObject({ text: "here" });
    for (const socket of hung.sockets) socket.destroy();
    for (const failure of await Promise.all(waiting)) expect(failure.class).toBe("Network");
  });
});

test("a provider's answer that is none closes its connection, although nobody reads it", async () => {
  const { port, sockets } = await serveSockets((socket) =>
    socket.write("HTTP/1.1 600 Odd\r\ncontent-type: text/event-stream\r\n\r\ndata: on and on"),
  );
  const { client } = openClient();
  const host = `127.0.0.1:${port}`;
  const provider = { id: "lab", api: "openai-compatible", baseUrl: `http://${host}/v1` } as const;
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "hello" }] }];
  const request = requestTo(provider.baseUrl, {
    rules: {
      allowedHosts: [host],
      privateHosts: [],
      providerHosts: [{ provider: "lab", host }],
      provider: "lab",
    },
    task: { kind: "generate", provider, key: null, request: { model: "lab/m", messages } },
  });
  const events = await Array.fromAsync(streamFromProvider(client, request));
  expect(events.at(-1)).toMatchObject({ type: "failed" });
  await until("0 connections", () => sockets.size === 0);
});

describe("a compressed answer", () => {
  const huge = Buffer.alloc(64 * 1024 * 1024);
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

  test.each<[string, Buffer]>([
    ["br", brotliCompressSync(huge, quick)],
    ["deflate", deflateSync(huge, { level: 1 })],
    ["x-gzip", gzipSync(huge, { level: 1 })],
  ])("as %s is cut off at the bound, and its connection is closed", async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(huge.length / 100);
    const { url, sockets } = await serve((_request, response) =>
      response.writeHead(200, { "content-encoding": encoding }).write(bomb),
    );
    const { client, traces } = openClient();
    const { text, isTruncated } = await read(await client.request(requestTo(url)));
    expect([text.length, isTruncated]).toEqual([1024 * 1024, true]);
    await until("0 connections", () => sockets.size === 0);
    expect(traces[0]?.receivedBytes).toBe(1024 * 1024);
  });

  test.each(["br", "deflate", "gzip"] as const)(
    "that is not %s fails, also if it is cut off",
    async (encoding) => {
      const whole = { br: brotliCompressSync, deflate: deflateSync, gzip: gzipSync }[encoding](
        "x".repeat(9999),
      );
      for (const body of [Buffer.from("not compressed at all"), whole.subarray(0, -4)]) {
        const { url } = await serve((_request, response) =>
          response.writeHead(200, { "content-encoding": encoding }).end(body),
        );
        const { client } = openClient();
        expect(await failureOf(client.request(requestTo(url)).then(read))).toMatchObject({
          class: "Network",
        });
      }
    },
  );

  test.each(["gzip, gzip", "zstd", "x".repeat(2000)])(
    "in the unknown encoding %s fails",
    async (encoding) => {
      const { url, sockets } = await serve((_request, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end("x"),
      );
      const { client } = openClient();
      const failure = await failureOf(client.request(requestTo(url)).then(read));
      expect(failure).toMatchObject({
        class: "Network",
        message: expect.stringContaining("encoded as") as string,
      });
      await until("0 connections", () => sockets.size === 0);
    },
  );
});

test("an answer of 100 MB is cut off at the bound without being read", async () => {
  let written = 0;
  const total = 100 * 1024 * 1024;
  const { url, sockets } = await serve((_request, response) => {
    const piece = Buffer.alloc(64 * 1024);
    const more = (): void => {
      while (written < total && !response.destroyed) {
        written += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const { client } = openClient();
  const { text, isTruncated } = await read(await client.request(requestTo(url)));
  expect([text.length, isTruncated]).toEqual([1024 * 1024, true]);
  await until("0 connections", () => sockets.size === 0);
  expect(written).toBeLessThan(total / 2);
});

test("a head that is too long, or no HTTP at all, fails", async () => {
  for (const words of [
    `HTTP/1.1 200 OK\r\nx: ${"y".repeat(bounds.maxHeadBytes + 1)}\r\n\r\n`,
    "SSH-2.0-OpenSSH_9.9\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  ]) {
    const { url } = await serveSockets((socket) => socket.end(words));
    const { client } = openClient();
    expect(await failureOf(client.request(requestTo(url)).then(read))).toMatchObject({ class: "Network" });
  }
});

test("every spelling of an address inside is refused before a connection, in requests and in redirects", async () => {
  const inside = await serve((_request, response) => response.end("reached"));
  const { port } = inside;
  let next = "";
  const outside = await serve((_request, response) =>
    response.writeHead(302, { location: Buffer.from(next).toString("latin1") }).end(),
  );
  const { client } = openClient();
  const spellings = `
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 127.0.0.1.
    127。0。0。1 １２７.0.0.1 ①②⑦.0.0.1 %31%32%37.0.0.1 127.000.000.001 0.0.0.0 0 255.255.255.255
    224.0.0.1 169.254.169.254 0xa9fea9fe 10.0.0.1 100.64.0.1 [::1] [::] [0:0:0:0:0:0:0:1]
    [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1]
    [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe]
    [fe80::1] [fc00::1] [ff02::1] localhost LOCALHOST localhost. sub.localhost
  `
    .trim()
    .split(/\s+/);
  for (const spelling of spellings) {
    const url = `http://${spelling}:${port}/`;
    const host = new URL(url).hostname.replaceAll(/^\[|\]$|\.$/g, "");
    const rules = {
      allowedHosts: ["127.0.0.1", host],
      privateHosts: [`127.0.0.1:${outside.port}`],
      providerHosts: [],
    };
    const refused = await failureOf(client.request(requestTo(url, { rules })));
    // A name of this machine may have no address here.
    const classes = host.endsWith(".localhost") ? ["Denied", "Network"] : ["Denied"];
    expect(classes, `${spelling}: ${JSON.stringify(refused)}`).toContain(refused.class);
    expect([spelling, refused.mayHaveLeft]).toEqual([spelling, false]);
    next = url;
    const redirected = await failureOf(client.request(requestTo(outside.url, { rules })));
    expect(classes, `${spelling} in a redirect: ${JSON.stringify(redirected)}`).toContain(redirected.class);
  }
  expect(inside.sockets.size).toBe(0);
});

test.each<[string, string]>([
  ["a scheme that is none", "gopher://127.0.0.1/"],
  ["a file", "file:///etc/passwd"],
  ["a user name", "http://ada:secret@127.0.0.1/"],
  ["no address", "http://[::1"],
  ["a port that is none", "http://127.0.0.1:99999/"],
])("a redirect to %s is denied", async (_what, location) => {
  const { url } = await serve((_request, response) => response.writeHead(302, { location }).end());
  const { client } = openClient();
  const failure = await failureOf(client.request(requestTo(url)));
  expect(failure).toMatchObject({ class: "Denied" });
  expect(JSON.stringify(failure)).not.toContain("secret");
});

describe("through a proxy", () => {
  const url = "https://example.test/";
  const rules = rulesFor("example.test");

  test.each([
    ["refuses", "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"],
    ["wants a password", "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"],
    ["is no proxy", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["hangs up", ""],
  ])("one that %s is named, and nothing has left", async (_what, words) => {
    const proxy = await serveSockets((socket) => socket.once("data", () => socket.end(words)));
    const { client } = openClient({ HTTPS_PROXY: proxy.url });
    const failure = await failureOf(client.request(requestTo(url, { rules })));
    expect(failure).toMatchObject({
      class: "Network",
      mayHaveLeft: false,
      message: expect.stringMatching(/the proxy 127\.0\.0\.1:\d+ did not connect: .*egress\.proxy/) as string,
    });
  });

  test.each(["nonsense", "proxy.example.com:3128", "ftp://proxy.example.com"])(
    "one whose address is %s stops only what needs it",
    async (address) => {
      const { url: direct } = await serve((_request, response) => response.end("direct"));
      const { client } = openClient({ HTTPS_PROXY: address });
      expect(await failureOf(client.request(requestTo(url, { rules })))).toMatchObject({
        class: "Denied",
        mayHaveLeft: false,
        reason: expect.stringContaining('"egress.proxy"') as string,
      });
      expect(await read(await client.request(requestTo(direct)))).toMatchObject({ text: "direct" });
    },
  );

  test("one that is not there is named without its password, and this machine is reached all the same", async () => {
    const gone = await serveSockets(() => undefined);
    gone.server.close();
    await once(gone.server, "close");
    const { url: direct } = await serve((_request, response) => response.end("direct"));
    const { client } = openClient({ HTTPS_PROXY: `http://ada:pass-word@127.0.0.1:${gone.port}` });
    const failure = await failureOf(client.request(requestTo(url, { rules })));
    expect(failure).toMatchObject({
      class: "Network",
      mayHaveLeft: false,
      message: expect.stringContaining(`the proxy 127.0.0.1:${gone.port} did not connect`) as string,
    });
    expect(JSON.stringify(failure)).not.toContain("pass-word");
    expect(await read(await client.request(requestTo(direct)))).toMatchObject({ text: "direct" });
  });
});
