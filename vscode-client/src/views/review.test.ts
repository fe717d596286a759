import * as v from "valibot";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { decidedTitle } from "../model/decided.ts";
import type { Action } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { action, effect } from "../testing/things.ts";
import { seen, window } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { Card, reviewContract } from "../webviews/review/messages.ts";
import { cardOf } from "../deciding/review-cards.ts";
import { approveBatch } from "../deciding/review-batches.ts";
import { KnownCards, review } from "./review.ts";
import { commands } from "../testing/vscode.ts";

beforeEach(() => seen.forget());
const other = `sha256:${"9".repeat(64)}` as const;
const gone = effect({ kind: "file.delete", path: "notes/scratch.md", after: null });

describe("a card", () => {
  it("names first what a person would not see in a text", () => {
    const effects = [
      effect(),
      effect({ path: "b.md" }),
      gone,
      effect({ kind: "file.move", from: "x.md", path: "y.md" }),
    ];
    const card = cardOf(action({ effects }));
    expect(card.name).toBe("4 files, deletes 1, moves 1");
    expect(card.files.slice(0, 2).map(({ sign, path }) => [sign, path])).toEqual([
      ["delete", "notes/scratch.md"],
      ["move", "y.md"],
    ]);
    expect(card).toMatchObject({ isAlone: true, showsFirst: true });
  });

  it("of the largest action, with the longest and strangest texts, is still a message that the page accepts", () => {
    const strange = "\u200b".repeat(200);
    const effects = Array.from({ length: 1_000 }, (_, index) =>
      effect({ kind: "file.delete", path: `${"\u202e".repeat(4_000)}${index}` }),
    );
    const card = cardOf(
      action({
        title: strange,
        reason: "\u200b".repeat(4_000),
        effects,
        error: "x".repeat(9_000),
        on_behalf_of: Array.from({ length: 32 }, () => ({
          kind: "schedule",
          agent: "a.a",
          schedule: "\u202e".repeat(400),
        })),
      }),
    );
    expect(v.safeParse(Card, card).issues).toBeUndefined();
    expect(card.files.length + card.moreFiles).toBe(1_000);
  });

  it("has no invisible character", () => {
    const card = cardOf(action({ title: "ok\u202egnp.exe", reason: "a\u200bb\n\u001b[2J" }));
    expect(JSON.stringify(card)).not.toMatch(/[\u200b\u202e\u001b]/u);
    expect(card.title).toBe("ok<U+202E>gnp.exe");
  });

  it("of an undone change says when it was undone, not when it was approved", () => {
    const undone = action({
      state: "Undone",
      decided: "2026-01-01T12:00:00.000Z",
      receipt: { applied: [0], finished: "2026-01-01T12:00:01.000Z" },
      ended: "2026-01-01T12:30:00.000Z",
    });
    expect(cardOf(undone).ended).toBe("2026-01-01T12:30:00.000Z");
    expect(decidedTitle(undone)).toMatch(/^Undone \d\d:30$/);
  });

  it.each<[string, Partial<Action>, string]>([
    ["waits", {}, "waiting"],
    ["is out of date", { state: "Stale" }, "outdated"],
    ["was replaced", { state: "Stale", superseded_by: "newer" }, "replaced"],
    ["a rule applied", { state: "Committed", decided_by: "policy" }, "automatic"],
    ["a person applied", { state: "Committed", decided_by: "user" }, "decided"],
    ["is being applied", { state: "Committing" }, "decided"],
  ])("of what %s is in a section of its own", (_name, given, section) => {
    expect(cardOf(action(given)).section).toBe(section);
  });
});

it("only the cards of changed actions are built again and sent", () => {
  const fake = fakeContext();
  const [one, two] = ["one", "two"].map((id) => action({ id })) as [Action, Action];
  fake.actions = [one, two];
  const known = new KnownCards(fake.context);
  expect(known.changes().cards.map(({ id }) => id)).toEqual(["one", "two"]);
  expect(known.changes()).toEqual({ cards: [], gone: [] });
  fake.actions = [one, { ...two, state: "Committed" }];
  expect(known.changes().cards.map(({ id, section }) => [id, section])).toEqual([["two", "decided"]]);
  fake.actions = [one];
  expect(known.changes()).toEqual({ cards: [], gone: ["two"] });
});

describe("a batch", () => {
  it("excludes large changes, deletions and changes since shown, and approves each by its own digest", async () => {
    const committed = {
      "lares/actions/approve": ({ id }: { id: string }) => action({ id, state: "Committed" }),
    };
    const fake = fakeContext(committed);
    fake.actions = [
      action({ id: "small" }),
      action({ id: "large", impact_score: 0.9 }),
      action({ id: "deletes", effects: [gone] }),
      action({
        id: "many",
        effects: Array.from({ length: 10 }, (_, index) => effect({ path: `${index}.md` })),
      }),
      action({ id: "changed", digest: other }),
    ];
    const { digest } = action();
    const items = [...fake.actions.map(({ id }) => ({ id, digest })), { id: "unknown", digest }];
    const { done, failures } = await approveBatch(fake.context, items);
    expect(done).toBe(1);
    expect(failures).toHaveLength(5);
    expect(fake.asked).toEqual([{ method: "lares/actions/approve", params: { id: "small", digest } }]);
  });
});

describe("the page", () => {
  function open(actions: readonly Action[], answers: Record<string, (params: never) => unknown> = {}) {
    const fake = fakeContext(answers);
    fake.actions = actions;
    const page = new FakeWebview(reviewContract).asPanel();
    review(fake.context);
    void commands.executeCommand("lares.review");
    return { fake, page };
  }

  it("approves only what was shown on the card, with the scope that the kernel offered", async () => {
    const rules = [{ decide: "allow" as const, agent: "test.agent", path: "notes/**" }];
    const shown = action({ scopes: [{ id: "folder", title: "This folder", rules }] });
    const { fake, page } = open([shown], {
      "lares/actions/approve": () => ({ ...shown, state: "Committed" }),
    });
    await page.host.ask("approve", { id: shown.id, digest: other, scope: "folder" });
    expect(fake.asked.at(-1)?.params).toEqual({ id: shown.id, digest: other, remember: "always", rules });
    await expect(
      page.host.ask("approve", { id: shown.id, digest: other, scope: "everything" }),
    ).rejects.toThrow("not offered");
  });

  it.each([
    ["approve", { id: "action-1", digest: "sha256:short" }],
    ["approve", { id: "action-1", digest: action().digest, effects: [-1] }],
    ["approveAll", { items: [] }],
    ["reject", { id: "action-1", digest: action().digest, reason: "x".repeat(4_001) }],
  ] as const)("is not heard where it asks %s in another shape: %j", async (name, params) => {
    const { fake, page } = open([action()]);
    await expect(page.host.ask(name, params as never)).rejects.toThrow("wrongly");
    expect(fake.asked).toEqual([]);
  });

  it("gets a thousand proposals in messages that it accepts, the first ones at once", async () => {
    const { page } = open(Array.from({ length: 1_000 }, (_, index) => action({ id: `a${index}` })));
    const ids = new Set<string>();
    page.host.on("changed", ({ cards }) => cards.forEach(({ id }) => ids.add(id)));
    const { cards } = await page.host.ask("cards", {});
    expect(cards).toHaveLength(100);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(ids.size + cards.length).toBe(1_000);
  });

  const rule = { sentence: "Small edits in notes/ are allowed." } as NonNullable<Action["rule"]>;
  const automatic = ["one", "two"].map((id) =>
    action({ id, state: "Committed", decided_by: "policy", rule }),
  );
  it.each([
    [
      "and undoes nothing if the question is cancelled",
      undefined,
      { done: 0, failures: [], isLeft: true },
      [],
    ],
    ["and undoes all once that is answered", "Undo 2", { done: 2, failures: [] }, ["one", "two"]],
  ])("asks before it undoes several, naming count and rule, %s", async (_name, answer, result, undone) => {
    const { fake, page } = open(automatic, { "lares/actions/undo": ({ id }) => action({ id }) });
    const asked = vi.spyOn(window, "showWarningMessage").mockResolvedValue(answer);
    const items = automatic.map(({ id, digest }) => ({ id, digest }));
    expect(await page.host.ask("undoAll", { items })).toEqual(result);
    const [text, options] = asked.mock.calls[0] as unknown as [string, { detail: string }];
    expect(text).toBe("Undo 2 changes?");
    expect(options.detail.split("\n").filter((line) => line === rule.sentence)).toHaveLength(1);
    expect(fake.asked.map(({ params }) => (params as { id: string }).id)).toEqual(undone);
    asked.mockRestore();
  });

  it("is opened once, however often it is requested", () => {
    open([action()]);
    void commands.executeCommand("lares.review", { id: "action-1" });
    expect(seen.panels).toHaveLength(1);
    expect(window.nextPanel).toBeDefined();
  });
});
