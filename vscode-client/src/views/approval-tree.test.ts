import { describe, expect, it } from "vitest";
import type { Action, Ask, Effect } from "../protocol.ts";
import { action, ask, effect } from "../testing/things.ts";
import { approvalNodes } from "./approval-tree.ts";
import type { TreeNode } from "./tree-node.ts";

function nodes(
  pending: readonly Action[],
  recent: readonly Action[] = [],
  asks: readonly Ask[] = [],
): TreeNode[] {
  const now = Date.parse("2026-01-01T12:05:00.000Z");
  return approvalNodes({ pending, recent, asks, nameOfAgent: () => "Tidier", now });
}

function only(group: TreeNode | undefined): TreeNode {
  const [node] = group?.children ?? [];
  if (node === undefined) throw new Error("There is no node.");
  return node;
}

describe("approvalNodes", () => {
  it("is empty if there was never an action, so that the view shows its welcome content", () => {
    expect(nodes([])).toEqual([]);
  });

  it("says that nothing is pending if something was decided before", () => {
    const [waiting, recent] = nodes([], [action({ state: "Committed" })]);
    expect(waiting).toMatchObject({ label: "Nothing waits for you" });
    expect(recent).toMatchObject({ label: "Decided", isOpen: true });
  });

  it("questions come first, each with its command, and replace the note that nothing waits", () => {
    const [questions, ...others] = nodes([], [], [ask({ id: "a" })]);
    expect(others).toEqual([]);
    expect(questions).toMatchObject({ label: "Questions for You", description: "1", isOpen: true });
    expect(only(questions)).toMatchObject({
      label: "May agents use it?",
      description: "Tidier · 5 minutes ago",
      command: { id: "lares.openAsks", arguments: [{ ask: "a" }] },
    });
    expect(nodes([action()], [], [ask()]).map(({ id }) => id)).toEqual(["questions", "waiting"]);
  });

  it("a pending change shows its agent, its size and its age", () => {
    const node = only(nodes([action()])[0]);
    expect(node).toMatchObject({
      label: "a.md",
      description: "Tidier · small · Tidy up · 5 minutes ago",
      context: "lares.action.pending.one",
    });
    expect(node.tooltip).toContain("It is untidy.");
    expect(node.spoken).toMatch(/^a\.md\. Tidy up\. Tidier proposes 1 change, small change/);
    const proposal = node.children?.find(({ id }) => id === "action action-1 proposal");
    expect(proposal?.spoken).toBe("It is untidy. Tidier · small change");
  });

  it("changes by rules are separate from those by a person, with their own icon and rule", () => {
    const rule = { sentence: "by your rule tags by Tidier in photos" };
    const [, automatic, decided] = nodes(
      [],
      [
        action({ id: "rule", state: "Committed", decided_by: "policy", rule }),
        action({ id: "person", state: "Committed", decided_by: "user" }),
      ],
    );
    expect(automatic).toMatchObject({ label: "Applied Automatically", icon: { id: "zap" } });
    expect(only(automatic)).toMatchObject({
      id: "action rule",
      icon: { id: "zap" },
      context: "lares.action.Automatic",
      description: expect.stringMatching(
        /^Applied automatically · Tidier · Tidy up · by your rule tags by Tidier in photos · /,
      ),
    });
    expect(only(decided)).toMatchObject({ id: "action person", icon: { id: "pass" } });
  });

  it("outdated changes are separate from pending ones, and offer a rebase if the kernel allows it", () => {
    const [waiting, outdated] = nodes(
      [action({ id: "waits" })],
      [
        action({ state: "Stale", rebasable: true }),
        action({ id: "newer", state: "Stale", superseded_by: "waits" }),
      ],
    );
    expect(waiting).toMatchObject({ description: "1" });
    expect(outdated).toMatchObject({ label: "Out of Date", description: "1" });
    expect(only(outdated).context).toBe("lares.action.Stale.rebasable");
  });

  it("has the digest that was shown, so that an approval is bound to it", () => {
    const { digest } = action();
    const node = only(nodes([action()])[0]);
    expect(node.action).toEqual({ id: "action-1", digest });
    expect(node.children?.at(-1)?.action).toEqual({ id: "action-1", effect: 0, digest });
  });

  it.each([
    [{ impact_score: 0.1 }, "small", "lares.action.pending.one"],
    [{ impact_score: 0.3 }, "medium", "lares.action.pending.one"],
    [{ impact_score: 0.7 }, "large", "lares.action.pending.one.alone"],
  ])("how much it changes is said in a word, and what is large has no tick: %j", (given, word, context) => {
    const node = only(nodes([action(given)])[0]);
    expect(node.description).toContain(` · ${word} · `);
    expect(node.context).toBe(context);
  });

  it.each<[string, Partial<Effect>, string]>([
    ["an edit", {}, "edit · notes"],
    ["a new file", { kind: "file.write", before: null }, "new file · notes"],
    ["an overwrite", { kind: "file.write" }, "overwrite · notes"],
    ["a move", { kind: "file.move", from: "inbox/a.md" }, "moved from inbox/ · notes"],
    ["a rename", { kind: "file.move", from: "notes/b.md" }, "renamed from b.md · notes"],
    ["a move from the top", { kind: "file.move", from: "a.md" }, "moved from the top folder · notes"],
    ["a delete", { kind: "file.delete", after: null }, "delete · notes"],
    ["a new folder", { kind: "folder.create" }, "new folder · notes"],
    ["a tag", { kind: "tag.add", tag: "urgent" }, "add tag “urgent” · notes"],
    ["a tag that goes", { kind: "tag.remove", tag: "urgent" }, "remove tag “urgent” · notes"],
    ["a field", { kind: "field.set", namespace: "n", key: "k" }, "set n.k · notes"],
    ["a sidecar", { kind: "sidecar.write", sidecar: "text" }, "sidecar text · notes"],
  ])("%s is said in words", (_name, given, description) => {
    const [, node] = only(nodes([action({ effects: [effect(given)] })])[0]).children ?? [];
    expect(node).toMatchObject({
      label: "a.md",
      description,
      command: { id: "lares.showChanges", arguments: [{ id: "action-1", effect: 0 }] },
    });
  });

  it.each([
    ["Committed", "user", "Applied by you"],
    ["Rejected", "user", "Rejected by you"],
    ["Stale", "user", "Out of date"],
    ["Undone", "policy", "Undone by you"],
  ] as const)("%s by %s is said as %s", (state, decided_by, said) => {
    const [, recent] = nodes(
      [],
      [action({ state, decided_by, ...(state === "Undone" ? { undone_by: "user" } : {}) })],
    );
    expect(only(recent).description).toMatch(new RegExp(`^${said} · Tidier · Tidy up`));
    expect(only(recent).context).toBe(`lares.action.${state}`);
  });

  it.each(["Stale", "Failed", "Expired"] as const)("%s begins with the outcome", (state) => {
    const [, recent] = nodes([], [action({ state, error: "notes/a.md was changed." })]);
    const [first] = only(recent).children ?? [];
    expect(first?.label).toBe("notes/a.md was changed.");
    expect(first?.tooltip?.length).toBe(2);
  });

  it("effects that were left out of an approval are marked", () => {
    const effects = [effect(), effect({ path: "notes/b.md" })];
    const receipt = { applied: [1], finished: "2026-01-01T12:00:00.000Z" };
    const [, recent] = nodes([], [action({ state: "Committed", effects, receipt })]);
    expect(only(recent).children?.map(({ description }) => description)).toEqual([
      "edit (left out) · notes",
      "edit · notes",
    ]);
    expect(only(recent).children?.[0]?.spoken).toContain("left out");
    expect(only(recent).description).toMatch(/^Applied \(1 of 2\) · Tidier · Tidy up ·/);
    expect(only(recent).spoken).toContain("Applied (1 of 2)");
  });

  it("a tooltip has in full what a narrow list cuts: paths, title, reason, and the number of further files", () => {
    const path = `${"folder/".repeat(80)}a.md`;
    const title = "Tidy up ".repeat(60).trim();
    const reason = "It is untidy. ".repeat(300).trim();
    const effects = [
      effect({ path }),
      ...Array.from({ length: 20 }, (_, index) => effect({ path: `${index}` })),
    ];
    const { tooltip = [] } = only(nodes([action({ title, reason, effects })])[0]);
    expect(tooltip[0]).toBe(path);
    expect(tooltip).toEqual(expect.arrayContaining([title, reason, "and 11 more files"]));
  });

  it("an action of a thousand effects is a bounded list", () => {
    const effects = Array.from({ length: 1000 }, (_, index) => effect({ path: `f${index}` }));
    const node = only(nodes([action({ effects })])[0]);
    expect(node.children?.length).toBeLessThanOrEqual(102);
    expect(node.children?.at(-1)?.label).toBe("… and 900 more changes");
    expect(node.isOpen).toBe(false);
    expect(node.context).toBe("lares.action.pending.many.alone");
  });
});
