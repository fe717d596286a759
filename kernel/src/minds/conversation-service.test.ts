import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
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
