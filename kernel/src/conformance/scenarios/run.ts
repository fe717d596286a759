import { plainLine } from "../../base/plain-text.ts";
import type { ConformancePorts, Subject } from "../ports.ts";
import { OtherViolation, type RuleResult, type Verdict, Violation } from "../results.ts";
import { Attempt, Run, type Scenario } from "../scenario.ts";
import { handlers } from "./handlers.ts";
import { heldJobs, jobs } from "./jobs.ts";
import { lifecycle } from "./lifecycle.ts";
import { messages } from "./messages.ts";

/** In the order in which they are tried; a rule comes after those that it needs. */
const last = new Set(["permission-change", "shutdown"]);
const scenarios: readonly Scenario[] = [
  ...lifecycle.filter(({ rule }) => !last.has(rule)),
  ...messages,
  ...jobs,
  ...handlers,
  ...heldJobs,
  ...lifecycle.filter(({ rule }) => last.has(rule)),
];

/**
 * Tries a program against every rule of guest ABI v1, each with guests of its own, and returns what became of each, in a
 * fixed order. Rejects if the sandbox fails, or with the signal's reason.
 */
export async function runConformance(subject: Subject, ports: ConformancePorts): Promise<RuleResult[]> {
  await using run = new Run(subject, ports);
  const results = new Map<string, RuleResult>();
  /** Rules that do not hold or could not be tried. Rules that need them are skipped. */
  const closed = new Set<string>();
  for (const scenario of scenarios) {
    ports.signal?.throwIfAborted();
    ports.onRule?.(scenario.rule);
    const { rule, title, needs } = scenario;
    const missing = needs.find((needed) => closed.has(needed));
    const outcome =
      missing === undefined
        ? await tryOne(scenario, run)
        : {
            status: "not_applicable" as const,
            detail: `Not tried, since it needs ${missing}.`,
            isClosed: true,
          };
    if (outcome.isClosed) closed.add(rule);
    const { status, detail } = outcome;
    results.set(rule, { rule, title, status, detail: plainLine(detail) });
  }
  const observations = closed.has("imports") ? [] : run.observed.results();
  return [...results.values(), ...observations.map((each) => ({ ...each, detail: plainLine(each.detail) }))];
}

interface Outcome extends Pick<RuleResult, "status" | "detail"> {
  /** True if rules that need this one cannot be tried. */
  readonly isClosed: boolean;
}

async function tryOne(scenario: Scenario, run: Run): Promise<Outcome> {
  await using attempt = new Attempt(run);
  const { ports } = run;
  const { ruleMs } = ports.patience;
  const late = Promise.withResolvers<never>();
  using _timer = ports.clock.timer(ruleMs, () =>
    late.reject(new Violation(`It took longer than ${ruleMs} ms.`)),
  );
  using _abort = onAbort(ports.signal, (reason) => late.reject(reason));
  const tried: Promise<Verdict> = scenario.try(attempt);
  // Ignored after the timeout.
  tried.catch(() => undefined);
  try {
    const verdict = await Promise.race([tried, late.promise]);
    attempt.isClean = true;
    return { ...verdict, isClosed: false };
  } catch (error) {
    const { message: detail } = error instanceof Error ? error : new Error(String(error));
    if (error instanceof Violation) return { status: "violated", detail, isClosed: true };
    if (error instanceof OtherViolation) return { status: "not_applicable", detail, isClosed: true };
    throw error;
  }
}

function onAbort(signal: AbortSignal | undefined, run: (reason: unknown) => void): Disposable {
  const abort = (): void => run(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", abort) };
}
