import { expect, test } from "vitest";
import { storageError } from "../base/errors.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { BudgetSettings } from "../base/vocabulary/model-settings.ts";
import type { AnswerEvent } from "./answer.ts";
import { openCatalog } from "./catalog.ts";
import { ModelRuntime } from "./runtime.ts";

const asker = { agent: "a", conversation: "", process: null, isScheduled: false } as const;

/** A free model of this machine, whose reservation ends when the test lets it; `done` is what happened so far. */
function bed(budgets: BudgetSettings) {
  const done: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<null>();
  const runtime = new ModelRuntime({
    clock: new ManualClock(),
    settings: async () => ({
      providers: { here: { id: "here", api: "scripted" } },
      routes: {},
      fallbacks: {},
      budgets,
    }),
    catalog: openCatalog,
    takesPictures: () => false,
    prepare: () => undefined,
    async *stream() {
      done.push("sent");
      yield { type: "sent" };
      yield { type: "done", parts: [], finish: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
    },
    usage: {
      reserve: async () => {
        const exceeded = await promise;
        done.push("reserved");
        return exceeded;
      },
      settle: async () => void done.push("settled"),
      release: async () => void done.push("released"),
    },
    allowsUnpriced: async () => true,
    allowsFound: async () => true,
    // Answers with a schema are data for a program, so nothing in them is replaced.
    redact: () => {
      throw new Error("An answer with a schema is not redacted.");
    },
    random: () => 0,
  });
  const answer = async (): Promise<string> => {
    let last: AnswerEvent["type"] = "failed";
    const question = { messages: [], schema: { type: "object" } };
    for await (const { type } of runtime.answerOf("here/m", question, asker, new AbortController().signal))
      done.push((last = type));
    return last;
  };
  return { done, answer, reserve: () => resolve(null), fail: reject };
}

/** Lets everything run that waits for nothing else. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("a free request that no budget bounds is sent at once, and its answer ends when it is counted, in this order", async () => {
  const { done, answer, reserve } = bed({});
  const answered = answer();
  await settled();
  expect(done).toEqual(["attempt", "sent", "done"]);
  reserve();
  expect(await answered).toBe("done");
  expect(done.slice(3)).toEqual(["reserved", "settled"]);
});

test("a free request waits for its reservation where a budget of tokens bounds it", async () => {
  const { done, answer, reserve } = bed({ perDayTokens: 1_000_000 });
  const answered = answer();
  await settled();
  expect(done).toEqual([]);
  reserve();
  expect(await answered).toBe("done");
  expect(done.slice(0, 3)).toEqual(["reserved", "attempt", "sent"]);
});

test("an answer that cannot be counted ends with the reason, and is not settled", async () => {
  const { done, answer, fail } = bed({});
  const answered = answer();
  await settled();
  fail(storageError("the disk is full"));
  await expect(answered).rejects.toThrow("the disk is full");
  expect(done).not.toContain("settled");
});
