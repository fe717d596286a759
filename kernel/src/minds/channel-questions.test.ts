import { expect, test, describe } from "vitest";
import { until } from "../../../test/support/until.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";

describe("a channel that asks the person about a call", () => {
  /** A channel that reads a file, about which the person is asked, and answers what else it is asked. */
  async function withQuestion(): Promise<{ bench: MindBench; id: string }> {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/read"];
    bench.model = (question) => {
      const text = lastText(question);
      if (text === "go" || text.startsWith("The person allowed it"))
        return { call: [{ tool: "files/read", arguments: { path: "a" } }] };
      return { say: text === "are you there?" ? "yes" : text.includes("done") ? "read" : "I see" };
    };
    const { id } = await bench.open();
    await bench.send(id, "go");
    await bench.question();
    return { bench, id };
  }
  const answersTo = async (bench: MindBench, id: string, wanted: string): Promise<void> =>
    void (await until(wanted, async () => (await bench.said(id)).includes(wanted)));

  test("answers a message meanwhile, and makes the call once when the person has allowed it", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    expect(bench.calls).toEqual([]);
    const [ask, ...others] = await bench.asks.list("Pending");
    expect(others).toEqual([]);
    const waiting = (await bench.entries(id)).flatMap((entry) =>
      entry.kind === "tool_result" ? [entry.result] : [],
    );
    expect(waiting).toEqual([
      {
        status: "error",
        message: expect.stringContaining("was not run") as string,
        recoverable: true,
        question: ask?.id,
      },
    ]);
    const told = JSON.stringify(bench.questions.at(-1)?.question.messages);
    expect(told).toContain("Do not repeat it before");
    expect(told).not.toContain("Another attempt may succeed");
    await bench.answer(true);
    await answersTo(bench, id, "read");
    await bench.rested(id);
    expect(bench.calls).toHaveLength(1);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect((await bench.said(id, "user")).filter((text) => text.includes("allowed it"))).toHaveLength(1);
    // The answer is used up.
    await bench.send(id, "go");
    expect((await bench.question()).state).toBe("Pending");
    expect(bench.calls).toHaveLength(1);
  });

  test("is told the decision by the next kernel too", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    await bench.restart();
    await bench.answer(true);
    await answersTo(bench, id, "read");
    await bench.rested(id);
    expect(bench.calls).toHaveLength(1);
  });

  test("is told once that the person did not allow it, and makes no call", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    await bench.answer(false);
    await answersTo(bench, id, "I see");
    await bench.rested(id);
    expect(bench.calls).toEqual([]);
    expect((await bench.said(id, "user")).filter((text) => text.includes("did not allow"))).toHaveLength(1);
  });

  test("is not woken when the conversation is stopped instead", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    const { length } = bench.questions;
    await bench.service.cancel(person, id);
    await until("the end", async () => (await bench.decisions(id)).includes("ask Expired workspace"));
    await bench.rested(id);
    expect(bench.questions).toHaveLength(length);
  });
});
