import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { AnswerEvent } from "../models/answer.ts";
import { createModelServices } from "./model-services.ts";

type Parts = Parameters<typeof createModelServices>[0];

test("a model that never answers fails its test after two minutes", async () => {
  const clock = new ManualClock();
  const asked = Promise.withResolvers<void>();
  const runtime = {
    async *answerOf(model, _question, _asker, signal): AsyncGenerator<AnswerEvent, void> {
      asked.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      yield {
        type: "failed",
        model,
        failure: { class: "Cancelled", message: "It was cancelled." },
        isPartial: false,
      };
    },
  } satisfies Pick<Parts["runtime"], "answerOf">;
  const { models } = createModelServices({ runtime } as unknown as Parts, clock);
  const tested = models.test("lab/small", neverAborted);
  await asked.promise;
  clock.advance(120_000);
  expect(await tested).toEqual({
    ok: false,
    error: {
      class: "Timeout",
      message: '"lab/small" did not answer within 120 seconds. Check whether its server is still working.',
    },
  });
  expect(clock.pendingTimers).toBe(0);
});
