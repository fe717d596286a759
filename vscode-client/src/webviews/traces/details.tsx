import type { VNode } from "preact";
import { AgentName } from "../shared/agent-name.tsx";
import { JsonTree } from "../shared/json-tree.tsx";
import type { Host } from "../shared/host.ts";
import { PathLinks } from "../shared/paths.tsx";
import { pageLabel } from "../shared/label.ts";
import { block, line } from "../shared/text.ts";
import { Time } from "../shared/time.tsx";
import { parseFields, placeIn, placeWords } from "./place.ts";
import type { Entry, TracesContract } from "./messages.ts";

interface DetailsProps {
  readonly host: Host<TracesContract>;
  readonly entry: Entry;
  onCopy(): void;
  onClose(): void;
}

/** All of one entry. */
export function TraceDetails({ host, entry, onCopy, onClose }: DetailsProps): VNode {
  return (
    <section class="details" aria-label="The chosen trace">
      <header>
        <span class={`level level-${entry.level}`}>{entry.level}</span>
        <strong>
          <AgentName id={entry.agent} />
        </strong>
        {entry.hook !== undefined && (
          <span class="quiet">
            <bdi>{pageLabel(entry.hook, 100)}</bdi>
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
      {entry.fields !== undefined && <Fields host={host} json={entry.fields} />}
      <p class="quiet mono">
        trace {line(entry.traceId, 64)} · span {line(entry.spanId, 64)}
      </p>
    </section>
  );
}

interface FieldsProps extends Pick<DetailsProps, "host"> {
  readonly json: string;
}

function Fields({ host, json }: FieldsProps): VNode {
  const parsed = parseFields(json);
  const place = placeIn(json);
  // Cutting the fields makes the JSON invalid; they are shown as plain text.
  if (parsed === undefined) return <pre>{block(json)}</pre>;
  return (
    <>
      {place !== undefined && (
        <button
          type="button"
          class="link"
          // The editor itself shows why it failed.
          onClick={() => void host.ask("openPlace", place).catch(() => undefined)}
        >
          Go to <bdi>{pageLabel(placeWords(place), 300)}</bdi>
        </button>
      )}
      <PathLinks host={host} value={parsed.value} />
      <JsonTree value={parsed.value} open={2} />
    </>
  );
}
