import v8 from "node:v8";
import vm from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameDecoder } from "../../kernel/src/protocol/framing/decoder.ts";
import type { FrameLimits } from "../../kernel/src/protocol/framing/limits.ts";
import { chunked, cuts, joined } from "./support/bytes.ts";
import { fuzz } from "./support/campaign.ts";

const target = "framing";
const limits: FrameLimits = {
  maxFrameBytes: 400,
  maxHeaderBytes: 200,
  maxJsonDepth: 12,
  maxSkippedBytes: 1 << 20,
};

interface Heard {
  readonly messages: unknown[];
  readonly refusals: { code: number; id: unknown }[];
  readonly isLost: boolean;
}

function decode(chunks: Iterable<Uint8Array>): Heard {
  const messages: unknown[] = [];
  const refusals: Heard["refusals"] = [];
  let isLost = false;
  const decoder = new FrameDecoder(
    {
      message: (message, body) => {
        expect(JSON.parse(new TextDecoder().decode(body)), "the bytes that are passed on").toEqual(message);
        messages.push(message);
      },
      refused: ({ code, id }) => refusals.push({ code, id }),
      lost: () => (isLost = true),
    },
    limits,
  );
  for (const chunk of chunks) decoder.push(chunk);
  return { messages, refusals, isLost };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const framed = (body: string, header = `Content-Length: ${encode(body).length}`): Uint8Array =>
  encode(`${header}\r\n\r\n${body}`);

/** A piece of a stream, and the result of a decoder that knows its boundaries. */
type Segment =
  | { readonly kind: "message"; readonly id: number; readonly text: string; readonly header: number }
  | { readonly kind: "bad"; readonly what: number; readonly length: number };

const segment: fc.Arbitrary<Segment> = fc.oneof(
  fc.record({
    kind: fc.constant("message" as const),
    id: fc.nat(),
    text: fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.constantFrom("Content-Length: 5\r\n\r\n{}", "\u0000\ud83c\udffa", '\\"}{[', "content-length:"),
    ),
    header: fc.nat(3),
  }),
  fc.record({ kind: fc.constant("bad" as const), what: fc.nat(), length: fc.integer({ min: 0, max: 500 }) }),
);

function bytesOf(part: Segment): Uint8Array {
  if (part.kind === "bad") return bad[part.what % bad.length]?.(part.length) ?? new Uint8Array();
  const body = JSON.stringify({ jsonrpc: "2.0", id: part.id, method: "m", params: { text: part.text } });
  const length = encode(body).length;
  const header = [
    `Content-Length: ${length}`,
    `content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:${length}`,
    `CONTENT-LENGTH:   ${length}  \r\nX-Other: Content-Length`,
    `Content-Length: 000${length}`,
  ][part.header];
  return framed(body, header);
}

/** Letters before a header can be the beginning of its first name: then nothing is wrong. */
const runsIntoNext = (what: number): boolean => what % bad.length === 0;

const bad: readonly ((length: number) => Uint8Array)[] = [
  (length) => encode("c".repeat(length + 1)),
  () => framed("{}", "Content-Length: -5"),
  () => framed("{}", "Content-Length: 1000000000000"),
  (length) => framed("{}", `Content-Length: ${"9".repeat(1 + (length % 150))}`),
  () => framed("{}", "Content-Length: two"),
  () => framed("{}", "Content-Type: x"),
  () => framed("{}", "Content-Type: x; charset=utf-16\r\nContent-Length: 2"),
  () => framed("{nope"),
  () => framed(""),
  () => framed("null"),
  () => framed("[]"),
  (length) => framed("[".repeat(1 + (length % 200))),
  (length) => framed(`{"jsonrpc":"2.0","id":1,"method":"m"}`, `Content-Length: ${60 + (length % 300)}`),
  (length) => framed("x".repeat(401 + length)),
  (length) => encode(`X-Long: ${"x".repeat(200 + length)}`),
  (length) => new Uint8Array(length + 1).fill(0x80 + (length % 128)),
  (length) => encode(`${"content-length:".repeat(1 + (length % 20))}x\n`),
  () => encode("Content-Length: 2\n\n{}"),
  () => encode("\r\n"),
  () => encode("GET / HTTP/1.1\r\n\r\n"),
];

fuzz({
  target,
  property: "every valid message arrives, in order, between whatever else is sent, however it is cut",
  arbitrary: fc.record({ segments: fc.array(segment, { maxLength: 12 }), cuts }),
  runs: 2500,
  check: ({ segments, cuts }) => {
    // A frame too long is skipped to the next header's line; at the stream's end that is one that follows.
    const stream = joined([...segments.map(bytesOf), framed('{"jsonrpc":"2.0","method":"end"}')]);
    const heard = decode(chunked(stream, cuts));
    const sent = segments.filter((part) => part.kind === "message");
    expect(heard.messages).toEqual([
      ...sent.map(({ id, text }) => ({ jsonrpc: "2.0", id, method: "m", params: { text } })),
      { jsonrpc: "2.0", method: "end" },
    ]);
    const loud = segments.filter((part) => part.kind === "bad" && !runsIntoNext(part.what));
    if (loud.length > 0) expect(heard.refusals, "what is bad is said").not.toEqual([]);
    if (sent.length === segments.length) expect(heard.refusals, "and only that").toEqual([]);
    expect(heard.isLost).toBe(false);
  },
});

/** Reads well-formed input and stops at the first byte that is not: simple enough to be obviously correct. */
function reference(bytes: Uint8Array): { messages: unknown[]; rest: number } {
  const messages: unknown[] = [];
  let at = 0;
  for (;;) {
    const text = Buffer.from(bytes.subarray(at)).toString("latin1");
    const match = /^Content-Length: ([0-9]{1,3})\r\n\r\n/.exec(text);
    const start = at + (match?.[0].length ?? 0);
    const end = start + Number(match?.[1]);
    if (match === null || end > bytes.length || end - start > limits.maxFrameBytes)
      return { messages, rest: at };
    messages.push(JSON.parse(new TextDecoder().decode(bytes.subarray(start, end))));
    at = end;
  }
}

const hostile = fc.oneof(
  fc.constantFrom(
    "Content-Length: ",
    "content-length:",
    "Content-",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    ":",
    " ",
    '"',
    "{}",
    "c",
    "2",
    "0",
    "99",
    "-1",
    "\\",
    '{"jsonrpc":"2.0","method":"m"}',
    "Content-Length: 30\r\n\r\n",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);

fuzz({
  target,
  property:
    "any bytes are heard alike however they are cut, and as a simple reader hears what is well formed",
  arbitrary: fc.record({
    before: fc.array(segment, { maxLength: 4 }).map((all) => all.filter(({ kind }) => kind === "message")),
    text: fc.array(hostile, { maxLength: 30 }).map((parts) => parts.join("")),
    raw: fc.uint8Array({ maxLength: 60 }),
    cuts,
  }),
  runs: 2500,
  check: ({ before, text, raw, cuts }) => {
    const good = joined(before.map((part) => bytesOf({ ...part, header: 0 } as Segment)));
    const known = reference(good);
    expect(known.rest).toBe(good.length);
    const stream = joined([good, encode(text), raw]);
    const whole = decode([stream]);
    expect(whole.messages.slice(0, known.messages.length)).toEqual(known.messages);
    expect(decode(chunked(stream, cuts))).toEqual(whole);
  },
});

test("what a hostile stream leaves in memory is bounded by a frame, not by what was sent", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc") as () => void;
  const held = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const sentBytes = 2 << 20;
  for (const pattern of [
    "Content-Length: 399\r\n\r\n",
    "content-length:",
    "c",
    "x",
    "X: y\r\n",
    "Content-Length: 99999999\r\n\r\n",
    'Content-Length: 300\r\n\r\n{"a":"',
  ]) {
    const decoder = new FrameDecoder(
      { message: () => undefined, refused: () => undefined, lost: () => undefined },
      { ...limits, maxSkippedBytes: sentBytes * 2 },
    );
    const piece = encode(pattern.repeat(Math.ceil(4096 / pattern.length)));
    const before = held();
    for (let sent = 0; sent < sentBytes; sent += piece.length) decoder.push(piece);
    // The engine frees buffers in the background.
    await expect.poll(() => held() - before, { message: pattern }).toBeLessThan(sentBytes / 4);
    decoder.push(encode("\r\n"));
  }
});
