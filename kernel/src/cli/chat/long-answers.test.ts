import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { overlapOf } from "./state/overlap.ts";
import type { News } from "./state/transcript.ts";
import { styleFor, type Style } from "../render/style.ts";
import { renderChat } from "./render/screen.ts";
import { anEntry, asks, begun, channel, ChatWalk, says } from "./testing/chat-walk.ts";

const size = { columns: 60, rows: 24 };
const kilobyte = "word ".repeat(200);
const delta = (text: string, type: "text" | "reasoning" | "tool_call" = "text"): News => ({
  kind: "delta",
  delta: { process: "channel", message: "m", part: type === "reasoning" ? 0 : 1, type, text },
});
const partial = (seq: number, text: string): News => ({
  kind: "entry",
  entry: anEntry(seq, says(text, { id: "m", partial: true })),
});

/** A client that comes when so much of an answer is in the log. */
function joined(kilobytes: number, style?: Style): ChatWalk {
  const walk = begun(new ChatWalk(size, style === undefined ? {} : { style }));
  walk.entries(asks("write"), channel("Running"));
  const news = Array.from({ length: kilobytes }, (_none, index) => partial(10 + index, kilobyte));
  return walk.give({ kind: "news", news });
}

/** Draws one piece after the other, and returns the shortest time that one took. */
function shortest(walk: ChatWalk, pieces: number): number {
  let least = Infinity;
  for (let piece = 0; piece < pieces; piece++) {
    const startMs = performance.now();
    walk.give({ kind: "news", news: [delta(`on ${piece} `)] });
    renderChat(walk.state);
    least = Math.min(least, performance.now() - startMs);
  }
  return least;
}

describe("a piece of a long answer", () => {
  test("costs what one of a short answer does, for a client that joins and for one that was there", () => {
    const short = shortest(joined(4), 100);
    expect(shortest(joined(2_000), 100)).toBeLessThan(short * 4);
    const there = joined(0);
    for (let seq = 0; seq < 2_000; seq++)
      there.give({ kind: "news", news: [delta(kilobyte), partial(10 + seq, kilobyte)] });
    expect(shortest(there, 100)).toBeLessThan(short * 4);
  });

  test("paints the lines that are visible, and no others", () => {
    const painted = (kilobytes: number): number => {
      let count = 0;
      const plain = styleFor(false);
      const style = { ...plain, dim: (text: string | number) => (count++, plain.dim(text)) };
      const walk = joined(kilobytes, style as Style);
      renderChat(walk.state);
      count = 0;
      walk.give({ kind: "news", news: [delta("on ")] });
      renderChat(walk.state);
      return count;
    };
    expect(painted(500)).toBe(painted(60));
  });

  test("is one of a message that never had an entry, too", () => {
    const writing = (kilobytes: number): ChatWalk => {
      const walk = joined(0);
      for (let piece = 0; piece < kilobytes; piece++) walk.give({ kind: "news", news: [delta(kilobyte)] });
      return walk;
    };
    expect(shortest(writing(1_000), 100)).toBeLessThan(shortest(writing(4), 100) * 4);
  });
});

test("where a text that repeats itself continues is found in time that grows as the text does", () => {
  const time = (repeats: number): number => {
    const text = "ab ".repeat(repeats);
    const startMs = performance.now();
    expect(overlapOf(`${text}ab ?`, `${text}!`)).toBe(0);
    return performance.now() - startMs;
  };
  const least = (repeats: number): number => Math.min(...Array.from({ length: 20 }, () => time(repeats)));
  // With each beginning compared, sixteen times the text took 256 times as long. Texts are short enough to be read without
  // being interrupted by other work.
  expect(least(20_000)).toBeLessThan(least(1_250) * 80 + 1);
});

test("the longest common piece counts", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "b") }),
      fc.string({ unit: fc.constantFrom("a", "b") }),
      (text, next) => {
        let size = Math.min(text.length, next.length);
        while (!text.endsWith(next.slice(0, size))) size--;
        expect(overlapOf(text, next)).toBe(size);
      },
    ),
  );
});

test("an answer that is being written looks as it does once it is whole, whatever came first", () => {
  const piece = fc.tuple(
    fc.constantFrom("text", "reasoning", "tool_call" as const),
    fc.constantFrom("word ", "\n\n", "- one\n", "```\ncode\n```\n\n", "# Head\n\n", "long".repeat(30)),
    fc.boolean(),
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 30 }), fc.boolean(), (pieces, isOpen) => {
      const walk = begun(new ChatWalk({ columns: 60, rows: 400 })).entries(asks("write"), channel("Running"));
      const parts: { type: "text" | "reasoning"; text: string }[] = [];
      let fresh: typeof parts = [];
      let seq = 100;
      const add = (list: typeof parts, type: "text" | "reasoning", text: string): void => {
        const last = list.at(-1);
        if (last?.type === type) last.text += text;
        else list.push({ type, text });
      };
      for (const [type, text, isLogged] of pieces) {
        walk.give({ kind: "news", news: [delta(text, type)] });
        renderChat(walk.state);
        if (type === "tool_call") continue;
        add(parts, type, text);
        add(fresh, type, text);
        if (!isLogged) continue;
        const entry = anEntry(seq++, says("", { id: "m", partial: true, parts: fresh }));
        walk.give({ kind: "news", news: [{ kind: "entry", entry }] });
        fresh = [];
      }
      if (isOpen) walk.press("<C-o>");
      const written = walk.screen;
      walk.give({
        kind: "news",
        news: [{ kind: "entry", entry: anEntry(seq, says("", { id: "m", parts })) }],
      });
      const body = (screen: string): string[] => {
        const lines = screen.split("\n").slice(2);
        const foot = lines.findIndex((line) => line.startsWith("─"));
        return lines.slice(0, foot).filter((line) => line !== "" && !/^ +…( prepares a call)?$/.test(line));
      };
      expect(body(written)).toEqual(body(walk.screen));
    }),
  );
});
