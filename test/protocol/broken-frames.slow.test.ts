import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { frame, type Message } from "../support/frames.ts";
import { until } from "../support/until.ts";
import { answerOn, channels, openWire, type Wire } from "../support/wires.ts";

let bench: Bench;
let stateFolder: string;
beforeAll(async () => {
  bench = await Bench.create({ files: { "a.txt": "hello\n" } });
  ({ stateFolder } = await bench.status(await bench.open()));
});
afterAll(() => bench[Symbol.asyncDispose]());

const body = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
const status = (id: number | string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "lares/status", params: {} });
const headed = (header: string): string => `${header}\r\n\r\n${status("never")}`;
const codeOf = (message: Message): number | undefined =>
  (message["error"] as { code: number } | undefined)?.code;
const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** A fault that costs one frame: answered with a refusal without an id, or with the frame's own id. */
type Fault = { name: string; bytes: string | Buffer; codes: number[]; id?: string | number };
const length = Buffer.byteLength(status("never"));
const faults: Fault[] = [
  // Lengths.
  { name: "a terabyte", bytes: headed("Content-Length: 1099511627776"), codes: [-32600] },
  {
    name: "a length beyond every number",
    bytes: headed(`Content-Length: ${"9".repeat(400)}`),
    codes: [-32600],
  },
  { name: "a negative length", bytes: headed(`Content-Length: -${length}`), codes: [-32600] },
  { name: "no length", bytes: headed("Content-Type: application/vscode-jsonrpc"), codes: [-32600] },
  { name: "an empty length", bytes: headed("Content-Length:"), codes: [-32600] },
  { name: "words for a length", bytes: headed("Content-Length: NaN"), codes: [-32600] },
  {
    name: "a hexadecimal length",
    bytes: headed(`Content-Length: 0x${length.toString(16)}`),
    codes: [-32600],
  },
  { name: "a length with a plus sign", bytes: headed(`Content-Length: +${length}`), codes: [-32600] },
  { name: "a length in exponents", bytes: headed("Content-Length: 1e2"), codes: [-32600] },
  { name: "a length in other digits", bytes: headed("Content-Length: ٤٢"), codes: [-32600] },
  { name: "two lengths in one", bytes: headed(`Content-Length: ${length}, ${length}`), codes: [-32600] },
  { name: "two lengths", bytes: headed(`Content-Length: ${length}\r\nContent-Length: 2`), codes: [-32600] },
  // Headers.
  { name: "a line without a colon", bytes: headed(`Content-Length ${length}`), codes: [-32600] },
  { name: "a folded header", bytes: headed(`Content-Length:\r\n ${length}`), codes: [-32600] },
  {
    name: "another charset",
    bytes: headed(`Content-Length: ${length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-16`),
    codes: [-32600],
  },
  { name: "headers without an end", bytes: "X-A: b\r\n".repeat(3000), codes: [-32600] },
  { name: "one header without an end", bytes: `X-A: ${"b".repeat(100_000)}`, codes: [-32600] },
  // Bodies.
  {
    name: "a body cut short",
    bytes: `Content-Length: ${length + 50}\r\n\r\n${status("never")}`,
    codes: [-32700],
  },
  {
    name: "a body that is not UTF-8",
    bytes: Buffer.concat([Buffer.from("Content-Length: 4\r\n\r\n"), Buffer.of(0x22, 0xc0, 0xaf, 0x22)]),
    codes: [-32700],
  },
  {
    name: "a body that is UTF-16",
    bytes: Buffer.from(body(`\ufeff${status("x")}`), "utf16le"),
    codes: [-32600],
  },
  { name: "half a value", bytes: body('{"jsonrpc":"2.0","id":1,'), codes: [-32700] },
  { name: "a comment in JSON", bytes: body('{/* */"jsonrpc":"2.0"}'), codes: [-32700] },
  { name: "NaN as a value", bytes: body('{"jsonrpc":"2.0","id":NaN,"method":"x"}'), codes: [-32700] },
  { name: "100,000 open brackets", bytes: body("[".repeat(100_000)), codes: [-32600] },
  {
    name: "params 100,000 levels deep",
    bytes: body(`{"jsonrpc":"2.0","id":"deep","method":"lares/status","params":${deep(100_000)}}`),
    codes: [-32600],
    id: "deep",
  },
  // Messages.
  { name: "a batch", bytes: body(`[${status(1)},${status(2)}]`), codes: [-32600] },
  { name: "an empty batch", bytes: body("[]"), codes: [-32600] },
  { name: "null", bytes: body("null"), codes: [-32600] },
  { name: "a text", bytes: body('"lares/status"'), codes: [-32600] },
  {
    name: "another version",
    bytes: body('{"jsonrpc":"1.0","id":"v","method":"x"}'),
    codes: [-32600],
    id: "v",
  },
  {
    name: "a method that is a number",
    bytes: body('{"jsonrpc":"2.0","id":"m","method":7}'),
    codes: [-32600],
    id: "m",
  },
  ...["null", "true", "1.5", "1e400", "9007199254740993", "{}", "[1]", '{"id":1}'].map((id) => ({
    name: `the id ${id}`,
    bytes: body(`{"jsonrpc":"2.0","id":${id},"method":"lares/status","params":{}}`),
    codes: [-32600],
  })),
  ...['"x"', "7", "true"].map((params) => ({
    name: `params ${params}`,
    bytes: body(`{"jsonrpc":"2.0","id":"p","method":"lares/status","params":${params}}`),
    codes: [-32600],
    id: "p",
  })),
  {
    name: "params that are a list",
    bytes: body('{"jsonrpc":"2.0","id":"l","method":"lares/status","params":[1]}'),
    codes: [-32602],
    id: "l",
  },
  { name: "an answer that is none", bytes: body('{"jsonrpc":"2.0","id":4}'), codes: [-32600] },
  {
    name: "an error without a number",
    bytes: body('{"jsonrpc":"2.0","id":4,"error":{"message":"x"}}'),
    codes: [-32600],
  },
];

/** Valid but unusual messages, which are answered with a result. */
const odd: [string, (id: string) => string | Buffer][] = [
  [
    "a length with spaces around it",
    (id) => `Content-Length:   ${Buffer.byteLength(status(id))}  \r\n\r\n${status(id)}`,
  ],
  [
    "a length with zeros before it",
    (id) => `Content-Length: 000${Buffer.byteLength(status(id))}\r\n\r\n${status(id)}`,
  ],
  [
    "a name in other letters, and no space",
    (id) => `CONTENT-length:${Buffer.byteLength(status(id))}\r\n\r\n${status(id)}`,
  ],
  [
    "headers nobody knows",
    (id) =>
      `X-A: b\r\n${body(status(id)).replace("\r\n\r\n", '\r\nContent-Type: x; charset="UTF-8"\r\n\r\n')}`,
  ],
  ["null params", (id) => body(`{"jsonrpc":"2.0","id":"${id}","method":"lares/status","params":null}`)],
  ["no params", (id) => body(`{"jsonrpc":"2.0","id":"${id}","method":"lares/status"}`)],
  [
    "keys twice, the last counts",
    (id) => body(`{"jsonrpc":"2.0","id":"wrong","id":"${id}","method":"nothing","method":"lares/status"}`),
  ],
  [
    "keys that reach for prototypes",
    (id) =>
      body(
        `{"__proto__":{"id":1},"constructor":{"prototype":{}},"jsonrpc":"2.0","id":"${id}","method":"lares/status","params":{"__proto__":{"polluted":1},"toString":1}}`,
      ),
  ],
  [
    "numbers of every size",
    (id) =>
      body(
        `{"jsonrpc":"2.0","id":"${id}","method":"lares/status","params":{"a":1e999,"b":-0,"c":${"9".repeat(10_000)}}}`,
      ),
  ],
  ["spaces and line ends in JSON", (id) => body(status(id).replaceAll(",", " ,\r\n\t "))],
];

describe.each(channels)("over %s", (channel) => {
  let wire: Wire;
  beforeAll(async () => {
    wire = await openWire(bench, channel, stateFolder);
  });
  afterAll(() => wire[Symbol.asyncDispose]());
  let count = 0;

  test.each(faults)(
    "$name: refused, and the next message is not lost",
    async ({ bytes, codes, id = null }) => {
      const before = wire.received.length;
      const next = `next-${++count}`;
      wire.write(bytes);
      wire.write(body(status(next)));
      expect(await answerOn(wire, next)).toHaveProperty("result");
      const refused = await until("the refusal", () => {
        const found = wire.received.slice(before).filter((message) => codeOf(message) !== undefined);
        return found.length > 0 && found;
      });
      expect(refused.map((message) => [codeOf(message), message.id])).toEqual([[codes[0], id]]);
    },
  );

  test.each(odd)("%s: answered", async (_name, bytes) => {
    const id = `odd-${++count}`;
    wire.write(bytes(id));
    expect(await answerOn(wire, id)).toHaveProperty("result");
  });

  test.each([0, -1, 7, Number.MAX_SAFE_INTEGER, "", "ü\u0000", "__proto__", "x".repeat(5000)])(
    "the id %j is returned unchanged",
    async (id) => {
      wire.write(body(status(id)));
      expect(await answerOn(wire, id)).toHaveProperty("result");
    },
  );

  test("a thousand frames in one chunk are a thousand answers, and so are a hundred that come byte by byte", async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `chunk-${index}`);
    wire.write(ids.map((id) => body(status(id))).join(""));
    const slow = Array.from({ length: 100 }, (_, index) => `slow-${index}`);
    for (const byte of Buffer.from(slow.map((id) => body(status(id))).join(""))) wire.write(Buffer.of(byte));
    await answerOn(wire, "slow-99");
    const answered = (id: string): boolean =>
      wire.received.filter((message) => message.id === id).length === 1;
    await until("all answers", () => [...ids, ...slow].every(answered));
  });

  test("unexpected and repeated answers, cancels and progress for unknown requests are ignored", async () => {
    const before = wire.received.length;
    for (const id of [1, "kernel-1", "lares-front-initialize", "lares-front-renew-x", -5])
      for (const outcome of [
        { result: null },
        { result: { polluted: true } },
        { error: { code: 1, message: "no" } },
      ]) {
        wire.write(frame({ jsonrpc: "2.0", id, ...outcome }));
        wire.write(frame({ jsonrpc: "2.0", id, ...outcome }));
      }
    const oddParams = [
      undefined,
      null,
      {},
      [],
      { id: 99 },
      { id: null },
      { id: {} },
      { token: 1 },
      { value: 1 },
    ];
    for (const method of [
      "$/cancelRequest",
      "$/progress",
      "$/setTrace",
      "$/nothing",
      "lares/nothing",
      "window/workDoneProgress/cancel",
    ])
      for (const params of oddParams) wire.write(frame({ jsonrpc: "2.0", method, params }));
    for (const method of [
      "textDocument/didOpen",
      "textDocument/didChange",
      "textDocument/didSave",
      "textDocument/didClose",
      "initialized",
    ])
      for (const params of [
        ...oddParams,
        { textDocument: { uri: 7 } },
        { textDocument: { uri: "lares.yaml" }, contentChanges: [null] },
      ])
        wire.write(frame({ jsonrpc: "2.0", method, params }));
    const id = `after-${++count}`;
    wire.write(body(status(id)));
    expect(await answerOn(wire, id)).toHaveProperty("result");
    expect(wire.received.slice(before).filter((message) => codeOf(message) !== undefined)).toEqual([]);
  });

  test("a request that is cancelled at once, and again, is answered once", async () => {
    const id = `cancelled-${++count}`;
    const cancel = frame({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
    wire.write(Buffer.concat([cancel, Buffer.from(body(status(id))), cancel, cancel]));
    await answerOn(wire, id);
    const next = `next-${++count}`;
    wire.write(body(status(next)));
    expect(await answerOn(wire, next)).toHaveProperty("result");
    expect(wire.received.filter((message) => message.id === id)).toHaveLength(1);
  });

  test("unknown requests, `$/` ones too, are MethodNotFound by name", async () => {
    for (const method of [
      "$/nothing",
      "lares/nothing",
      "textDocument/hover2",
      "constructor",
      "__proto__",
      "",
    ]) {
      const id = `unknown-${++count}`;
      wire.write(frame({ jsonrpc: "2.0", id, method, params: {} }));
      expect(codeOf(await answerOn(wire, id)), method).toBe(-32601);
    }
  });
});
