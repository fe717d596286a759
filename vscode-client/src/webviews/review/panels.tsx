import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count, counted } from "../shared/format.ts";
import { Icon } from "./icon.tsx";
import { maxReason, type Card } from "./messages.ts";

interface PanelProps {
  readonly label: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** What a card opens in itself; it takes the focus, and pushes the rest down. */
function Panel({ label, title, children }: PanelProps): VNode {
  const group = useRef<HTMLDivElement>(null);
  useEffect(() => {
    group.current?.querySelector<HTMLElement>("[data-first]")?.focus();
  }, []);
  return (
    <div ref={group} class="panel" role="group" aria-label={label}>
      <h4>{title}</h4>
      {children}
    </div>
  );
}

interface RejectProps {
  readonly agent: string;
  onReject(reason: string): void;
  onClose(): void;
}

export function RejectPanel({ agent, onReject, onClose }: RejectProps): VNode {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <Panel label="Reject with a reason" title={`Why not? ${agent} reads this.`}>
      <div class="actions">
        <button
          type="button"
          class="button primary"
          data-first
          onClick={() => onReject(reason.trim())}
          onKeyDown={(event) => {
            // The second R leads on to the reason.
            if (event.key !== "r" || event.ctrlKey || event.altKey || event.metaKey) return;
            event.preventDefault();
            event.stopPropagation();
            field.current?.focus();
          }}
        >
          {reason.trim() === "" ? "Reject without a reason" : "Reject with this reason"}
        </button>
        <button type="button" class="button plain" onClick={onClose}>
          Cancel
        </button>
      </div>
      <textarea
        ref={field}
        rows={2}
        maxLength={maxReason}
        aria-label="Reason"
        placeholder="Reason (optional)"
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey) return;
          event.preventDefault();
          onReject(reason.trim());
        }}
      />
    </Panel>
  );
}

interface AlwaysProps {
  readonly card: Card;
  readonly agent: string;
  onAllow(scope: string): void;
  onDecisions(): void;
  onClose(): void;
}

export function AlwaysPanel({
  card: { scopes, rule },
  agent,
  onAllow,
  onDecisions,
  onClose,
}: AlwaysProps): VNode {
  const [chosen, setChosen] = useState<string>();
  if (scopes.length === 0)
    return (
      <Panel label="What to allow from now on" title="This is asked each time">
        <p>{rule ?? `What ${agent} proposes here cannot be allowed beforehand.`}</p>
        <div class="actions">
          <button type="button" class="button" data-first onClick={onClose}>
            Close
          </button>
          <button type="button" class="link" onClick={onDecisions}>
            Remembered decisions
          </button>
        </div>
      </Panel>
    );
  return (
    <Panel label="What to allow from now on" title={`Allow ${agent} without asking, from now on`}>
      <div role="radiogroup" aria-label="What to allow">
        {scopes.map(({ id, title }, index) => (
          <label key={id} class="choice">
            <input
              type="radio"
              name="scope"
              value={id}
              checked={chosen === id}
              {...(index === 0 ? { "data-first": true } : {})}
              onChange={() => setChosen(id)}
            />
            <span>{title}</span>
          </label>
        ))}
      </div>
      <p class="note">
        <Icon name="shield" />
        <span>{rule === undefined ? "" : `${rule} `}Protected files are still asked about.</span>
      </p>
      <div class="actions">
        <button
          type="button"
          class="button primary"
          disabled={chosen === undefined}
          onClick={() => chosen !== undefined && onAllow(chosen)}
        >
          Approve and remember
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="link" onClick={onDecisions}>
          Remembered decisions
        </button>
      </div>
    </Panel>
  );
}

interface ApproveAllProps {
  readonly card: Card;
  onApprove(): void;
  onClose(): void;
}

/** The panel that names the files that a large change deletes or moves, before the person approves all of it. */
export function ApproveAllPanel({ card, onApprove, onClose }: ApproveAllProps): VNode {
  const gone = card.files.filter(({ sign }) => sign === "delete" || sign === "move");
  const all = card.effects === 1 ? "this" : `all ${count(card.effects)}`;
  return (
    <Panel label="Approve all of it" title={`Approve ${all}? ${card.impact}`}>
      {gone.length > 0 && (
        <ul class="gone">
          {gone.map(({ effect, sign, path, from }) => (
            <li key={effect}>
              <strong>{sign === "delete" ? "Deletes" : "Moves"}</strong> <bdi>{from ?? path}</bdi>
              {from !== undefined && (
                <>
                  {" to "}
                  <bdi>{path}</bdi>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {card.moreFiles > 0 && <p class="muted small">And {counted(card.moreFiles, "other change")}.</p>}
      <div class="actions">
        <button type="button" class="button" data-first onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button primary" onClick={onApprove}>
          {card.effects === 1 ? "Approve" : `Approve ${all}`}
        </button>
      </div>
    </Panel>
  );
}
