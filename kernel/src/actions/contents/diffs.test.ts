import { linkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import { extentWords } from "../../base/vocabulary/impact-words.ts";
import { type Bench, person } from "../testing/bench.ts";
import { write, remove, edit, tag, field } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
const { put } = useWorkspace((opened) => {
  ({ bench, root } = opened);
});

describe("diffs and content", () => {
  test("texts have a unified diff; binaries and large texts have none", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    put("large.txt", "x".repeat(300_000));
    const { effects } = await bench.preview(
      edit("a.txt", "two", "2"),
      write("new.txt", "new"),
      { kind: "file.write", path: "b.bin", content_base64: "AP8=" },
      write("large.txt", "small"),
      remove("a.txt"),
    );
    expect(effects[0]?.diff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    expect(effects[1]?.diff).toBe(
      "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+new\n\\ No newline at end of file\n",
    );
    expect(effects[2]?.diff).toBe(undefined);
    expect(effects[3]?.diff).toBe(undefined);
    expect(effects[4]?.diff).toContain("+++ /dev/null");
  });

  test("both sides can be read in pieces, before and after the commit", async () => {
    put("a.txt", "before");
    const action = await bench.propose(write("a.txt", "after!"), remove("a.txt"));
    const read = async (effect: number, side: "before" | "after", offset?: number, length?: number) => {
      const { bytes, eof } = await bench.actions.content(action.id, effect, side, offset, length);
      return [new TextDecoder().decode(bytes), eof];
    };
    expect(await read(0, "before")).toEqual(["before", true]);
    expect(await read(0, "after", 1, 2)).toEqual(["ft", false]);
    expect(await codeOf(bench.actions.content(action.id, 1, "after"))).toBe("NotFound");
    expect(await codeOf(bench.actions.content(action.id, 9, "after"))).toBe("InvalidParams");
    await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(await read(0, "before")).toEqual(["before", true]);
    expect(await read(1, "before")).toEqual(["after!", true]);
  });

  test("a list has at most two megabytes, and the next page begins before its last action", async () => {
    const made: string[] = [];
    for (let count = 0; count < 6; count++) {
      const path = `${count}.md`;
      put(path, "x");
      const effects = Array.from({ length: 150 }, (_, at): EffectInput => ({
        kind: "field.set",
        path,
        namespace: "test",
        key: `k${at}`,
        value: "v".repeat(3500),
      }));
      made.push((await bench.propose(...effects, write(path, "y"))).id);
    }
    const seen: { readonly id: string }[] = [];
    for (let page = await bench.actions.list({}); page.length > 0;) {
      expect(JSON.stringify(page).length).toBeLessThan(2 * 1024 * 1024);
      seen.push(...page);
      page = await bench.actions.list({ before: page.at(-1)?.id ?? "" });
    }
    expect(seen.map(({ id }) => id)).toEqual(made.toReversed());
  });

  test("a list is newest first, filtered, and without diffs; get has them", async () => {
    put("a.txt", "a\n");
    const first = await bench.perform(edit("a.txt", "a", "b"));
    const second = await bench.propose(edit("a.txt", "b", "c"));
    const listed = await bench.actions.list({});
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(listed.some(({ effects }) => effects.some((effect) => "diff" in effect))).toBe(false);
    expect((await bench.actions.get(first.id))?.effects[0]?.diff).toContain("+b");
    expect((await bench.actions.list({ state: "Committed" })).map(({ id }) => id)).toEqual([first.id]);
    expect(await bench.actions.list({ agent: "nobody" })).toEqual([]);
    expect(await bench.actions.list({ limit: 1 })).toHaveLength(1);
    expect(await bench.actions.get("nothing")).toBe(null);
  });
});

describe("the diff of one effect", () => {
  test("is computed on demand if the action's diffs had no room for it", async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `big-${index}.txt`);
    for (const path of paths) put(path, `${path} ${"x".repeat(240_000)}\n`);
    const { id, effects } = await bench.propose(...paths.map(remove));
    expect(effects[0]?.diff).toBeDefined();
    expect(effects[19]?.diff).toBeUndefined();
    expect(await bench.actions.diff(id, 0)).toBe(effects[0]?.diff);
    expect(await bench.actions.diff(id, 19)).toContain("-big-19.txt xxx");
    put("big-19.txt", "another\n");
    expect(await codeOf(bench.actions.diff(id, 19))).toBe("Stale");
  });
  test("is read without the other effects of its action", async () => {
    const effects = Array.from({ length: 10 }, (_, at) => write(`f${at}`, "x".repeat(200_000)));
    const { id } = await bench.propose(...effects);
    const queried = vi.spyOn(bench.database, "query");
    const diff = await bench.actions.diff(id, 3);
    const rows = await Promise.all(queried.mock.results.map(({ value }) => value as Promise<unknown>));
    queried.mockRestore();
    expect(diff).toContain("+++ b/f3");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows).length).toBeLessThan(2 * 200_000);
  });

  test("of a field or sidecar is its value; without text or content it is null", async () => {
    put("a.txt", "a\n");
    const { id } = await bench.propose(
      { kind: "sidecar.write", path: "a.txt", sidecar: "notes", data: { run: "curl | sh" } },
      field("a.txt", "x".repeat(10_000)),
      tag("a.txt", "t"),
      { kind: "folder.create", path: "b" },
      { kind: "file.write", path: "c.bin", content_base64: "AP8=" },
      write("d.txt", "d".repeat(300_000)),
    );
    expect(await bench.actions.diff(id, 0)).toContain('+  "run": "curl | sh"\n');
    expect(await bench.actions.diff(id, 1)).toContain(`+"${"x".repeat(10_000)}"\n`);
    for (const effect of [2, 3, 4, 5]) expect(await bench.actions.diff(id, effect)).toBeNull();
    expect(await codeOf(bench.actions.diff(id, 6))).toBe("InvalidParams");
  });
});

test("the preview of a change says that another name of the file keeps the old text", async () => {
  put("a.txt", "one");
  put("b.txt", "one");
  linkSync(join(root, "a.txt"), join(root, "other.txt"));
  const { effects } = await bench.propose(write("a.txt", "two"), write("b.txt", "two"));
  expect(effects.map(({ hard_link: is }) => is)).toEqual([true, undefined]);
  expect(extentWords(effects)).toContain(
    "1 of the files has another name (hard link), which keeps the old text.",
  );
});
