import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { playedContext } from "../testing/played-context.ts";
import type { Action } from "../protocol.ts";
import { action, agent, effect } from "../testing/things.ts";
import { commands, files, seen, Uri, window, workspace } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { approvalCommands } from "./approvals.ts";
import { freshMs } from "../deciding/fresh-proposal.ts";
import { until } from "../../../test/support/until.ts";

const scopes: NonNullable<Action["scopes"]> = [
  { id: "file", title: "This file", rules: [{ decide: "allow", agent: "test.agent", path: "notes/a.md" }] },
  { id: "kind", title: "This kind", rules: [{ decide: "allow", agent: "test.agent", kind: "file.edit" }] },
];

beforeEach(() => {
  seen.forget();
  seen.holdsPicks = true;
});

function start(...actions: ReturnType<typeof action>[]) {
  const fake = playedContext({ actions, agents: [agent()] });
  approvalCommands(fake.context);
  const run = async (id: string, given?: unknown): Promise<void> => {
    void commands.executeCommand(id, given);
    await settled();
  };
  return { ...fake, run };
}

const digest = `sha256:${"1".repeat(64)}` as const;
const committed = action({ state: "Committed" });

describe("lares.approve", () => {
  it("uses the digest that was shown, not the latest one", async () => {
    const { run, wire } = start(action());
    await run("lares.approve", { id: "action-1", digest });
    expect(wire.asked[0]).toMatchObject({
      method: "lares/actions/approve",
      params: { id: "action-1", digest },
    });
  });

  it("reports that the action changed since it was shown", async () => {
    const { run, wire } = start(action());
    await run("lares.approve", { id: "action-1", digest });
    await wire.refuse("lares/actions/approve", "Another digest.", "DigestMismatch");
    expect(seen.messages[0]).toMatchObject({ severity: "error" });
    expect(seen.messages[0]?.text).toContain("changed since it was shown");
  });

  it("shows the outcome in the status bar, and a stale one as a warning with a link to the changes", async () => {
    const { run, wire } = start(action());
    await run("lares.approve", "action-1");
    await wire.answer("lares/actions/approve", committed);
    expect(window.statusBarMessages).toEqual(["$(check) Applied: Tidy up"]);

    await run("lares.approve", "action-1");
    await wire.answer("lares/actions/approve", action({ state: "Stale" }));
    expect(seen.messages[0]?.text).toContain("was changed meanwhile");
    seen.messages[0]?.answer("Show Changes");
    await settled();
    expect(seen.commands.at(-1)).toEqual({ id: "lares.showChanges", arguments: [{ id: "action-1" }] });
  });

  it.each(["Committed", "Rejected", "Expired", "Stale"] as const)(
    "sends no request if it is %s already",
    async (state) => {
      const { run, wire } = start(action({ state }));
      await run("lares.approve", "action-1");
      expect(wire.asked).toEqual([]);
      expect(seen.messages).toHaveLength(1);
    },
  );
});

describe("unsaved changes", () => {
  function open(path: string) {
    workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
    const document = {
      uri: Uri.file(path),
      isDirty: true,
      save: async () => {
        document.isDirty = false;
        return true;
      },
    };
    workspace.textDocuments = [document];
    return document;
  }

  it("nothing is approved beneath an open editor before the person has answered", async () => {
    const { run, wire } = start(action());
    open("/w/notes/a.md");
    await run("lares.approve", "action-1");
    expect(wire.asked).toEqual([]);
    expect(seen.messages[0]?.text).toContain("Save or revert a.md first");
    seen.messages[0]?.answer(undefined);
    await settled();
    expect(wire.asked).toEqual([]);
  });

  const hashOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}` as const;
  const onDisk = (text: string) => files.set(Uri.file("/w/notes/a.md").toString(), Buffer.from(text));
  /** An action for a file that holds "old", and an editor on it whose saving writes something. */
  async function saving(written: string, command = "lares.approve") {
    const old = action({ effects: [effect({ before: hashOf("old") })], scopes });
    const fake = start(old);
    const document = open("/w/notes/a.md");
    onDisk("old");
    document.save = async () => {
      onDisk(written);
      document.isDirty = false;
      return true;
    };
    seen.holdsPicks = true;
    await fake.run(command, "action-1");
    if (command === "lares.approveAlways") {
      window.pick((items) => items[0]);
      await settled();
    }
    seen.messages.shift()?.answer("Save and Continue");
    await settled();
    return { ...fake, old };
  }
  const fresh = action({
    id: "fresh",
    title: "Tidy up more",
    scopes,
    digest,
    effects: [effect({ before: hashOf("new") })],
  });

  it("are saved, and the shown proposal is approved if it is still for this text", async () => {
    const { wire } = await saving("old");
    expect(wire.asked[0]).toMatchObject({ method: "lares/actions/approve", params: { id: "action-1" } });
    expect(seen.messages).toEqual([]);
  });

  it("are saved, and the proposal for the new text is shown and asked about under its own digest", async () => {
    const { wire, setActions, old } = await saving("new");
    expect(wire.asked).toEqual([]);
    const early = action({ ...fresh, id: "early", effects: [effect({ before: hashOf("half") })] });
    const other = action({ ...fresh, id: "other", agent: "other.agent" });
    const elsewhere = action({ ...fresh, id: "elsewhere", effects: [effect({ path: "notes/b.md" })] });
    setActions(old, early, other, elsewhere);
    await settled();
    expect(seen.messages).toEqual([]);
    setActions(old, early, other, elsewhere, fresh);
    await until("the question about the new text", () => seen.messages.length > 0);
    expect(seen.commands).toContainEqual({ id: "lares.showChanges", arguments: [{ id: "fresh" }] });
    expect(seen.messages[0]?.text).toContain("“Tidy up more” for the new text instead: 1 file, small change");
    expect(wire.asked).toEqual([]);
    seen.messages[0]?.answer("Approve");
    await settled();
    expect(wire.asked[0]).toMatchObject({
      method: "lares/actions/approve",
      params: { id: "fresh", digest },
    });
  });

  it("are saved, and nothing is approved if the person declines the new proposal", async () => {
    const { wire, setActions, old } = await saving("new");
    setActions(old, fresh);
    await settled();
    seen.messages[0]?.answer(undefined);
    await settled();
    expect(wire.asked).toEqual([]);
  });

  it("are saved, and “always” is asked about again", async () => {
    const { wire, setActions, old } = await saving("new", "lares.approveAlways");
    setActions(old, fresh);
    await settled();
    seen.messages.shift()?.answer("Approve");
    await settled();
    expect(wire.asked).toEqual([]);
    window.pick((items) => items[0]);
    await settled();
    expect(wire.asked[0]?.params).toMatchObject({ id: "fresh", remember: "always" });
  });

  it.each<[string, () => void]>([
    ["nothing came in time", () => vi.advanceTimersByTime(freshMs)],
    ["the person does not want to wait", () => window.cancelProgress()],
  ])("are saved, and the person is told that nothing was applied where %s", async (_case, end) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { wire } = await saving("new");
      end();
      await settled();
      expect(seen.messages[0]?.text).toContain("so it was not applied");
      expect(wire.asked).toEqual([]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a file that is not touched, or an effect that is left out, does not matter", async () => {
    const { run, wire } = start(action({ effects: [effect({ path: "b.md" }), effect()] }));
    open("/w/notes/a.md");
    await run("lares.approve", { id: "action-1", effects: [0] });
    expect(wire.isAsked("lares/actions/approve")).toBe(true);
  });

  it("the source of a move counts", async () => {
    const { run, wire } = start(
      action({ effects: [effect({ kind: "file.move", from: "notes/a.md", path: "archive/a.md" })] }),
    );
    open("/w/notes/a.md");
    await run("lares.approve", "action-1");
    expect(wire.asked).toEqual([]);
  });
});

describe("lares.approveSome", () => {
  const two = action({ effects: [effect(), effect({ path: "b.md" })] });

  it("sends the indices of the picked effects", async () => {
    const { run, wire } = start(two);
    await run("lares.approveSome", "action-1");
    window.pick((items) => [items[1]]);
    await settled();
    expect(wire.asked[0]?.params).toEqual({ id: "action-1", digest: two.digest, effects: [1] });
  });

  it("offers what the person has just looked at, and reports how much of it was applied", async () => {
    const { run, wire } = start(two);
    await run("lares.approveSome", { id: "action-1", digest, effects: [1] });
    window.pick((items) => items.filter((item) => (item as { picked?: boolean }).picked));
    await settled();
    expect(wire.asked[0]?.params).toEqual({ id: "action-1", digest, effects: [1] });
    const receipt = { applied: [1], finished: "2026-01-01T12:00:00.000Z" };
    await wire.answer("lares/actions/approve", { ...two, state: "Committed", receipt });
    expect(window.statusBarMessages).toEqual(["$(check) Applied 1 of 2: Tidy up"]);
  });

  it("without an action, those with several changes are offered", async () => {
    const { run } = start(action({ id: "one" }));
    await run("lares.approveSome");
    expect(seen.messages[0]?.text).toBe("Nothing with several changes waits for you.");
  });

  it("picking all approves the whole; picking nothing approves nothing", async () => {
    const { run, wire } = start(two);
    await run("lares.approveSome", "action-1");
    window.pick(() => []);
    await settled();
    expect(wire.asked).toEqual([]);
    await run("lares.approveSome", "action-1");
    window.pick((items) => items);
    await settled();
    expect(wire.asked[0]?.params).toEqual({ id: "action-1", digest: two.digest });
  });
});

it("“always” offers the kernel's scopes, and remembers the chosen one", async () => {
  const { run, wire } = start(action({ scopes }));
  seen.holdsPicks = true;
  await run("lares.approveAlways", "action-1");
  expect(wire.asked).toEqual([]);
  window.pick((items) => items[1]);
  await settled();
  expect(wire.asked[0]?.params).toEqual({
    id: "action-1",
    digest: action().digest,
    remember: "always",
    rules: scopes[1]!.rules,
  });
});

it("questions about a single decision or “always” name who led the agent to it", async () => {
  const gone = effect({ kind: "file.delete", path: "notes/scratch.md", after: null });
  const who: Action["on_behalf_of"] = [
    { kind: "agent", id: "a.a" },
    { kind: "schedule", agent: "a.a", schedule: "tidy" },
  ];
  const sentence = 'Requested by a.a, on behalf of the schedule "tidy" of a.a.';
  const { run } = start(action({ effects: [gone], scopes, on_behalf_of: who }));
  await run("lares.approve", { id: "action-1", digest });
  expect(seen.messages[0]?.detail).toContain(sentence);
  await run("lares.approveAlways", "action-1");
  expect(seen.drawn.some(({ text }) => text.includes(`${sentence} Approve this`))).toBe(true);
});

it("an action without a scope is not remembered, and the reason is shown", async () => {
  const { run, wire } = start(action({ asked_because: { sentence: "The path is protected." } }));
  await run("lares.approveAlways", "action-1");
  expect(wire.asked).toEqual([]);
  expect(seen.messages[0]?.text).toContain("The path is protected.");
});

it.each([
  ["Approve All 3", "lares/actions/approve", undefined],
  ["Show First", undefined, "lares.showChanges"],
  [undefined, undefined, undefined],
])(
  "what deletes a file is never approved by one press, whichever button was pressed: %s",
  async (answer, asked, shown) => {
    const gone = effect({ kind: "file.delete", path: "notes/scratch.md", after: null });
    const { run, wire } = start(action({ effects: [effect(), gone, effect({ path: "b.md" })] }));
    await run("lares.approve", { id: "action-1", digest });
    expect(wire.asked).toEqual([]);
    expect(seen.messages[0]).toMatchObject({
      isModal: true,
      text: expect.stringContaining("3 files, deletes 1"),
      detail: expect.stringContaining('Deletes "notes/scratch.md"'),
      buttons: ["Show First", "Approve All 3"],
    });
    seen.messages[0]?.answer(answer);
    await settled();
    expect(wire.asked.map(({ method }) => method)).toEqual(asked === undefined ? [] : [asked]);
    expect(seen.commands.some(({ id }) => id === "lares.showChanges")).toBe(shown !== undefined);
  },
);

it.each([
  ["Keep both units.", { reason: "Keep both units." }],
  ["", {}],
  [undefined, undefined],
])("a reason goes with the rejection to the agent; typed: %j", async (typed, reason) => {
  const { run, wire } = start(action());
  window.input = typed;
  await run("lares.rejectWithReason", "action-1");
  expect(wire.asked.map(({ params }) => params)).toEqual(
    reason === undefined ? [] : [{ id: "action-1", ...reason }],
  );
});

it.each([
  ["Reject All", "lares/actions/reject"],
  ["Approve Some…", undefined],
  [undefined, undefined],
])("a part is never rejected with the whole unasked; %s", async (answer, asked) => {
  const { run, wire } = start(action({ effects: [effect(), effect({ path: "b.md" })] }));
  await run("lares.reject", { id: "action-1", digest, effects: [0] });
  expect(wire.asked).toEqual([]);
  expect(seen.messages[0]).toMatchObject({
    isModal: true,
    text: expect.stringContaining("Reject all 2 changes?"),
  });
  seen.messages[0]?.answer(answer);
  await settled();
  expect(wire.asked.map(({ method }) => method)).toEqual(asked === undefined ? [] : [asked]);
  if (answer === "Approve Some…") {
    window.pick((items) => [items[1]]);
    await settled();
    expect(wire.asked[0]?.params).toEqual({ id: "action-1", digest, effects: [1] });
  }
});

it("lares.reject and lares.undo ask the kernel, and show a refusal in one sentence", async () => {
  const { run, wire } = start(action(), action({ id: "done", state: "Committed" }));
  await run("lares.reject", { id: "action-1" });
  await wire.answer("lares/actions/reject", action({ state: "Rejected" }));
  await run("lares.undo", { id: "done" });
  await wire.refuse("lares/actions/undo", "notes/a.md was changed since; it stays as it is.", "Stale");
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "Not undone: notes/a.md was changed since; it stays as it is.",
  ]);
});

describe("lares.undo", () => {
  const effects = [
    effect(),
    effect({ path: "b.md" }),
    effect({ kind: "file.delete", path: "c.md", after: null }),
  ];
  const done = (applied: number[]): Action =>
    action({ state: "Committed", effects, receipt: { applied, finished: "2026-01-01T12:00:00.000Z" } });

  it("asks before one press undoes several changes, and names each applied one", async () => {
    const { run, wire } = start(done([0, 2]));
    await run("lares.undo", "action-1");
    expect(wire.asked).toEqual([]);
    expect(seen.messages[0]).toMatchObject({
      isModal: true,
      text: "Undo all 2 changes of “Tidy up”?",
      buttons: ["Undo Both"],
    });
    expect(seen.messages[0]?.detail).toMatch(/Edits "notes\/a\.md"[^]*Deletes "c\.md"/);
    expect(seen.messages[0]?.detail).not.toContain("b.md");
    seen.messages[0]?.answer("Undo Both");
    await settled();
    expect(wire.asked[0]).toMatchObject({ method: "lares/actions/undo", params: { id: "action-1" } });
  });

  it("does nothing if the person closes the question", async () => {
    const { run, wire } = start(done([0, 1, 2]));
    await run("lares.undo", "action-1");
    expect(seen.messages[0]?.buttons).toEqual(["Undo All 3"]);
    seen.messages[0]?.answer(undefined);
    await settled();
    expect(wire.asked).toEqual([]);
  });

  it("does not ask if one change was applied", async () => {
    const { run, wire } = start(done([1]));
    await run("lares.undo", "action-1");
    expect(wire.isAsked("lares/actions/undo")).toBe(true);
  });

  it("of an action that another window has undone leaves the answer to the kernel, without a question", async () => {
    const { run, wire } = start({ ...done([0, 1]), state: "Undone" });
    await run("lares.undo", "action-1");
    await wire.refuse("lares/actions/undo", "It was undone already.", "IllegalTransition");
    expect(seen.messages.map(({ text }) => text)).toEqual(["Not undone: It was undone already."]);
  });
});

it.each(["Stale", "Committed", "Rejected", "Expired"] as const)(
  "a reason for an action that became %s while the person typed is not sent, and this is shown",
  async (state) => {
    const { run, wire, setActions } = start(action());
    let type: (text: string) => void = () => undefined;
    vi.spyOn(window, "showInputBox").mockImplementation(() => new Promise((resolve) => (type = resolve)));
    await run("lares.rejectWithReason", "action-1");
    setActions(action({ state }));
    type("Keep it.");
    await settled();
    vi.restoreAllMocks();
    expect(wire.asked).toEqual([]);
    expect(seen.messages[0]?.text).toContain("Your reason was not sent.");
  },
);

it("without an action, the person picks a suitable one", async () => {
  const { run, wire } = start(action(), action({ id: "done", state: "Committed", title: "Done" }));
  await run("lares.undo");
  window.pick((items) => {
    expect(items).toMatchObject([
      {
        label: 'Edits "notes/a.md"',
        description: "small change",
        detail: 'Test agent says: "Done" "It is untidy."',
      },
    ]);
    return items[0];
  });
  await settled();
  expect(wire.asked[0]).toMatchObject({ method: "lares/actions/undo", params: { id: "done" } });
});

it.each([
  ["lares.approve", "Nothing waits for you."],
  ["lares.approveSome", "Nothing with several changes waits for you."],
  ["lares.rebase", "No outdated change fits the new text."],
  ["lares.undo", "No recent change can be undone."],
])("%s without anything to choose from says so: %s", async (command, text) => {
  const { run } = start();
  await run(command);
  expect(seen.messages.map((message) => message.text)).toEqual([text]);
});
