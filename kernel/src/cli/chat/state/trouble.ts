import type { Call, Transcript } from "./transcript.ts";
import { oneLine } from "../../render/foreign.ts";
import { counted } from "../../render/quantities.ts";

/** Returns what went wrong in a branch or worker whose own report need not say so: that its last call failed, or what was rejected. */
export function troubleIn({ calls, actions }: Transcript, process: string): string[] {
  let rejected = 0;
  for (const { value } of actions.values())
    if (value.process === process && value.state === "Rejected") rejected++;
  let last: Call | null = null;
  for (const call of calls.values())
    if (call.process === process && (call.asked?.seq ?? 0) > (last?.asked?.seq ?? 0)) last = call;
  const result = last?.result?.value;
  // A question is not a failure.
  const hasFailed = result?.status === "error" && result.question === undefined;
  return [
    ...(rejected === 0 ? [] : [`${counted(rejected, "change")} rejected`]),
    ...(hasFailed ? [`its last call failed: ${oneLine(last?.asked?.tool ?? "")}`] : []),
  ];
}
