import { expect, test } from "vitest";
import { nextTurn } from "../../../base/next-turn.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";
import { HeldClock, HeldEmbedder } from "../../embedding/testing/pending.ts";
import { EmbedderOpening } from "./embedder-opening.ts";

const spec: EmbedderSpec = { kind: "openai-compatible", url: "http://here", model: "toy" };

/** The wall clock is set back by `setBackMs` during the pause after a failure. */
async function failsOnce(setBackMs: number): Promise<string | undefined> {
  const clock = new HeldClock();
  const embedder = new HeldEmbedder("toy");
  let tries = 0;
  let taken: HeldEmbedder | null = null;
  const waits = Promise.withResolvers<void>();
  using opening = new EmbedderOpening({
    clock,
    open: async () => {
      tries += 1;
      if (tries === 1) throw new Error("later");
      return embedder;
    },
    ready: () => {
      void (async () => {
        taken = (await opening.take(spec)) as HeldEmbedder | null;
        waits.resolve();
      })();
    },
    failed: () => {},
  });
  expect(await opening.take(spec)).toBe(null);
  await nextTurn();
  expect(await opening.take(spec), "it rests").toBe(null);
  expect(tries).toBe(1);
  const pauseMs = clock.nextMs ?? 0;
  const now = clock.now.bind(clock);
  clock.now = () => now() - setBackMs;
  clock.pass(pauseMs);
  await waits.promise;
  return (taken as HeldEmbedder | null)?.name;
}

test("an embedder that could not be opened is retried after its delay, whatever the wall clock says", async () => {
  expect(await failsOnce(0)).toBe("toy");
  expect(await failsOnce(1)).toBe("toy");
  expect(await failsOnce(3_600_000)).toBe("toy");
});
