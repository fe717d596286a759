import { describe, expect, it } from "vitest";
import { LaresError } from "../../base/errors.ts";
import type { Ask } from "../../base/vocabulary/ask.ts";
import type { KernelClient } from "../kernel-client.ts";
import { anAsk } from "../testing/fake-kernel.ts";
import { followAsks, type AskAnswer } from "./asks.ts";

interface Shown {
  readonly id: string;
  readonly ended: AbortSignal;
  answer(given: AskAnswer): void;
}

async function start({ waiting = [] as Ask[], asks = true, denies = false, refuses = false } = {}) {
  const shown: Shown[] = [];
  const answers: unknown[] = [];
  const remarks: string[] = [];
  let quits = 0;
  let tell: (ask: Ask) => void = () => undefined;
  const kernel: Pick<KernelClient, "asks" | "answerAsk" | "on"> = {
    asks: () => Promise.resolve(waiting),
    answerAsk: (id, answer) => {
      if (refuses) return Promise.reject(new LaresError("IllegalTransition", "It has ended."));
      answers.push({ id, ...answer });
      return Promise.resolve(anAsk(id, { state: answer.allow ? "Allowed" : "Denied" }));
    },
    on: (_method, listener) => {
      tell = listener as typeof tell;
      return { [Symbol.dispose]: () => (tell = () => undefined) };
    },
  };
  const following = await followAsks({
    kernel,
    ask: asks
      ? ({ id }, ended) =>
          new Promise((resolve) => {
            shown.push({ id, ended, answer: resolve });
            ended.addEventListener("abort", () => resolve("ended"));
          })
      : null,
    denies,
    remark: (text) => void remarks.push(text),
    quit: () => void quits++,
  });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { following, shown, answers, remarks, settled, tell: (ask: Ask) => tell(ask), quits: () => quits };
}

const { digest } = anAsk("a");

describe("questions during a run", () => {
  it("that wait already are asked before those that come, each once", async () => {
    const run = await start({ waiting: [anAsk("b"), anAsk("a")] });
    run.tell(anAsk("b"));
    run.tell(anAsk("c"));
    expect(run.shown.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(run.following.isBusy).toBe(true);
  });

  it("are answered with the digest that was shown", async () => {
    const run = await start({ waiting: [anAsk("a")] });
    run.shown[0]?.answer({ allow: true, remember: "always" });
    await run.settled();
    expect(run.answers).toEqual([{ id: "a", digest, allow: true, remember: "always" }]);
    expect(run.following.isBusy).toBe(false);
  });

  it("that were postponed stay open and are not asked again", async () => {
    const run = await start({ waiting: [anAsk("a")] });
    run.shown[0]?.answer("later");
    await run.settled();
    run.tell(anAsk("a"));
    expect([run.shown.length, run.answers, run.following.isBusy]).toEqual([1, [], false]);
  });

  it.each([
    ["Allowed", "Allowed elsewhere: May agents use it?"],
    ["Denied", "Denied elsewhere: May agents use it?"],
    ["Expired", "Nothing waits for that answer any more: May agents use it?"],
  ] as const)("that were %s elsewhere are closed, which is said", async (state, remark) => {
    const run = await start({ waiting: [anAsk("a")] });
    run.tell(anAsk("a", { state }));
    await run.settled();
    expect(run.shown[0]?.ended.aborted).toBe(true);
    expect([run.answers, run.remarks, run.following.isBusy]).toEqual([[], [remark], false]);
  });

  it("that end the run stay as they are", async () => {
    const run = await start({ waiting: [anAsk("a")] });
    run.shown[0]?.answer("quit");
    await run.settled();
    expect([run.quits(), run.answers]).toEqual([1, []]);
  });

  it("whose answer is too late are reported, and the run continues", async () => {
    const run = await start({ waiting: [anAsk("a")], refuses: true });
    run.shown[0]?.answer({ allow: true });
    await run.settled();
    expect(run.remarks).toEqual(["That question could not be answered: It has ended."]);
  });

  it("that nobody can be asked are named with the command that answers them", async () => {
    const run = await start({ waiting: [anAsk("11111111-22222222")], asks: false });
    await run.settled();
    expect(run.remarks).toEqual([
      "A question waits: May agents use it? Answer it with: lares asks allow 22222222",
    ]);
    expect(run.answers).toEqual([]);
  });

  it("that nobody can be asked in a run that ends by itself are denied for once", async () => {
    const run = await start({ waiting: [anAsk("a")], asks: false, denies: true });
    await run.settled();
    expect(run.answers).toEqual([{ id: "a", digest, allow: false, remember: "once" }]);
    expect(run.remarks).toEqual(["Denied, because this run can ask nobody: May agents use it?"]);
  });

  it("are not asked once the run is over", async () => {
    const run = await start();
    run.following[Symbol.dispose]();
    run.tell(anAsk("a"));
    expect(run.shown).toEqual([]);
  });
});
