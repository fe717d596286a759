import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { ConversationService } from "../services/conversations.ts";
import { agent, MindBench, person } from "./testing/mind-bench.ts";

test("a conversation in which something runs is not archived, and an archived one takes no message", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ hangs: true });
  const { id } = await bench.open();
  await bench.send(id, "go");
  await until("the request", () => bench.questions.length === 1);
  const archive = () => bench.service.update(person, id, { state: "archived" });
  await expect(archive()).rejects.toMatchObject({ code: "IllegalTransition" });
  await bench.service.cancel(person, id);
  expect(await archive()).toMatchObject({ state: "archived" });
  await expect(bench.send(id, "hello?")).rejects.toMatchObject({ code: "IllegalTransition" });
});

const sending = {
  "a message": (service: ConversationService, id: string) => service.send(person, { id, text: "hello" }),
  "a command's prompt": (service: ConversationService, id: string) =>
    service.runPrompt(person, { id, prompt: "Say hello." }),
};

test.each(Object.entries(sending))(
  "race: %s that was sent before a stop, and not acknowledged yet, begins no turn after it",
  async (_, send) => {
    for (let turns = 0; turns < 40; turns += 2) {
      const bench = await MindBench.open();
      bench.model = () => ({ hangs: true });
      const { id } = await bench.open();
      const { service } = bench;
      const sent = send(service, id);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await service.cancel(person, id);
      await sent;
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      const { processes } = await service.get(id);
      expect(processes.map(({ state }) => state)).toEqual(["Cancelled"]);
    }
  },
);

test("race: a message that is sent while a stop is under way has its turn", async () => {
  const bench = await MindBench.open();
  bench.model = ({ messages }) =>
    JSON.stringify(messages).includes("and now?") ? { say: "ok" } : { hangs: true };
  const { id } = await bench.open();
  const { service } = bench;
  const first = service.send(person, { id, text: "hello" });
  const stopped = service.cancel(person, id);
  const second = service.send(person, { id, text: "and now?" });
  await Promise.all([first, stopped, second]);
  await bench.rested(id);
  expect((await bench.said(id)).at(-1)).toBe("ok");
  expect((await service.get(id)).processes.map(({ state }) => state)).toEqual(["WaitingForInput"]);
});

test("a client cannot name the log of a mind itself as a conversation", async () => {
  const bench = await MindBench.open();
  await bench.minds.useMind(agent, async () => undefined);
  const { service } = bench;
  for (const call of [
    () => service.get(agent),
    () => service.send(person, { id: agent, text: "hello" }),
    () => service.fork(person, agent),
    () => service.delete(person, agent),
    () => service.follow(agent, 0, { entry: () => undefined, delta: () => undefined }),
    () => service.context(agent),
  ])
    await expect(call()).rejects.toMatchObject({ code: "NotFound" });
});
