import { expect, it } from "vitest";
import type { Kernel } from "../kernel/kernel.ts";
import { commandsOf, runCommand } from "./mind-commands.ts";

const text = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
const commands = [
  { agent: "a.b", name: "create_album", title: "Create album …", description: "", parameters: text },
  {
    agent: "a.b",
    name: "resize",
    title: "Resize …",
    description: "",
    parameters: { ...text, required: ["name", "width"] },
  },
  { agent: "a.b", name: "tidy", title: "Tidy", description: "" },
  { agent: "other", name: "create_album", title: "Another's", description: "" },
];

function kernelWith(value: unknown): { kernel: Kernel; asked: unknown[] } {
  const asked: unknown[] = [];
  const request = async (method: string, params: unknown): Promise<unknown> => {
    if (method === "lares/commands/list") return commands;
    asked.push(params);
    return { status: "success", value };
  };
  return { kernel: { request } as unknown as Kernel, asked };
}

it("what is written behind a command's name is its only required parameter, if that is a text", async () => {
  const { kernel, asked } = kernelWith(null);
  expect((await commandsOf(kernel, "a.b")).map(({ name, textParameter }) => [name, textParameter])).toEqual([
    ["create_album", "name"],
    ["resize", undefined],
    ["tidy", undefined],
  ]);
  for (const name of ["create_album", "resize", "tidy"]) await runCommand(kernel, "a.b", name, "Summer");
  await runCommand(kernel, "a.b", "create_album", "");
  expect(asked).toEqual([
    { agent: "a.b", name: "create_album", arguments: { name: "Summer" } },
    { agent: "a.b", name: "resize", arguments: { text: "Summer" } },
    { agent: "a.b", name: "tidy", arguments: { text: "Summer" } },
    { agent: "a.b", name: "create_album", arguments: {} },
  ]);
});

it("an action that waits for a person is said to", async () => {
  const waiting = kernelWith({ action: "1", state: "PendingApproval" });
  expect(await runCommand(waiting.kernel, "a.b", "create_album", "x")).toBe(
    "It proposes a change, which waits for you.",
  );
  const done = kernelWith({ action: "1", state: "Committed" });
  expect(await runCommand(done.kernel, "a.b", "create_album", "x")).toBe("/create_album is done.");
});
