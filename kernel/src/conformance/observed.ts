import { bounds } from "./ports.ts";
import { holds, notApplicable, type RuleResult, type Verdict } from "./results.ts";

/** Rules that hold for everything a guest says, whatever is being tried. */
const observedRules = {
  "stdout-messages": "Nothing is on stdout but JSON-RPC 2.0 messages, one a line.",
  "line-length": "A line of stdout has at most 1 MiB with its newline.",
  "answer-ids": "An answer has the id of the request that it answers, and each request has one answer.",
  "call-ids": "Ids of host calls are unique: no call has the id of one that is open.",
  "open-calls": "At most 64 host calls of a guest are open.",
  "host-calls":
    "The guest calls methods that the ABI has, with params that fit; an unknown field of params is an error.",
  "guest-notifications":
    'What the guest sends without an id is "trace", "cancel" or "notify", with params that fit.',
} as const;

export type ObservedRule = keyof typeof observedRules;

/** The messages of all guests of one run that concern these rules. */
export class Observed {
  lines = 0;
  answers = 0;
  calls = 0;
  notifications = 0;
  readonly #faults = new Map<ObservedRule, string[]>();

  /** Keeps the first few sentences of a rule. */
  add(rule: ObservedRule, detail: string): void {
    const details = this.#faults.get(rule) ?? [];
    if (details.length < bounds.maxDetails && !details.includes(detail)) details.push(detail);
    this.#faults.set(rule, details);
  }

  results(): RuleResult[] {
    return (Object.keys(observedRules) as ObservedRule[]).map((rule) => {
      const details = this.#faults.get(rule);
      const title = observedRules[rule];
      if (details !== undefined) return { rule, title, status: "violated", detail: details.join(" ") };
      return { rule, title, ...this.#innocence(rule) };
    });
  }

  #innocence(rule: ObservedRule): Verdict {
    switch (rule) {
      case "stdout-messages":
      case "line-length":
        return holds(`${counted(this.lines, "line")} were read.`);
      case "answer-ids":
        return holds(`${counted(this.answers, "answer")} were read.`);
      case "call-ids":
      case "open-calls":
      case "host-calls":
        return this.calls === 0
          ? notApplicable("It made no host call.")
          : holds(`${counted(this.calls, "host call")} were read.`);
      case "guest-notifications":
        return this.notifications === 0
          ? notApplicable("It sent no notification.")
          : holds(`${counted(this.notifications, "notification")} were read.`);
    }
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
