import type { VNode } from "preact";
import { AgentName } from "../shared/agent-name.tsx";
import { JsonTree } from "../shared/json-tree.tsx";
import { block, line } from "../shared/text.ts";
import { Time } from "../shared/time.tsx";
import type { Entry } from "./messages.ts";

interface DetailsProps {
  readonly entry: Entry;
  onCopy(): void;
  onClose(): void;
}

/** All of one entry. */
export function TraceDetails({ entry, onCopy, onClose }: DetailsProps): VNode {
  return (
    <section class="details" aria-label="The chosen trace">
      <header>
        <span class={`level level-${entry.level}`}>{entry.level}</span>
        <strong>
          <AgentName id={entry.agent} />
        </strong>
        {entry.hook !== undefined && (
          <span class="quiet">
            <bdi>{line(entry.hook, 100)}</bdi>
          </span>
        )}
        <Time iso={entry.timestamp} />
        <span class="grow" />
        <button type="button" class="link" onClick={onCopy}>
          Copy
        </button>
        <button type="button" class="link" onClick={onClose}>
          Close
        </button>
      </header>
      <pre>
        <bdi>{block(entry.message)}</bdi>
      </pre>
      {entry.fields !== undefined && <Fields json={entry.fields} />}
      <p class="quiet mono">
        trace {line(entry.traceId, 64)} · span {line(entry.spanId, 64)}
      </p>
    </section>
  );
}

function Fields({ json }: { readonly json: string }): VNode {
  const parsed = parse(json);
  // What was cut is no JSON any more, and is shown as the text that there is.
  return parsed === undefined ? <pre>{block(json)}</pre> : <JsonTree value={parsed.value} open={2} />;
}

function parse(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
