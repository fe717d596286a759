import { isLaresError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { MadeSchedule } from "../base/vocabulary/made-schedule.ts";
import { toolFailure, type ToolResult } from "../base/vocabulary/tool-result.ts";
import { quotedNames } from "../context/data-text.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { asError, type AtWork, type ConversationHost, type OwnResult } from "./host.ts";

export const maxScheduledCharacters = 3_000;
const hours = /^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/;
const cronFields = 5;
/** With an offset, because a time without one is another moment elsewhere. */
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Runs the tool `schedule`. What it adds is a proposal: a person is asked with the whole prompt. */
export async function schedule(
  conversation: ConversationHost,
  process: AtWork,
  call: LoggedCall,
): Promise<OwnResult> {
  const args = isJsonObject(call.arguments) ? call.arguments : {};
  try {
    switch (args["op"]) {
      case "add":
        return { result: await add(conversation, process, call, args) };
      case "list":
        return { result: list(conversation) };
      case "remove":
        return { result: await remove(conversation, process, args["id"]) };
      default:
        return { result: asError('"op" must be "add", "list" or "remove".') };
    }
  } catch (error) {
    if (isLaresError(error)) return { result: toolFailure(error) };
    throw error;
  }
}

async function add(
  { ports, log }: ConversationHost,
  process: AtWork,
  call: LoggedCall,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const { prompt } = args;
  if (typeof prompt !== "string" || prompt.trim() === "" || prompt.length > maxScheduledCharacters)
    return asError(`"prompt" must be a text of 1 to ${maxScheduledCharacters} characters.`);
  const when = whenOf(args, ports.clock.now());
  if (typeof when === "string") return asError(when);
  const made = await ports.schedules.propose({
    id: call.call.replace(/^call_/, ""),
    agent: log.header.agent,
    conversation: log.id,
    prompt: prompt.trim(),
    when,
    sources: process.provenance("model").sources ?? [],
  });
  return { status: "success", value: { ...shown(made), next: ports.schedules.nextRun(made) } };
}

function list({ ports, log }: ConversationHost): ToolResult {
  const made = ports.schedules.of(log.header.agent);
  return {
    status: "success",
    value: made.map((each) => ({ ...shown(each), next: ports.schedules.nextRun(each) })),
  };
}

async function remove({ ports, log }: ConversationHost, process: AtWork, id: unknown): Promise<ToolResult> {
  if (typeof id !== "string")
    return asError('"remove" needs the argument "id", a text; "list" shows the ids.');
  // A text from elsewhere could ask for it.
  const { isTainted = false, sources = [] } = process.provenance("model");
  if (isTainted)
    return asError(
      `This conversation has read ${quotedNames(sources)}, so it removes no schedule. The person can ask for it in another conversation.`,
      false,
    );
  return (await ports.schedules.remove(log.header.agent, id))
    ? { status: "success", value: { id, state: "removed" } }
    : asError(`There is no schedule "${id}"; "list" shows those there are.`);
}

/** Returns the time that the arguments mean, or what is wrong with them. */
function whenOf(
  { cron, at, timezone, active_hours: activeHours }: Readonly<Record<string, unknown>>,
  nowMs: number,
): MadeSchedule["when"] | string {
  if ((cron === undefined) === (at === undefined)) return 'Give either "cron" or "at".';
  if (at !== undefined) {
    if (typeof at !== "string" || !moment.test(at) || Number.isNaN(Date.parse(at)))
      return '"at" must be a time with its offset, such as 2026-12-01T09:00:00+01:00.';
    return Date.parse(at) > nowMs ? { at: new Date(at).toISOString() } : `"at" is over: ${at}.`;
  }
  if (typeof cron !== "string") return '"cron" must be a text.';
  // A sixth field would mean seconds, which a person easily takes for minutes.
  if (cron.trim().split(/\s+/).length !== cronFields)
    return '"cron" must have five fields: minute, hour, day, month and weekday, such as "0 8 * * MON-FRI".';
  if (timezone !== undefined && typeof timezone !== "string") return '"timezone" must be a text.';
  if (activeHours !== undefined && !(typeof activeHours === "string" && hours.test(activeHours)))
    return '"active_hours" must be hours such as 08:00-20:00.';
  return {
    cron: cron.trim(),
    timezone: timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(activeHours === undefined ? {} : { activeHours }),
  };
}

function shown({ id, prompt, when, state }: MadeSchedule) {
  const { activeHours, ...times } = { activeHours: undefined, ...when };
  return {
    id,
    prompt,
    ...times,
    ...(activeHours === undefined ? {} : { active_hours: activeHours }),
    state: state === "accepted" ? state : "waits for the person",
  };
}
