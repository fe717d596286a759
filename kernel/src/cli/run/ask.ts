import type { Action } from "../../base/vocabulary/action.ts";
import type { Scope } from "../../base/vocabulary/approval-rule.ts";
import { visibleText } from "../../base/visible-text.ts";
import { cardKeys } from "../keyboard/card-keys.ts";
import { pickByKey, type KeyChoice } from "../prompts/pick-by-key.ts";
import { chooseFrom, lineFrom } from "../prompts/prompts.ts";
import { renderAction } from "../render/action.ts";
import { moreLines, nextPage, pageLines } from "../render/pages.ts";
import type { Terminal } from "../terminal.ts";
import type { Answer } from "./approvals.ts";
import type { WholeAction } from "./whole-action.ts";

type Choice = "approve" | "reject" | "always" | "more" | "later";

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
    const choice = await pickByKey<Choice>(terminal, {
      message: "Approve this change?",
      choices: offers(left, unread.size === 0, action.scopes ?? []),
    });
    if (choice === null) return { decide: "quit" };
    wantsMore = choice === "more";
    const answer = await answerOf(terminal, choice, action);
    if (answer !== null) return answer;
  }
}

/**
 * Returns the answer, after the questions that the choice leads to; null if the person wants to see more or to choose
 * again.
 */
async function answerOf(terminal: Terminal, choice: Choice, action: Action): Promise<Answer | null> {
  switch (choice) {
    case "more":
      return null;
    case "approve":
    case "later":
      return { decide: choice };
    case "reject": {
      const written = await lineFrom(
        terminal,
        `Why not? ${visibleText(action.agent)} receives this text. Enter alone gives no reason.`,
      );
      if (written === null) return null;
      const reason = written.trim();
      return { decide: "reject", ...(reason === "" ? {} : { reason }) };
    }
    case "always": {
      const scopes = action.scopes ?? [];
      const scope = await chooseFrom(terminal, {
        message: "Approve, and from now on without asking:",
        options: scopes.map((value) => ({ value, label: visibleText(value.title) })),
      });
      return scope === null ? null : { decide: "always", rules: scope.rules };
    }
  }
}

/** Returns the possible answers if `left` lines of the card were not shown, or if not all contents could be. */
export function offers(
  left: number,
  isReadable: boolean,
  scopes: readonly Scope[] = [],
): KeyChoice<Choice>[] {
  const isApprovable = left === 0 && isReadable;
  const next = left <= pageLines ? "the rest" : `the next ${pageLines.toLocaleString("en")}`;
  const { allow, reject, always, more, later } = cardKeys;
  return [
    ...(left === 0 ? [] : [{ key: more, value: "more" as const, words: "more", hint: next }]),
    ...(isApprovable
      ? [{ key: allow, value: "approve" as const, words: "approve", hint: "once; you can undo it" }]
      : []),
    { key: reject, value: "reject", words: "reject", hint: "with a reason if you like" },
    ...(isApprovable && scopes.length > 0
      ? [{ key: always, value: "always" as const, words: "always…", hint: "choose for which changes" }]
      : []),
    { key: later, value: "later", words: "later", hint: "keep it waiting" },
  ];
}

/** Returns lines that say why "Approve" is not offered. */
export function whyNot(
  { action, unread }: { action: Pick<Action, "id" | "digest">; unread: WholeAction["unread"] },
  left: number,
): string[] {
  if (left > 0) return [`${moreLines(left)}. Enter shows them. Approve is offered after the last line.`];
  if (unread.size === 0) return [];
  return [
    `Approve is not offered here: the content of ${unread.size === 1 ? "1 change" : `${unread.size} changes`} was not shown.`,
    "Once you have seen it, approve it with:",
    `lares actions approve ${action.id} --digest ${action.digest}`,
  ];
}
