import type { AgentHealth } from "@lares/sdk";

/** A problem of an agent. */
export interface Problem {
  readonly agent: string;
  readonly kind: "error" | "suspended" | "schedule" | "failing" | "jobs";
  /** The end of a sentence that begins with the agent. */
  readonly words: string;
}

/** A problem that was seen, by agent and kind. */
interface Known {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** How often the person was told. */
  readonly told: number;
  /** It did not last until the second look. */
  readonly toldAt: number;
}

/** The memory from one look to the next. */
export interface Remembered {
  readonly known: readonly Known[];
  /** Failed jobs of agents that had any, as they were counted last. */
  readonly jobs: Readonly<Record<string, number>>;
}

interface Look {
  readonly remembered: Remembered;
  /** New problems for the person, the worst first. */
  readonly tell: readonly Problem[];
  /** Agents about which the person was told, and which work again. */
  readonly recovered: readonly string[];
}

export const nothingKnown: Remembered = { known: [], jobs: {} };

const severities: readonly Problem["kind"][] = ["error", "suspended", "schedule", "jobs", "failing"];
/** Problems and counts that are remembered. */
const maxKnown = 1_000;
/** Told once, and once more if it lasts: what a person leaves then is left on purpose. */
const mostTold = 2;

/** Returns what is wrong with the agents. Those that a person has disabled or not accepted are left alone. */
export function problemsOf(agents: readonly AgentHealth[], before: Remembered["jobs"]): Problem[] {
  const found: Problem[] = [];
  for (const agent of agents) {
    if (agent.disabled === true || agent.awaiting !== undefined) continue;
    const add = (kind: Problem["kind"], words: string): void =>
      void found.push({ agent: agent.id, kind, words });
    if (agent.state === "Error") add("error", "does not work: it is in Error");
    if (agent.state === "Suspended") add("suspended", "is suspended; its events wait");
    const { suspended_schedules: schedules } = agent;
    if (schedules > 0)
      add(
        "schedule",
        `has ${counted(schedules, "schedule")} that failed three times and ${schedules === 1 ? "is" : "are"} suspended`,
      );
    const jobs = newJobs(agent, before);
    if (jobs > 0) add("jobs", `has ${counted(jobs, "job")} that failed`);
    if (agent.failing === true && agent.state !== "Error") add("failing", "fails again and again");
  }
  return found.toSorted(
    (one, other) =>
      severities.indexOf(one.kind) - severities.indexOf(other.kind) || (one.agent < other.agent ? -1 : 1),
  );
}

/**
 * Compares with what is remembered. A problem is reported once, and once more when it has lasted for
 * `remindAfterMs`; a handler that fails only if it did so at two looks, because one event may be to blame.
 */
export function look(
  agents: readonly AgentHealth[],
  { known, jobs }: Remembered,
  now: number,
  remindAfterMs: number,
): Look {
  const problems = problemsOf(agents, jobs);
  const before = new Map(known.map((one) => [one.key, one]));
  const next: Known[] = [];
  const tell: Problem[] = [];
  for (const problem of problems) {
    const key = keyOf(problem);
    const seen = before.get(key);
    const told = seen?.told ?? 0;
    const isDue =
      told === 0
        ? problem.kind !== "failing" || seen !== undefined
        : remindAfterMs > 0 && told < mostTold && now - (seen?.toldAt ?? now) >= remindAfterMs;
    if (isDue) tell.push(problem);
    next.push({
      key,
      since: seen?.since ?? now,
      told: told + (isDue ? 1 : 0),
      toldAt: isDue ? now : (seen?.toldAt ?? 0),
    });
  }
  const bad = new Set(problems.map(({ agent }) => agent));
  const recovered = new Set(
    known
      .filter(({ key, told }) => told > 0 && !key.startsWith("jobs "))
      .map(({ key }) => key.slice(key.indexOf(" ") + 1))
      .filter((agent) => !bad.has(agent) && agents.some(({ id }) => id === agent)),
  );
  const counts = agents.filter(({ jobs_failed: failed }) => failed > 0).slice(0, maxKnown);
  return {
    remembered: {
      known: next.slice(0, maxKnown),
      jobs: Object.fromEntries(counts.map(({ id, jobs_failed: failed }) => [id, failed])),
    },
    tell,
    recovered: [...recovered].toSorted(),
  };
}

/** Counts are since the kernel started, so that a smaller number is a new count. */
function newJobs({ id, jobs_failed: failed }: AgentHealth, before: Remembered["jobs"]): number {
  const counted = before[id] ?? 0;
  return failed >= counted ? failed - counted : failed;
}

const keyOf = ({ agent, kind }: Problem): string => `${kind} ${agent}`;

function counted(count: number, what: string): string {
  return count === 1 ? `a ${what}` : `${count} ${what}s`;
}
