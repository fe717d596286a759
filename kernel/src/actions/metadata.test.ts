import { describe, expect, test } from "vitest";
import { codeOf } from "../base/testing/code-of.ts";
import { sha256 } from "../platform/files/hash.ts";
import { type Bench, person } from "./testing/bench.ts";
import { write, remove, tag, field, sidecar } from "./testing/effects.ts";
import { failRenames } from "./testing/fail-renames.ts";
import { useWorkspace } from "./testing/workspace.ts";

let bench: Bench;
const { put, contentOf, snapshot, restart } = useWorkspace((opened) => {
  ({ bench } = opened);
});

describe("tags, fields and sidecars", () => {
  test("are committed without asking, with the action, and undone", async () => {
    put("a.txt", "a");
    bench.metadata.applied({ kind: "field", path: "a.txt", namespace: "test", key: "k", value: { old: 1 } });
    await bench.database.batch(
      bench.metadata.statements({
        kind: "field",
        path: "a.txt",
        namespace: "test",
        key: "k",
        value: { old: 1 },
      }),
    );
    const before = bench.metadata.all();
    const action = await bench.propose(tag("a.txt", "#one"), field("a.txt", { new: [1, 2] }), {
      kind: "sidecar.write",
      path: "a.txt",
      sidecar: "notes",
      data: { text: "n" },
    });
    expect(action).toMatchObject({ state: "Committed", decided_by: "policy" });
    expect(action.effects[0]).toMatchObject({ before: null, after: sha256('"#one"'), tag: "#one" });
    expect(Object.values(bench.metadata.all())).toEqual([{ new: [1, 2] }, { text: "n" }, "#one"]);
    await restart();
    expect(Object.values(bench.metadata.all())).toHaveLength(3);
    await bench.actions.undo(person, action.id);
    expect(bench.metadata.all()).toEqual(before);
    await restart();
    expect(bench.metadata.all()).toEqual(before);
  });

  test("compose within an action, and null removes a field", async () => {
    put("a.txt", "a");
    const action = await bench.perform(field("a.txt", 1), field("a.txt", 2), tag("a.txt", "t"), {
      kind: "tag.remove",
      path: "a.txt",
      tag: "t",
    });
    expect(action.effects[1]).toMatchObject({ before: sha256("1"), after: sha256("2") });
    expect(Object.values(bench.metadata.all())).toEqual([2]);
    const removed = await bench.perform(field("a.txt", null));
    expect(bench.metadata.all()).toEqual({});
    await bench.actions.undo(person, removed.id);
    expect(Object.values(bench.metadata.all())).toEqual([2]);
    await bench.actions.undo(person, action.id);
    expect(bench.metadata.all()).toEqual({});
  });

  test("are changed together with a file in one action, and not if that fails", async () => {
    put("a.txt", "a");
    const good = await bench.perform(tag("a.txt", "t"), write("a.txt", "b"));
    expect(good.state).toBe("Committed");
    expect(Object.values(bench.metadata.all())).toEqual(["t"]);
    failRenames("n/x");
    const bad = await bench.perform(tag("a.txt", "u"), write("n/x", "b"));
    expect(bad.state).toBe("Failed");
    expect(Object.values(bench.metadata.all())).toEqual(["t"]);
  });

  test("an undo is refused if the value has changed since; an earlier tag stays", async () => {
    put("a.txt", "a");
    const first = await bench.perform(field("a.txt", 1));
    await bench.perform(field("a.txt", 2));
    expect(await codeOf(bench.actions.undo(person, first.id))).toBe("Stale");
    const one = await bench.perform(tag("a.txt", "t"));
    const two = await bench.perform(tag("a.txt", "t"));
    await bench.actions.undo(person, two.id);
    expect(bench.metadata.current("a.txt")?.tags).toEqual(["t"]);
    await bench.actions.undo(person, one.id);
    expect(bench.metadata.current("a.txt")?.tags).toEqual([]);
  });
});

describe("the metadata of a file that an action deletes", () => {
  test("is restored by an undo, also after a restart and for large values", async () => {
    put("a.txt", "a");
    await bench.perform(tag("a.txt", "#one"), field("a.txt", "f".repeat(10_000)), sidecar({ text: "n" }));
    const before = bench.metadata.all();
    const files = snapshot();
    const deleted = await bench.perform(remove("a.txt"));
    expect(bench.metadata.all()).toEqual({});
    await restart();
    await bench.actions.undo(person, deleted.id);
    expect(bench.metadata.all()).toEqual(before);
    expect(snapshot()).toEqual(files);
  });

  test("is restored to its state before the action, which also changed it", async () => {
    put("a.txt", "a");
    await bench.perform(tag("a.txt", "#one"));
    const before = bench.metadata.all();
    const action = await bench.perform(tag("a.txt", "#two"), field("a.txt", 1), remove("a.txt"));
    expect([action.state, bench.metadata.all()]).toEqual(["Committed", {}]);
    await bench.actions.undo(person, action.id);
    expect(bench.metadata.all()).toEqual(before);
  });

  test("is not changed if the same action puts another file at the path", async () => {
    put("a.txt", "a");
    await bench.perform(tag("a.txt", "#one"));
    const action = await bench.perform(remove("a.txt"), write("a.txt", "b"));
    await bench.perform(tag("a.txt", "#two"));
    await bench.actions.undo(person, action.id);
    expect(contentOf("a.txt")).toBe("a");
    expect(bench.metadata.current("a.txt")?.tags).toEqual(["#one", "#two"]);
  });
});
