import { expect, test } from "vitest";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { AgentReturns } from "./agent-returns.ts";
import { until } from "../../../test/support/until.ts";
import { MindBench, mind, person } from "./testing/mind-bench.ts";

const other = "test.other";

async function conversationOf(bench: MindBench): Promise<string> {
  bench.otherMinds.set(other, mind);
  const { id } = await bench.service.open(person, { agent: other });
  return id;
}

const failures = async (bench: MindBench, id: string): Promise<number> =>
  (await bench.entries(id)).filter((entry) => entry.kind === "process" && entry.value.state === "Failed")
    .length;

test("each message that is sent while its agent is gone is refused with the reason, and answered once the agent is back", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ say: "here again" });
  const id = await conversationOf(bench);
  bench.otherMinds.clear();
  for (const [index, text] of ["one", "two", "three"].entries()) {
    await bench.send(id, text);
    await until(`the end of turn ${text}`, async () => (await failures(bench, id)) === index + 1);
  }
  expect((await bench.service.get(id)).processes).toMatchObject([
    { state: "Failed", error: { code: "AgentError", message: "It is gone." } },
  ]);
  // Others came back.
  bench.minds.agentsReturned();
  await bench.rested(id);
  expect(await failures(bench, id)).toBe(3);
  bench.otherMinds.set(other, mind);
  bench.minds.agentsReturned();
  await until("the answer", async () => (await bench.said(id)).includes("here again"));
  await bench.rested(id);
  // It answers once.
  bench.minds.agentsReturned();
  await bench.rested(id);
  expect(bench.questions).toHaveLength(1);
  expect(JSON.stringify(bench.questions[0]?.question.messages)).toMatch(/one.*two.*three/);
});

test("an agent that is back before the failure is in the log is asked once more, and not for ever", () => {
  const returns = new AgentReturns();
  const error = { code: "AgentError", message: "It is gone." };
  const failed = [
    { kind: "process", value: { kind: "channel", state: "Failed", error } },
  ] as unknown as Entry[];
  const asked = [{ kind: "request" }] as unknown as Entry[];
  const here = (): boolean => true;
  expect(returns.take("c", other, failed, here)).toBe(true);
  expect([returns.ready(here), returns.ready(here)]).toEqual([["c"], []]);
  expect(returns.take("c", other, failed, here)).toBe(false);
  expect(returns.ready(here)).toEqual([]);
  expect(returns.take("c", other, [...asked, ...failed], here)).toBe(true);
});

test("what failed for another reason, or was archived meanwhile, does not begin by itself when agents return", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ fail: { class: "NoKey", message: "No key." } });
  const id = await conversationOf(bench);
  await bench.send(id, "one");
  await until("the failure", async () => (await failures(bench, id)) === 1);
  const archived = await conversationOf(bench);
  bench.otherMinds.clear();
  await bench.send(archived, "one");
  await until("the failure", async () => (await failures(bench, archived)) === 1);
  await bench.service.update(person, archived, { state: "archived" });
  bench.otherMinds.set(other, mind);
  bench.minds.agentsReturned();
  await bench.rested(id);
  await bench.rested(archived);
  expect(bench.questions).toHaveLength(1);
});

test.each(["a failure", "a stop"])(
  "race: a message that comes while the end of %s is written begins the next turn",
  async (what) => {
    const bench = await MindBench.open();
    let isFirst = true;
    bench.model = () => {
      if (!isFirst) return { say: "yes" };
      isFirst = false;
      return what === "a stop" ? { hangs: true } : { fail: { class: "NoKey", message: "No key." } };
    };
    const id = await conversationOf(bench);
    let sent: Promise<unknown> | null = null;
    await bench.minds.use(id, async (conversation) => {
      const { log } = conversation;
      const append = log.append.bind(log);
      // Both are on their way to the disk at once.
      log.append = (entries) => {
        const written = append(entries);
        const isEnd =
          Array.isArray(entries) && /"state":"(?:Failed|Cancelled)"/.test(JSON.stringify(entries));
        if (isEnd) sent ??= conversation.send([{ type: "text", text: "two" }], "second");
        return written;
      };
      await bench.send(id, "one");
      if (what === "a stop") {
        await until("the request", () => bench.questions.length === 1);
        await conversation.cancel(person);
      }
      await until("the second message", () => sent !== null);
      await sent;
    });
    await until("the answer", async () => (await bench.said(id)).includes("yes"));
  },
);
