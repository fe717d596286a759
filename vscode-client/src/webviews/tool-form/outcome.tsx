import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { usePush } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { JsonTree } from "../shared/json-tree.tsx";
import { Failed, Notice } from "../shared/notice.tsx";
import { block, jsonOf, line } from "../shared/text.ts";
import type { Outcome, ToolFormContract } from "./messages.ts";

/** The result of the run, or its progress. */
export type RunState = "none" | "busy" | { readonly refused: string } | Outcome;

interface OutcomeProps {
  readonly host: Host<ToolFormContract>;
  readonly outcome: RunState;
}

/** Shows the result of running a tool. */
export function OutcomePage({ host, outcome }: OutcomeProps): VNode | null {
  if (outcome === "none") return null;
  if (outcome === "busy") return <Notice kind="busy" title="Running…" />;
  if ("refused" in outcome) return <Failed message={outcome.refused} />;
  switch (outcome.status) {
    case "success":
      return <Success host={host} value={outcome.value} cut={outcome.cut ?? false} />;
    case "error":
      return (
        <Notice kind="error" title="The tool answered with an error.">
          <pre>
            <bdi>{block(outcome.message)}</bdi>
          </pre>
          <p class="quiet">
            {outcome.recoverable
              ? "It may work with other arguments, or another time."
              : "It will not work by trying again."}
          </p>
        </Notice>
      );
    case "needs_approval":
      return <Waiting key={outcome.action.id} host={host} outcome={outcome} />;
  }
}

interface SuccessProps {
  readonly host: Host<ToolFormContract>;
  readonly value: unknown;
  readonly cut: boolean;
}

function Success({ host, value, cut }: SuccessProps): VNode {
  const text = typeof value === "string" ? value : jsonOf(value, 2);
  return (
    <section class="result" aria-label="Result" role="status">
      <header>
        <h2>Result</h2>
        <button
          type="button"
          class="link"
          // The editor reports errors of the clipboard.
          onClick={() => void host.ask("copy", { text }).catch(() => undefined)}
        >
          Copy
        </button>
      </header>
      {cut && <p class="quiet">It is large; its beginning is shown.</p>}
      {typeof value === "string" ? (
        <pre>
          <bdi>{block(value, 200_000)}</bdi>
        </pre>
      ) : (
        <JsonTree value={value} open={3} />
      )}
    </section>
  );
}

interface WaitingProps {
  readonly host: Host<ToolFormContract>;
  readonly outcome: Extract<Outcome, { status: "needs_approval" }>;
}

function Waiting({ host, outcome: { action, reason } }: WaitingProps): VNode {
  const [state, setState] = useState<string>();
  usePush(host, "settled", (settled) => {
    if (settled.id === action.id) setState(settled.state);
  });
  const isOpen = state === undefined || state === "PendingApproval";
  const { id, digest } = action;
  // The editor's own command reports why it failed.
  const approve = (): void => void host.ask("approve", { id, digest }).catch(() => undefined);
  const showChanges = (): void => void host.ask("showChanges", { id }).catch(() => undefined);
  return (
    <section class="result" aria-label="A proposal" role="status">
      <h2>{isOpen ? "It waits for you" : "It was answered"}</h2>
      <p>
        <strong>
          <bdi>{line(action.title, 200)}</bdi>
        </strong>{" "}
        <span class="quiet">impact {action.impact.toFixed(2)}</span>
      </p>
      {reason !== "" && (
        <p>
          <bdi>{block(reason, 2_000)}</bdi>
        </p>
      )}
      <ul>
        {action.effects.map((effect, index) => (
          <li key={index}>
            <bdi>{line(effect, 300)}</bdi>
          </li>
        ))}
        {action.moreEffects > 0 && <li class="quiet">and {action.moreEffects} more</li>}
      </ul>
      {isOpen ? (
        <div class="run">
          <button type="button" class="primary" onClick={approve}>
            Approve
          </button>
          <button type="button" class="secondary" onClick={showChanges}>
            Show Changes
          </button>
        </div>
      ) : (
        <p class={state === "Committed" ? "" : "problem"}>{nameOf(state)}</p>
      )}
    </section>
  );
}

function nameOf(state: string): string {
  switch (state) {
    case "Approved":
    case "Committing":
      return "It is being applied…";
    case "Committed":
      return "✓ It was approved and applied.";
    case "Rejected":
      return "It was rejected; nothing changed.";
    case "Stale":
      return "Its files changed meanwhile, so nothing was applied. Run the tool again.";
    case "Failed":
      return "It failed, and nothing was changed.";
    case "Expired":
      return "Nobody answered in time; nothing changed.";
    case "Undone":
      return "It was applied, and then undone.";
    default:
      return line(state, 32);
  }
}
