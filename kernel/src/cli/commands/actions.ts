import { actionStateWords } from "../../base/vocabulary/action-words.ts";
import { ActionState, type Action } from "../../base/vocabulary/action.ts";
import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { Approval } from "../../base/vocabulary/action-requests.ts";
import type { KernelClient } from "../kernel-client.ts";
import { agentIdOf, isWholeId, oneNamed, onlyOne } from "../one-named.ts";
import { renderAction, renderActionLine, renderImpact, renderState } from "../render/action.ts";
import { oneLine } from "../render/foreign.ts";
import { dayAndTime } from "../render/quantities.ts";
import { renderTable } from "../render/table.ts";
import { wholeAction } from "../run/whole-action.ts";

interface ActionsOptions {
  readonly state?: string;
  readonly agent?: string;
  readonly always?: boolean;
  /** "file", "folder", "kind" or "session". */
  readonly scope?: string;
  readonly effects?: string;
  readonly effect?: string;
  readonly side?: string;
  readonly digest?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

const verbs = ["list", "show", "content", "approve", "reject", "undo"] as const;
const states = ActionState.anyOf.map(({ const: state }) => state);

/** Returns the states that a person means by `text`: the word that lists show, or the name on the wire. */
function statesOf(text: string): ActionState[] {
  const plain = (word: string): string => word.toLowerCase().replaceAll(/[\s_-]+/g, "");
  const found = states.filter((state) =>
    [actionStateWords[state], state, ...(others[state] ?? [])].some((word) => plain(word) === plain(text)),
  );
  if (found.length > 0) return found;
  const words = [...new Set(states.map((state) => `"${actionStateWords[state]}"`))];
  throw new UsageError(`There is no state "${oneLine(text)}". The states are ${words.join(", ")}.`);
}

const others: Partial<Record<ActionState, readonly string[]>> = {
  PendingApproval: ["waits", "waiting", "pending"],
};
/** The number of actions that are searched for an abbreviated id. */
const listLimit = 1000;

export async function actions(
  context: CommandContext,
  words: readonly string[],
  options: ActionsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(onlyOne(more));
  if (verb === "list") {
    if (given !== undefined)
      throw new UsageError(`"list" takes no id. Use "show ${given}" to see one action.`);
  } else if (given === undefined)
    throw new UsageError(
      `An id is missing. Write lares actions ${verb} <id>; "lares actions" lists the ids.`,
    );
  const { state } = options;
  const wanted = state === undefined ? undefined : statesOf(state);
  const effects = effectsOf(options.effects);
  const effect = effectOf(options.effect);
  const side = verb === "content" ? sideOf(options.side) : "after";
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (verb === "list" || given === undefined) return list(context, kernel, options, wanted);
    const action = await find(kernel, given);
    switch (verb) {
      case "show":
        return show(context, kernel, action, effect, options);
      case "content":
        return content(context, kernel, action.id, effect ?? 0, side);
      case "approve": {
        const ended = await kernel.approve(action.id, {
          digest: options.digest ?? action.digest,
          ...rememberedBy(action, options),
          ...(effects === undefined ? {} : { effects }),
        });
        return outcome(context, ended, "Committed", options);
      }
      case "reject":
        return outcome(context, await kernel.reject(action.id, options.reason), "Rejected", options);
      case "undo":
        return outcome(context, await kernel.undo(action.id), "Undone", options);
    }
  });
}

/**
 * Returns what an approval remembers. Throws UsageError if the action does not offer it, instead of ignoring the
 * option.
 */
function rememberedBy(
  action: Action,
  { always, scope, effects }: ActionsOptions,
): Pick<Approval, "remember" | "rules"> {
  if (scope === undefined && always !== true) return { remember: "once" };
  const { scopes = [], asked_because: why } = action;
  const offered = scopes.find(({ id }) => id === (scope ?? "file"));
  if (scope !== undefined && offered !== undefined) return { rules: offered.rules };
  // For an approval of only some effects, the kernel knows what can be remembered.
  if (scope === undefined && (offered !== undefined || effects !== undefined)) return { remember: "always" };
  const option = scope === undefined ? "--always" : `--scope ${scope}`;
  throw new UsageError(
    scopes.length === 0
      ? `${option} is not possible here. ${oneLine(why?.sentence ?? "This is asked each time.")}`
      : `${option} would not cover this change. Possible: ${scopes.map(({ id }) => `--scope ${id}`).join(", ")}.`,
  );
}

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  options: ActionsOptions,
  wanted: readonly ActionState[] | undefined,
): Promise<number> {
  const agent = await agentIdOf(kernel, options.agent);
  const lists = await Promise.all(
    (wanted ?? [undefined]).map((state) =>
      kernel.actions({
        ...(state === undefined ? {} : { state }),
        ...(agent === undefined ? {} : { agent }),
      }),
    ),
  );
  const found = lists.flat().toSorted((one, other) => (one.id < other.id ? 1 : -1));
  if (options.json === true) {
    terminal.json(found);
    return exitCodes.ok;
  }
  const { surface } = terminal;
  if (found.length === 0) {
    const all = wanted === undefined && agent === undefined;
    terminal.print(surface.style.dim(all ? "No agent has proposed a change yet." : "No change matches."));
    return exitCodes.ok;
  }
  const rows = found.map((action) => [
    shortId(action.id),
    dayAndTime(action.created),
    renderState(action.state, surface.style),
    renderImpact(action.impact_score, surface.style),
    oneLine(action.agent),
    oneLine(action.title),
  ]);
  const columns = [
    { title: "Id" },
    { title: "Created" },
    { title: "State" },
    { title: "Impact" },
    { title: "Agent" },
    { title: "Title", flexible: true },
  ];
  terminal.print(renderTable(columns, rows, surface));
  return exitCodes.ok;
}

async function show(
  { terminal }: CommandContext,
  kernel: KernelClient,
  action: Action,
  effect: number | undefined,
  { json }: ActionsOptions,
): Promise<number> {
  if (json === true) {
    terminal.json(action);
    return exitCodes.ok;
  }
  if (effect !== undefined && effect >= action.effects.length)
    throw new UsageError(
      `This change has no such effect. --effect can be 0 to ${action.effects.length - 1}.`,
    );
  const { action: whole, unread } = await wholeAction(kernel, action, effect);
  const only = effect === undefined ? {} : { contents: effect };
  terminal.print([
    `id ${action.id}`,
    `digest ${action.digest}`,
    ...renderAction(whole, terminal.surface, { unread, ...only }),
    ...(action.scopes ?? []).map(({ id, title }) => `--scope ${id.padEnd(7)}  ${oneLine(title)}`),
  ]);
  return exitCodes.ok;
}

/**
 * Writes one side of an effect byte for byte: only to a file or another program, because a terminal would interpret
 * control codes in it.
 */
async function content(
  { terminal }: CommandContext,
  kernel: KernelClient,
  id: string,
  effect: number,
  side: "before" | "after",
): Promise<number> {
  if (terminal.isTerminal)
    throw new UsageError(
      "A terminal would execute control codes in the content. Write it to a file instead: lares actions content <id> > FILE",
    );
  let offset = 0;
  for (let eof = false; !eof;) {
    const piece = await kernel.content(id, effect, side, offset);
    const bytes = Buffer.from(piece.base64, "base64");
    await terminal.bytes(bytes);
    offset += bytes.length;
    eof = piece.eof || bytes.length === 0;
  }
  return exitCodes.ok;
}

function outcome(
  context: CommandContext,
  action: Action,
  wanted: Action["state"],
  options: ActionsOptions,
): number {
  if (options.json === true) context.terminal.json(action);
  else context.terminal.print(renderActionLine(action, context.terminal.surface));
  return action.state === wanted ? exitCodes.ok : exitCodes.failed;
}

/** Returns the end of an id: its start is the time, which actions of the same period share. */
function shortId(id: string): string {
  return id.slice(-8);
}

async function find(kernel: KernelClient, given: string): Promise<Action> {
  if (isWholeId(given)) return kernel.action(given);
  const known = await kernel.actions({ limit: listLimit });
  const found = oneNamed(known, given, {
    noun: "change",
    nouns: "changes",
    listing: "lares actions",
    id: ({ id }) => id,
    title: ({ title }) => title,
  });
  return kernel.action(found.id);
}

function effectsOf(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const indices = text.split(",").map((part) => Number(part.trim()));
  if (text.trim() === "" || !indices.every((index) => Number.isInteger(index) && index >= 0)) {
    throw new UsageError('--effects is a list of numbers counted from 0, as in "0,2".');
  }
  return indices;
}

function effectOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const index = Number(text);
  if (text.trim() === "" || !Number.isInteger(index) || index < 0)
    throw new UsageError("--effect must be the number of one effect, counted from 0.");
  return index;
}

function sideOf(text = "after"): "before" | "after" {
  if (text === "before" || text === "after") return text;
  throw new UsageError('--side is "before" or "after".');
}
