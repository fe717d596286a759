import { beforeEach, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen, window } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { faultOf, offeredCommands, parametersOf } from "./offered.ts";

beforeEach(() => {
  seen.forget();
  window.input = undefined;
});

const parameters = {
  type: "object",
  required: ["name", "count"],
  properties: {
    name: { type: "string", description: "Its name" },
    count: { type: "integer" },
    size: { enum: ["small", "large"] },
    people: { type: "array" },
  },
};

function start(command: object | null, value: unknown = null) {
  const list =
    command === null ? [] : [{ agent: "a.b", name: "album", title: "Album", description: "", ...command }];
  const fake = fakeContext({
    "lares/commands/list": () => list,
    "lares/commands/run": () => ({ status: "success", value }),
  });
  const opened: unknown[] = [];
  const run = async (): Promise<unknown[]> => {
    const opening = commands.registerCommand("lares.openConversation", (id: unknown) => opened.push(id));
    const feature = offeredCommands(fake.context);
    void commands.executeCommand("lares.runCommand");
    await settled();
    feature.dispose();
    opening.dispose();
    return fake.asked.filter(({ method }) => method === "lares/commands/run").map(({ params }) => params);
  };
  return { run, opened };
}

it("a command is picked, its parameters are asked for one after the other, and it is run", async () => {
  window.input = "7";
  expect(await start({ parameters }).run()).toEqual([
    { agent: "a.b", name: "album", arguments: { name: "7", count: 7 } },
  ]);
  expect(seen.messages.map(({ text }) => text)).toEqual(["Album: done."]);
});

it("nothing is run if the person leaves, or if there is nothing to run", async () => {
  expect(await start({ parameters }).run()).toEqual([]);
  expect(seen.messages).toEqual([]);
  expect(await start(null).run()).toEqual([]);
  expect(seen.messages.map(({ text }) => text)).toEqual(["No extension here offers a command."]);
});

it("a conversation that it begins is opened, and a change that waits is said", async () => {
  const begins = start({}, { conversation: "c1" });
  await begins.run();
  expect(begins.opened).toEqual(["c1"]);
  await start({}, { action: "1", state: "PendingApproval" }).run();
  expect(seen.messages.map(({ text }) => text)).toEqual(["It proposes a change, which waits for you."]);
});

it("a command that needs more than simple values is not run, and says where it can be", async () => {
  const required = { ...parameters, required: ["people"] };
  expect(await start({ parameters: required }).run()).toEqual([]);
  expect(seen.messages[0]?.text).toContain("lares commands run");
});

it("parameters have simple types or choices, and texts are checked by them", () => {
  expect(parametersOf({ parameters }).map(({ name, type, choices }) => [name, type, choices])).toEqual([
    ["name", "string", undefined],
    ["count", "integer", undefined],
    ["size", null, ["small", "large"]],
    ["people", null, undefined],
  ]);
  expect(parametersOf({})).toEqual([]);
  expect(faultOf("", true, "string")).toBe("Type a value.");
  expect(faultOf("", false, "number")).toBeUndefined();
  expect(faultOf("1.5", true, "integer")).toBe("Type a whole number.");
  expect(faultOf("x", true, "number")).toBe("Type a number.");
});
