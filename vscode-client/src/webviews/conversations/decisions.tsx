import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { leftOutWords } from "../../../../kernel/src/base/vocabulary/ask-arguments.ts";
import { CardSlot, type PageActs } from "../review/card.tsx";
import type { Card, ReviewContract } from "../review/messages.ts";
import { count, counted, ago } from "../shared/format.ts";
import { failureOf } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { pageLabel } from "../shared/label.ts";
import { block, line, whole } from "../shared/text.ts";
import { Icon } from "./icon.tsx";
import type { ConversationsContract, Question } from "./messages.ts";

/** Returns what a proposal's card uses of this page: the same requests, and no selection. */
export function cardPage(
  host: Host<ConversationsContract>,
  acts: Pick<PageActs, "makeCurrent" | "announce">,
): PageActs {
  return {
    // The contract of this page has the requests of a card, in the same shapes.
    host: host as unknown as Host<ReviewContract>,
    hasKeys: false,
    register: () => undefined,
    toggle: () => undefined,
    deciding: () => (words) => acts.announce(words),
    ...acts,
  };
}

interface ProposalProps {
  readonly card: Card | undefined;
  readonly agent: string;
  readonly state: string;
  readonly nowMs: number;
  readonly isCurrent: boolean;
  readonly page: PageActs;
}

/** A proposal in its place. Decided ones are one row that opens. */
export function Proposal({ card, agent, state, nowMs, isCurrent, page }: ProposalProps): VNode {
  if (card === undefined)
    return (
      <p class="line-note muted">A change: {state === "PendingApproval" ? "loading…" : line(state, 40)}</p>
    );
  return (
    <div class="review inline">
      <CardSlot
        card={card}
        agent={agent}
        age={ago(card.created, nowMs)}
        isCurrent={isCurrent}
        isSelected={false}
        page={page}
      />
    </div>
  );
}

interface TurnBarProps {
  readonly host: Host<ConversationsContract>;
  readonly cards: readonly Card[];
  readonly announce: (words: string) => void;
}

/** Decides about all proposals of a turn, or undoes them, where it has several. */
export function TurnBar({ host, cards, announce }: TurnBarProps): VNode | null {
  const [isBusy, setBusy] = useState(false);
  const [failures, setFailures] = useState<readonly string[]>([]);
  const waiting = cards.filter(({ section, isAlone }) => section === "waiting" && !isAlone);
  const applied = cards.filter(({ canUndo }) => canUndo);
  if (cards.length < 2 || (waiting.length < 2 && applied.length < 2)) return null;
  const run = (name: "approveAll" | "undoAll", of: readonly Card[], done: string): void => {
    if (isBusy) return;
    setBusy(true);
    setFailures([]);
    host
      .ask(name, { items: of.map(({ id, digest }) => ({ id, digest })) })
      .then(
        (result) => {
          setFailures(result.failures);
          announce(`${counted(result.done, "change")} ${done}.`);
        },
        (error: unknown) => setFailures([failureOf(error).message]),
      )
      .finally(() => setBusy(false));
  };
  return (
    <div class="turn-bar">
      <span class="grow">
        This turn: {counted(cards.length, "change")}
        {waiting.length > 0 &&
          `, ${count(waiting.length)} ${waiting.length === 1 ? "waits" : "wait"} for you`}
        {applied.length > 0 && `, ${count(applied.length)} applied`}
      </span>
      {waiting.length > 1 && (
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => run("approveAll", waiting, "applied")}
        >
          Approve {count(waiting.length)} of this turn
        </button>
      )}
      {applied.length > 1 && (
        <button
          type="button"
          class="button plain"
          disabled={isBusy}
          onClick={() => run("undoAll", applied, "undone")}
        >
          <Icon name="undo" />
          Undo this turn
        </button>
      )}
      {failures.map((failure) => (
        <p key={failure} class="bad-text small" role="alert">
          {block(failure, 2_000)}
        </p>
      ))}
    </div>
  );
}

const scopeWords = {
  once: "Allow once",
  conversation: "Allow in this conversation",
  always: "Always allow",
} as const;

interface AskedProps {
  readonly host: Host<ConversationsContract>;
  readonly question: Question;
  readonly announce: (words: string) => void;
}

/** A question that a call waits for. */
export function Asked({ host, question, announce }: AskedProps): VNode {
  const { id, digest, scopes } = question;
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const answer = (allow: boolean, remember?: Question["scopes"][number]): void => {
    if (isBusy) return;
    setBusy(true);
    host
      .ask("answer", { id, digest, allow, ...(remember === undefined ? {} : { remember }) })
      .then(
        () => announce(allow ? "Allowed." : "Denied."),
        (error: unknown) => setFailure(failureOf(error).message),
      )
      .finally(() => setBusy(false));
  };
  return (
    <article class="question" data-waits tabIndex={-1} aria-label={`Question: ${line(question.title, 300)}`}>
      <header class="row">
        <Icon name="question" />
        <strong class="grow">{whole(question.title)}</strong>
      </header>
      <p>{whole(question.reason)}</p>
      {question.requestedBy !== undefined && <p>{whole(question.requestedBy)}</p>}
      {question.arguments !== undefined && (
        <>
          <p class="muted small">The call's arguments</p>
          <pre class="plain" tabIndex={0} role="group" aria-label="The call's arguments">
            {whole(question.arguments.text)}
          </pre>
          {question.arguments.left > 0 && <p class="bad-text">… {leftOutWords(question.arguments.left)}</p>}
        </>
      )}
      {question.sources.length > 0 && (
        <p class="foreign-note">
          <Icon name="shield" />
          <span>It follows from: {question.sources.map((source) => pageLabel(source, 300)).join(", ")}</span>
        </p>
      )}
      {failure !== undefined && (
        <p class="bad-text" role="alert">
          {block(failure, 2_000)}
        </p>
      )}
      <footer class="row">
        {scopes.map((scope, index) => (
          <button
            key={scope}
            type="button"
            class={`button ${index === 0 ? "primary" : ""}`}
            disabled={isBusy}
            aria-label={`${scopeWords[scope]}: ${line(question.title, 120)}`}
            onClick={() => answer(true, scope)}
          >
            {scopeWords[scope]}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={isBusy}
          aria-label={`Deny: ${line(question.title, 120)}`}
          onClick={() => answer(false)}
        >
          Deny
        </button>
      </footer>
    </article>
  );
}
