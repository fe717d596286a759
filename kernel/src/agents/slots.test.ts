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

it("an agent that somebody waits for has a place beyond the limit, also if it is called while it waits; a bounded number of them", async () => {
  const slots = new AgentSlots(1, () => undefined);
  const first = await slots.acquire();
  const called = await slots.acquire({ isAwaited: true });
  expect(slots.isCrowded).toBe(true);

  const claim = { isAwaited: false };
  const admitted: string[] = [];
  void slots.acquire().then(() => admitted.push("quiet"));
  const later = slots.acquire(claim).then((slot) => (admitted.push("called later"), slot));
  await Promise.resolve();
  claim.isAwaited = true;
  slots.admit();
  const [...others] = [await later, called];
  expect(admitted).toEqual(["called later"]);

  for (let more = 0; more < 20; more++)
    void slots.acquire({ isAwaited: true }).then((slot) => others.push(slot));
  await Promise.resolve();
  expect(slots.taken).toBe(9);
  for (const slot of [first, ...others]) slot[Symbol.dispose]();
  expect(slots.taken).toBeLessThanOrEqual(9);
});

it("asks again for room as long as somebody waits, because more than one may have to leave", async () => {
  let asked = 0;
  const slots = new AgentSlots(1, () => (asked += 1));
  const slot = await slots.acquire();
  const extra = await slots.acquire({ isAwaited: true });
  const waiting = slots.acquire();
  expect(asked).toBe(1);
  extra[Symbol.dispose]();
  expect(asked).toBe(2);
  slot[Symbol.dispose]();
  await waiting;
});
