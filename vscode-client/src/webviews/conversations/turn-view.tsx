import { Component, type VNode } from "preact";
import type { PageActs } from "../review/card.tsx";
import type { Card } from "../review/messages.ts";
import type { Host } from "../shared/host.ts";
import { line, whole } from "../shared/text.ts";
import { Asked, Proposal, TurnBar } from "./decisions.tsx";
import type { ShownProcess } from "./entries.ts";
import { Answer, Call, Conclusion, End, Fold, Summary, Task, You, type ItemActs } from "./items.tsx";
import { Icon } from "./icon.tsx";
import type { ConversationsContract, Question } from "./messages.ts";
import type { Item, Turn } from "./turns.ts";
import { nameOf } from "./words.ts";

interface TurnProps {
  readonly turn: Turn;
  readonly agent: string;
  readonly host: Host<ConversationsContract>;
  readonly acts: ItemActs;
  readonly page: PageActs;
  readonly cards: ReadonlyMap<string, Card>;
  readonly questions: ReadonlyMap<string, Question>;
  readonly processes: ReadonlyMap<string, ShownProcess>;
  readonly pinned: ReadonlySet<string>;
  readonly current: string | undefined;
  readonly nowMs: number;
  /** Equal for what the turn uses of cards, questions, processes and pins. */
  readonly around: string;
}

/** Returns what changes how a turn is drawn, besides the turn. */
export function aroundOf(
  turn: Turn,
  {
    cards,
    questions,
    processes,
    pinned,
    current,
  }: Pick<TurnProps, "cards" | "questions" | "processes" | "pinned" | "current">,
): string {
  return turn.items
    .flatMap((item) => {
      switch (item.kind) {
        case "you":
        case "answer":
          return pinned.has(item.id) ? [`p${item.id}`] : [];
        case "action": {
          const card = cards.get(item.ref);
          return [
            `${item.ref}${card?.digest ?? ""}${card?.section ?? ""}${card?.outcome ?? ""}${current === item.ref}`,
          ];
        }
        case "ask":
          return [`${item.ref}${questions.has(item.ref)}`];
        case "task":
        case "conclusion":
          return [JSON.stringify(processes.get(item.process) ?? null)];
        case "call":
        case "summary":
        case "notice":
        case "block":
        case "change":
        case "end":
          return [];
      }
    })
    .join(" ");
}

/** Drawn again only when something in it changed: a long conversation costs no more than a short one. */
export class TurnView extends Component<TurnProps> {
  override shouldComponentUpdate(next: TurnProps): boolean {
    const { turn, around, agent, nowMs } = this.props;
    return (
      next.turn.stamp !== turn.stamp ||
      next.around !== around ||
      next.agent !== agent ||
      // Ages stand only beside proposals.
      (turn.actions.length > 0 && next.nowMs !== nowMs)
    );
  }

  override render(): VNode {
    const { turn, host, cards, page } = this.props;
    const own = turn.actions.flatMap((id) => cards.get(id) ?? []);
    return (
      <div class="turn" data-turn={turn.key} tabIndex={-1}>
        {turn.items.map((item) => (
          <ItemView key={item.key} item={item} {...this.props} />
        ))}
        <TurnBar host={host} cards={own} announce={page.announce} />
      </div>
    );
  }
}

function ItemView(props: TurnProps & { readonly item: Item }): VNode | null {
  const { item, acts, agent, host, page, cards, questions, processes, pinned, current, nowMs } = props;
  switch (item.kind) {
    case "you":
      return <You item={item} acts={acts} isPinned={pinned.has(item.id)} />;
    case "answer":
      return <Answer item={item} acts={acts} agent={agent} isPinned={pinned.has(item.id)} />;
    case "call":
      return <Call item={item} acts={acts} />;
    case "task": {
      const process = processes.get(item.process);
      return process === undefined ? null : <Task process={process} onShow={acts.showProcess} />;
    }
    case "conclusion": {
      const process = processes.get(item.process);
      return (
        <Conclusion item={item} acts={acts} name={process === undefined ? "a process" : nameOf(process)} />
      );
    }
    case "summary":
      return <Summary item={item} acts={acts} />;
    case "notice":
      return (
        <p class="line-note notice-line">
          <Icon name="bell" />
          <span>{line(item.text, 2_000)}</span>
        </p>
      );
    case "block":
      return (
        <Fold icon={<Icon name="pin" />} kind="block" words={`Changed the block “${line(item.name, 80)}”`}>
          {() => (
            <pre class="plain" tabIndex={0}>
              {item.text === "" ? "(empty)" : whole(item.text)}
            </pre>
          )}
        </Fold>
      );
    case "change":
      return <p class="line-note muted">{line(item.words, 400)}</p>;
    case "end":
      return <End item={item} />;
    case "action":
      return (
        <Proposal
          card={cards.get(item.ref)}
          agent={agent}
          state={item.state}
          nowMs={nowMs}
          isCurrent={current === item.ref}
          page={page}
        />
      );
    case "ask": {
      const question = questions.get(item.ref);
      if (question !== undefined) return <Asked host={host} question={question} announce={page.announce} />;
      return (
        <p class="line-note muted">
          {item.state === "Pending"
            ? "A question waits."
            : `A question: ${line(item.state.toLowerCase(), 40)}.`}
        </p>
      );
    }
  }
}
