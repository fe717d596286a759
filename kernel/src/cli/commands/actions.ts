import { ActionState, type Action } from "../../base/vocabulary/action.ts";
import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { fullCard, renderAction, renderActionLine, renderImpact, renderState } from "../render/action.ts";
import { oneLine } from "../render/foreign.ts";
import { dayAndTime } from "../render/quantities.ts";
import { renderTable } from "../render/table.ts";

export interface ActionsOptions {
  readonly state?: string;
  readonly agent?: string;
  readonly always?: boolean;
  readonly effects?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

const verbs = ["list", "show", "approve", "reject", "undo"] as const;
const states = ActionState.anyOf.map(({ const: state }) => state);
/** Actions that an abbreviated id is looked for in. */
const listLimit = 1000;

export async function actions(
  context: CommandContext,
  words: readonly string[],
  options: ActionsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(`One id at a time: ${more.join(" ")} is too much.`);
  if (verb === "list") {
    if (given !== undefined) throw new UsageError(`"list" takes no id; "show ${given}" shows one action.`);
  } else if (given === undefined) throw new UsageError(`Which action? lares actions ${verb} <id>`);
  const { state } = options;
  if (state !== undefined && !states.some((known) => known === state))
    throw new UsageError(`--state is one of ${states.join(", ")}.`);
  const effects = effectsOf(options.effects);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (verb === "list" || given === undefined) return list(context, kernel, options);
    const action = await find(kernel, given);
    switch (verb) {
      case "show":
        return show(context, action, options, exitCodes.ok);
      case "approve": {
        const ended = await kernel.approve(action.id, {
          digest: action.digest,
          remember: options.always === true ? "always" : "once",
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

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  options: ActionsOptions,
): Promise<number> {
  const { state, agent } = options;
  const found = await kernel.actions({
    ...(state === undefined ? {} : { state }),
    ...(agent === undefined ? {} : { agent }),
  });
  if (options.json === true) {
    terminal.json(found);
    return exitCodes.ok;
  }
  const { surface } = terminal;
  if (found.length === 0) {
    terminal.print(surface.style.dim("No actions yet."));
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

function show({ terminal }: CommandContext, action: Action, { json }: ActionsOptions, code: number): number {
  if (json === true) terminal.json(action);
  else terminal.print([`id ${action.id}`, ...renderAction(action, terminal.surface, fullCard)]);
  return code;
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

/** The end of an id: its start is the time, which neighbours share. */
export function shortId(id: string): string {
  return id.slice(-8);
}

async function find(kernel: KernelClient, given: string): Promise<Action> {
  if (given.length >= 36) return kernel.action(given);
  const matching = (await kernel.actions({ limit: listLimit })).filter(({ id }) => id.endsWith(given));
  const [only, other] = matching;
  if (only === undefined)
    throw new UsageError(`No action's id ends in "${given}"; lares actions lists them.`);
  if (other !== undefined)
    throw new UsageError(`${matching.length} actions' ids end in "${given}"; write more of it.`);
  return kernel.action(only.id);
}

function effectsOf(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const indices = text.split(",").map((part) => Number(part.trim()));
  if (text.trim() === "" || !indices.every((index) => Number.isInteger(index) && index >= 0)) {
    throw new UsageError('--effects is a list of numbers counted from 0, as in "0,2".');
  }
  return indices;
}
