import { copyFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Bench } from "../support/bench.ts";
import { ChatEditor } from "../support/chat-editor.ts";
import { useChats } from "../support/chats.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

let bench: Bench;
let client: Client;
const { fresh, opened, newest, sentIn } = useChats((shared) => {
  ({ bench, client } = shared);
});

describe("a file that is renamed", () => {
  /** A file on the disk in which a message was answered, and its conversation. */
  async function talked(): Promise<{ editor: ChatEditor; path: string; id: string }> {
    const path = fresh("talk");
    await writeFile(join(bench.root, path), "");
    const editor = new ChatEditor(bench, client, path);
    editor.add("## You\n\nhello");
    await editor.choose("Lares: send to Steward");
    await editor.shows(/Hi there\n\n## You\n\n$/);
    await writeFile(join(bench.root, path), editor.text);
    client.notify("textDocument/didSave", { textDocument: { uri: editor.uri } });
    await indexed(path);
    return { editor, path, id: (await newest()).id };
  }
  const indexed = (path: string): Promise<unknown> =>
    until(`${path} in the index`, async () => {
      const { items } = await client.request<{ items: { content_id: string | null }[] }>(
        "lares/entries/query",
        {
          path,
        },
      );
      return items[0]?.content_id;
    });
  const place = (path: string): string => join(bench.root, path);

  test.each(["before", "after"])(
    "stays in its conversation, whether an editor opens it %s the index has found it",
    async (when) => {
      const { editor, path, id } = await talked();
      const moved = fresh("renamed");
      editor.close();
      await rename(place(path), place(moved));
      if (when === "after") await indexed(moved);
      const renamed = new ChatEditor(bench, client, moved, editor.text);
      await indexed(moved);
      await until("the conversation", async () => (await renamed.actionTitles()).length === 0);
      await until("no diagnostic", () => renamed.diagnostics().length === 0);
      renamed.add("again");
      await renamed.choose("Lares: send to Steward");
      await renamed.shows(/Hi there\n\n## You\n\nagain\n\n## Steward\n\nOnce more\n\n## You\n\n$/);
      expect(await sentIn(id)).toEqual(["hello", "again"]);
      // Another file is at the old path now.
      await writeFile(place(path), editor.text);
      await indexed(path);
      const other = new ChatEditor(bench, client, path, editor.text);
      other.add("hello");
      await other.choose("Lares: send to Steward");
      await other.shows(/hello\n\n## Steward\n\nHi there\n\n## You\n\n$/);
      expect(await sentIn(id)).toEqual(["hello", "again"]);
      expect(await sentIn((await newest()).id)).toEqual(["hello"]);
    },
  );

  test("a backup that an editor makes by renaming takes no conversation along, however long the new text takes", async () => {
    const { editor, path, id } = await talked();
    const backup = `${path}AbCdEf.bck`;
    await rename(place(path), place(backup));
    await indexed(backup);
    await writeFile(place(path), editor.text);
    await rm(place(backup));
    await indexed(path);
    editor.add("again");
    await editor.choose("Lares: send to Steward");
    await editor.shows(/Hi there\n\n## You\n\nagain\n\n## Steward\n\nOnce more\n\n## You\n\n$/);
    expect(await sentIn(id)).toEqual(["hello", "again"]);
  });

  test("a file that is kept under another name takes its conversation along; a new one in its place begins afresh", async () => {
    const { path, id } = await talked();
    const kept = fresh("kept", ".md");
    await rename(place(path), place(kept));
    await indexed(kept);
    await writeFile(place(path), "");
    await indexed(path);
    const other = new ChatEditor(bench, client, path, "");
    other.add("## You\n\nhello");
    await other.choose("Lares: send to Steward");
    await other.shows(/hello\n\n## Steward\n\nHi there\n\n## You\n\n$/);
    expect(await sentIn(id)).toEqual(["hello"]);
    expect((await newest()).id).not.toBe(id);
  });

  test("a copy begins a conversation of its own, and the first one stays where it was", async () => {
    const { editor, path, id } = await talked();
    const copied = fresh("copied");
    await copyFile(place(path), place(copied));
    await indexed(copied);
    const copy = new ChatEditor(bench, client, copied, editor.text);
    await until("the diagnostic", () => copy.diagnostics().length > 0);
    copy.add("again");
    await copy.choose("Lares: send to Steward");
    await copy.shows(/Once more\n\n## You\n\n$/);
    expect(await sentIn(id)).toEqual(["hello"]);
    expect(await sentIn((await newest()).id)).toEqual(["again"]);
  });
});

test("a file whose conversation was deleted begins another one, which knows nothing of the first", async () => {
  const editor = opened("");
  editor.type("## You\n\nhello\n");
  await editor.choose("Lares: send to Steward");
  await editor.shows(/Hi there\n\n## You\n\n$/);
  const { id } = await newest();
  await client.request("lares/conversations/delete", { id });
  expect(await editor.actionTitles()).toEqual([]);
  editor.add("again");
  await editor.choose("Lares: send to Steward");
  await editor.shows(/Once more\n\n## You\n\n$/);
  const next = await newest();
  expect(next.id).not.toBe(id);
  expect(await sentIn(next.id)).toEqual(["again"]);
});

test("of two names of one file, each a document, the one from which was sent gets the answer", async () => {
  const path = fresh("names");
  await bench.write(path, "");
  await symlink(bench.path(path), bench.path(`other-${path}`));
  const other = new ChatEditor(bench, client, `other-${path}`);
  const one = new ChatEditor(bench, client, path);
  one.beforeEdit = () => false;
  one.type("## You\n\nhello\n");
  await one.choose("Lares: send to Steward");
  await until("the end of the attempts", () => one.diagnostics().length > 0);
  expect(JSON.stringify(one.edits)).toContain(one.uri);
  expect(JSON.stringify(one.edits)).not.toContain(other.uri);
});
