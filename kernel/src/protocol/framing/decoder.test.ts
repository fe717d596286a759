import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Refusal, RpcMessage } from "../messages.ts";
import { FrameDecoder } from "./decoder.ts";
import { clientFrameLimits, type FrameLimits } from "./limits.ts";

interface Heard {
  readonly messages: RpcMessage[];
  readonly refusals: Refusal[];
  readonly lost: string[];
  readonly unfinished: string | null;
}

function decode(chunks: Iterable<Uint8Array | string>, limits: FrameLimits = clientFrameLimits): Heard {
  const heard = { messages: [] as RpcMessage[], refusals: [] as Refusal[], lost: [] as string[] };
  const decoder = new FrameDecoder(
    {
      message: (message) => heard.messages.push(message),
      refused: (refusal) => heard.refusals.push(refusal),
      lost: (reason) => heard.lost.push(reason),
    },
    limits,
  );
  for (const chunk of chunks) decoder.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return { ...heard, unfinished: decoder.unfinished() };
}

function frame(body: string | object, length?: number | string): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return `Content-Length: ${length ?? Buffer.byteLength(text)}\r\n\r\n${text}`;
}

const request = (id: number | string, params?: object) => ({
  jsonrpc: "2.0",
  id,
  method: "lares/status",
  ...(params && { params }),
});
const good = frame(request("later"));

function* singleBytes(text: string): Iterable<Uint8Array> {
  for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
}

describe("well-formed frames", () => {
  test("a frame arrives whole, in pieces, and a byte at a time", () => {
    const text = frame(request(1, { text: "ünïcödé 🏺" })) + frame(request(2));
    for (const chunks of [[text], singleBytes(text), [text.slice(0, 30), text.slice(30)]]) {
      const heard = decode(chunks);
      expect(heard.messages.map((message) => ("id" in message ? message.id : null))).toEqual([1, 2]);
      expect(heard.refusals).toEqual([]);
      expect(heard.unfinished).toBeNull();
    }
  });

  test("other headers are read over, names are case-insensitive", () => {
    const body = JSON.stringify(request(1));
    const text = `content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:${body.length}\r\n\r\n${body}`;
    expect(decode([text]).messages).toHaveLength(1);
  });

  test("a body may contain text that looks like a header, inside a string", () => {
    const heard = decode(singleBytes(frame(request(1, { text: "Content-Length: 5\r\n\r\n{}" })) + good));
    expect(heard.messages).toHaveLength(2);
    expect(heard.refusals).toEqual([]);
  });

  test("a body of the largest size passes, one byte more does not", () => {
    const limits = { ...clientFrameLimits, maxFrameBytes: 200 };
    const filler = JSON.stringify(request(1, { text: "" })).length;
    const atLimit = request(1, { text: "x".repeat(200 - filler) });
    expect(decode([frame(atLimit)], limits).messages).toHaveLength(1);
    const over = decode([frame(request(1, { text: "x".repeat(201 - filler) })), good], limits);
    expect(over.refusals).toHaveLength(1);
    expect(over.messages).toHaveLength(1);
  });
});

interface BadCase {
  readonly name: string;
  readonly bytes: string | Uint8Array;
  readonly code: -32700 | -32600;
  readonly says: RegExp;
  readonly id?: number | string;
}

const cases: readonly BadCase[] = [
  { name: "a negative length", bytes: frame("{}", -5), code: -32600, says: /"-5"/ },
  { name: "a missing length", bytes: "Content-Type: x\r\n\r\n{}", code: -32600, says: /no Content-Length/ },
  { name: "a length that is no number", bytes: frame("{}", "two"), code: -32600, says: /"two"/ },
  { name: "a length with a sign", bytes: frame("{}", "+2"), code: -32600, says: /"\+2"/ },
  { name: "a hexadecimal length", bytes: frame("{}", "0x2"), code: -32600, says: /"0x2"/ },
  { name: "an empty length", bytes: frame("{}", ""), code: -32600, says: /""/ },
  {
    name: "a length of a terabyte",
    bytes: frame("{}", 1e12),
    code: -32600,
    says: /1000000000000 bytes is over/,
  },
  {
    name: "a length of 400 digits",
    bytes: frame("{}", "9".repeat(400)),
    code: -32600,
    says: /over the limit/,
  },
  {
    name: "two lengths",
    bytes: "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    code: -32600,
    says: /2 lengths/,
  },
  {
    name: "a frame over the limit, with its body",
    bytes: frame(request(1, { text: "x".repeat(11 << 20) })),
    code: -32600,
    says: /over the limit/,
  },
  {
    name: "a frame over the limit, without its body",
    bytes: "Content-Length: 11000000\r\n\r\n",
    code: -32600,
    says: /over the limit/,
  },
  {
    name: "a header over 8 KiB",
    bytes: `X-Filler: ${"x".repeat(9000)}\r\n${good.slice(0, 5)}`,
    code: -32600,
    says: /longer than 8192/,
  },
  {
    name: "line feeds without carriage returns",
    bytes: "Content-Length: 2\n\n{}",
    code: -32600,
    says: /CRLF/,
  },
  {
    name: "JSON without any header",
    bytes: '{"jsonrpc":"2.0","id":1,"method":"x"}\n',
    code: -32600,
    says: /header/,
  },
  { name: "an HTTP request", bytes: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", code: -32600, says: /header/ },
  {
    name: "a charset that is not UTF-8",
    bytes: `Content-Type: x; charset=utf-16\r\n${frame("{}")}`,
    code: -32600,
    says: /utf-16/,
  },
  { name: "a body that is not JSON", bytes: frame("{nope"), code: -32700, says: /no JSON/ },
  { name: "an empty body", bytes: frame(""), code: -32700, says: /no JSON/ },
  {
    name: "a body that is not UTF-8",
    bytes: Buffer.concat([Buffer.from('Content-Length: 3\r\n\r\n"'), Buffer.of(0xff, 0x22)]),
    code: -32700,
    says: /UTF-8/,
  },
  { name: "a body longer than its length", bytes: frame(request(1), 10), code: -32700, says: /no JSON/ },
  {
    name: "a body shorter than its length",
    bytes: frame(request(1), 90),
    code: -32700,
    says: /the next one begins after/,
  },
  {
    name: "a body that ends inside the next header",
    bytes: frame(request(1), JSON.stringify(request(1)).length + 9),
    code: -32700,
    says: /no JSON/,
  },
  {
    name: "a body that never comes",
    bytes: "Content-Length: 9000000\r\n\r\n",
    code: -32700,
    says: /the next one begins after 0/,
  },
  { name: "an array (a batch)", bytes: frame([request(1)]), code: -32600, says: /Batches/ },
  { name: "a number", bytes: frame("7"), code: -32600, says: /a number/ },
  { name: "null", bytes: frame("null"), code: -32600, says: /not null/ },
  {
    name: "another version",
    bytes: frame({ id: 4, method: "x" }),
    code: -32600,
    says: /"jsonrpc": "2.0"/,
    id: 4,
  },
  {
    name: "a method that is no string",
    bytes: frame({ jsonrpc: "2.0", id: 5, method: 5 }),
    code: -32600,
    says: /method/,
    id: 5,
  },
  {
    name: "an id that is an object",
    bytes: frame({ jsonrpc: "2.0", id: {}, method: "x" }),
    code: -32600,
    says: /id/,
  },
  {
    name: "params that are a string",
    bytes: frame({ jsonrpc: "2.0", id: "a", method: "x", params: "p" }),
    code: -32600,
    says: /params/,
    id: "a",
  },
  { name: "neither method nor answer", bytes: frame({ jsonrpc: "2.0" }), code: -32600, says: /method/ },
  {
    name: "an answer without a result",
    bytes: frame({ jsonrpc: "2.0", id: 6 }),
    code: -32600,
    says: /result/,
  },
  {
    name: "arrays 100,000 deep",
    bytes: frame("[".repeat(1e5) + "]".repeat(1e5)),
    code: -32600,
    says: /deeper than 200/,
  },
  {
    name: "a request with params 100,000 deep, which is told by its id",
    bytes: frame(`{"jsonrpc":"2.0","id":"deep","method":"m","params":${"[".repeat(1e5)}${"]".repeat(1e5)}}`),
    code: -32600,
    says: /deeper than 200/,
    id: "deep",
  },
];

test("an answer that is too deep becomes an error for its caller, also in bytes", () => {
  const heard: [RpcMessage, unknown][] = [];
  const decoder = new FrameDecoder({
    message: (message, body) => heard.push([message, JSON.parse(new TextDecoder().decode(body))]),
    refused: ({ message }) => expect.fail(message),
    lost: (reason) => expect.fail(reason),
  });
  decoder.push(Buffer.from(frame(`{"jsonrpc":"2.0","id":4,"result":${"[".repeat(250)}${"]".repeat(250)}}`)));
  const answer = {
    jsonrpc: "2.0",
    id: 4,
    error: {
      code: -33007,
      message: "The answer nests deeper than 200 levels.",
      data: { code: "LimitExceeded", limit: "maxJsonDepth", value: 200 },
    },
  };
  expect(heard).toEqual([[answer, answer]]);
});

describe("a bad frame is answered, only it is lost, and the next one is read", () => {
  for (const { name, bytes, code, says, id } of cases)
    test(name, () => {
      const whole = Buffer.concat([Buffer.from(bytes), Buffer.from(good)]);
      for (const chunks of [[whole], cut(whole, whole.length > 1e6 ? 4099 : 7)]) {
        const heard = decode([good, ...chunks]);
        expect(heard.refusals[0]).toMatchObject({ code, id: id ?? null });
        expect(heard.refusals[0]?.message).toMatch(says);
        expect(heard.messages).toHaveLength(2);
        expect(heard.lost).toEqual([]);
      }
    });
});

test("one fault is reported once: a body longer than its length and the rest of it are the same", () => {
  expect(decode([frame(request(1), 10), good]).refusals).toHaveLength(1);
});

test("endless garbage closes the stream with one reason, and nothing after it is read", () => {
  const limits = { ...clientFrameLimits, maxSkippedBytes: 1000 };
  const heard = decode([" ", "x".repeat(600), "x".repeat(600), good], limits);
  expect(heard.lost).toEqual([expect.stringMatching(/No frame's header in 1200 bytes/)]);
  expect(heard.messages).toEqual([]);
});

test("a frame that the stream's end cuts off is named", () => {
  expect(decode(["Content-Le"]).unfinished).toMatch(/header/);
  expect(decode(['Content-Length: 10\r\n\r\n{"a"']).unfinished).toBe(
    "The stream ended inside a frame, after 4 of 10 bytes.",
  );
});

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

describe("properties", () => {
  const message = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.oneof(fc.integer(), fc.string()),
    method: fc.string(),
    params: fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
  });
  const garbage = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "\r\n",
      "\r\n\r\n",
      "Content-Length: ",
      "Content-Length: -1\r\n\r\n",
      "content-length:c",
      "{",
      "[",
      "x",
      "\n",
      "Content-Length: 9\r",
    ),
    fc
      .array(fc.constantFrom("c", "o", "\r", "\n", "Content-", "Length:", " 1", '"'), { maxLength: 12 })
      .map((parts) => parts.join("")),
  );
  /** Lengths announced by garbage make the header that it runs into ambiguous; those are the cases above. */
  const announces = /content-length:[^\r\n]*(?:\r\n[^\r\n]+)*\r?\n?$/i;

  function chunked(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
    const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
    return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
  }

  test("any chunking gives the same messages", () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (messages, cuts) => {
          const heard = decode(chunked(Buffer.from(messages.map((each) => frame(each)).join("")), cuts));
          expect(heard.messages).toEqual(JSON.parse(JSON.stringify(messages)));
          expect(heard.refusals).toEqual([]);
        },
      ),
    );
  });

  test("garbage between frames never costs a later frame, and is never passed over in silence", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(garbage, message), { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (parts, cuts) => {
          fc.pre(parts.every(([noise]) => !announces.test(noise)));
          const text = parts.map(([noise, each]) => noise + frame(each)).join("");
          const heard = decode(chunked(Buffer.from(text), cuts));
          expect(heard.messages).toEqual(JSON.parse(JSON.stringify(parts.map(([, each]) => each))));
          const isNoisy = parts.some(([noise]) => noise !== "" && !isHeaderLines(noise));
          if (isNoisy) expect(heard.refusals.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 1000 },
    );
  });

  /** Noise that runs together with the header behind it into one well-formed header is not noise. */
  function isHeaderLines(noise: string): boolean {
    return /^([!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\u0000-\u0008\u000a-\u001f]*\r\n)*$/.test(noise);
  }

  test("random bytes neither throw nor hang, and every chunking of them is decoded alike", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat(), { maxLength: 20 }), (bytes, cuts) => {
        const whole = decode([bytes, good]);
        expect(decode([...chunked(bytes, cuts), good]).messages).toEqual(whole.messages);
        expect(whole.messages).toHaveLength(1);
      }),
    );
  });

  test("hostile bytes cost time in proportion to their number", () => {
    const hostile = [
      "Content-Length: 10485760\r\n\r\n",
      "Content-Length: 10485760\r\n",
      "content-length:",
      "c",
      "\r\n",
      "Content-Length: -1\r\n\r\n",
      'Content-Length: 3\r\n\r\n{"a',
    ];
    for (const pattern of hostile) {
      const time = (size: number): number => {
        const bytes = Buffer.from(pattern.repeat(Math.ceil(size / pattern.length)));
        // The CPU time of this thread only, so that the machine's load has no influence.
        const before = process.threadCpuUsage();
        decode([bytes]);
        const { user, system } = process.threadCpuUsage(before);
        return (user + system) / 1000;
      };
      time(1 << 16);
      const small = Math.min(time(1 << 17), time(1 << 17));
      const large = Math.min(time(1 << 20), time(1 << 20));
      // Eight times the bytes: a quadratic reader needs sixty-four times as long.
      expect(large / Math.max(small, 1), pattern).toBeLessThan(32);
    }
  });
});
