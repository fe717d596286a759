/** A conversation whose process was at work when its kernel died, continued by the next one. */
import { isoTime } from "../../kernel/src/base/clock.ts";
import { FairTurns } from "../../kernel/src/base/fair-turns.ts";
import { silentLog } from "../../kernel/src/base/log.ts";
import { noInterception } from "../../kernel/src/base/vocabulary/interception.ts";
import { prefixOf } from "../../kernel/src/context/prefix.ts";
import type { ConversationLog } from "../../kernel/src/conversations/conversation-log.ts";
import type { Conversations } from "../../kernel/src/conversations/conversations.ts";
import type { NewEntry } from "../../kernel/src/conversations/records.ts";
import { MadeSchedules } from "../../kernel/src/minds/made-schedules.ts";
import { Minds } from "../../kernel/src/minds/minds.ts";
import { mind } from "../../kernel/src/minds/testing/test-mind.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";

const maker = (id: string) => ({
  id,
  process: "c",
  turn: "last",
  created: isoTime(Date.UTC(2026, 10, 26)),
});
const channel = (state: "WaitingForInput" | "Running", id: string): NewEntry => ({
  ...maker(id),
  origin: "workspace",
  kind: "process",
  value: { id: "c", kind: "channel", state, started: isoTime(Date.UTC(2026, 10, 26)) },
});

/** The first entry of a conversation. */
export const beginning = channel("WaitingForInput", "begun");

/** Appends what a kernel has written when it dies during a request. `after`: the last entry that the summary covers. */
export async function askedLast(log: ConversationLog, after: number): Promise<void> {
  const context = prefixOf({ after, summaries: [{ text: "What was said before.", covers: [1, after] }] });
  await log.storePrefix("c", { context });
  await log.append([
    {
      ...maker("last"),
      origin: "person",
      kind: "message",
      role: "user",
      parts: [{ type: "text", text: "And then?" }],
    },
    channel("Running", "running"),
    {
      ...maker("asked"),
      origin: "workspace",
      kind: "request",
      attempt: 1,
      model: "lab/m",
      message: "answer",
      digest: `sha256:${"0".repeat(64)}`,
    },
  ]);
}

/** Returns the milliseconds until the model is asked again, from when a kernel opens its conversations. */
export async function timeResuming(agent: string, open: () => Conversations): Promise<number> {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const schedules = await MadeSchedules.open({
    clock: systemClock,
    log: silentLog,
    rows: { all: async () => [], store: async () => undefined, forget: async () => undefined },
    hookOf: () => {
      throw new Error("No schedule is made here.");
    },
    ask: () => Promise.reject(new Error("No schedule is made here.")),
  });
  const turns = new FairTurns(systemClock, (run) => void setImmediate(run));
  const unused = (): never => {
    throw new Error("A process that is continued asks its model, and nothing else.");
  };
  const began = performance.now();
  await using minds = new Minds({
    conversations: open(),
    limits: () => ({ atOnce: 256, processes: 8 }),
    unattendedMs: () => 1_800_000,
    ports: {
      clock: systemClock,
      log: silentLog,
      stopWork: async () => undefined,
      takeTurn: (conversation) => turns.take(conversation),
      mayShare: () => null,
      mindOf: (id) => ({ agent: { id, name: agent }, definition: mind }),
      whyNot: () => "",
      models: {
        // eslint-disable-next-line require-yield
        answer: async function* (_need, _question, _asker, signal) {
          resolve();
          // As slow as a model: this kernel ends first.
          await new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
          );
        },
        choose: async () => ({ model: "lab/m", contextTokens: 100_000 }),
        isTainting: () => false,
        isOfOtherRun: () => false,
      },
      tools: { list: () => [], call: unused, picture: unused },
      memory: {
        save: unused,
        get: unused,
        since: async () => [],
        madeFrom: unused,
        recall: unused,
        present: unused,
        find: unused,
      },
      actions: {
        get: async () => null,
        decidedOf: async () => [],
        waitingOf: async () => [],
        reject: async () => undefined,
      },
      schedules,
      intercept: noInterception,
      forgetting: {
        run: async (_request, removeFromLogs) => ({
          result: await removeFromLogs(),
          report: { removed: [], remains: [] },
        }),
      },
      asks: { get: async () => null, withdraw: () => undefined, block: async () => null },
      mayRepeat: async () => true,
      notify: () => undefined,
    },
  });
  const starting = minds.start();
  await asked;
  const took = performance.now() - began;
  await starting;
  return took;
}
