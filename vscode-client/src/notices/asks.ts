import { commands, Disposable, window, type QuickPickItem } from "vscode";
import { reporting } from "../commands/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { label, message, when } from "../model/text.ts";
import type { Ask } from "../protocol.ts";

const allow = "Allow";
const allowOnce = "Allow Once";
const allowAlways = "Allow Always";
const deny = "Deny";
const maxQuestion = 1_000;

/** Shows the questions that agents wait for: one notification at a time, and all of them in a list. */
export const asks: Feature = (context) => {
  const { kernel } = context;
  /** By id; a question that was closed without an answer stays in the list. */
  const waiting = new Map<string, Ask>();
  const toTell: string[] = [];
  let isTelling = false;

  const tellAll = async (): Promise<void> => {
    if (isTelling) return;
    isTelling = true;
    try {
      for (let id = toTell.shift(); id !== undefined; id = toTell.shift()) {
        const ask = waiting.get(id);
        if (ask !== undefined) await tell(context, ask);
      }
    } finally {
      isTelling = false;
    }
  };
  const take = (ask: Ask): void => {
    if (ask.state !== "Pending") return void waiting.delete(ask.id);
    if (waiting.has(ask.id)) return;
    waiting.set(ask.id, ask);
    toTell.push(ask.id);
    void tellAll();
  };
  const load = (): void => {
    kernel
      .request("lares/asks/list", { state: "Pending" })
      .then((found) => found.toReversed().forEach(take))
      // The kernel is shutting down or gone; its next state loads them again.
      .catch(() => undefined);
  };
  if (kernel.state.kind === "running") load();
  return Disposable.from(
    kernel.on("lares/asks/changed", take),
    kernel.onDidChangeState(({ kind }) => {
      // The calls that waited ended with their kernel.
      waiting.clear();
      if (kind === "running") load();
    }),
    commands.registerCommand("lares.openAsks", () =>
      reporting("The questions cannot be shown", () => showAll(context)),
    ),
  );
};

async function tell(context: ClientContext, ask: Ask): Promise<void> {
  const from = ask.sources.length === 0 ? "" : ` It follows from: ${ask.sources.join(", ")}.`;
  const text = message(`${ask.title} ${ask.reason}${from}`, maxQuestion);
  const answer = await window.showWarningMessage(text, ...buttonsOf(ask));
  if (answer !== undefined)
    await reporting("The question was not answered", () => send(context, ask, answer));
}

/** The default scope has the plain button. */
function buttonsOf({ scopes: [first, ...others] }: Ask): string[] {
  const second = others.includes("always") ? [allowAlways] : others.includes("once") ? [allowOnce] : [];
  return [first === "always" ? allowAlways : allow, ...second, deny];
}

async function send({ kernel }: ClientContext, { id, digest }: Ask, button: string): Promise<void> {
  const remember =
    button === allowAlways
      ? { remember: "always" as const }
      : button === allowOnce
        ? { remember: "once" as const }
        : {};
  await kernel.request("lares/asks/answer", { id, digest, allow: button !== deny, ...remember });
}

interface Row extends QuickPickItem {
  readonly ask: Ask;
}

async function showAll(context: ClientContext): Promise<void> {
  const found = await context.kernel.request("lares/asks/list", { state: "Pending" });
  if (found.length === 0) {
    void window.showInformationMessage("No question waits for you.");
    return;
  }
  const picked = await window.showQuickPick<Row>(
    found.map((ask) => ({
      ask,
      label: message(ask.title, 200),
      description: label(context.models.agents.nameOf(ask.agent), 80),
      detail: `${message(ask.reason, 400)} Asked ${when(ask.created, Date.now())}.`,
    })),
    { title: "Questions", placeHolder: "Agents wait for these answers", matchOnDetail: true },
  );
  if (picked !== undefined) await tell(context, picked.ask);
}
