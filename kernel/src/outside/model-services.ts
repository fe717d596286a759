import { checkPerson } from "../base/vocabulary/principal.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { invalidParams } from "../base/errors.ts";
import { momentMs } from "../base/moments.ts";
import type { ModelTestResult } from "../base/vocabulary/model-listing.ts";
import { checkedBinding, checkedName } from "../secrets/binding.ts";
import type { Services } from "../services/ports.ts";
import type { KernelModels } from "./open-models.ts";

/** The shortest question that a model can answer. */
const testQuestion = {
  messages: [
    { role: "user" as const, parts: [{ type: "text" as const, text: "Answer with the word: ready" }] },
  ],
  // Models that reason need some tokens before the first of their answer.
  max_output_tokens: 1024,
};

/** A model that is first loaded from a disk needs a minute; nobody waits longer for a test. */
const testTimeoutMs = 120_000;

/** What clients may ask about models, usage and secrets. */
export function createModelServices(
  { directory, runtime, usage, secrets }: Pick<KernelModels, "directory" | "runtime" | "usage" | "secrets">,
  clock: Clock,
): Pick<Services, "models" | "usage" | "secrets"> {
  const dayOf = (field: string, text: string): string => {
    const moment = momentMs(text, clock.now());
    if (moment === null)
      throw invalidParams(
        `"${text}" is not a time. Write a time in ISO 8601, such as 2026-11-23, or an age, such as 7d.`,
        { path: field },
      );
    return isoTime(moment).slice(0, 10);
  };
  const test = async (model: string, signal: AbortSignal): Promise<ModelTestResult> => {
    const began = clock.monotonic();
    let firstTokenMs: number | undefined;
    const hung = new AbortController();
    using _timer = clock.timer(testTimeoutMs, () => hung.abort());
    const stopped = AbortSignal.any([signal, hung.signal]);
    const asker = { agent: "", conversation: "", process: null, isScheduled: false };
    for await (const event of runtime.answerOf(model, testQuestion, asker, stopped))
      switch (event.type) {
        case "text":
        case "reasoning":
        case "tool_call":
          firstTokenMs ??= clock.monotonic() - began;
          break;
        case "done":
          return { ok: true, first_token_ms: firstTokenMs ?? clock.monotonic() - began };
        case "failed":
          if (hung.signal.aborted && !signal.aborted)
            return {
              ok: false,
              error: {
                class: "Timeout",
                message: `"${model}" did not answer within ${testTimeoutMs / 1000} seconds. Check whether its server is still working.`,
              },
            };
          return { ok: false, error: { class: event.failure.class, message: event.failure.message } };
        case "attempt":
        case "attempt_failed":
          break;
      }
    throw new Error("The answer did not end.");
  };
  return {
    models: { list: (refresh, signal) => directory.list(refresh, signal), test },
    usage: {
      sums: async ({ since, until, groupBy = "day" }) => {
        const sums = await usage.sums(groupBy, {
          ...(since === undefined ? {} : { since: dayOf("since", since) }),
          ...(until === undefined ? {} : { until: dayOf("until", until) }),
        });
        return sums.map(({ micro_usd: microUsd, ...sum }) => ({
          ...sum,
          ...(microUsd === null ? {} : { usd: microUsd / 1_000_000 }),
        }));
      },
    },
    secrets: {
      list: async () => secrets.list(),
      check: (name, hosts, place) => {
        checkedName(name);
        checkedBinding(hosts, place);
      },
      set: async (by, name, value, hosts, place) => {
        checkPerson(by, "store a secret");
        return await secrets.set(name, value, hosts, place);
      },
      remove: async (by, name) => {
        checkPerson(by, "remove a secret");
        await secrets.remove(name);
      },
    },
  };
}
