import { isCancel, select } from "@clack/prompts";
import type { Action } from "../../base/vocabulary/action.ts";
import { briefCard, fullCard, renderAction } from "../render/action.ts";
import type { Terminal } from "../terminal.ts";
import type { Answer } from "./approvals.ts";

type Choice = "approve" | "reject" | "always" | "details" | "later";

/** Shows a proposal as a card and asks; Ctrl-C leaves it pending and ends the run. */
export async function askAboutAction(terminal: Terminal, action: Action, waiting: number): Promise<Answer> {
  let detailed = false;
  for (;;) {
    const card = detailed ? fullCard : briefCard;
    const position = waiting > 0 ? { position: `${waiting} more after this` } : {};
    terminal.print(["", ...renderAction(action, terminal.surface, { ...card, ...position })]);
    using _held = terminal.hold();
    const choice = await select<Choice>({
      message: "Carry it out?",
      signal: terminal.interrupted,
      options: [
        { value: "approve", label: "Approve", hint: "this once; it can be undone" },
        { value: "reject", label: "Reject" },
        {
          value: "always",
          label: "Always",
          hint: "approve, and the same change to the same paths from now on",
        },
        ...(detailed
          ? []
          : [{ value: "details" as const, label: "Details", hint: "every effect, whole diffs" }]),
        { value: "later", label: "Later", hint: "leave it pending" },
      ],
    });
    if (isCancel(choice)) return { decide: "quit" };
    if (choice !== "details") return { decide: choice };
    detailed = true;
  }
}
