import { beforeEach, describe, expect, it } from "vitest";
import { clientCommandOf, middleware } from "./middleware.ts";
import { seen, Uri, workspace } from "../testing/vscode.ts";

beforeEach(() => {
  seen.forget();
  workspace.settings = {};
});

describe("commands of the kernel", () => {
  it.each<[string, unknown, string | undefined]>([
    ["lares.action.approve", { id: "a" }, "lares.approve"],
    ["lares.action.reject", { id: "a" }, "lares.reject"],
    ["lares.action.undo", { id: "a" }, "lares.undo"],
    ["lares.action.rebase", { id: "a" }, "lares.rebase"],
    ["lares.action.show", { id: "a" }, "lares.showChanges"],
    ["lares.agent.traces", { id: "a" }, "lares.agentShowTraces"],
    ["lares.agent.control", { id: "a", command: "reload" }, "lares.agentReload"],
    ["lares.agent.control", { id: "a", command: "suspend" }, "lares.agentSuspend"],
    ["lares.agent.control", { id: "a", command: "constructor" }, undefined],
    ["lares.agent.control", null, undefined],
    ["lares.something.new", {}, undefined],
  ])("%s %j", (command, given, own) => {
    expect(clientCommandOf(command, given)).toBe(own);
  });

  it("run as this client's own, with the lens's arguments; others go to the kernel", async () => {
    const sent: string[] = [];
    const next = (command: string): undefined => void sent.push(command);
    const given = { id: "a", digest: "d" };
    await middleware.executeCommand?.("lares.action.approve", [given], next);
    await middleware.executeCommand?.("lares.something.new", [], next);
    expect(seen.commands).toEqual([{ id: "lares.approve", arguments: [given] }]);
    expect(sent).toEqual(["lares.something.new"]);
  });
});

async function lensTitles(): Promise<(string | undefined)[] | undefined> {
  const lensOf = (title: string, command: string) => ({ range: {}, command: { title, command } });
  const lenses = await middleware.provideCodeLenses?.({} as never, {} as never, () => [
    lensOf("Active · 13 events today", "lares.agent.traces") as never,
    lensOf("Reload", "lares.agent.control") as never,
    lensOf("$(trash) bad", "lares.else") as never,
    lensOf("Approve", "lares.action.approve") as never,
  ]);
  return lenses?.map(({ command }) => command?.title);
}

it("an agent's text in a lens draws no icon, and lenses that this client draws itself are left out", async () => {
  expect(await lensTitles()).toEqual(["$<U+0028>trash) bad"]);
});

it("lenses about agents are shown if the person has enabled them", async () => {
  workspace.settings = { "lares.documents.agentLenses": true };
  expect(await lensTitles()).toEqual(["Active · 13 events today", "Reload", "$<U+0028>trash) bad"]);
});

it.each([
  ["/w/lares.yaml", true],
  ["/w/.lares/extensions/x/extension.toml", true],
  ["/w/src/main.ts", false],
  ["/w/my-lares.yaml", false],
])("completion in %s is asked of the kernel: %s", async (path, isAsked) => {
  let asked = false;
  await middleware.provideCompletionItem?.(
    { uri: Uri.file(path) } as never,
    {} as never,
    {} as never,
    {} as never,
    () => {
      asked = true;
      return [];
    },
  );
  expect(asked).toBe(isAsked);
});
