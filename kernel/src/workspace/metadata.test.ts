import { renameSync, unlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import { everything, openTestWorkspace, type TestWorkspace } from "./testing/test-workspace.ts";

async function apply(test: TestWorkspace, ...changes: MetadataChange[]): Promise<void> {
  await test.database.batch(changes.flatMap((change) => test.workspace.metadata.statements(change)));
  for (const change of changes) test.workspace.metadata.applied(change);
}

describe("metadata", () => {
  it("is invisible until committed, and tags are events", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
    await test.settle();
    const get = () => test.workspace.get({ path: "a.txt" }, everything);
    const changes: MetadataChange[] = [
      { kind: "tag", path: "a.txt", tag: "b", present: true },
      { kind: "tag", path: "a.txt", tag: "a", present: true },
      { kind: "tag", path: "a.txt", tag: "absent", present: false },
    ];
    const statements = changes.flatMap((change) => test.workspace.metadata.statements(change));
    expect(get()?.tags).toEqual([]);
    await test.database.batch(statements);
    expect(test.lines).toEqual([]);
    for (const change of changes) test.workspace.metadata.applied(change);
    expect(get()?.tags).toEqual(["a", "b"]);
    expect(test.lines).toEqual(["tag_added a.txt b", "tag_added a.txt a"]);
    expect(test.changes[0]).toMatchObject({ entry: { tags: ["b"] } });
    await apply(test, { kind: "tag", path: "a.txt", tag: "a", present: true });
    expect(test.lines).toHaveLength(2);
    await apply(test, { kind: "tag", path: "a.txt", tag: "b", present: false });
    expect(test.lines.at(-1)).toBe("tag_removed a.txt b");
    expect((await test.workspace.query({ tag: "b" }, everything)).items).toEqual([]);
  });

  it("of two actions that were prepared at the same time contains both changes", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
    const one: MetadataChange = { kind: "tag", path: "a.txt", tag: "one", present: true };
    const two: MetadataChange = { kind: "tag", path: "a.txt", tag: "two", present: true };
    const { metadata } = test.workspace;
    const [first, second] = [metadata.statements(one), metadata.statements(two)];
    await test.database.batch(first);
    metadata.applied(one);
    await test.database.batch(second);
    metadata.applied(two);
    expect(test.workspace.metadata.current("a.txt")?.tags).toEqual(["one", "two"]);
    await test.restart();
    expect(test.workspace.metadata.current("a.txt")?.tags).toEqual(["one", "two"]);
  });

  it("can be removed again: an undone field and sidecar leave nothing", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
    const before = test.workspace.get({ path: "a.txt" }, everything)?.fields;
    await apply(
      test,
      { kind: "field", path: "a.txt", namespace: "photos", key: "place", value: "Rome" },
      { kind: "sidecar", path: "a.txt", sidecar: "scene", data: { b: 1, a: 2 } },
    );
    expect(test.workspace.metadata.current("a.txt")).toEqual({
      tags: [],
      fields: { photos: { place: "Rome" } },
    });
    expect(test.workspace.get({ path: "a.txt" }, everything)?.sidecars).toEqual(["scene"]);
    expect(await test.workspace.readSidecar("a.txt", "scene")).toEqual({ data: { a: 2, b: 1 } });
    await apply(
      test,
      { kind: "field", path: "a.txt", namespace: "photos", key: "place" },
      { kind: "sidecar", path: "a.txt", sidecar: "scene" },
    );
    expect(test.workspace.get({ path: "a.txt" }, everything)?.fields).toEqual(before);
    expect(await test.workspace.readSidecar("a.txt", "scene")).toBeNull();
  });

  it("moves with its entry and is deleted with it", async () => {
    await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
    await test.settle();
    await apply(test, { kind: "tag", path: "a.txt", tag: "kept", present: true });
    renameSync(test.path("a.txt"), test.path("b.txt"));
    await test.workspace.touched(["a.txt", "b.txt"]);
    expect(test.workspace.metadata.current("b.txt")?.tags).toEqual(["kept"]);
    unlinkSync(test.path("b.txt"));
    await test.workspace.touched(["b.txt"]);
    expect(await test.database.query("SELECT * FROM entry_tags")).toEqual([]);
  });

  for (const how of ["at once", "after a restart"]) {
    it(`returns ${how} unchanged with a restored file, and only then`, async () => {
      await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
      await test.settle();
      await apply(
        test,
        { kind: "tag", path: "a.txt", tag: "kept", present: true },
        { kind: "field", path: "a.txt", namespace: "n", key: "__proto__", value: [1] },
        { kind: "sidecar", path: "a.txt", sidecar: "scene", data: { of: "a" } },
      );
      const attached = async () => {
        const found = test.workspace.get({ path: "a.txt" }, everything);
        return [found?.tags, found?.fields, await test.workspace.readSidecar("a.txt", "scene")];
      };
      const before = await attached();
      const kept = await test.workspace.metadata.kept("a.txt");
      unlinkSync(test.path("a.txt"));
      await test.workspace.touched(["a.txt"]);
      expect(await test.workspace.metadata.kept("a.txt")).toEqual([]);

      const restore = async () => {
        await test.database.batch(test.workspace.metadata.restore(kept));
        for (const change of kept) test.workspace.metadata.applied(change);
        await test.workspace.touched(["elsewhere"]);
        expect(test.workspace.get({ path: "a.txt" }, everything)).toBeNull();
        test.write("a.txt");
      };
      if (how === "at once") {
        await restore();
        await test.workspace.touched(["a.txt"]);
      } else {
        await restore();
        await test.restart();
      }
      expect(await attached()).toEqual(before);
      expect(test.lines.at(-1)).toBe("tag_added a.txt kept");
      expect(await test.database.query("SELECT * FROM awaited_metadata")).toEqual([]);
    });
  }

  it("that waits for a file which was not restored is dropped at the next start", async () => {
    await using test = await openTestWorkspace();
    const change: MetadataChange = { kind: "tag", path: "none", tag: "t", present: true };
    await test.database.batch(test.workspace.metadata.restore([change]));
    await test.restart();
    expect(await test.database.query("SELECT * FROM awaited_metadata")).toEqual([]);
  });

  it("finds an entry that was just created, and refuses a missing one", async () => {
    await using test = await openTestWorkspace();
    test.write("fresh/a.txt");
    await apply(test, { kind: "tag", path: "fresh/a.txt", tag: "new", present: true });
    expect(test.workspace.get({ path: "fresh/a.txt" }, everything)?.tags).toEqual(["new"]);
    expect(() =>
      test.workspace.metadata.statements({ kind: "tag", path: "none.txt", tag: "x", present: true }),
    ).toThrowError(expect.objectContaining({ code: "NotFound" }) as Error);
  });

  const tooMuch: [string, (at: number) => MetadataChange, number][] = [
    ["tags", (at) => ({ kind: "tag", path: "a.txt", tag: `t${at}`, present: true }), 257],
    ["fields", (at) => ({ kind: "field", path: "a.txt", namespace: "n", key: `k${at}`, value: 1 }), 257],
    ["sidecars", (at) => ({ kind: "sidecar", path: "a.txt", sidecar: `s${at}`, data: 1 }), 65],
    [
      "bytes in a sidecar",
      () => ({ kind: "sidecar", path: "a.txt", sidecar: "s", data: "x".repeat(1024 * 1024) }),
      1,
    ],
    [
      "bytes in a field",
      () => ({ kind: "field", path: "a.txt", namespace: "n", key: "k", value: "x".repeat(65536) }),
      1,
    ],
  ];
  for (const [what, change, count] of tooMuch) {
    it(`refuses too many ${what} and changes nothing`, async () => {
      await using test = await openTestWorkspace({ prepare: (write) => write("a.txt") });
      const changes = Array.from({ length: count }, (_, at) => change(at));
      const last = changes.pop();
      await apply(test, ...changes);
      const before = test.workspace.get({ path: "a.txt" }, everything);
      expect(() => last === undefined || test.workspace.metadata.statements(last)).toThrowError(
        expect.objectContaining({ code: "LimitExceeded" }) as Error,
      );
      expect(test.workspace.get({ path: "a.txt" }, everything)).toEqual(before);
    });
  }
});
