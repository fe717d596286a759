import {
  commands,
  Disposable,
  Range,
  Selection,
  TextEditorRevealType,
  window,
  type TextEditor,
} from "vscode";
import { proposedParts, type ProposedPart } from "../changes/parts.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { effectPaths } from "../model/effect-text.ts";
import { label, message } from "../model/text.ts";
import { weightOf } from "../model/weight.ts";
import { uriOf } from "../model/uris.ts";
import { approveEach, rejectEach, undoEach } from "../deciding/review-batches.ts";
import { sectionOf } from "../deciding/review-cards.ts";
import { approveShown, withoutParts } from "../deciding/decide.ts";
import { reporting } from "../deciding/explain.ts";

/** Set while the cursor is on a part of a proposal. */
const partContext = "lares.proposalHere";
const waitingContext = "lares.hasWaiting";

/** Commands of the editor: next and previous proposal, the part under the cursor, and all proposals of an agent. */
export const proposalCommands: Feature = (context) => {
  const { actions } = context.models;
  let isHere = false;
  let looks = 0;
  const look = (): void => {
    void commands.executeCommand("setContext", waitingContext, actions.pending.length > 0);
    const editor = window.activeTextEditor;
    const mine = ++looks;
    void (editor === undefined ? Promise.resolve(undefined) : partAt(context, editor)).then((part) => {
      // The cursor may have moved on while the parts were asked for; its last place is what counts.
      if (mine !== looks || isHere === (part !== undefined)) return;
      isHere = part !== undefined;
      void commands.executeCommand("setContext", partContext, isHere);
    });
  };
  let timer: NodeJS.Timeout | undefined;
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      look();
    }, 100);
  };
  soon();
  const register = (id: string, failure: string, run: () => Promise<unknown>): Disposable =>
    commands.registerCommand(id, () => reporting(failure, run));
  return Disposable.from(
    register("lares.nextProposal", "The next proposal cannot be shown", () => go(context, 1)),
    register("lares.previousProposal", "The previous proposal cannot be shown", () => go(context, -1)),
    register("lares.approvePart", "Not approved", () => decidePart(context, "take")),
    register("lares.rejectPart", "Not rejected", () => decidePart(context, "leave")),
    register("lares.approveAllOfAgent", "Not approved", async () => {
      const agent = await pickAgent(context);
      if (agent === undefined) return;
      const items = actions.pending.filter((action) => action.agent === agent.id);
      await approveEach(context, items, `of ${agent.name}`);
    }),
    register("lares.rejectAllOfAgent", "Not rejected", async () => {
      const agent = await pickAgent(context);
      if (agent === undefined) return;
      const items = actions.pending.filter((action) => action.agent === agent.id);
      await rejectEach(context, items, `of ${agent.name}`);
    }),
    register("lares.undoAutomatic", "Not undone", () => undoAutomatic(context)),
    window.onDidChangeTextEditorSelection(soon),
    window.onDidChangeActiveTextEditor(soon),
    actions.onDidChange(soon),
    {
      dispose: () => {
        clearTimeout(timer);
        for (const key of [partContext, waitingContext])
          void commands.executeCommand("setContext", key, undefined);
      },
    },
  );
};

async function pickAgent({ models }: ClientContext): Promise<{ id: string; name: string } | undefined> {
  const counts = new Map<string, number>();
  for (const { agent } of models.actions.pending) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  const items = [...counts].map(([id, amount]) => ({
    label: label(models.agents.nameOf(id)),
    description: `${amount.toLocaleString("en")} waiting for you`,
    id,
  }));
  if (items.length === 0) {
    void window.showInformationMessage("Nothing waits for you.");
    return undefined;
  }
  const chosen =
    items.length === 1 ? items[0] : await window.showQuickPick(items, { title: "Of Which Agent?" });
  return chosen && { id: chosen.id, name: chosen.label };
}

/** Undoes what rules applied, newest first, after one question that names it. */
async function undoAutomatic(context: ClientContext): Promise<void> {
  const done = context.models.actions.recent.filter((action) => sectionOf(action) === "automatic");
  if (done.length === 0)
    return void window.showInformationMessage("Nothing was applied automatically recently.");
  await undoEach(context, done);
}

async function partAt(context: ClientContext, editor: TextEditor): Promise<ProposedPart | undefined> {
  const { line } = editor.selection.active;
  return (await proposedParts(context, editor.document)).find(
    ({ start, end }) => start <= line && line <= end,
  );
}

/**
 * Goes to the next place in the workspace where a proposal would change a file, in the order of the waiting actions.
 */
async function go(context: ClientContext, by: 1 | -1): Promise<void> {
  const { pending } = context.models.actions;
  if (pending.length === 0) return void window.showInformationMessage("Nothing waits for you.");
  const editor = window.activeTextEditor;
  let starts: number[] = [];
  if (editor !== undefined) {
    const { line } = editor.selection.active;
    starts = (await proposedParts(context, editor.document)).map(({ start }) => start);
    const next = by > 0 ? starts.find((start) => start > line) : starts.findLast((start) => start < line);
    if (next !== undefined) return reveal(editor, next);
  }
  const paths = [...new Set(pending.flatMap(({ effects }) => effects.flatMap(effectPaths)))];
  const uris = paths.map((path) => uriOf(path)?.toString());
  const at = editor === undefined ? -1 : uris.indexOf(editor.document.uri.toString());
  const round =
    by > 0 ? [...paths.keys()].map((step) => at + 1 + step) : [...paths.keys()].map((step) => at - 1 - step);
  for (const step of round) {
    const path = paths[((step % paths.length) + paths.length) % paths.length]!;
    const uri = uriOf(path);
    if (uri === undefined || uri.toString() === editor?.document.uri.toString()) continue;
    // A file that is not a text, or does not exist yet, is on the review page.
    const shown = await Promise.resolve(window.showTextDocument(uri, { preview: true })).catch(
      () => undefined,
    );
    if (shown === undefined) continue;
    const parts = await proposedParts(context, shown.document);
    const part = by > 0 ? parts[0] : parts.at(-1);
    return reveal(shown, part?.start ?? 0);
  }
  // No other file has one: wraps around to the first or last part of this one.
  const again = by > 0 ? starts[0] : starts.at(-1);
  if (editor !== undefined && again !== undefined) return reveal(editor, again);
  await commands.executeCommand("lares.review");
}

function reveal(editor: TextEditor, line: number): void {
  editor.selection = new Selection(line, 0, line, 0);
  editor.revealRange(new Range(line, 0, line, 0), TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Decides the part under the cursor. Asks what to do with the other parts, because they are decided together. */
async function decidePart(context: ClientContext, how: "take" | "leave"): Promise<void> {
  const editor = window.activeTextEditor;
  const part = editor && (await partAt(context, editor));
  if (part === undefined) throw new Error("The cursor is not on a part of a proposal.");
  const { action, effect, hunk, hunks } = part;
  const argument = { id: action.id, digest: action.digest };
  const isWhole = hunks === 1 && action.effects.length === 1;
  if (isWhole)
    return void (await commands.executeCommand(
      how === "take" ? "lares.approve" : "lares.rejectWithReason",
      argument,
    ));
  const others = [...Array.from({ length: hunks }).keys()].filter((index) => index !== hunk);
  const only = "Approve This Part";
  const rest = "Approve the Others";
  const isLarge = weightOf(action).isAlone;
  const outside = action.effects.length - 1;
  const elsewhere =
    outside === 0
      ? ""
      : ` Its changes to ${outside.toLocaleString("en")} other ${outside === 1 ? "file" : "files"} are dropped.`;
  const answer =
    how === "take"
      ? await window.showInformationMessage(
          `Approve part ${hunk + 1} of ${hunks} of “${message(action.title, 80)}”?`,
          {
            modal: true,
            detail:
              `${others.length > 0 ? `The other ${others.length.toLocaleString("en")} of this file ${others.length === 1 ? "is" : "are"} dropped.` : ""}${elsewhere}`.trim(),
          },
          only,
        )
      : await window.showInformationMessage(
          `Leave part ${hunk + 1} of ${hunks} of “${message(action.title, 80)}” out?`,
          {
            modal: true,
            detail: isLarge
              ? "The other parts are shown to you and stay pending."
              : "The other parts of this file are approved, or the whole proposal is rejected.",
          },
          ...(isLarge || others.length === 0 ? ["Show"] : [rest]),
          "Reject All of It",
        );
  if (answer === "Show") return void (await commands.executeCommand("lares.review", argument));
  if (answer === "Reject All of It") return void (await commands.executeCommand("lares.reject", argument));
  if (answer !== only && answer !== rest) return;
  const leftOut = [{ effect, hunks: answer === only ? others : [hunk] }];
  // The person saw only the changes to this file here.
  const parts = await withoutParts(context, argument, [effect], leftOut);
  const done = await approveShown(context, action, {
    digest: action.digest,
    effects: [effect],
    ...parts,
    answeredBy: "lares.approveSome",
  });
  if (done?.state === "Committed")
    window.setStatusBarMessage(`$(check) Applied this part: ${message(action.title, 80)}`, 6_000);
}
