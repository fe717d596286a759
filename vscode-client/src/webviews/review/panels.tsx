import { maxRejectionReason } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, counted } from "../shared/format.ts";
import { Icon } from "./icon.tsx";
import type { Card } from "./messages.ts";

interface PanelProps {
  readonly label: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A panel that opens inside a card, takes the focus, and pushes the rest down. */
function Panel({ label, title, children }: PanelProps): VNode {
  const group = useRef<HTMLDivElement>(null);
  // A layout effect, so that the next key already goes to the panel and not to the card.
  useLayoutEffect(() => {
    group.current?.querySelector<HTMLElement>("[data-first]")?.focus();
  }, []);
  return (
    <div ref={group} class="panel" role="group" aria-label={label}>
      <h4>{title}</h4>
      {children}
    </div>
  );
}

interface RejectFormProps {
  /** The label of the button, depending on whether a reason was typed. */
  readonly words: (hasReason: boolean) => string;
  readonly label: string;
  readonly rows: number;
  onReject(reason: string): void;
  onClose(): void;
}

/**
 * Asks for the reason of a rejection; Enter rejects, with or without one. The text field has the focus from the start:
 * what a person types after R is a reason, and never a key that decides about the next card.
 */
export function RejectForm({ words, label, rows, onReject, onClose }: RejectFormProps): VNode {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <>
      <textarea
        ref={field}
        rows={rows}
        maxLength={maxRejectionReason}
        aria-label={label}
        placeholder="Reason (optional)"
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          onReject(reason.trim());
        }}
      />
      <div class="actions">
        <button type="button" class="button primary" onClick={() => onReject(reason.trim())}>
          {words(reason.trim() !== "")}
        </button>
        <button type="button" class="button plain" onClick={onClose}>
          Cancel
        </button>
      </div>
    </>
  );
}

interface RejectProps {
  readonly agent: string;
  onReject(reason: string): void;
  onClose(): void;
}

export function RejectPanel({ agent, onReject, onClose }: RejectProps): VNode {
  return (
    <Panel label="Reject with a reason" title={`Why not? ${agent} reads this.`}>
      <RejectForm
        words={(hasReason) => (hasReason ? "Reject with this reason" : "Reject without a reason")}
        label="Reason"
        rows={2}
        onReject={onReject}
        onClose={onClose}
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
