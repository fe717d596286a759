import type { Decision } from "../../base/vocabulary/approval-rule.ts";
import { oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Surface } from "./style.ts";
import { renderTable } from "./table.ts";
import { hint } from "./hint.ts";

/** Renders the person's "always" decisions: each one in words, with how often it was used. */
export function renderDecisions(decisions: readonly Decision[], surface: Surface): string[] {
  if (decisions.length === 0)
    return hint(
      'No decision is remembered here now. What you answer with "always" and schedules of minds that you accept are.',
      surface,
    );
  const rows = decisions.map(({ id, created, title, used, last_used: lastUsed }) => [
    // The end of an id: its start is the time, which decisions of the same period share.
    oneLine(id).slice(-8),
    created === undefined ? "by hand" : dayAndTime(created),
    `${counted(used, "time")}${lastUsed === undefined ? "" : `, last ${dayAndTime(lastUsed)}`}`,
    oneLine(title),
  ]);
  const columns = [
    { title: "Id" },
    { title: "Decided" },
    { title: "Used" },
    { title: "What", flexible: true },
  ];
  return renderTable(columns, rows, surface);
}

export function renderRevoked({ title }: Decision, { style }: Surface): string[] {
  return [`${style.green("✓")} revoked  ${oneLine(title)}`];
}
