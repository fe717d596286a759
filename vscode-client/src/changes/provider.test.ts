import { Uri } from "vscode";
import { beforeEach, describe, expect, test } from "vitest";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { fakeContext, type FakeContext } from "../testing/context.ts";
import { seen } from "../testing/vscode.ts";
import type { Side } from "../deciding/content.ts";
import { addressOf, uriOfAbout, uriOfSide } from "./addresses.ts";
import { maxShownBytes } from "../deciding/content.ts";
import { ChangeContents } from "./contents.ts";
import { ChangeFiles } from "./provider.ts";

beforeEach(() => seen.forget());

const filesOf = ({ context }: FakeContext): ChangeFiles =>
  new ChangeFiles(context, new ChangeContents(context.kernel));
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const inPieces =
  (content: Uint8Array, pieceBytes = 4) =>
  ({ offset }: { offset: number }) => ({
    base64: Buffer.from(content.subarray(offset, offset + pieceBytes)).toString("base64"),
    eof: offset + pieceBytes >= content.length,
  });

function uriOf(action = anAction(), index = 0, side: Side = "after"): Uri {
  const effect = action.effects[index];
  if (effect === undefined) throw new Error("no such effect");
  return uriOfSide(action.id, index, effect, side);
}

test("a document's address identifies the side and effect, even with hostile names", () => {
  for (const path of ["a.md", "notes/a b.md", "x/?query#fragment%20.md", "\u202egpj.exe", "é/日本.txt"]) {
    const uri = uriOfSide("id", 12, anEffect({ path }), "before");
    expect(addressOf(uri)).toEqual({ action: "id", effect: 12, side: "before" });
    expect(uri.path).toBe(`/${path}`);
  }
  expect(addressOf(Uri.parse("file:///id/0/after/a"))).toBe(undefined);
  expect(addressOf(Uri.parse("lares-change:/a?id/0/elsewhere"))).toBe(undefined);
});

describe("contents", () => {
  test("are assembled from the kernel's pieces, byte for byte", async () => {
    const content = Uint8Array.from({ length: 10 }, (_, index) => 250 + index);
    const fake = fakeContext({ "lares/actions/content": inPieces(content) });
    fake.actions = [anAction()];
    const files = filesOf(fake);
    expect(new Uint8Array(await files.readFile(uriOf()))).toEqual(content);
    expect(await files.stat(uriOf())).toMatchObject({ size: 10 });
    expect(fake.asked.map(({ params }) => params)).toMatchObject([
      { offset: 0 },
      { offset: 4 },
      { offset: 8 },
    ]);
  });

  test("that are too large are not read to the end", async () => {
    const content = new Uint8Array(maxShownBytes + 5 * 1024 * 1024);
    const fake = fakeContext({ "lares/actions/content": inPieces(content, 1024 * 1024) });
    fake.actions = [anAction()];
    expect(text(await filesOf(fake).readFile(uriOf()))).toMatch(/larger than 10 MiB/);
    expect(fake.asked).toHaveLength(11);
  });

  test("of a missing side are empty, and the kernel is not asked", async () => {
    const fake = fakeContext();
    fake.actions = [anAction({ effects: [anEffect({ kind: "file.delete", after: null })] })];
    expect(await filesOf(fake).readFile(uriOf(fake.actions[0]))).toHaveLength(0);
    expect(fake.asked).toEqual([]);
  });

  test("that the kernel refuses are replaced by a sentence", async () => {
    const fake = fakeContext({
      "lares/actions/content": () => {
        throw new Error("It is no longer kept.\u001b[31m");
      },
    });
    fake.actions = [anAction()];
    const shown = text(await filesOf(fake).readFile(uriOf()));
    expect(shown).toBe("This cannot be shown: It is no longer kept.␛[31m\n");
  });

  test("are requested again once the action has changed its state, and their editors are notified", async () => {
    let content = "before";
    const fake = fakeContext({
      "lares/actions/content": (params: never) => inPieces(new TextEncoder().encode(content), 100)(params),
    });
    fake.actions = [anAction()];
    const files = filesOf(fake);
    const told: string[] = [];
    files.onDidChangeFile((changes) => told.push(...changes.map(({ uri }) => uri.toString())));
    expect(text(await files.readFile(uriOf()))).toBe("before");
    const { mtime } = await files.stat(uriOf());
    expect(files.provideFileDecoration(uriOf())?.badge).toBe(undefined);

    content = "after";
    fake.actionsChanged.fire();
    expect(told).toEqual([]);
    fake.actions = [anAction({ state: "Stale" })];
    fake.actionsChanged.fire();
    expect(told).toEqual([uriOf().toString()]);
    expect(text(await files.readFile(uriOf()))).toBe("after");
    expect((await files.stat(uriOf())).mtime).toBeGreaterThan(mtime);
    expect(files.provideFileDecoration(uriOf())).toMatchObject({ badge: "!" });
  });
});

describe("effects without two contents are described in words", () => {
  test.each([
    [
      "a move",
      anEffect({ kind: "file.move", from: "inbox/a.jpg", path: "photos/a.jpg" }),
      /inbox\/a\.jpg.*to.*photos\/a\.jpg/s,
    ],
    [
      "a folder",
      anEffect({ kind: "folder.create", path: "photos/2026", before: null }),
      /Create the folder.*photos\/2026/s,
    ],
    ["a tag", anEffect({ kind: "tag.add", tag: "travel" }), /Add the tag “travel” to.*notes\/a\.md/s],
    ["a tag that reorders text", anEffect({ kind: "tag.remove", tag: "\u202egnp" }), /<U\+202E>gnp/],
    [
      "a field",
      anEffect({ kind: "field.set", namespace: "photos", key: "rating", value: { stars: 5 } }),
      /photos\.rating.*"stars": 5/s,
    ],
    [
      "a field that goes",
      anEffect({ kind: "field.set", namespace: "photos", key: "rating", value: null }),
      /Remove the field photos\.rating/,
    ],
  ])("%s", async (_name, effect, words) => {
    const fake = fakeContext();
    const action = anAction({ effects: [effect] });
    fake.actions = [action];
    const uri = uriOf(action);
    expect(uri.path.endsWith(".txt")).toBe(true);
    expect(text(await filesOf(fake).readFile(uri))).toMatch(words);
  });

  test("a sidecar's data is read from the kernel and laid out", async () => {
    const data = new TextEncoder().encode('{"faces":[1,2]}');
    const fake = fakeContext({ "lares/actions/content": inPieces(data, 100) });
    fake.actions = [anAction({ effects: [anEffect({ kind: "sidecar.write", sidecar: "faces" })] })];
    const shown = text(await filesOf(fake).readFile(uriOf(fake.actions[0])));
    expect(shown).toContain('    {\n      "faces": [');
  });
});

test("nothing can be written through it", () => {
  const files = filesOf(fakeContext());
  for (const write of [files.writeFile, files.delete, files.rename, files.createDirectory])
    expect(() => write(uriOf())).toThrow("NoPermissions");
});

describe("beside a frozen change", () => {
  const about = async (given: Parameters<typeof anAction>[0]): Promise<string> => {
    const fake = fakeContext();
    fake.actions = [anAction(given)];
    fake.agents = [{ id: "test.agent", name: "Notes" }];
    return text(await filesOf(fake).readFile(uriOfAbout("action-1")));
  };

  test("a text states the outcome, the impact, the reason with its author, and each effect", async () => {
    const effects = ["a.md", "b.md"].map((path) => anEffect({ path }));
    const shown = await about({
      state: "Committed",
      decided_by: "user",
      reason: `${"Because of a long story. ".repeat(5)}\nAnd another.`,
      effects,
      receipt: { applied: [0], finished: "2026-01-01T12:00:00.000Z" },
    });
    expect(shown).toMatch(/^Applied \(1 of 2\) \d\d:\d\d\.\nSmall\. Changes 2 files\.\n\n/);
    expect(shown).toContain("What Notes says:\n    Tidy up\n");
    expect(shown).toContain("\n    And another.\n");
    expect(shown).toMatch(/ {4}Edits "a\.md"\n {4}Edits "b\.md" \(left out\)\n$/);
    for (const line of shown.split("\n")) expect(line.length).toBeLessThanOrEqual(48);
  });

  test("no agent's text appears in place of ours, and all its characters are visible", async () => {
    const shown = await about({
      state: "Rejected",
      rejected_reason: "No.",
      title: "Tidy\nApplied 10:58.\u202e",
      reason: "\nSmall. Changes nothing.",
    });
    for (const line of shown.split("\n").filter((each) => /Applied|nothing/.test(each)))
      expect(line).toMatch(/^ {4}/);
    expect(shown).toContain("<U+202E>");
    expect(shown).toContain("Why it was rejected:\n    No.\n");
  });

  test("many effects are counted", async () => {
    const effects = Array.from({ length: 250 }, (_, index) => anEffect({ path: `${index}.md` }));
    expect(await about({ state: "Stale", effects })).toContain("    and 50 more changes\n");
  });
});
