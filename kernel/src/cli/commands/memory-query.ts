import type { JsonValue } from "../../base/json.ts";
import type { ParamsOf } from "../../protocol/v1/requests.ts";
import { UsageError } from "../command.ts";
import type { MemoryQuestion } from "../kernel-client.ts";
import { sinceTime } from "../durations.ts";

export interface QueryOptions {
  readonly kind?: string;
  readonly variant?: string;
  readonly since?: string;
  readonly until?: string;
  readonly text?: string;
  readonly field?: string;
  readonly where?: readonly string[];
  readonly near?: string;
  readonly similar?: string;
  readonly related?: string;
  readonly depth?: string;
  readonly limit?: string;
  readonly order?: string;
  readonly mode?: string;
  readonly count?: boolean;
  readonly by?: string;
}

type Where = NonNullable<ParamsOf<"lares/memory/count">["where"]>[number];
type Kind = ParamsOf<"lares/memory/query">["kind"];

/** Kinds by what a person calls them, and by their names on the wire. */
const kinds: ReadonlyMap<string, Kind> = new Map([
  ["history", "temporal"],
  ["knowledge", "associative"],
  ["plan", "working"],
  ["search", "search"],
  ["temporal", "temporal"],
  ["associative", "associative"],
  ["working", "working"],
]);
const wordFor: Readonly<Record<Kind, string>> = {
  temporal: "history",
  associative: "knowledge",
  working: "plan",
  search: "search",
};

/** The flags that each kind accepts; a flag that would have no effect is an error. */
const flagsOf: Readonly<Record<Kind, readonly (keyof QueryOptions)[]>> = {
  temporal: ["variant", "since", "until", "text", "field", "where", "near", "limit", "order", "count", "by"],
  associative: ["variant", "where", "near", "similar", "related", "depth", "limit"],
  search: ["limit", "mode"],
  working: [],
};
const allFlags = [...new Set(Object.values(flagsOf).flat())];

/** Builds the query from a person's words and flags. Words alone are a search. */
export function questionOf(words: readonly string[], options: QueryOptions, nowMs: number): MemoryQuestion {
  const given = allFlags.filter((flag) => options[flag] !== undefined);
  const kind = kindOf(words, options, given);
  const stray = given.find((flag) => !flagsOf[kind].includes(flag));
  if (stray !== undefined)
    throw new UsageError(`--${stray} has no effect on a query of kind ${wordFor[kind]}. Remove it.`);
  const said = words.join(" ").trim();
  const limit = limitOf(options.limit);
  const where = [
    ...(options.where ?? []).map(whereOf),
    ...(options.near === undefined ? [] : [nearOf(options.near)]),
  ];
  const filter = {
    ...(options.variant === undefined ? {} : { variant: options.variant }),
    ...(where.length === 0 ? {} : { where }),
  };
  switch (kind) {
    case "working":
      if (said !== "") throw new UsageError("The plan is always shown in full. Remove the words.");
      return { method: "lares/memory/query", params: { kind } };
    case "search": {
      if (said === "")
        throw new UsageError('The search has no words. Write, for example: lares memory query "beach"');
      const mode = options.mode as "auto" | undefined;
      return {
        method: "lares/memory/query",
        params: { kind, text: said, ...(mode === undefined ? {} : { mode }), ...limit },
      };
    }
    case "associative": {
      const similar = either(options.similar, said, "--similar");
      const related = relatedOf(options);
      return {
        method: "lares/memory/query",
        params: {
          kind,
          ...filter,
          ...(similar === "" ? {} : { similar_to: similar }),
          ...(related === undefined ? {} : { related_to: related }),
          ...(limit.limit === undefined ? {} : { top_k: limit.limit }),
        },
      };
    }
    case "temporal":
      return temporal(said, options, filter, nowMs);
  }
}

function kindOf(words: readonly string[], options: QueryOptions, given: readonly string[]): Kind {
  const named = kinds.get(options.kind ?? "");
  if (named !== undefined) return named;
  const some = (...flags: readonly string[]): boolean => flags.some((flag) => given.includes(flag));
  if (some("similar", "related", "depth")) return "associative";
  if (some("since", "until", "text", "field", "order", "count", "by")) return "temporal";
  if (some("mode")) return "search";
  return words.length > 0 && !some("variant", "where", "near") ? "search" : "temporal";
}

function temporal(
  said: string,
  options: QueryOptions,
  filter: { readonly variant?: string; readonly where?: Where[] },
  nowMs: number,
): MemoryQuestion {
  const { since, until, field, order, by } = options;
  const match = either(options.text, said, "--text");
  if (field !== undefined && match === "")
    throw new UsageError("--field needs --text with the words to search for.");
  const shared = {
    ...filter,
    ...(since === undefined ? {} : { since: sinceTime(since, nowMs) }),
    ...(until === undefined ? {} : { until: sinceTime(until, nowMs) }),
    ...(match === "" ? {} : { text: { match, ...(field === undefined ? {} : { field }) } }),
  };
  if (options.count === true || by !== undefined) {
    if (options.limit !== undefined || order !== undefined)
      throw new UsageError("--limit and --order cannot be combined with --count or --by. Remove them.");
    const groups = by as "variant" | undefined;
    return {
      method: "lares/memory/count",
      params: { ...shared, ...(groups === undefined ? {} : { group_by: groups }) },
    };
  }
  const direction = order as "asc" | undefined;
  return {
    method: "lares/memory/query",
    params: {
      kind: "temporal",
      ...shared,
      ...(direction === undefined ? {} : { order: direction }),
      ...limitOf(options.limit),
    },
  };
}

function either(flag: string | undefined, said: string, name: string): string {
  if (flag !== undefined && said !== "")
    throw new UsageError(`"${said}" and ${name} cannot be combined. Use one of them.`);
  return flag ?? said;
}

function limitOf(text: string | undefined): { limit?: number } {
  if (text === undefined) return {};
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new UsageError("--limit must be a whole number from 1 to 1000.");
  return { limit };
}

function relatedOf({ related, depth }: QueryOptions): { id: string; depth?: number } | undefined {
  if (related === undefined) {
    if (depth !== undefined) throw new UsageError("--depth needs --related <id>.");
    return undefined;
  }
  if (depth === undefined) return { id: related };
  const steps = Number(depth);
  if (!Number.isInteger(steps) || steps < 1 || steps > 5)
    throw new UsageError("--depth must be a whole number from 1 to 5.");
  return { id: related, depth: steps };
}

const operators = {
  "!=": "ne",
  ">=": "gte",
  "<=": "lte",
  "=": "eq",
  ">": "gt",
  "<": "lt",
  "~": "contains",
} as const;

/** Parses `a.b=3`, `size>10`, `name~word`, `kind in a,b`. */
export function whereOf(text: string): Where {
  const list = /^\s*([^\s=<>!~]+)\s+in\s(.+)/s.exec(text);
  if (list !== null) {
    const values = (list[2] ?? "").split(",").map((part) => valueOf(part.trim()));
    return { field: list[1] ?? "", op: "in", value: values };
  }
  const found = /^\s*([^\s=<>!~]+)\s*(!=|>=|<=|=|>|<|~)(.*)$/s.exec(text);
  const operator = Object.entries(operators).find(([sign]) => sign === found?.[2]);
  if (found === null || operator === undefined) {
    throw new UsageError(
      `--where "${text}" is not a condition. Write a.b=3, size>10, name~word, kind!=draft or "kind in a,b".`,
    );
  }
  const value = (found[3] ?? "").trim();
  return {
    field: found[1] ?? "",
    op: operator[1],
    value: operator[1] === "contains" ? unquoted(value) : valueOf(value),
  };
}

/** Parses a number, true, false, null or a quoted text as JSON; everything else is plain text. */
function valueOf(text: string): JsonValue {
  if (/^(-?\d|true$|false$|null$|")/.test(text)) {
    try {
      return JSON.parse(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return text;
}

function unquoted(text: string): string {
  const value = text.startsWith('"') ? valueOf(text) : text;
  return typeof value === "string" ? value : text;
}

/** Parses `field=latitude,longitude,kilometres`. */
export function nearOf(text: string): Where {
  const found = /^\s*([^\s=]+)\s*=([^,]+),([^,]+),([^,]+)$/.exec(text);
  const [latitude = NaN, longitude = NaN, km = NaN] = (found?.slice(2) ?? []).map((part) =>
    part.trim() === "" ? NaN : Number(part),
  );
  if (
    found === null ||
    !(Math.abs(latitude) <= 90) ||
    !(Math.abs(longitude) <= 180) ||
    !(km > 0 && km < Infinity)
  ) {
    throw new UsageError(
      `--near "${text}" is not a place. Write field=latitude,longitude,kilometres, such as at=52.5,13.4,5.`,
    );
  }
  return { field: found[1] ?? "", op: "near", value: [latitude, longitude], km };
}
