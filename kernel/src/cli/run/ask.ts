import { isCancel, select, text } from "@clack/prompts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { Scope } from "../../base/vocabulary/approval-rule.ts";
import { visibleText } from "../../base/visible-text.ts";
import { renderAction } from "../render/action.ts";
import { moreLines, nextPage, pageLines } from "../render/pages.ts";
import type { Terminal } from "../terminal.ts";
import type { Answer } from "./approvals.ts";
import type { WholeAction } from "./whole-action.ts";

type Choice = "approve" | "reject" | "reason" | "always" | "more" | "later";

interface Offer {
  readonly value: Choice;
  readonly label: string;
  readonly hint?: string;
}

/**
 * Shows a proposal as a card and asks; Ctrl-C leaves it pending and ends the run. A long card is shown in pages, and
 * can be approved only after its last line was shown.
 */
export async function askAboutAction(
  terminal: Terminal,
  whole: WholeAction,
  waiting: number,
): Promise<Answer> {
  const { action, unread } = whole;
  const position = waiting > 0 ? { position: `${waiting} more after this` } : {};
  const lines = renderAction(action, terminal.surface, { unread, ...position });
  let wantsMore = true;
  for (let shown = 0; ;) {
    const end: number = wantsMore ? nextPage(lines.length, shown).end : shown;
    const left = lines.length - end;
    if (wantsMore)
      terminal.print([...(shown === 0 ? [""] : []), ...lines.slice(shown, end), ...whyNot(whole, left)]);
    shown = end;
    using _held = terminal.hold();
    const choice = await select<Choice>({
      message: "Approve this change?",
      signal: terminal.interrupted,
      options: offers(left, unread.size === 0, action.scopes ?? []),
    });
    if (isCancel(choice)) return { decide: "quit" };
    wantsMore = choice === "more";
    const answer = await answerOf(terminal, choice, action);
    if (answer !== null) return answer;
  }
}

/**
 * Returns the answer, after the questions that the choice leads to; null if the person wants to see more or to choose
 * again.
 */
async function answerOf(
  { interrupted: signal }: Terminal,
  choice: Choice,
  action: Action,
): Promise<Answer | null> {
  switch (choice) {
    case "more":
      return null;
    case "approve":
    case "later":
    case "reject":
      return { decide: choice };
    case "reason": {
      const reason = await text({
        message: `Why not? ${visibleText(action.agent)} receives this text.`,
        signal,
      });
      return isCancel(reason) ? null : { decide: "reject", reason };
    }
    case "always": {
      const scopes = action.scopes ?? [];
      const index = await select<number>({
        message: "Approve, and from now on without asking:",
        signal,
        options: scopes.map(({ title }, place) => ({ value: place, label: visibleText(title) })),
      });
      const scope = isCancel(index) ? undefined : scopes[index];
      return scope === undefined ? null : { decide: "always", rules: scope.rules };
    }
  }
}

/** Returns the possible answers if `left` lines of the card were not shown, or if not all contents could be. */
export function offers(left: number, isReadable: boolean, scopes: readonly Scope[] = []): Offer[] {
  const isApprovable = left === 0 && isReadable;
  const next = left <= pageLines ? "the rest" : `the next ${pageLines.toLocaleString("en")}`;
  return [
    ...(left === 0 ? [] : [{ value: "more" as const, label: "More", hint: next }]),
    ...(isApprovable ? [{ value: "approve" as const, label: "Approve", hint: "once; you can undo it" }] : []),
    { value: "reject", label: "Reject" },
    { value: "reason", label: "Reject with a reason…", hint: "the agent receives it" },
    ...(isApprovable && scopes.length > 0
      ? [{ value: "always" as const, label: "Approve always…", hint: "choose for which changes" }]
      : []),
    { value: "later", label: "Later", hint: "keep it waiting" },
  ];
}

/** Returns lines that say why "Approve" is not offered. */
export function whyNot(
  { action, unread }: { action: Pick<Action, "id" | "digest">; unread: WholeAction["unread"] },
  left: number,
): string[] {
  if (left > 0)
    return [`${moreLines(left)}. Choose "More" to see them. Approve is offered after the last line.`];
  if (unread.size === 0) return [];
  return [
    `Approve is not offered here: the content of ${unread.size === 1 ? "1 change" : `${unread.size} changes`} was not shown.`,
    "Once you have seen it, approve it with:",
    `lares actions approve ${action.id} --digest ${action.digest}`,
  ];
}
