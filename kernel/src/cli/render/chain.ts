import type { ChainCheck } from "../../base/vocabulary/chain-check.ts";
import { oneLine } from "./foreign.ts";
import { counted } from "./quantities.ts";
import type { Surface } from "./style.ts";

/** Renders what the proof of a chain of records has found. */
export function renderChain(
  name: string,
  { ok, records, head, firstBad }: ChainCheck,
  { style }: Surface,
): string[] {
  if (ok) {
    const shown = head === null ? "" : style.dim(`head ${oneLine(head).slice(0, 19)}…`);
    return [
      `${style.green("✓")} ${oneLine(name)}  ${counted(records, "record")}, chain whole  ${shown}`.trimEnd(),
    ];
  }
  const where = firstBad === undefined ? "" : ` at record ${firstBad.seq}: ${oneLine(firstBad.reason)}`;
  return [`${style.red("✗")} ${oneLine(name)}  chain broken${where}`];
}
