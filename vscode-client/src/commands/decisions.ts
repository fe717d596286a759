import { commands, Disposable, Range, ThemeIcon, Uri, window, type QuickPickItem } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { count, label, message, when } from "../model/text.ts";
import type { ResultOf } from "../protocol.ts";
import { reporting } from "../deciding/explain.ts";

type Decision = ResultOf<"lares/decisions/list">["items"][number];

interface Row extends QuickPickItem {
  readonly decision: Decision;
}

const revoke = { iconPath: new ThemeIcon("trash"), tooltip: "Revoke: ask again from now on" };
const open = { iconPath: new ThemeIcon("go-to-file"), tooltip: "Open the file that contains it" };

/** Lists what a person answered with "always", and lets them revoke it. */
export const decisionCommands: Feature = (context) =>
  commands.registerCommand("lares.openDecisions", (given?: unknown) =>
    reporting("The remembered decisions cannot be shown", () =>
      showDecisions(context, typeof given === "string" ? given : undefined),
    ),
  );

async function showDecisions({ kernel, models }: ClientContext, focused: string | undefined): Promise<void> {
  const rows = async (): Promise<Row[]> => {
    const { items } = await kernel.request("lares/decisions/list", {});
    return items.map((decision) => rowOf(decision, (id) => models.agents.nameOf(id)));
  };
  const first = await rows();
  if (first.length === 0) {
    void window.showInformationMessage(
      "Nothing is remembered yet. “Always allow…” on a proposal remembers what you choose there.",
    );
    return;
  }
  const pick = window.createQuickPick<Row>();
  pick.title = "Remembered Decisions";
  pick.placeholder = "Allowed without asking. The trash icon revokes one.";
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.items = first;
  const current = first.find(({ decision }) => decision.id === focused);
  if (current !== undefined) pick.activeItems = [current];
  const take = async ({ decision }: Row): Promise<void> => {
    const yes = "Revoke";
    const answer = await window.showWarningMessage(
      "Ask again from now on?",
      { modal: true, detail: message(decision.title, 2_000) },
      yes,
    );
    if (answer !== yes) return;
    await kernel.request("lares/decisions/revoke", { id: decision.id });
    window.setStatusBarMessage("$(trash) Revoked. You will be asked again.", 6_000);
  };
  const listening = Disposable.from(
    pick.onDidTriggerItemButton(({ button, item }) => {
      pick.hide();
      void reporting("The decision was not revoked", () =>
        button.tooltip === open.tooltip ? openPlace(item.decision) : take(item),
      );
    }),
    pick.onDidAccept(() => {
      const [item] = pick.activeItems;
      pick.hide();
      if (item !== undefined) void reporting("The decision was not revoked", () => take(item));
    }),
    pick.onDidHide(() => {
      listening.dispose();
      pick.dispose();
    }),
  );
  pick.show();
}

function rowOf(decision: Decision, nameOf: (agent: string) => string): Row {
  const { agent, title, created, used, last_used, rules, place } = decision;
  const isShort = rules.some(({ until }) => until === "close");
  return {
    decision,
    label: message(title, 2_000),
    description: agent === undefined ? "Every agent" : label(nameOf(agent), 80),
    detail: [
      used === 0 ? "not used yet" : `used ${count(used, "time")}`,
      ...(last_used === undefined ? [] : [`last ${when(last_used, Date.now())}`]),
      ...(created === undefined ? ["written by hand"] : [`since ${when(created, Date.now())}`]),
      ...(isShort ? ["until you close this window"] : []),
    ].join(" · "),
    buttons: place === undefined ? [revoke] : [open, revoke],
  };
}

async function openPlace({ place }: Decision): Promise<void> {
  if (place === undefined) return;
  const line = place.line - 1;
  await window.showTextDocument(Uri.file(place.path), {
    selection: new Range(line, 0, line, 0),
    preview: true,
  });
}
