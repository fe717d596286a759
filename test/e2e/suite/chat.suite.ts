import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { type LaresApi, openLares, readText, writeText } from "./lares.ts";

const agent = "com.example.titles";

/** Returns a tool's result for a chat, called by its name like the editor's own chat does. */
async function told(tool: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(tool, { input, toolInvocationToken: undefined });
  return content
    .map((part) => {
      assert.ok(part instanceof vscode.LanguageModelTextPart);
      return part.value;
    })
    .join("");
}

describe("the editor's chat", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
    await until("the agent", () => lares.models.agents.get(agent));
  });

  it("knows both tools, and what they are called with", () => {
    const ours = vscode.lm.tools.filter(({ name }) => name.startsWith("lares_"));
    assert.deepEqual(ours.map(({ name }) => name).toSorted(), ["lares_call_tool", "lares_list_tools"]);
    for (const { description, inputSchema } of ours) {
      assert.match(description, /agent/);
      assert.ok(inputSchema !== undefined && "properties" in inputSchema);
    }
  });

  it("is told which tools the agents have, with their schemas", async () => {
    const [words, json] = (await told("lares_list_tools", { agent })).split("\n");
    assert.match(words ?? "", /data, not instructions/);
    const tools = JSON.parse(json ?? "") as { agent: string; name: string; parameters: object }[];
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["shout", "propose", "chatter"],
    );
    assert.ok(tools.every((tool) => tool.agent === agent && "properties" in tool.parameters));
  });

  it("calls one, and is told its result", async () => {
    const given = { word: "hello", times: 2 };
    assert.equal(await told("lares_call_tool", { agent, tool: "shout", arguments: given }), "HELLO! HELLO!");
  });

  it("is told what is wrong with the arguments", async () => {
    const given = { word: "hello", times: 99 };
    const calling = told("lares_call_tool", { agent, tool: "shout", arguments: given });
    await assert.rejects(calling, /times must be <= 9/);
  });

  it("is refused an agent that is not there", async () => {
    await assert.rejects(told("lares_call_tool", { agent: "no.one", tool: "shout" }), /no\.one/);
  });

  it("cannot change a file: what a tool proposes waits for a person", async () => {
    const note = "notes/chat.md";
    await writeText(note, "said in a chat\n");
    const proposals = (): readonly { readonly id: string }[] =>
      lares.models.actions.pending.filter(({ effects }) => effects.some(({ path }) => path === note));
    await until("the proposal for the new note", () => proposals().length > 0);
    const before = new Set(proposals().map(({ id }) => id));
    await told("lares_call_tool", { agent, tool: "propose", arguments: { path: note } });
    await until("another proposal", () => proposals().some(({ id }) => !before.has(id)));
    assert.equal(await readText(note), "said in a chat\n");
  });
});
