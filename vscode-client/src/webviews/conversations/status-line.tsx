import type { VNode } from "preact";
import { count, counted } from "../shared/format.ts";
import type { Head } from "./messages.ts";
import { contextShare, contextWords, costWords, isAtWork } from "./words.ts";

/** How much of the window is used, what it cost, and what runs. */
export function StatusLine({
  head,
  onContext,
}: {
  readonly head: Head;
  readonly onContext: () => void;
}): VNode {
  const { usage } = head;
  const cost = costWords(usage.usd);
  const others = head.processes.filter((process) => process.kind !== "channel" && isAtWork(process)).length;
  const share = contextShare(head);
  return (
    <p class="status-line">
      <svg
        class="gauge"
        viewBox="0 0 100 6"
        width="48"
        height="6"
        role="img"
        aria-label={`${share} per cent of the context used`}
      >
        <rect class="gauge-ground" width="100" height="6" rx="3" />
        <rect class="gauge-used" width={Math.max(2, share)} height="6" rx="3" />
      </svg>
      <button type="button" class="link" title="What the model sees" onClick={onContext}>
        {contextWords(head)}
      </button>
      <span class="figure">
        {count(usage.inputTokens)} in, {count(usage.outputTokens)} out
      </span>
      {cost !== undefined && <span class="figure">{cost} in all</span>}
      {others > 0 && <span class="figure">{counted(others, "process", "processes")} at work</span>}
    </p>
  );
}
