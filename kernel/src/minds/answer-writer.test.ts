import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { AnswerEvent } from "../models/answer.ts";
import { writeAnswer } from "./answer-writer.ts";

const request = { message: "m1", digest: `sha256:${"0".repeat(64)}`, model: "lab/m", attempt: 1 } as const;
const done: AnswerEvent = {
  type: "done",
  model: "lab/m",
  parts: [{ type: "text", text: "one two" }],
  finish: "stop",
  usage: { input_tokens: 1, output_tokens: 1 },
  microUsd: null,
};

test.each(["before its turn", "while the whole answer is written"])(
  "no piece comes behind the whole answer, if its time comes %s",
  async (when) => {
    const clock = new ManualClock();
    const written: NewEntry[] = [];
    async function* events(): AsyncGenerator<AnswerEvent> {
      yield { type: "attempt", attempt: 1, model: "lab/m", repairs: [] };
      yield { type: "text", text: "one " };
      clock.advance(250);
      yield { type: "text", text: "two" };
      yield done;
    }
    await writeAnswer(request, events(), {
      maker: { process: "c", turn: "t", clock },
      clock,
      append: async (entries) => {
        written.push(...entries);
        if (when !== "before its turn") clock.advance(1_000);
        await Promise.resolve();
        return entries as unknown as Entry[];
      },
      takeTurn: async () => {
        if (when === "before its turn") clock.advance(1_000);
      },
      delta: () => undefined,
      provenanceOf: () => ({ origin: "model" }),
    });
    clock.advance(1_000);
    expect(written.map((entry) => (entry.kind === "message" ? entry.partial === true : entry.kind))).toEqual([
      true,
      false,
      "usage",
    ]);
    expect(clock.pendingTimers).toBe(0);
  },
);
