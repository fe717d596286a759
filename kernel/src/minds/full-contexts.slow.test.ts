import { nextTurn } from "../base/next-turn.ts";
import { describe, expect, test, vi } from "vitest";
import { until } from "../../../test/support/until.ts";
import { storageError } from "../base/errors.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { type FakeAnswer, MindBench, person } from "./testing/mind-bench.ts";

const limit = 8_000;
const goal = "Goal: the garden plan, with a path to the pond. Decisions: oak trees, because they last.";

interface Talk {
  readonly bench: MindBench;
  readonly id: string;
  /** Sends a message that fills the context up to about this share of the window. */
  fill(share: number): Promise<void>;
}

/** Opens a conversation of some turns. Compactions get the answers of `summary`, everything else "ok". */
async function talked(summary: () => FakeAnswer | Promise<FakeAnswer>): Promise<Talk> {
  const bench = await MindBench.open();
  bench.contextTokens = limit;
  bench.counts = true;
  bench.model = (_question, { process }) => (process === "compaction" ? summary() : { say: "ok" });
  const { id } = await bench.open();
  const fill = async (share: number): Promise<void> => {
    const { context } = await bench.service.get(id);
    await bench.send(id, "x".repeat(Math.max(10, Math.round((share * limit - context.tokens) * 4))));
  };
  for (const share of [0.2, 0.4, 0.6]) {
    await fill(share);
    await bench.rested(id);
  }
  return { bench, id, fill };
}

const summariesOf = (entries: readonly Entry[]) => entries.filter((entry) => entry.kind === "summary");
const noticesOf = (entries: readonly Entry[]) => entries.filter((entry) => entry.kind === "notice");
const askedFor = (bench: MindBench, process: string): number =>
  bench.questions.filter(({ asker }) => asker.process === process).length;
const tokensOf = async ({ bench, id }: Talk): Promise<number> => (await bench.service.get(id)).context.tokens;

describe("a context that is full", () => {
  test("to 82 %: a summary is written in the background, and messages are answered meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<FakeAnswer>();
    const talk = await talked(() => promise);
    const { bench, id } = talk;
    await talk.fill(0.82);
    await until("the compaction", () => askedFor(bench, "compaction") === 1);
    const answered = (await bench.said(id)).length;
    await bench.send(id, "are you there?");
    await until("the answer", async () => (await bench.said(id)).length === answered + 1);
    expect(summariesOf(await bench.entries(id))).toEqual([]);
    resolve({ say: goal });
    expect(summariesOf(await bench.rested(id))).toMatchObject([{ text: goal, origin: "model" }]);
    expect(await tokensOf(talk)).toBeLessThan(0.8 * limit);
  });

  test("to 82 %: a request that was under way when it became smaller begins no other summary", async () => {
    const { promise, resolve } = Promise.withResolvers<FakeAnswer>();
    const talk = await talked(() => promise);
    const { bench, id } = talk;
    await talk.fill(0.82);
    await until("the compaction", () => askedFor(bench, "compaction") === 1);
    const answer = Promise.withResolvers<FakeAnswer>();
    const { model } = bench;
    bench.model = (...asked) => (asked[1].process === "channel" ? answer.promise : model(...asked));
    const asked = askedFor(bench, "channel");
    await bench.send(id, "x".repeat(2_000));
    await until("the request", () => askedFor(bench, "channel") === asked + 1);
    resolve({ say: goal });
    await until("the summary", async () => summariesOf(await bench.entries(id)).length === 1);
    await until("the smaller context", async () => (await tokensOf(talk)) < 0.8 * limit);
    answer.resolve({ say: "ok" });
    expect(summariesOf(await bench.rested(id))).toHaveLength(1);
    expect(askedFor(bench, "compaction")).toBe(1);
  });

  test("to 90 %: the channel makes no request before the summary is written, which covers more", async () => {
    const { promise, resolve } = Promise.withResolvers<FakeAnswer>();
    const talk = await talked(() => promise);
    const { bench, id } = talk;
    await talk.fill(0.9);
    await until("the compaction", () => askedFor(bench, "compaction") === 1);
    const asked = askedFor(bench, "channel");
    await bench.send(id, "are you there?");
    expect((await bench.service.get(id)).processes[0]).toMatchObject({ kind: "channel", state: "Running" });
    expect(askedFor(bench, "channel")).toBe(asked);
    resolve({ say: goal });
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toMatchObject([{ text: goal, origin: "model" }]);
    expect(askedFor(bench, "channel")).toBe(asked + 1);
    const last = JSON.stringify(bench.questions.at(-1)?.question.messages);
    expect(last).toContain(goal);
    expect(last).toContain("are you there?");
    expect(await tokensOf(talk)).toBeLessThan(0.6 * limit);
  });

  test("to 97 %: the oldest turns are left out at once without a model, and stay in the log", async () => {
    const talk = await talked(() => ({ say: goal }));
    const { bench, id } = talk;
    const before = await bench.entries(id);
    await talk.fill(0.97);
    const entries = await bench.rested(id);
    expect(askedFor(bench, "compaction")).toBe(0);
    expect(summariesOf(entries)).toMatchObject([
      { origin: "workspace", text: expect.stringMatching(/left out without a summary/) as string },
    ]);
    expect(entries.slice(0, before.length)).toEqual(before);
    await bench.send(id, "and now?");
    await bench.rested(id);
    expect((await bench.said(id)).at(-1)).toBe("ok");
    expect(await tokensOf(talk)).toBeLessThan(0.8 * limit);
  });

  test.each(Array.from({ length: 12 }, (_, apart) => ({ apart })))(
    "to 97 % while a summary arrives, $apart turns of the loop apart: whichever comes second replaces nothing of the first",
    async ({ apart }) => {
      const { promise, resolve } = Promise.withResolvers<FakeAnswer>();
      const talk = await talked(() => promise);
      const { bench, id } = talk;
      await talk.fill(0.82);
      await until("the compaction", () => askedFor(bench, "compaction") === 1);
      const { model } = bench;
      bench.model = async (...asked) => {
        if (asked[1].process === "channel") {
          resolve({ say: goal });
          for (let turn = 0; turn < apart; turn++) await nextTurn();
        }
        return await model(...asked);
      };
      await talk.fill(0.97);
      const summaries = summariesOf(await bench.rested(id));
      const ends = summaries.map(({ covers }) => covers?.[1]);
      expect(ends.length).toBeGreaterThan(0);
      expect(new Set(ends).size).toBe(ends.length);
      await bench.send(id, "are you there?");
      expect(noticesOf(await bench.rested(id))).toEqual([]);
      // Before its provider has counted it, the estimate of what is left may be enough for another summary.
      const asked = bench.questions.findLast(({ asker }) => asker.process === "channel");
      const last = JSON.stringify(asked?.question.messages);
      for (const { text } of summaries) expect(last).toContain(text);
    },
  );

  test("and whose summaries fail three times: no other is tried, and the oldest turns leave", async () => {
    const talk = await talked(() => ({ say: "" }));
    const { bench, id } = talk;
    await bench.minds.use(id, async (conversation) => {
      for (const share of [0.87, 0.88, 0.89, 0.9, 0.91, 0.97]) {
        await talk.fill(share);
        await until("the turn's end", () => conversation.isIdle);
      }
    });
    const compactions = (await bench.entries(id)).filter(
      (entry) =>
        entry.kind === "process" && entry.value.kind === "compaction" && entry.value.state === "Failed",
    );
    expect(compactions).toHaveLength(3);
    expect(summariesOf(await bench.entries(id))).toMatchObject([{ origin: "workspace" }]);
    expect((await bench.said(id)).at(-1)).toBe("ok");
  });

  test("and whose summaries failed three times under other kernels: the next kernel tries no other before an hour", async () => {
    const talk = await talked(() => ({ say: "" }));
    const { bench, id } = talk;
    const fill = async (share: number): Promise<number> => {
      await bench.restart();
      await talk.fill(share);
      await bench.rested(id);
      return (await bench.entries(id)).filter(
        (entry) =>
          entry.kind === "process" && entry.value.kind === "compaction" && entry.value.state === "Failed",
      ).length;
    };
    for (const [failed, share] of [0.87, 0.88, 0.89].entries()) expect(await fill(share)).toBe(failed + 1);
    expect(await fill(0.9)).toBe(3);
    bench.passedMs = 60 * 60_000;
    expect(await fill(0.91)).toBe(4);
  });
});

test.each([0.82, 0.9, 0.97])(
  "a kernel that died behind a summary at %d of the window: the next one begins the context with it, and writes no other",
  async (share) => {
    const talk = await talked(() => ({ say: goal }));
    const { bench, id } = talk;
    const diesThere = await bench.minds.use(id, ({ log }) =>
      Promise.resolve(vi.spyOn(log, "storePrefix").mockRejectedValueOnce(storageError("It died."))),
    );
    await talk.fill(share);
    const written = summariesOf(await bench.rested(id));
    expect(written).toHaveLength(1);
    expect(diesThere).toHaveBeenCalledOnce();
    const asked = askedFor(bench, "compaction");
    await bench.restart();
    for (const text of ["are you there?", "still there?"]) {
      await bench.send(id, text);
      expect(summariesOf(await bench.rested(id))).toEqual(written);
    }
    expect(askedFor(bench, "compaction")).toBe(asked);
    const last = JSON.stringify(bench.questions.at(-1)?.question.messages);
    expect(last).toContain(written[0]?.text);
    expect(await tokensOf(talk)).toBeLessThan(0.8 * limit);
  },
);

describe("a request that the provider refuses as too long", () => {
  const overflow: FakeAnswer = { fail: { class: "ContextOverflow", message: "It is too long." } };
  const short = 0.5 * limit * 4;

  /** A provider whose window is smaller than is known. */
  async function refusing(summary: FakeAnswer): Promise<Talk> {
    const talk = await talked(() => summary);
    const { model } = talk.bench;
    talk.bench.model = (question, asker) =>
      asker.process === "channel" && JSON.stringify(question.messages).length > short
        ? overflow
        : model(question, asker);
    return talk;
  }

  test("is made again behind a summary, and the person gets the answer", async () => {
    const talk = await refusing({ say: goal });
    const { bench, id } = talk;
    await bench.send(id, "what about the pond?");
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toMatchObject([{ text: goal }]);
    expect((await bench.said(id)).at(-1)).toBe("ok");
    expect(JSON.stringify(bench.questions.at(-1)?.question.messages)).toContain("what about the pond?");
    expect((await bench.service.get(id)).processes[0]).toMatchObject({ state: "WaitingForInput" });
  });

  test("is made again without the oldest turns if no summary can be written", async () => {
    const { bench, id } = await refusing({ fail: { class: "Overloaded", message: "busy" } });
    await bench.send(id, "what about the pond?");
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toMatchObject([{ origin: "workspace" }]);
    expect((await bench.said(id)).at(-1)).toBe("ok");
  });

  test.each<[string, (bench: MindBench, id: string) => Promise<unknown>]>([
    ["the person stops it", (bench, id) => bench.service.cancel(person, id)],
    ["nobody is there any more", (bench) => bench.minds.pause()],
    ["the kernel ends", (bench) => bench.restart()],
  ])("is not made again without the oldest turns while %s during the summary", async (_name, stops) => {
    const talk = await refusing({ hangs: true });
    const { bench, id } = talk;
    await bench.send(id, "what about the pond?");
    await until("the compaction", () => askedFor(bench, "compaction") === 1);
    await stops(bench, id);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(summariesOf(await bench.entries(id))).toEqual([]);
    const { processes } = await bench.service.get(id);
    expect(processes.filter(({ state }) => state === "Failed")).toEqual([]);
  });

  test("ends the turn if it is still too long, with the provider's class, and the next message is taken", async () => {
    const talk = await refusing({ say: goal });
    const { bench, id } = talk;
    await bench.send(id, "x".repeat(short));
    await bench.rested(id);
    expect((await bench.service.get(id)).processes[0]).toMatchObject({
      state: "Failed",
      error: { code: "ModelError", class: "ContextOverflow" },
    });
    expect(askedFor(bench, "channel")).toBe(5);
    bench.model = () => ({ say: "it fits now" });
    await bench.send(id, "again");
    await bench.rested(id);
    expect((await bench.said(id)).at(-1)).toBe("it fits now");
  });
});
