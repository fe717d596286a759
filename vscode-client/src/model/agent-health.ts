import { agentWord, eventsToday } from "../../../kernel/src/base/vocabulary/agent-words.ts";
import type { Agent, Job, Place } from "../protocol.ts";
import type { HealthKind } from "../webviews/activity/messages.ts";
import { clockTime, count, label } from "./text.ts";

/** A problem, as reported by the agent or the kernel, and its place; both texts are unescaped. */
interface Problem {
  readonly message: string;
  readonly place?: Place;
  /** The handler, job or tool that failed. */
  readonly handler?: string;
}

export interface Health {
  readonly kind: HealthKind;
  /** "Last run failed at 10:41": never empty, and safe for a label. */
  readonly words: string;
  readonly problem?: Problem;
  /** The number of problems; more than 1 only for a manifest. */
  readonly problems: number;
}

/** Returns the status of an agent in words. `running`: its jobs; `now`: milliseconds since the epoch. */
export function healthOf(agent: Agent, running: readonly Job[], now: number): Health {
  const { state, disabled, awaiting, problems, first_problem, last_failure, error, metrics } = agent;
  const none = { problems: 0 };
  if (disabled === true) return { kind: "off", words: agentWord(agent), ...none };
  if (awaiting !== undefined) return { kind: "permission", words: agentWord(agent), ...none };
  if (problems !== undefined)
    return {
      kind: "manifest",
      words: `${count(problems, "problem")} in its manifest`,
      problem: first_problem ?? { message: error ?? "The manifest cannot be used." },
      problems,
    };
  if (state === "Error")
    return {
      kind: "error",
      words: "Cannot start",
      problem: last_failure ?? { message: error ?? "The agent stopped, and gave no reason." },
      problems: 1,
    };
  if (state === "Suspended")
    return {
      kind: "suspended",
      words: agentWord(agent),
      ...((last_failure ?? error) === undefined
        ? none
        : { problem: last_failure ?? { message: error ?? "" }, problems: 1 }),
    };
  if (last_failure !== undefined)
    return {
      kind: "failed",
      words: `Last run failed at ${clockTime(last_failure.at, now)}`,
      problem: last_failure,
      problems: 1,
    };
  if (state === "Initializing" || state === "ShuttingDown")
    return { kind: "changing", words: agentWord(agent), ...none };
  const [job] = running.filter((each) => each.state === "Running");
  // A job's progress is shown in the job's own row: a change in the agent's row would redraw everything beneath it.
  if (job !== undefined) return { kind: "working", words: `Working: ${label(job.name)}`, ...none };
  const events = metrics.events_today > 0 ? [eventsToday(metrics.events_today)] : [];
  return {
    kind: state === "Active" ? "active" : "asleep",
    words: [agentWord(agent), ...events].join(", "),
    ...none,
  };
}

/** True if a person has to fix something. */
export function isFailing({ kind }: Health): boolean {
  return kind === "manifest" || kind === "error" || kind === "failed";
}

/** Compares agents for sorting: failing ones first, then those that need the person; the others keep their order. */
export function byUrgency(one: Health, other: Health): number {
  return urgency(one) - urgency(other);
}

function urgency(health: Health): number {
  if (isFailing(health)) return 0;
  return health.kind === "permission" || health.kind === "suspended" ? 1 : 2;
}

/** Formats a place as `agent.ts:18`. */
export function placeText({ path, line }: Place): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return `${label(name, 80)}:${line}`;
}
