import { expect, test } from "vitest";
import { anAction } from "../testing/fake-kernel.ts";
import { filePathsLike, namedFiles, waitingChangesLike } from "./files.ts";

type Query = Parameters<Parameters<typeof filePathsLike>[0]["entries"]>[0];

async function proposed(word: string, entries: readonly string[]) {
  const queries: Query[] = [];
  const kernel = {
    entries: (query: Query) => {
      queries.push(query);
      const items = entries.map((path) =>
        path.endsWith("/") ? { kind: "folder", path: path.slice(0, -1) } : { kind: "file", path },
      );
      return Promise.resolve({ items, total: items.length } as never);
    },
  };
  return { paths: await filePathsLike(kernel, word), query: queries[0] };
}

test("folders are proposed beside files, with a slash at their end", async () => {
  const { paths, query } = await proposed("no", ["notes/", "notes/no.md", "annotations.md"]);
  expect(paths).toEqual(["notes/", "notes/no.md", "annotations.md"]);
  expect(query).toEqual({ limit: 500, text: "no" });
});

test("a word with a folder asks for what is beneath it only", async () => {
  const { paths, query } = await proposed("a [b]/x", ["a [b]/x.md", "a [b]/deep/xy/"]);
  expect(query).toEqual({ limit: 500, text: "x", path: "a \\[b\\]/**" });
  expect(paths).toEqual(["a [b]/x.md", "a [b]/deep/xy/"]);
});

test.each([
  ["", "*"],
  ["notes/", "notes/*"],
])("without a name, what is directly there is proposed: %j", async (word, path) => {
  expect((await proposed(word, [])).query).toEqual({ limit: 500, path });
});

test("changes that wait are found by a word of their title", async () => {
  const all = Array.from({ length: 9 }, (_none, at) => anAction(String(at), { title: `Tidy ${at}` }));
  const kernel = { actions: () => Promise.resolve([anAction("x", { title: "Other" }), ...all]) };
  expect(await waitingChangesLike(kernel, "tidy")).toHaveLength(5);
  expect(await waitingChangesLike(kernel, "8")).toEqual([{ id: "8", title: "Tidy 8" }]);
});

test("a quoted name of nothing is told; a bare one may be something else", async () => {
  const said: string[] = [];
  const kernel = {
    entries: ({ text }: Query) =>
      Promise.resolve({ items: text === 'it "is".md' ? [{ path: 'notes/it "is".md' }] : [] } as never),
  };
  const text = 'read @"notes/it \\"is\\".md" and @"gone away.md" and @someone and @"a folder/"';
  expect(await namedFiles(kernel, text, (sentence) => said.push(sentence))).toEqual([
    { type: "text", text },
    { type: "file", path: 'notes/it "is".md' },
  ]);
  expect(said).toEqual(['No file of the folder is called "gone away.md", so the message has only the name.']);
});

test("a message that is too long is refused in a sentence for a person, before the kernel is asked", async () => {
  const kernel = { entries: () => Promise.reject(new Error("The kernel was asked.")) };
  await expect(namedFiles(kernel, `@a ${"x".repeat(999_998)}`)).rejects.toThrow(
    "The message has 1,000,001 characters, and at most 1,000,000 can be sent. Put it into a file of the folder",
  );
  expect(await namedFiles(kernel, "x".repeat(1_000_000))).toBeNull();
});
