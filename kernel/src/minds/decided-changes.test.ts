import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { isoTime } from "../base/clock.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";
import { statesOf, withWriter } from "./testing/test-workers.ts";

/** The status block of the channel's last request. */
const statusOf = ({ questions }: MindBench): string => {
  const { messages } = questions.findLast(({ asker }) => asker.process === "channel")?.question ?? {};
  const last = messages?.at(-1);
  return last?.role === "system" ? last.text : "";
};

const asked = async (bench: MindBench, id: string): Promise<string> => {
  await bench.send(id, "and now?");
  await bench.rested(id);
  return statusOf(bench);
};

/** A worker has proposed a change, which waits for the person. */
async function proposed(change: Partial<Action> = {}): Promise<{ bench: MindBench; id: string }> {
  const bench = await MindBench.open();
  bench.tool = () => {
    const proposal = bench.proposal("a1");
    bench.changeAction("a1", change);
    return proposal;
  };
  const id = await withWriter(bench);
  await until("the worker to wait", async () =>
    (await statesOf(bench, id)).includes("worker WaitingForApproval"),
  );
  return { bench, id };
}

test("what a worker proposed: approved and then undone, also for the next kernel", async () => {
  const { bench, id } = await proposed();
  bench.decide("a1", "Committed");
  await bench.rested(id);
  expect(await asked(bench, id)).toMatch(/\| - action a1, "Write a1": approved and made, at 20/);
  const before = bench.questions.at(-1)?.question.messages.slice(0, -1) ?? [];
  bench.decide("a1", "Undone");
  const questions = bench.questions.length;
  await bench.rested(id);
  expect(bench.questions).toHaveLength(questions);
  const undone = /\| - action a1, "Write a1": undone, so it no longer stands, at 20/;
  const status = await asked(bench, id);
  expect(status).toMatch(undone);
  expect(status).not.toContain("approved");
  // What was sent before stays as it was.
  const withoutCache = (messages: readonly object[]) =>
    messages.map((message) => JSON.stringify({ ...message, cache: undefined }));
  const now = bench.questions.at(-1)?.question.messages ?? [];
  expect(withoutCache(now).slice(0, before.length)).toEqual(withoutCache(before));
  await bench.restart();
  expect(await asked(bench, id)).toMatch(undone);
  const { sections } = await bench.service.context(id);
  expect(sections.at(-1)?.text).toMatch(undone);
});

test("what a worker proposed: rejected, with the person's reason", async () => {
  const { bench, id } = await proposed({ rejected_reason: 'Not "there".\n[status]' });
  bench.decide("a1", "Rejected");
  await bench.rested(id);
  expect(await asked(bench, id)).toContain(
    String.raw`| - action a1, "Write a1": rejected, so it was not made, because of "Not \"there\".\n[status]", at 20`,
  );
});

test("a decision while the channel works is in its next request", async () => {
  const { bench, id } = await proposed();
  bench.decide("a1", "Committed");
  await bench.rested(id);
  bench.tool = () => {
    bench.decide("a1", "Undone");
    return { status: "success", value: "done" };
  };
  bench.model = (question) =>
    lastText(question) === "look" ? { call: [{ tool: "files/read", arguments: {} }] } : { say: "ok" };
  await bench.send(id, "look");
  await bench.rested(id);
  expect(statusOf(bench)).toContain("undone");
});

test("what an agent proposed for a worker that has ended", async () => {
  const { bench, id } = await proposed();
  bench.decide("a1", "Committed");
  await bench.rested(id);
  const { on_behalf_of: causes = [] } = bench.actions.get("a1") ?? {};
  bench.proposal("a2");
  bench.changeAction("a2", { on_behalf_of: [{ kind: "agent", id: "other" }, ...causes] });
  bench.proposal("of another conversation");
  for (const action of ["a2", "of another conversation"]) bench.decide(action, "Rejected");
  const status = await asked(bench, id);
  expect(status).toContain('action a2, "Write a2": rejected');
  expect(status).not.toContain("another conversation");
});

test("what the channel proposed itself, undone long after it was approved by a rule", async () => {
  const bench = await MindBench.open();
  bench.tool = () => {
    bench.proposal("a1");
    bench.decideLater("a1", "Committed", false);
    return bench.proposal("a1");
  };
  bench.model = (question) =>
    lastText(question) === "go" ? { call: [{ tool: "files/write", arguments: {} }] } : { say: "ok" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect(await asked(bench, id)).not.toContain("action a1");
  bench.decide("a1", "Undone");
  bench.passedMs = 24 * 60 * 60_000;
  expect(await asked(bench, id)).toContain('action a1, "Write a1": undone');
});

test("a fork, and a fork of it: what its messages speak of is told, undone there or before, also to the next kernel", async () => {
  const { bench, id } = await proposed();
  bench.decide("a1", "Committed");
  await bench.rested(id);
  const { on_behalf_of: causes = [] } = bench.actions.get("a1") ?? {};
  const begun = await bench.service.fork(person, id);
  bench.decide("a1", "Undone");
  // Its messages end before this change.
  bench.proposal("a2");
  bench.changeAction("a2", { on_behalf_of: causes, created: isoTime(Date.now() + 60_000) });
  bench.decide("a2", "Undone");
  const undone = 'action a1, "Write a1": undone';
  const status = await asked(bench, begun.id);
  expect(status).toContain(undone);
  expect(status).not.toContain("a2");
  expect(await asked(bench, id)).toContain("a2");
  const again = await bench.service.fork(person, begun.id);
  const early = await bench.service.fork(person, id, 1);
  await bench.restart();
  expect(await asked(bench, again.id)).toContain(undone);
  expect(await asked(bench, begun.id)).not.toContain("a2");
  expect(await asked(bench, early.id)).not.toContain("action");
});

test("an approval is told for a while, and the last eight decisions at most", async () => {
  const { bench, id } = await proposed();
  bench.decide("a1", "Committed");
  await bench.rested(id);
  const { on_behalf_of: causes = [] } = bench.actions.get("a1") ?? {};
  for (let at = 2; at < 30; at++) {
    bench.proposal(`a${at}`);
    bench.changeAction(`a${at}`, { on_behalf_of: causes });
    bench.decide(`a${at}`, at === 2 ? "Undone" : "Committed");
  }
  expect((await asked(bench, id)).match(/- action/g)).toHaveLength(8);
  bench.passedMs = 16 * 60_000;
  expect((await asked(bench, id)).match(/- action .*/g)).toEqual([expect.stringMatching(/a2.*undone/)]);
});

test("an answer inherits the sources of the changes whose titles it has read", async () => {
  const { bench, id } = await proposed();
  bench.changeAction("a1", { sources: ["web"] });
  bench.decide("a1", "Committed");
  await bench.rested(id);
  await asked(bench, id);
  const answer = (await bench.entries(id)).findLast((entry) => entry.kind === "message");
  expect(answer).toMatchObject({ role: "assistant", tainted: true, sources: ["web"] });
});
