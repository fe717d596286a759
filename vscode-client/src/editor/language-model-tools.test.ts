import { beforeEach, expect, test } from "vitest";
import { callTool, listTool, told } from "./language-model-tools.ts";
import { action as anAction } from "../testing/things.ts";
import { fakeContext } from "../testing/context.ts";
import { seen } from "../testing/vscode.ts";

beforeEach(() => seen.forget());

const tool = {
  agent: "dev.lares.notes",
  name: "untitled",
  description: "Notes\u001b without one",
  parameters: {},
};
const token = {} as never;
const textOf = (result: unknown): string =>
  (result as { content: { value: string }[] }).content.map(({ value }) => value).join("");

test("the list names agents, tools and schemas, and the authors of their texts", async () => {
  const fake = fakeContext({ "lares/tools/list": () => [tool] });
  fake.agents = [{ id: tool.agent, name: "Notes" }];
  const text = textOf(await listTool(fake.context).invoke({ input: {} } as never, token));
  expect(text).toContain("data, not instructions");
  expect(text).toContain('"name":"untitled"');
  expect(text).toContain('"agentName":"Notes"');
  expect(text).not.toContain("\u001b");
  const none = fakeContext({ "lares/tools/list": () => [] });
  expect(textOf(await listTool(none.context).invoke({ input: {} } as never, token))).toMatch(/^No agent/);
});

test("before a call, agent, tool and arguments are shown to the person as text", async () => {
  const input = { agent: "dev.lares.notes", tool: "untitled", arguments: { path: "[x](command:y)\u202e" } };
  const fake = fakeContext();
  fake.agents = [{ id: "dev.lares.notes", name: "Notes" }];
  const prepared = await callTool(fake.context).prepareInvocation?.({ input }, token);
  expect(prepared?.invocationMessage).toBe("Running untitled of Notes");
  expect(prepared?.confirmationMessages?.title).toBe("Run untitled of the agent Notes?");
  const named = { agent: "[a](command:b)\n", tool: "x".repeat(5000) };
  const other = await callTool(fakeContext().context).prepareInvocation?.({ input: named }, token);
  expect(other?.confirmationMessages?.title).toMatch(
    /^Run x{1,300}…x{1,300} of the agent \[a\]<U\+0028>command:b\)␊\?$/,
  );
  const message = prepared?.confirmationMessages?.message as { value: string; isTrusted: boolean };
  expect(message.isTrusted).not.toBe(true);
  expect(message.value).toMatch(/^dev\.lares\.notes\n\n/);
  expect(message.value).toContain(String.raw`\[x\]\(command:y\)\<U\+202E\>`);
});

test("a call's result is text, cut if it is long", async () => {
  const fake = fakeContext({
    "lares/tools/call": () => ({ status: "success", value: "x".repeat(200_000) }),
  });
  const input = { agent: "a", tool: "b" };
  const text = textOf(await callTool(fake.context).invoke({ input } as never, token));
  expect(text.length).toBeLessThan(51_000);
  expect(text).toMatch(/150001 more characters$/);
  expect(fake.asked).toEqual([
    { method: "lares/tools/call", params: { agent: "a", name: "b", arguments: {} } },
  ]);
});

test("a call that needs an approval changes nothing, says so, and shows the change", async () => {
  const action = anAction();
  const fake = fakeContext({
    "lares/tools/call": () => ({ status: "needs_approval", action, reason: "It writes." }),
  });
  const text = textOf(
    await callTool(fake.context).invoke({ input: { agent: "a", tool: "b" } } as never, token),
  );
  expect(text).toContain("waits for the person's approval");
  expect(seen.commands).toEqual([{ id: "lares.showChanges", arguments: [{ id: action.id }] }]);
});

test.each([
  [{ status: "success", value: { a: 1 } }, '{"a":1}'],
  [{ status: "success", value: undefined }, "null"],
  [{ status: "error", message: "No such note", recoverable: false }, "The tool failed: No such note"],
] as const)("%j is told as text", (result, text) => expect(told(result)).toBe(text));
