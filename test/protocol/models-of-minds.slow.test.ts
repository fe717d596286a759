/** A person's denial of models holds for minds too, against a real kernel. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { HostileMind, MIND } from "../support/hostile-mind.ts";
import { until } from "../support/until.ts";

let mind: HostileMind;
beforeAll(async () => {
  mind = await HostileMind.open();
});
afterAll(() => mind[Symbol.asyncDispose]());

/** Sends a message. Returns how the channel's process stands when it has answered it or failed. */
const sent = async (id: string, text: string) => {
  await mind.next(id, [{ say: "Hello." }], {}, text);
  return await until("the end of the turn", async () => {
    const { processes } = await mind.get(id);
    const channel = processes.find(({ kind }) => kind === "channel");
    const isOver = channel?.state === "WaitingForInput" || channel?.state === "Failed";
    return isOver && (mind.requests.length > 0 || channel.error !== undefined) && channel;
  });
};

test("a mind whose agent is denied models while it talks sends nothing more, and says why; allowed again, it answers", async () => {
  const id = await mind.attack([{ say: "Hello." }]);
  await mind.rested(id);
  expect(mind.requests).toHaveLength(1);

  await mind.bench.writeLares({ grants: { [MIND]: { locations: ["."], deny: ["use_models"] } } });
  const { error } = await until("a refusal", async () => {
    const channel = await sent(id, "The code is SESAME.");
    return channel.error !== undefined && channel;
  });
  expect(error).toMatchObject({
    code: "PermissionDenied",
    message: expect.stringContaining("use_models was denied to test.mind"),
  });
  expect(mind.requests).toEqual([]);

  await mind.bench.writeLares();
  await until("an answer", async () => (await sent(id, "And now?")).error === undefined);
  expect(mind.requests.length).toBeGreaterThan(0);
});
