import type { ComponentChildren, VNode } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import type { Became, Card } from "./messages.ts";

/** The outcome of a card is recognized before its text is read: only an applied change has a tick. */
const signs: Readonly<Record<Became, IconName>> = {
  applied: "check",
  rejected: "none",
  undone: "undo",
  failed: "close",
  expired: "clock",
  outdated: "clock",
  replaced: "swap",
};

interface CardHeadProps {
  readonly card: Card;
  readonly agent: string;
  readonly age: string;
  readonly heading: string | undefined;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onRule: () => void;
  readonly tabIndex: number;
  /** What is beside the title. */
  readonly children: ComponentChildren;
}

/** The head of a card: its outcome or a box to select it, the file, the title, and who proposed it when. */
export function CardHead({
  card,
  agent,
  age,
  heading,
  isSelected,
  onSelect,
  onRule,
  tabIndex,
  children,
}: CardHeadProps): VNode {
  const isWaiting = card.section === "waiting";
  return (
    <header class="card-head">
      {isWaiting && !card.isAlone ? (
        <input
          type="checkbox"
          checked={isSelected}
          tabIndex={tabIndex}
          aria-label={`Select ${card.name}`}
          onChange={onSelect}
        />
      ) : isWaiting ? (
        <Icon name="files" label="Decided by itself, never in a batch" />
      ) : (
        <Icon
          name={
            card.section === "automatic" ? "zap" : card.became === undefined ? "clock" : signs[card.became]
          }
          kind={card.became ?? card.section}
        />
      )}
      <div>
        <h3 class="file">
          <span class="name">
            <bdi>{card.name}</bdi>
          </span>{" "}
          <span class="folder">
            <bdi>{card.folder}</bdi>
          </span>
        </h3>
        <p class="card-title">
          <bdi>{card.title}</bdi>
        </p>
        <p class="meta">
          <span class="agent">
            <bdi>{agent}</bdi>
          </span>
          {heading !== undefined && <span class="dot">{heading}</span>}
          <span class="dot">{age}</span>
          {card.section === "automatic" && (
            <span class="by-rule">
              <button type="button" class="link" tabIndex={tabIndex} onClick={onRule}>
                {card.rule ?? "by a rule"}
              </button>
            </span>
          )}
        </p>
      </div>
      {children}
    </header>
  );
}
