import { commands, Disposable, window, type QuickPickItem } from "vscode";
import { leftOutWords, shownArguments } from "../../../kernel/src/base/vocabulary/ask-arguments.ts";
import { requestedByLines } from "../../../kernel/src/base/vocabulary/principal.ts";
import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { label, message, when } from "../model/text.ts";
import type { Ask } from "../protocol.ts";

const allow = "Allow";
const allowOnce = "Allow Once";
const allowAlways = "Allow Always";
const deny = "Deny";
const maxQuestion = 1_000;
/** Characters of why one question is asked, which may hold the text that it is about, in its dialog. */
const maxReason = 4_000;
/** Characters of a call's arguments: in a notification, and in the dialog of one question. */
const maxBrief = 300;
const maxArguments = 2_000;

/** Tells the questions that agents wait for, one notification at a time. `lares.openAsks` lists or shows them. */
export const asks: Feature = (context) => {
  const model = context.models.asks;
  /** Those that were announced or are about to be, as long as they wait. One that was closed without an answer stays. */
  let announced = new Set<string>();
  const toAnnounce: string[] = [];
  let isTelling = false;
  /** The one that is announced now. */
  let current: { readonly id: string; end(): void } | undefined;

  const waiting = (id: string): Ask | undefined => model.pending.find((ask) => ask.id === id);
  const tellAll = async (): Promise<void> => {
    if (isTelling) return;
    isTelling = true;
    try {
      for (let id = toAnnounce.shift(); id !== undefined; id = toAnnounce.shift()) {
        const ask = waiting(id);
        if (ask === undefined) continue;
        // The editor cannot take a notification back, so one whose question was answered elsewhere must not keep others.
        const ended = new Promise<void>((end) => (current = { id, end }));
        await Promise.race([tell(context, ask), ended]);
      }
    } finally {
      current = undefined;
      isTelling = false;
    }
  };
  const look = (): void => {
    const ids = model.pending.map(({ id }) => id);
    toAnnounce.push(...ids.filter((id) => !announced.has(id)));
    announced = new Set(ids);
    if (current !== undefined && waiting(current.id) === undefined) current.end();
    void tellAll();
  };
  look();
  return Disposable.from(
    model.onDidChange(look),
    commands.registerCommand("lares.openAsks", (given?: unknown) =>
      reporting("The question cannot be shown", () => show(context, idOf(given))),
    ),
  );
};

/** The argument of a tree item, if there is one: `{ ask: id }`. */
function idOf(given: unknown): string | undefined {
  const id = typeof given === "object" && given !== null && "ask" in given ? given.ask : undefined;
  return typeof id === "string" ? id : undefined;
}

const sourcesOf = ({ sources }: Ask): string =>
  sources.length === 0 ? "" : ` It follows from: ${sources.join(", ")}.`;

/** Returns why it is asked, who led to it, and where its words come from. */
const whyOf = (ask: Ask): string => [ask.reason, ...requestedByLines(ask)].join(" ") + sourcesOf(ask);

/** As `message`; says how much it leaves out, because the person decides by what they read. */
function told(text: string, most: number): string {
  const whole = message(text, Number.MAX_SAFE_INTEGER);
  return whole.length <= most ? whole : `${message(text, most)} ${leftOutWords(whole.length - most)}`;
}

/** Returns the arguments of the call that waits, or as much as there is room for and how much is left out. */
function argumentsOf(ask: Ask, most: number): string {
  const shown = shownArguments(ask, most);
  if (shown === null) return "";
  const { text, left } = shown;
  // The words that editors would draw as something else get longer.
  const drawn = message(visibleText(text), 5 * most);
  return `The call's arguments: ${drawn}${left === 0 ? "" : ` … ${leftOutWords(left)}`}`;
}

async function tell(context: ClientContext, ask: Ask): Promise<void> {
  const text = `${told(`${ask.title} ${whyOf(ask)}`, maxQuestion)} ${argumentsOf(ask, maxBrief)}`.trimEnd();
  const answer = await window.showWarningMessage(text, ...buttonsOf(ask));
  if (answer !== undefined)
    await reporting("The question was not answered", () => send(context, ask, answer));
}

/** Shows one question, which a person opened, until it is answered or closed. */
async function ask(context: ClientContext, question: Ask): Promise<void> {
  const { title, agent, created, expires } = question;
  const now = Date.now();
  const name = label(context.models.agents.nameOf(agent), 80);
  const call = argumentsOf(question, maxArguments);
  const answer = await window.showWarningMessage(
    message(title, maxQuestion),
    {
      modal: true,
      detail: `${told(whyOf(question), maxReason)}\n\n${call === "" ? "" : `${call}\n\n`}${name} asked ${when(created, now)}. Without an answer it is denied ${when(expires, now)}.`,
    },
    ...buttonsOf(question),
  );
  if (answer !== undefined)
    await reporting("The question was not answered", () => send(context, question, answer));
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

/** Shows the question of this id, or all, of which one can be chosen. */
async function show(context: ClientContext, id: string | undefined): Promise<void> {
  const found = await context.kernel.request("lares/asks/list", { state: "Pending" });
  const named = found.find((one) => one.id === id);
  if (named !== undefined) return await ask(context, named);
  if (found.length === 0) {
    void window.showInformationMessage("No question waits for you.");
    return;
  }
  const picked = await window.showQuickPick<Row>(
    found.map((one) => ({
      ask: one,
      label: message(one.title, 200),
      description: label(context.models.agents.nameOf(one.agent), 80),
      detail: `${message([one.reason, ...requestedByLines(one)].join(" "), 400)} Asked ${when(one.created, Date.now())}.`,
    })),
    { title: "Questions", placeHolder: "Agents wait for these answers", matchOnDetail: true },
  );
  if (picked !== undefined) await ask(context, picked.ask);
}
