import type { ResolvedConfiguration } from "./resolve.ts";
import { valueAt } from "./text/source.ts";
import { fieldName } from "./validate.ts";

/** A value of the configuration and its origin, as `lares check --explain` shows it. */
interface ExplainedSetting {
  /** "approvals.auto_approve_below", "extensions[0]" */
  readonly key: string;
  readonly value: unknown;
  readonly source: "environment" | "workspace" | "user" | "defaults";
  /** The variable's name, or file:line with lines counted from 1. */
  readonly place: string;
}

export function explainConfiguration({ merged, origins }: ResolvedConfiguration): ExplainedSetting[] {
  return [...origins]
    .map(([pointer, { source, file = "", range }]) => ({
      key: fieldName(pointer),
      value: valueAt(merged, pointer),
      source,
      place: range === undefined ? file : `${file}:${range.start.line + 1}`,
    }))
    .toSorted((one, other) => one.key.localeCompare(other.key, "en", { numeric: true }));
}
