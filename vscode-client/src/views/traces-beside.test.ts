import { beforeEach, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, editorsChanged, files, seen, Uri, window, workspace } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { tracesContract } from "../webviews/traces/messages.ts";
import { placeIn } from "../webviews/traces/place.ts";
import { tracesBeside } from "./traces-beside.ts";

const program = Uri.file("/work/ext/photos/src/agent.ts");
const text = (words: string): Uint8Array => new TextEncoder().encode(words);

beforeEach(() => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/work"), name: "work", index: 0 }];
  files.set(String(program), text("export default 1;"));
  files.set(
    String(Uri.file("/work/ext/photos/extension.yaml")),
    text("extension:\n  id: local.photos # mine\n  main: src/agent.ts\n"),
  );
  files.set(String(Uri.file("/work/notes/a.ts")), text(""));
});

function start() {
  let subscriptions = 0;
  const fake = fakeContext({
    "lares/traces/follow": () => ({ subscription: `s${++subscriptions}` }),
    "lares/traces/unfollow": () => null,
    "lares/traces/query": () => [],
  });
  fake.agents = [{ id: "local.photos", name: "Photos" }];
  const page = new FakeWebview(tracesContract).asPanel();
  const feature = tracesBeside(fake.context);
  const beside = (uri?: unknown): Promise<unknown> => commands.executeCommand("lares.tracesBeside", uri);
  return Object.assign(fake, { page, feature, beside });
}

it("opens the traces of the agent that the file belongs to, and uses the same panel again", async () => {
  const { page, beside } = start();
  await beside(program);
  expect(seen.panels).toHaveLength(1);
  expect(page.surface.title).toBe("Traces: Photos");
  await expect(page.host.ask("focus", {})).resolves.toEqual({ agent: "local.photos" });
  await beside(Uri.file("/work/ext/photos/extension.yaml"));
  expect(seen.panels).toHaveLength(1);
  expect(page.revealed).toBe(1);
  await expect(page.host.ask("focus", {})).resolves.toEqual({ agent: "local.photos" });
});

it("opens nothing for a file that belongs to no agent", async () => {
  const { beside } = start();
  await beside(Uri.file("/work/notes/a.ts"));
  await beside(Uri.file("/elsewhere/ext/photos/agent.ts"));
  expect(seen.panels).toEqual([]);
  expect(JSON.stringify(seen.messages)).toContain("belongs to no agent");
});

it("offers itself in the title bar of an agent's files only", async () => {
  window.activeTextEditor = { document: { uri: program } };
  const fake = start();
  const { settle, agentsChanged } = fake;
  const last = (): unknown =>
    seen.commands
      .filter(({ id }) => id === "setContext")
      .findLast(({ arguments: [name] }) => name === "lares.isAgentFile")?.arguments[1];
  await settle();
  expect(last()).toBe(true);
  window.activeTextEditor = { document: { uri: Uri.file("/work/notes/a.ts") } };
  editorsChanged.fire();
  await settle();
  expect(last()).toBe(false);

  // The manifest is looked for again only when an agent comes or goes, not whenever one works.
  files.set(String(Uri.file("/work/notes/extension.yaml")), text("extension:\n  id: local.notes\n"));
  agentsChanged.fire();
  await settle();
  expect(last()).toBe(false);
  fake.agents = [...fake.agents, { id: "local.notes", name: "Notes" }];
  agentsChanged.fire();
  await settle();
  expect(last()).toBe(true);
});

it("follows only while its page is visible, and ends with it", async () => {
  const { page, beside, asked, settle } = start();
  await beside(program);
  await page.host.ask("follow", { agent: "local.photos" });
  page.become(false);
  await settle();
  expect(asked.at(-1)).toEqual({ method: "lares/traces/unfollow", params: { subscription: "s1" } });
  page.become(true);
  await page.host.ask("follow", { agent: "local.photos" });
  page.close();
  await settle();
  expect(asked.at(-1)).toEqual({ method: "lares/traces/unfollow", params: { subscription: "s2" } });
});

it("goes to the line of a failed handler, in files of the workspace only", async () => {
  const { page, beside } = start();
  await beside(program);
  await page.host.ask("openPlace", { path: program.path, line: 7 });
  expect(seen.opened).toEqual([String(program)]);
  for (const path of ["/etc/hosts", "/work/../etc/hosts", "/work/gone.ts", "/workshop/a.ts"])
    await page.host.ask("openPlace", { path, line: 1 }).catch(() => undefined);
  expect(seen.opened).toHaveLength(1);
});

it("is restored with the window, if it knows its agent", async () => {
  const { beside } = start();
  const restored = new FakeWebview(tracesContract);
  await window.restorePanel?.(restored.surface, { agent: "local.photos", text: "", level: "info" });
  expect(restored.surface.title).toBe("Traces: Photos");
  await beside(program);
  expect(restored.revealed).toBe(1);
  const unknown = new FakeWebview(tracesContract);
  await window.restorePanel?.(unknown.surface, undefined);
  expect(unknown.isClosed).toBe(true);
});

it.each([
  [{ place: { path: "/work/a.ts", line: 3 } }, { path: "/work/a.ts", line: 3 }],
  [{ place: { path: "/work/a.ts", line: 0 } }, undefined],
  [{ place: { path: "", line: 3 } }, undefined],
  [{ place: "/work/a.ts" }, undefined],
  [null, undefined],
])("the place in %j is %j", (fields, place) => {
  expect(placeIn(JSON.stringify(fields))).toEqual(place);
});
