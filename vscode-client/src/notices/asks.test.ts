import { beforeEach, expect, it } from "vitest";
import type { Ask } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { commands, seen } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { asks } from "./asks.ts";

beforeEach(() => seen.forget());

const ask = (more: Partial<Ask> = {}): Ask => ({
  id: "a1",
  agent: "test.agent",
  kind: "model",
  title: "May agents use it?",
  reason: "None is named.",
  sources: [],
  facts: {},
  scopes: ["always", "once"],
  digest: `sha256:${"a".repeat(64)}`,
  state: "Pending",
  created: "2026-11-20T12:00:00.000Z",
  expires: "2026-11-21T12:00:00.000Z",
  ...more,
});

function start(pending: Ask[] = []) {
  const fake = fakeContext({
    "lares/asks/list": () => pending,
    "lares/asks/answer": () => ask({ state: "Allowed" }),
  });
  const feature = asks(fake.context);
  const answers = () => fake.asked.filter(({ method }) => method === "lares/asks/answer");
  return { ...fake, feature, answers };
}

it.each([
  ["Allow Always", { allow: true, remember: "always" }],
  ["Allow Once", { allow: true, remember: "once" }],
  ["Deny", { allow: false }],
] as const)("%s answers with the digest that was shown", async (button, answer) => {
  const { tell, answers, feature } = start();
  tell("lares/asks/changed", ask());
  await settled();
  expect(seen.messages.map(({ text, buttons }) => [text, buttons])).toEqual([
    ["May agents use it? None is named.", ["Allow Always", "Allow Once", "Deny"]],
  ]);
  seen.messages[0]?.answer(button);
  await settled();
  expect(answers()).toEqual([
    { method: "lares/asks/answer", params: { id: "a1", digest: ask().digest, ...answer } },
  ]);
  feature.dispose();
});

it('one that cannot be remembered offers no "always", and says where its words come from', async () => {
  const { tell, feature } = start();
  tell("lares/asks/changed", ask({ scopes: ["once"], sources: ["web"] }));
  await settled();
  expect(seen.messages[0]?.buttons).toEqual(["Allow", "Deny"]);
  expect(seen.messages[0]?.text).toContain("It follows from: web.");
  feature.dispose();
});

it("questions are shown one after the other, unless they were answered elsewhere", async () => {
  const { tell, feature, answers } = start();
  for (const id of ["a1", "a2", "a3"]) tell("lares/asks/changed", ask({ id, title: id }));
  tell("lares/asks/changed", ask({ id: "a2", state: "Denied" }));
  await settled();
  expect(seen.messages).toHaveLength(1);
  seen.messages[0]?.answer(undefined);
  await settled();
  expect(seen.messages.map(({ text }) => text.slice(0, 2))).toEqual(["a1", "a3"]);
  expect(answers()).toEqual([]);
  feature.dispose();
});

it("questions from before the window was opened are shown, and are in the list", async () => {
  const fake = fakeContext({ "lares/asks/list": () => [ask()] });
  fake.state = { kind: "running" };
  const feature = asks(fake.context);
  await settled();
  expect(seen.messages).toHaveLength(1);
  void commands.executeCommand("lares.openAsks");
  await settled();
  expect(fake.asked.map(({ method }) => method)).toEqual(["lares/asks/list", "lares/asks/list"]);
  feature.dispose();
});
