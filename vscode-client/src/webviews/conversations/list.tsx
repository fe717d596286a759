import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useAgentName } from "../shared/agent-name.tsx";
import { failureOf, useAsked, useChanged, useNow, useSettled } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { pageLabel } from "../shared/label.ts";
import { Failed, Notice, Pending } from "../shared/notice.tsx";
import { Time } from "../shared/time.tsx";
import { Icon, Sign } from "./icon.tsx";
import type { ConversationsContract, Row } from "./messages.ts";
import { rowWords } from "./words.ts";

interface ListProps {
  readonly host: Host<ConversationsContract>;
  readonly onOpen: (id: string) => void;
}

/** All conversations, the last used first, and the beginning of a new one. */
export function ConversationList({ host, onOpen }: ListProps): VNode {
  const [text, setText] = useState("");
  const [isArchived, setArchived] = useState(false);
  const sought = useSettled(text.trim());
  const { asked, again } = useAsked(host, "list", {
    isArchived,
    ...(sought === "" ? {} : { text: sought }),
  });
  useChanged(host, asked, again);
  const nowMs = useNow();
  return (
    <main class="conversations list">
      <NewConversation host={host} onOpen={onOpen} />
      <div class="row filters">
        <input
          type="search"
          aria-label="Words in a conversation"
          placeholder="Search"
          maxLength={256}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button
          type="button"
          class="button plain"
          aria-pressed={isArchived}
          onClick={() => setArchived(!isArchived)}
        >
          Archived
        </button>
      </div>
      {asked.kind !== "ready" ? (
        <Pending asked={asked} again={again} />
      ) : asked.value.rows.length === 0 ? (
        <p class="muted none">
          {sought !== ""
            ? "No conversation has these words."
            : isArchived
              ? "No conversation is archived."
              : "No conversation yet."}
        </p>
      ) : (
        <>
          <ul class="rows" aria-label="Conversations">
            {asked.value.rows.map((row) => (
              <li key={row.id}>
                <RowButton row={row} nowMs={nowMs} onOpen={onOpen} />
              </li>
            ))}
          </ul>
          {asked.value.cursor !== undefined && <p class="muted none">Search to find earlier ones.</p>}
        </>
      )}
    </main>
  );
}

export function RowButton({
  row,
  nowMs,
  onOpen,
}: {
  readonly row: Row;
  readonly nowMs: number;
  readonly onOpen: (id: string) => void;
}): VNode {
  const nameOf = useAgentName();
  const { activity } = row;
  const [first, ...others] = rowWords(row);
  return (
    <button
      type="button"
      class={`conversation-row ${row.unread > 0 ? "unread" : ""}`}
      onClick={() => onOpen(row.id)}
    >
      <span class="title">
        <bdi>{row.title === "" ? "New conversation" : pageLabel(row.title, 200)}</bdi>
      </span>
      <span class="meta">
        <bdi>{nameOf(row.agent)}</bdi>
        <span class="dot">
          <Time iso={row.updated} nowMs={nowMs} class="" />
        </span>
        {first !== undefined &&
          (activity === "idle" ? <span class="dot">{first}</span> : <Sign kind={activity}>{first}</Sign>)}
        {others.map((words) => (
          <span key={words} class="dot">
            {words}
          </span>
        ))}
      </span>
    </button>
  );
}

function NewConversation({ host, onOpen }: ListProps): VNode {
  const { asked, again } = useAsked(host, "minds", {});
  const [failure, setFailure] = useState<string>();
  const nameOf = useAgentName();
  if (asked.kind === "failed") return <Failed message={asked.message} again={again} />;
  if (asked.kind === "loading") return <div class="new" />;
  const { agents } = asked.value;
  const begin = (agent: string): void => {
    setFailure(undefined);
    host.ask("open", { agent }).then(
      ({ id }) => onOpen(id),
      (error: unknown) => setFailure(failureOf(error).message),
    );
  };
  if (agents.length === 0)
    return (
      <Notice title="No agent here has a mind.">
        <p>
          A mind is the part of an agent that talks to a language model. To talk to the steward, which comes
          with Lares, add it to your lares.yaml:
        </p>
        <pre class="plain">{"extensions:\n  - id: dev.lares.steward"}</pre>
      </Notice>
    );
  return (
    <div class="new">
      {failure !== undefined && <Failed message={failure} />}
      {agents.map(({ id }, index) => (
        <button
          key={id}
          type="button"
          class={`button ${index === 0 ? "primary" : ""}`}
          onClick={() => begin(id)}
        >
          <Icon name="plus" />
          <span>
            New conversation{agents.length > 1 ? " with " : ""}
            {agents.length > 1 && <bdi>{nameOf(id)}</bdi>}
          </span>
        </button>
      ))}
    </div>
  );
}
