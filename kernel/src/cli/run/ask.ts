import { isCancel, select } from "@clack/prompts";
import type { Action, Scope } from "../../base/vocabulary/action.ts";
import { renderAction } from "../render/action.ts";
import { oneLine } from "../render/foreign.ts";
import { moreLines, nextPage, pageLines } from "../render/pages.ts";
import type { Terminal } from "../terminal.ts";
import type { Answer } from "./approvals.ts";
import type { WholeAction } from "./whole-action.ts";

type Choice = "approve" | "reject" | "always" | "more" | "later";

interface Offer {
  readonly value: Choice;
  readonly label: string;
  readonly hint?: string;
}

/**
 * Shows a proposal as a card and asks; Ctrl-C leaves it pending and ends the run. A long card is shown in pages, and can be
 * approved once its last line was.
 */
export async function askAboutAction(
  terminal: Terminal,
  whole: WholeAction,
  waiting: number,
): Promise<Answer> {
  const { action, unread } = whole;
  const position = waiting > 0 ? { position: `${waiting} more after this` } : {};
  const lines = renderAction(action, terminal.surface, { unread, ...position });
  for (let shown = 0; ;) {
    const { end, left } = nextPage(lines.length, shown);
    terminal.print([...(shown === 0 ? [""] : []), ...lines.slice(shown, end), ...whyNot(whole, left)]);
    shown = end;
    using _held = terminal.hold();
    const choice = await select<Choice>({
      message: "Carry it out?",
      signal: terminal.interrupted,
      options: offers(left, unread.size === 0, action.scopes),
    });
    if (isCancel(choice)) return { decide: "quit" };
    if (choice === "always") {
      const scope = await askForScope(terminal, action.scopes ?? []);
      if (scope !== null) return { decide: "always", rules: scope.rules };
    } else if (choice !== "more") return { decide: choice };
  }
}

/** Null where the person goes back to the question. */
async function askForScope(terminal: Terminal, scopes: readonly Scope[]): Promise<Scope | null> {
  const choice = await select<Scope | null>({
    message: "Approve it, and allow from now on?",
    signal: terminal.interrupted,
    options: [
      ...scopes.map((scope) => ({ value: scope, label: oneLine(scope.title) })),
      { value: null, label: "Back" },
    ],
  });
  return isCancel(choice) ? null : choice;
}

/** What can be answered where `left` lines of the card were not shown, or not all contents could be. */
export function offers(left: number, isReadable: boolean, scopes: readonly Scope[] = []): Offer[] {
  const approve: Offer[] = [
    { value: "approve", label: "Approve", hint: "this once; it can be undone" },
    ...(scopes.length === 0
      ? []
      : [
          {
            value: "always" as const,
            label: "Always…",
            hint: "approve, and choose what is allowed from now on",
          },
        ]),
  ];
  const [once = [], always = []] = left === 0 && isReadable ? approve.map((offer) => [offer]) : [];
  const next = left <= pageLines ? "the rest" : `the next ${pageLines.toLocaleString("en")}`;
  return [
    ...(left === 0 ? [] : [{ value: "more" as const, label: "More", hint: next }]),
    ...once,
    { value: "reject", label: "Reject" },
    ...always,
    { value: "later", label: "Later", hint: "leave it pending" },
  ];
}

/** Why the answers do not hold "Approve". */
export function whyNot(
  { action, unread }: { action: Pick<Action, "id" | "digest">; unread: WholeAction["unread"] },
  left: number,
): string[] {
  if (left > 0)
    return [`${moreLines(left)}. Choose "More" to see them; Approve is offered after the last one.`];
  if (unread.size === 0) return [];
  return [
    `Approve is not offered here: the content of ${unread.size === 1 ? "one effect" : `${unread.size} effects`} was not shown.`,
    "When you have seen it, approve with:",
    `lares actions approve ${action.id} --digest ${action.digest}`,
  ];
}
