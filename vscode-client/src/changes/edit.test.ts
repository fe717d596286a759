import { beforeEach, describe, expect, it } from "vitest";
import type { Action } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { action, effect } from "../testing/things.ts";
import { commands, seen, showTab, TabInputTextDiff, Uri, window, workspace } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { ChangeContents } from "./contents.ts";
import { editing, editScheme } from "./edit.ts";

const otherDigest = `sha256:${"1".repeat(64)}` as const;

beforeEach(() => {
  seen.forget();
  showTab(undefined);
  window.tabGroups.activeTabGroup.others = [];
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
});

interface TextFiles {
  stat(uri: Uri): { readonly size: number };
  readFile(uri: Uri): Promise<Uint8Array>;
  writeFile(uri: Uri, content: Uint8Array): void;
}

/** A proposal whose text is "proposed", and a kernel that may go or refuse. */
function start(...actions: Action[]) {
  const kernel: { isGone: boolean; approve: () => Action } = {
    isGone: false,
    approve: () => action({ state: "Committed", edited_by: "user" }),
  };
  const present = <Result>(answer: () => Result) => {
    if (kernel.isGone) throw new Error("The kernel is not running.");
    return answer();
  };
  const fake = fakeContext({
    "lares/actions/content": () =>
      present(() => ({ base64: Buffer.from("proposed\n").toString("base64"), eof: true })),
    "lares/actions/approve": () => present(() => kernel.approve()),
  });
  fake.actions = actions.length === 0 ? [action()] : actions;
  const feature = editing(fake.context, new ChangeContents(fake.context.kernel));
  const run = async (id: string, given?: unknown): Promise<void> => {
    void commands.executeCommand(id, given);
    await settled();
  };
  /** Opens the proposal for editing, in front, with this text typed and not saved. */
  const type = async (typed: string | undefined, given: unknown = "action-1") => {
    await run("lares.editProposal", given);
    const diff = seen.commands.findLast(({ id }) => id === "vscode.diff");
    if (diff === undefined) throw new Error(`No editor opened: ${JSON.stringify(seen.messages)}`);
    const [before, after, label] = diff.arguments as [Uri, Uri, string];
    const document = {
      uri: after,
      isDirty: typed !== undefined,
      getText: () => typed ?? "proposed\n",
      save: async () => {
        textFiles().writeFile(after, Buffer.from(document.getText()));
        document.isDirty = false;
        return true;
      },
    };
    workspace.textDocuments = [...workspace.textDocuments, document];
    showTab({ label, input: new TabInputTextDiff(before, after) });
    return document;
  };
  return { ...fake, fake, kernel, run, type, feature };
}
const textFiles = (): TextFiles => workspace.fileSystems.get(editScheme) as TextFiles;
const approvals = (asked: readonly { method: string; params: unknown }[]): unknown[] =>
  asked.filter(({ method }) => method === "lares/actions/approve").map(({ params }) => params);
const said = (): string => seen.messages.map(({ text }) => text).join("\n");

describe("an edited proposal", () => {
  it("is approved with what was typed, bound to the digest that was opened, and its editor closes", async () => {
    const { run, type, asked } = start();
    await type("typed\n");
    await run("lares.approveEdited");
    expect(approvals(asked)).toEqual([
      { id: "action-1", digest: action().digest, edits: [{ effect: 0, content: "typed\n" }] },
    ]);
    expect(seen.closedTabs).toEqual(["a.md (Lares: edit, then approve)"]);
    expect(window.statusBarMessages).toEqual(["$(check) Applied with your edits: Tidy up"]);
  });

  it("that was not changed is approved as proposed", async () => {
    const { run, type, asked } = start();
    await type(undefined);
    await run("lares.approveEdited");
    expect(approvals(asked)).toEqual([{ id: "action-1", digest: action().digest }]);
  });

  it("of several texts is approved with all edited ones", async () => {
    const { run, type, asked } = start(
      action({ effects: ["a.md", "b.md", "c.md"].map((path) => effect({ path })) }),
    );
    for (const index of [0, 2])
      await type(`typed ${index}\n`, { id: "action-1", digest: action().digest, effects: [index] });
    await run("lares.approveEdited");
    expect(approvals(asked)).toEqual([
      {
        id: "action-1",
        digest: action().digest,
        edits: [0, 2].map((index) => ({ effect: index, content: `typed ${index}\n` })),
      },
    ]);
    expect(seen.closedTabs).toHaveLength(1);
  });

  it("opened again shows what was typed", async () => {
    const { type } = start();
    const { uri, save } = await type("typed\n");
    await save();
    await type("typed\n");
    expect(String(await textFiles().readFile(uri))).toBe("typed\n");
  });
});

describe("a text stays in its editor, and nothing is approved,", () => {
  const states = ["Stale", "Committed", "Rejected", "Expired", "Failed", "Undone"] as const;
  it.each(states)("if the action became %s while the person typed", async (state) => {
    const { fake, run, type, asked } = start();
    const { uri, save } = await type("typed\n");
    fake.actions = [action({ state })];
    fake.actionsChanged.fire();
    await run("lares.approveEdited");
    expect(approvals(asked)).toEqual([]);
    expect(said()).toContain("Your text is still in this editor.");
    expect(seen.closedTabs).toEqual([]);
    await save();
    expect(String(await textFiles().readFile(uri))).toBe("typed\n");
  });

  it("if the action is not known any more", async () => {
    const { fake, run, type, asked } = start();
    await type("typed\n");
    fake.actions = [];
    await run("lares.approveEdited");
    expect(approvals(asked)).toEqual([]);
    expect(said()).toContain("The proposal is gone by now.");
  });

  it("if the proposal has changed since it was opened", async () => {
    const { fake, run, type, asked } = start();
    await type("typed\n");
    fake.actions = [action({ digest: otherDigest })];
    await run("lares.approveEdited");
    expect(approvals(asked)).toEqual([]);
    expect(said()).toContain("has changed since you opened it");
  });

  it("if another window decided first, and this one was not notified yet", async () => {
    const { kernel, run, type } = start();
    await type("typed\n");
    kernel.approve = () => {
      throw new Error("It was rejected already.");
    };
    await run("lares.approveEdited");
    expect(said()).toBe("Not approved: It was rejected already.");
    expect(seen.closedTabs).toEqual([]);
  });

  it("if its file changes at the moment of the approval", async () => {
    const { kernel, run, type } = start();
    await type("typed\n");
    kernel.approve = () => action({ state: "Stale" });
    await run("lares.approveEdited");
    expect(said()).toBe("Not approved: It is out of date now.");
    expect(seen.closedTabs).toEqual([]);
  });

  it("if the kernel is gone: the text can still be saved, and is approved when the kernel is back", async () => {
    const { kernel, run, type, asked } = start();
    const { uri, save } = await type("typed\n");
    kernel.isGone = true;
    expect(textFiles().stat(uri).size).toBe("proposed\n".length);
    await save();
    expect(textFiles().stat(uri).size).toBe("typed\n".length);
    await run("lares.approveEdited");
    expect(said()).toBe("Not approved: The kernel is not running.");
    kernel.isGone = false;
    await run("lares.approveEdited");
    expect(approvals(asked).at(-1)).toMatchObject({ edits: [{ content: "typed\n" }] });
  });
});

describe("nothing opens for editing", () => {
  it.each<[string, Partial<Action>, unknown, string]>([
    ["that is no longer pending", { state: "Stale" }, "action-1", "It is no longer pending."],
    ["that changed since it was shown", {}, { id: "action-1", digest: otherDigest }, "changed since it was"],
    [
      "that has no text",
      { effects: [effect({ kind: "file.delete", after: null })] },
      { id: "action-1", digest: action().digest, effects: [0] },
      "no text to edit",
    ],
  ])("%s", async (_name, given, argument, words) => {
    const { run } = start(action(given));
    await run("lares.editProposal", argument);
    expect(said()).toContain(words);
    expect(seen.commands.some(({ id }) => id === "vscode.diff")).toBe(false);
  });

  it("while the kernel is gone", async () => {
    const { run, kernel } = start();
    kernel.isGone = true;
    await run("lares.editProposal", "action-1");
    expect(said()).toBe("It cannot be edited: The kernel is not running.");
  });

  it("if no pending change has a text", async () => {
    const { run } = start(action({ state: "Committed" }));
    await run("lares.editProposal");
    expect(said()).toBe("No pending change has a text to edit.");
  });

  it("and nothing is approved from another editor", async () => {
    const { run, asked } = start();
    await run("lares.approveEdited");
    expect(said()).toContain("No proposal is being edited here.");
    expect(asked).toEqual([]);
  });
});
