import { CelError, compileCel } from "@lares/sdk/cel";

/** A rule as it stands in `config` of lares.yaml, or here. */
interface Rule {
  /** `tool`: looks at calls before they run. `action`: looks at changes before they are proposed. */
  readonly on: "tool" | "action";
  /** A CEL expression that is true for what is refused. */
  readonly when: string;
  /** A sentence that the person and the model read. */
  readonly reason: string;
}

/** A rule that cannot be read, with the reason. It refuses everything that it might have been about. */
interface BrokenRule {
  readonly on: readonly Rule["on"][];
  /** "rule 2: …" */
  readonly problem: string;
}

export interface Rules {
  readonly sound: readonly (Rule & { readonly matches: (facts: Facts) => boolean })[];
  readonly broken: readonly BrokenRule[];
}

/** The variables of an expression. */
type Facts = Readonly<Record<string, unknown>>;

/** Refused without a word in lares.yaml. */
const standardRules: readonly Rule[] = [
  {
    on: "tool",
    when: String.raw`arguments.command.matches("(^|[\\s;&|(])rm\\s(.*\\s)?-([a-zA-Z]*[rR][a-zA-Z]*f|[a-zA-Z]*f[a-zA-Z]*[rR]|[a-zA-Z]*[rR]\\s(.*\\s)?-[a-zA-Z]*f|[a-zA-Z]*f\\s(.*\\s)?-[a-zA-Z]*[rR])")`,
    reason: "Commands that delete whole folders without asking (rm -rf) are not run.",
  },
  {
    on: "action",
    when: 'action.effects.filter(e, e.kind == "file.delete" || e.kind == "folder.delete").size() > 20',
    reason: "More than 20 files would be deleted at once. Delete fewer at a time.",
  },
  {
    on: "action",
    when: String.raw`action.effects.exists(e, e.path.matches("(^|/)(\\.ssh|\\.gnupg)(/|$)|(^|/)(id_rsa|id_ed25519)$"))`,
    reason: "Keys and their folders are not changed.",
  },
];

const variables = { tool: { tool: "string", arguments: "map" }, action: { action: "map" } } as const;
const maxRules = 100;
const maxCharacters = 4_000;

/** Reads `config`; a rule that is not sound is listed with what is wrong. */
export function readRules(config: Readonly<Record<string, unknown>>): Rules {
  const sound: Rules["sound"][number][] = [];
  const broken: BrokenRule[] = [];
  if (config["standard"] !== false) for (const rule of standardRules) sound.push(compiled(rule));
  const written = config["rules"] ?? [];
  if (!Array.isArray(written) || written.length > maxRules)
    return {
      sound,
      broken: [{ on: ["tool", "action"], problem: `rules must be a list of at most ${maxRules} rules` }],
    };
  for (const [index, value] of written.entries()) {
    const problem = (text: string): string => `rule ${index + 1}: ${text}`;
    const rule = ruleOf(value);
    if (typeof rule === "string") {
      broken.push({ on: ["tool", "action"], problem: problem(rule) });
      continue;
    }
    try {
      sound.push(compiled(rule));
    } catch (error) {
      broken.push({ on: [rule.on], problem: problem(messageOf(error)) });
    }
  }
  return { sound, broken };
}

/**
 * Returns why something is refused; null if it is not. A rule that cannot be evaluated refuses too. One that asks for a
 * field that is not there does not match, unless a part was withheld, in which case nobody can tell.
 */
export function refusal(
  { sound, broken }: Rules,
  on: Rule["on"],
  facts: Facts,
  isWithheld: boolean,
): string | null {
  const unread = broken.find((rule) => rule.on.includes(on));
  if (unread !== undefined)
    return `A rule of Safety cannot be read, so nothing is let through that it might refuse: ${unread.problem}`;
  for (const rule of sound) {
    if (rule.on !== on) continue;
    try {
      if (rule.matches(facts)) return rule.reason;
    } catch (error) {
      if (!isMissing(error)) return `A rule of Safety failed: ${rule.when}: ${messageOf(error)}`;
      if (isWithheld)
        return `A rule of Safety is about files that it may not see, so it cannot tell: ${rule.reason}`;
    }
  }
  return null;
}

function ruleOf(value: unknown): Rule | string {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "it must be { on, when, reason }";
  const { on, when, reason, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not known; known are on, when, reason`;
  if (on !== "tool" && on !== "action") return "on must be tool or action";
  for (const [name, text] of Object.entries({ when, reason }))
    if (typeof text !== "string" || text === "" || text.length > maxCharacters)
      return `${name} must be a text of at most ${maxCharacters} characters`;
  return { on, when: when as string, reason: reason as string };
}

function compiled(rule: Rule): Rules["sound"][number] {
  const expression = compileCel(rule.when, variables[rule.on]);
  if (expression.type !== "bool" && expression.type !== "dyn")
    throw new Error(`The expression must be true or false, and is of the type ${expression.type}.`);
  return {
    ...rule,
    matches: (facts) => {
      const result = expression.evaluate(facts);
      if (typeof result !== "boolean") throw new Error("The expression is neither true nor false.");
      return result;
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof CelError && error.code === "no_such_key";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
