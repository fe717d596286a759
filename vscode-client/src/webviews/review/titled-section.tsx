import type { ComponentChildren, VNode } from "preact";
import { count } from "../shared/format.ts";
import type { Card } from "./messages.ts";

interface TitledSectionProps {
  readonly cards: readonly Card[];
  readonly title: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}

/** A section with its title and the number of its cards; nothing if it has none. */
export function TitledSection({ cards, title, note, children }: TitledSectionProps): VNode | null {
  if (cards.length === 0) return null;
  return (
    <section aria-label={title}>
      <div class="section">
        <h2>{title}</h2>
        <span class="count">{count(cards.length)}</span>
        {note !== undefined && <span class="muted small">{note}</span>}
      </div>
      {children}
    </section>
  );
}
