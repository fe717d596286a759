import { expect, it } from "vitest";
import { AgentSlots } from "./slots.ts";

it("an agent that finds all places taken waits, requests an idle one's place, and is admitted in order", async () => {
  let asked = 0;
  const slots = new AgentSlots(1, () => (asked += 1));
  const first = await slots.acquire();
  const admitted: string[] = [];
  const second = slots.acquire().then((slot) => (admitted.push("second"), slot));
  const third = slots.acquire().then((slot) => (admitted.push("third"), slot));
  expect(asked).toBe(2);
  first[Symbol.dispose]();
  first[Symbol.dispose](); // leaving twice frees one place only
  (await second)[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  expect(admitted).toEqual(["second", "third"]);
  expect(slots.taken).toBe(0);
});

it("a raised limit admits waiting agents", async () => {
  const slots = new AgentSlots(0, () => undefined);
  const waiting = slots.acquire();
  slots.limit = 1;
  await expect(waiting).resolves.toBeDefined();
});
