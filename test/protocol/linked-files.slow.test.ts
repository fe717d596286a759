import { readFile, symlink } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { Editor, EDITOR_CAPABILITIES } from "../support/editor.ts";
import type { Action } from "../support/types.ts";

const PROBE = "test.probe";

let bench: Bench;
let client: Client;
let editor: Editor;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "notes/a.txt": "a\n", "notes/b.txt": "b\n", "d/inner.txt": "inner\n" },
    extensions: [probe({ id: PROBE })],
  });
  await symlink("notes/a.txt", bench.path("link.txt"));
  await symlink(bench.root, bench.path("../elsewhere"));
  client = await bench.open({ capabilities: EDITOR_CAPABILITIES });
  editor = new Editor(bench, client);
});
afterAll(() => bench[Symbol.asyncDispose]());

function propose(...effects: object[]): Promise<Action> {
  return call<Action>(client, PROBE, "actions.propose", effects, { title: "Change", reason: "" });
}
const write = (path: string): object => ({ kind: "file.write", path, content: "changed\n" });
const approve = ({ id, digest }: Action): Promise<Action> =>
  client.request<Action>("lares/actions/approve", { id, digest });
const text = (path: string): Promise<string> => readFile(bench.path(path), "utf8");

test.each([
  ["by a link in the workspace", "link.txt", "notes/a.txt", "a\n"],
  ["by a link to the workspace from outside", "../elsewhere/notes/b.txt", "notes/b.txt", "b\n"],
])("a file that is open %s with unsaved changes is not written under", async (_name, link, path, before) => {
  await editor.open(link);
  editor.type(link, "unsaved\n");

  const refused = await approve(await propose(write(path)));

  expect(refused).toMatchObject({ state: "Stale" });
  expect(refused.error).toContain("unsaved");
  expect(await text(path)).toBe(before);

  // Both names are the same file: the pending action is shown in the editor that has it open by the other name.
  const waiting = await propose(write(path));
  expect((await editor.lensLines(link)).flat().join()).toContain("save the file first");
  editor.type(link, before);
  expect(await editor.codeActionTitles(link)).toContainEqual(
    expect.stringMatching(/^Lares: approve: .* says: "Change"$/),
  );
  expect((await approve(waiting)).state).toBe("Committed");
  expect(await text(path)).toBe("changed\n");
  // The editor takes in what was written, and reports no save.
  editor.type(link, "changed\n");
  expect((await client.request<Action>("lares/actions/undo", { id: waiting.id })).state).toBe("Undone");
  editor.close(link);
});

test("a file that was opened through a link with unsaved text, as an editor restores it", async () => {
  const link = "../elsewhere/notes/b.txt";
  client.notify("textDocument/didOpen", {
    textDocument: { uri: bench.uri(link), languageId: "plaintext", version: 1, text: "restored\n" },
  });
  expect(await approve(await propose(write("notes/b.txt")))).toMatchObject({ state: "Stale" });
  expect(await text("notes/b.txt")).toBe("b\n");
  editor.close(link);
});

test("a folder is not moved if a file in it is open through a link and unsaved", async () => {
  const link = "../elsewhere/d/inner.txt";
  await editor.open(link);
  editor.type(link, "unsaved\n");
  const refused = await approve(await propose({ kind: "file.move", from: "d", to: "e" }));
  expect(refused).toMatchObject({ state: "Stale" });
  expect(await text("d/inner.txt")).toBe("inner\n");
  editor.close(link);
});
