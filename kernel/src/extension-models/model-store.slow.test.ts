import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { silentLog } from "../base/log.ts";
import type { ModelSource } from "../base/vocabulary/declared-model.ts";
import { EgressClient } from "../egress/client/egress-client.ts";
import { systemClock } from "../platform/clock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { until } from "../../../test/support/until.ts";
import type { ModelStore } from "./model-store.ts";
import { openModelStore } from "./open-store.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const model = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 31) % 251);

interface Bed {
  readonly store: ModelStore;
  readonly home: string;
  readonly source: ModelSource;
  /** The Range headers of the requests, "" for none. */
  readonly ranges: string[];
  fetch(change?: Partial<ModelSource>, signal?: AbortSignal): Promise<{ fetched: boolean }>;
  files(): Promise<string[]>;
  /** Another kernel of the same user. */
  another(): ModelStore;
}

async function bed(
  serve: (response: ServerResponse, request: IncomingMessage, at: number) => void,
  privateHosts?: readonly string[],
): Promise<Bed> {
  const ranges: string[] = [];
  const server = createServer((request, response) => {
    ranges.push(String(request.headers.range ?? ""));
    serve(response, request, ranges.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = await temporaryFolder();
  const opened = (): ModelStore => {
    const egress = new EgressClient({
      clock: systemClock,
      log: silentLog,
      environment: () => ({}),
      trace: () => undefined,
    });
    onTestFinished(() => egress[Symbol.asyncDispose]());
    return openModelStore({ LARES_HOME: home }, systemClock, {
      egress,
      issued: { known: [] } as never,
      networkRules: async () => ({ privateHosts: privateHosts ?? [host], providerHosts: [] }),
    });
  };
  const store = opened();
  const source: ModelSource = {
    name: "faces",
    url: `http://${host}/faces.onnx?token=hidden`,
    redirectHosts: [],
    sha256: sha256(model),
    maxBytes: 1024 * 1024,
  };
  return {
    store,
    home,
    source,
    ranges,
    fetch: (change = {}, signal = neverAborted) =>
      store.fetch({ ...source, ...change }, { who: "dev.test", signal }),
    files: async () =>
      (await readdir(join(home, "cache/models/sha256"))).filter((name) => !name.includes(".lock")).toSorted(),
    another: opened,
  };
}

/** Serves the file, and parts of it. */
function whole(response: ServerResponse, request: IncomingMessage, bytes: Uint8Array = model): void {
  const from = Number(/^bytes=(\d+)-$/.exec(String(request.headers.range ?? ""))?.[1] ?? 0);
  if (from === 0) return void response.end(bytes);
  if (from >= bytes.length)
    return void response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end();
  response
    .writeHead(206, { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
    .end(bytes.subarray(from));
}

/** Sends the beginning of the file and breaks the connection. */
function broken(response: ServerResponse, length: number): void {
  response.writeHead(200, { "content-length": model.length });
  response.write(model.subarray(0, length), () => response.destroy());
}

const partName = `${sha256(model)}.part`;
const fileName = `${sha256(model)}.onnx`;

test("a model is fetched once, under its digest, and is shared by whoever declares that digest", async () => {
  const { fetch, files, ranges, home, another, source, store } = await bed((response, request) =>
    whole(response, request),
  );
  expect(await store.stateOf(source)).toEqual({ state: "missing", bytes: 0 });
  const seen: number[] = [];
  const both = await Promise.all([
    store.fetch(source, { who: "dev.one", signal: neverAborted, received: (bytes) => seen.push(bytes) }),
    store.fetch({ ...source, name: "other" }, { who: "dev.two", signal: neverAborted }),
  ]);
  expect(both.map(({ fetched }) => fetched)).toEqual([true, true]);
  expect(seen.at(-1)).toBe(model.length);
  expect(await files()).toEqual([fileName]);
  expect(new Uint8Array(await readFile(join(home, "cache/models/sha256", fileName)))).toEqual(model);
  expect(await fetch()).toMatchObject({ fetched: false });
  expect(await another().fetch(source, { who: "dev.test", signal: neverAborted })).toMatchObject({
    fetched: false,
  });
  expect(ranges).toEqual([""]);
  expect(await store.stateOf(source)).toEqual({ state: "fetched", bytes: model.length });
});

test("two models of one name with different digests are kept beside each other", async () => {
  const other = Uint8Array.from(model, (byte) => byte ^ 1);
  const { fetch, files } = await bed((response, request, at) =>
    whole(response, request, at === 1 ? model : other),
  );
  await fetch();
  await fetch({ sha256: sha256(other) });
  expect(await files()).toEqual([`${sha256(other)}.onnx`, fileName].toSorted());
});

test("two kernels that want the same model download it once", async () => {
  const { source, store, another, ranges } = await bed((response, request) => whole(response, request));
  const options = { who: "dev.test", signal: neverAborted };
  const both = await Promise.all([store.fetch(source, options), another().fetch(source, options)]);
  expect(both.filter(({ fetched }) => fetched)).toHaveLength(1);
  expect(ranges).toEqual([""]);
});

test("another file than the declared one is refused and deleted", async () => {
  const { fetch, files } = await bed((response, request) => whole(response, request));
  await expect(fetch({ sha256: "0".repeat(64) })).rejects.toMatchObject({
    code: "DigestMismatch",
    message: expect.stringMatching(
      /^The file at http:\/\/127\.0\.0\.1:\d+\/faces\.onnx is not the model "faces"/,
    ),
  });
  expect(await files()).toEqual([]);
});

test("a file that is larger than declared is cut off, refused and deleted, whatever its length is said to be", async () => {
  const endless = (response: ServerResponse): void => {
    const more = (): void => void response.write(model, (error) => (error ? undefined : more()));
    more();
  };
  const answers = [
    (response: ServerResponse, request: IncomingMessage) => whole(response, request),
    endless,
    (response: ServerResponse) => response.writeHead(200, { "content-length": 10 ** 12 }).write(model),
  ];
  for (const answer of answers) {
    const { fetch, files } = await bed(answer);
    await expect(fetch({ maxBytes: 200_000 })).rejects.toMatchObject({
      code: "LimitExceeded",
      message: expect.stringContaining("It was deleted") as string,
    });
    expect(await files()).toEqual([]);
  }
});

test("a download that breaks off is continued where it stopped", async () => {
  const { fetch, files, ranges } = await bed((response, request, at) =>
    at < 3 ? broken(response, 100_000) : whole(response, request),
  );
  const result = await fetch();
  expect(result.fetched).toBe(true);
  expect(ranges[0]).toBe("");
  expect(ranges.at(-1)).toMatch(/^bytes=[1-9]\d*-$/);
  expect(await files()).toEqual([fileName]);
});

test("whoever cancels leaves what there is, and the next one needs only the rest", async () => {
  const aborter = new AbortController();
  const { fetch, files, ranges, store, source } = await bed((response, request, at) =>
    at === 1 ? void response.write(model.subarray(0, 100_000)) : whole(response, request),
  );
  const first = fetch({}, aborter.signal).catch((error: unknown) => error);
  await until("a part", async () => (await store.stateOf(source)).bytes === 100_000);
  aborter.abort(new Error("enough"));
  expect(await first).toEqual(new Error("enough"));
  expect(await files()).toEqual([partName]);
  expect(await store.stateOf(source)).toEqual({ state: "partial", bytes: 100_000 });
  expect(await fetch()).toMatchObject({ fetched: true });
  expect(ranges).toEqual(["", "bytes=100000-"]);
});

test("servers that lie about parts get a download from the beginning, and nothing wrong is kept", async () => {
  const lies: readonly ((response: ServerResponse, request: IncomingMessage) => void)[] = [
    // No parts at all.
    (response) => response.end(model),
    // Another part than was asked for.
    (response, { headers }) =>
      headers.range === undefined
        ? response.end(model)
        : response.writeHead(206, { "content-range": "bytes 0-299999/300000" }).end(model),
    // A part that is said to be another one.
    (response, { headers }) =>
      headers.range === undefined
        ? response.end(model)
        : response
            .writeHead(206, { "content-range": "bytes 1000-299999/300000" })
            .end(model.subarray(0, 299_000)),
    (response, { headers }) =>
      headers.range === undefined ? response.end(model) : response.writeHead(206).end(model),
    // It says that there is no such part.
    (response, { headers }) =>
      headers.range === undefined ? response.end(model) : response.writeHead(416).end(),
  ];
  for (const lie of lies) {
    const { fetch, files, home, store, ranges } = await bed((response, request) => lie(response, request));
    await store.prepare();
    await writeFile(join(home, "cache/models/sha256", partName), model.subarray(0, 1000));
    expect(await fetch()).toMatchObject({ fetched: true });
    expect(ranges[0]).toBe("bytes=1000-");
    expect(ranges.length).toBeLessThanOrEqual(2);
    expect(await files()).toEqual([fileName]);
  }
});

test("a part of another version, a complete one and one that is too large end as the right file", async () => {
  const { fetch, files, home, store, ranges, another, source } = await bed((response, request) =>
    whole(response, request),
  );
  await store.prepare();
  const part = join(home, "cache/models/sha256", partName);
  await writeFile(part, new Uint8Array(1000).fill(7));
  expect(await fetch()).toMatchObject({ fetched: true });
  expect(ranges).toEqual(["bytes=1000-", ""]);
  await store.remove(sha256(model));
  // A kernel died between the last byte and the new name.
  await writeFile(part, model);
  expect(await another().fetch(source, { who: "dev.test", signal: neverAborted })).toMatchObject({
    fetched: true,
  });
  expect(ranges).toHaveLength(2);
  await store.remove(sha256(model));
  await writeFile(part, new Uint8Array(2_000_000));
  expect(await fetch()).toMatchObject({ fetched: true });
  expect(ranges.at(-1)).toBe("");
  expect(await files()).toEqual([fileName]);
});

test("a server that always sends nothing, or an error, is given up", async () => {
  const { fetch, ranges } = await bed((response) => response.writeHead(404).end());
  await expect(fetch()).rejects.toMatchObject({
    code: "NetworkError",
    message: expect.stringContaining("it answered with status 404") as string,
  });
  expect(ranges).toHaveLength(1);
  const busy = await bed((response) => response.writeHead(503).end());
  await expect(busy.fetch()).rejects.toMatchObject({ code: "NetworkError" });
  expect(busy.ranges.length).toBeGreaterThan(1);
  expect(busy.ranges.length).toBeLessThan(6);
});

test("a private address, and a redirect to a host that was not declared, are not reached", async () => {
  const inside = await bed((response, request) => whole(response, request), []);
  await expect(inside.fetch()).rejects.toMatchObject({ code: "EgressDenied" });
  expect(inside.ranges).toEqual([]);
  const target = await bed((response, request) => whole(response, request));
  const place = new URL(target.source.url.replace("127.0.0.1", "localhost"));
  const elsewhere = await bed(
    (response) => response.writeHead(302, { location: place.href }).end(),
    [place.host, "127.0.0.1"],
  );
  await expect(elsewhere.fetch()).rejects.toMatchObject({
    code: "EgressDenied",
    message: expect.stringContaining(
      "redirects to localhost. Name that host under source.redirect_hosts",
    ) as string,
  });
  expect(target.ranges).toEqual([]);
  expect(await elsewhere.fetch({ redirectHosts: [place.host] })).toMatchObject({ fetched: true });
});

test("a stored file that was damaged is noticed and removed", async () => {
  const { fetch, files, home, store, source } = await bed((response, request) => whole(response, request));
  await fetch();
  expect(await store.verify(source)).toBe(true);
  await writeFile(join(home, "cache/models/sha256", fileName), "damaged");
  expect(await store.verify(source)).toBe(false);
  expect(await files()).toEqual([]);
  expect(await store.verify(source)).toBe(false);
});
