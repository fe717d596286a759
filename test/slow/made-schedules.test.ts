import { expect, onTestFinished, test } from "vitest";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import { PATIENCE_MS, until } from "../support/until.ts";
import { scriptedModel } from "../support/scripted.ts";

const MIND = "test.mind";
const SCRIPT = `
turns:
  - { process: channel, when: remind me, call: [{ tool: schedule, arguments: { op: add, prompt: "What is new?", cron: "* * * * *", timezone: UTC } }] }
  - { process: channel, when: waits for the person, say: "It waits for you." }
  - { process: channel, when: What is new, say: "Nothing is new.", repeat: true }
`;

/** The shortest interval of a schedule and what a busy machine may add, in milliseconds. */
const nextRunMs = 60_000 + PATIENCE_MS;

test("a schedule that a mind made: proposed, killed, asked again with its prompt, accepted, run, announced, run after a restart", async () => {
  const bench = await Bench.create({
    extensions: [
      {
        id: MIND,
        manifest: {
          name: "A mind",
          permissions: { use_models: [{ category: "chat" }], read_entries: true },
          mind: { identity: ["SOUL.md"] },
        },
        files: { "SOUL.md": "I am calm." },
      },
    ],
  });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const environment = await scriptedModel(bench, SCRIPT);
  const client = await bench.open({ environment });
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
  await client.request("lares/conversations/send", { id, text: "remind me" });
  const waiting = (): Promise<Ask[]> => client.request("lares/asks/list", { state: "Pending" });
  const announcements = () =>
    client
      .notifications<{ agent: string; message: string }>("lares/notify")
      .filter(({ message }) => message === "Nothing is new.");
  const asked = await until("the question", async () => (await waiting())[0] ?? null);
  expect(asked).toMatchObject({
    kind: "schedule",
    agent: MIND,
    conversation: id,
    title: "May test.mind begin a conversation by itself, every minute (UTC)?",
    reason: expect.stringContaining('"What is new?"'),
    sources: ["scripted"],
    scopes: ["once"],
    facts: { prompt: "What is new?", cron: "* * * * *", timezone: "UTC" },
  });
  expect((await agent(client, MIND)).hooks).toEqual([]);
  await bench.kill((await bench.status(client)).pid);

  const again = await until("the question at the next kernel", async () => {
    // Refused until the next kernel is there.
    const [next] = await waiting().catch(() => []);
    return next ?? null;
  });
  // Nothing is asked twice.
  expect(again).toEqual(asked);
  await client.request("lares/asks/answer", { id: again.id, digest: again.digest, allow: true });
  const announced = await until("the answer to be announced", () => announcements()[0] ?? null, nextRunMs);
  expect(announced.agent).toBe(MIND);
  const { hooks } = await inState(client, MIND, "Active");
  expect(hooks).toMatchObject([{ schedule: "* * * * *", nextRun: expect.any(String) }]);
  const notices = async (): Promise<string[]> => {
    const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", {
      id,
      kinds: ["notice"],
    });
    return items.flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));
  };
  expect(
    await until("a notice", async () => ((await notices()).length > 0 ? await notices() : null)),
  ).toEqual(["The schedule was accepted."]);
  await bench.kill((await bench.status(client)).pid);

  const before = announcements().length;
  await until("it runs without a further question", () => announcements().length > before, nextRunMs);
  expect(await waiting()).toEqual([]);
});
