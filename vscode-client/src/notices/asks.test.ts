import { beforeEach, expect, it } from "vitest";
import type { Ask } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { ask as anAsk } from "../testing/things.ts";
import { commands, seen } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { asks } from "./asks.ts";

beforeEach(() => seen.forget());

const ask = (more: Partial<Ask> = {}): Ask => anAsk({ id: "a1", ...more });

function start(...pending: Ask[]) {
  const fake = fakeContext({
    "lares/asks/list": () => fake.asks,
    "lares/asks/answer": () => ask({ state: "Allowed" }),
  });
  fake.asks = pending;
  const feature = asks(fake.context);
  const answers = () => fake.asked.filter(({ method }) => method === "lares/asks/answer");
  const become = (...now: Ask[]): void => {
    fake.asks = now;
    fake.asksChanged.fire();
  };
  return { fake, feature, answers, become };
}

it.each([
  ["Allow Always", { allow: true, remember: "always" }],
  ["Allow Once", { allow: true, remember: "once" }],
  ["Deny", { allow: false }],
] as const)("%s answers with the digest that was shown", async (button, answer) => {
  const { become, answers, feature } = start();
  become(ask());
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
  const { become, feature } = start();
  become(ask({ scopes: ["once"], sources: ["web"] }));
  await settled();
  expect(seen.messages[0]?.buttons).toEqual(["Allow", "Deny"]);
  expect(seen.messages[0]?.text).toContain("It follows from: web.");
  feature.dispose();
});

it("one about a call shows its arguments and how much is left out, in the notification and the dialog", async () => {
  const given = `{"url":"\u202e](command:x)","pad":"${"a".repeat(500)}"}`;
  const { become, feature } = start();
  become(ask({ facts: { arguments: given, arguments_left_out: 1_000 } }));
  await settled();
  const text = seen.messages[0]?.text ?? "";
  expect(text).toContain('The call\'s arguments: {"url":"<U+202E>]<U+0028>command:x)');
  expect(text).toMatch(/… 1,2\d\d more characters are not shown\.$/);
  void commands.executeCommand("lares.openAsks", { ask: "a1" });
  await settled();
  expect(seen.messages.at(-1)?.detail).toContain("… 1,000 more characters are not shown.");
  seen.messages.at(-1)?.answer(undefined);
  feature.dispose();
});

it("one with a long reason says how much of it is left out", async () => {
  const { become, feature } = start();
  become(ask({ reason: "b".repeat(5_000) }));
  await settled();
  expect(seen.messages[0]?.text).toMatch(/… 4,0\d\d more characters are not shown\.$/);
  feature.dispose();
});

it("one that a call of another agent led to names who called whom", async () => {
  const { become, feature } = start();
  become(
    ask({
      on_behalf_of: [
        { kind: "agent", id: "test.middle" },
        { kind: "agent", id: "test.first" },
      ],
    }),
  );
  await settled();
  expect(seen.messages[0]?.text).toBe(
    "May agents use it? None is named. Requested by test.middle, on behalf of test.first.",
  );
  feature.dispose();
});

it("questions are shown one after the other, each once, unless they were answered elsewhere", async () => {
  const named = (id: string): Ask => ask({ id, title: id });
  const { become, feature, answers } = start();
  become(named("a1"));
  become(named("a1"), named("a2"), named("a3"));
  become(named("a1"), named("a3"));
  await settled();
  expect(seen.messages).toHaveLength(1);
  seen.messages[0]?.answer(undefined);
  await settled();
  become(named("a1"), named("a3"));
  await settled();
  expect(seen.messages.map(({ text }) => text.slice(0, 2))).toEqual(["a1", "a3"]);
  expect(answers()).toEqual([]);
  feature.dispose();
});

it("a question that was answered elsewhere does not hold up the next one", async () => {
  const { become, feature } = start(ask({ id: "a1" }), ask({ id: "a2", title: "And this?" }));
  await settled();
  expect(seen.messages).toHaveLength(1);
  become(ask({ id: "a2", title: "And this?" }));
  await settled();
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "May agents use it? None is named.",
    "And this? None is named.",
  ]);
  feature.dispose();
});

it("questions from before the window was opened are shown", async () => {
  const { feature } = start(ask());
  await settled();
  expect(seen.messages).toHaveLength(1);
  feature.dispose();
});

it("a closed question is answered from the view or from the list, with its whole text", async () => {
  const { feature, answers } = start(ask({ sources: ["web"] }));
  await settled();
  seen.messages.splice(0)[0]?.answer(undefined);
  for (const given of [[{ ask: "a1" }], []]) {
    void commands.executeCommand("lares.openAsks", ...given);
    await settled();
    const [shown] = seen.messages.splice(0);
    expect(shown).toMatchObject({ text: "May agents use it?", isModal: true });
    expect(shown?.detail).toMatch(/^None is named\. It follows from: web\.\n\ntest\.agent asked /);
    shown?.answer("Allow Once");
    await settled();
  }
  expect(answers()).toHaveLength(2);
  feature.dispose();
});

it("a question that has ended is not shown; a message says that none waits", async () => {
  const { feature, become } = start();
  become();
  void commands.executeCommand("lares.openAsks", { ask: "a1" });
  await settled();
  expect(seen.messages.map(({ text }) => text)).toEqual(["No question waits for you."]);
  feature.dispose();
});
