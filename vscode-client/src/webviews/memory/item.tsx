import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../shared/format.ts";
import { failureOf, useAsked, useChanged } from "../shared/hooks.ts";
import { Failed, Notice } from "../shared/notice.tsx";
import { PathLinks } from "../shared/paths.tsx";
import { pageLabel } from "../shared/label.ts";
import { block, line } from "../shared/text.ts";
import { Data } from "./data.tsx";
import { RelationGraph } from "./graph.tsx";
import type { Item } from "./messages.ts";
import { radialGraph } from "./radial.ts";
import { titleOf } from "./title.ts";
import type { TabProps } from "./tab-props.ts";

interface DetailsProps extends Pick<TabProps, "host" | "whose"> {
  readonly item: Item;
  /** Shows another item, by its id. */
  onChoose(id: string): void;
  onForgotten(): void;
  onClose(): void;
}

/** One item of knowledge: its text, its relations, and a button to forget it. */
export function ItemDetails({ host, whose, item, onChoose, onForgotten, onClose }: DetailsProps): VNode {
  const { asked, again } = useAsked(host, "related", { ...whose, id: item.id });
  useChanged(host, asked, again);
  // Following relations leaves the search results; the item shown is then one of the related ones.
  const [path, setPath] = useState<readonly Item[]>([]);
  const [failure, setFailure] = useState<string>();
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), []);
  const related = asked.kind === "ready" ? asked.value.items : [];
  const shown = path.at(-1) ?? item;
  const byId = new Map([item, ...related].map((one) => [one.id, one]));
  const look = (id: string): void => {
    const found = byId.get(id);
    if (id === item.id) setPath([]);
    else if (found === undefined) onChoose(id);
    else setPath([...path, found]);
  };
  const forget = (): void => {
    host.ask("forget", { agent: whose.agent, id: shown.id, what: titleOf(shown).slice(0, 200) }).then(
      ({ done }) => {
        if (done) onForgotten();
      },
      (error: unknown) => setFailure(failureOf(error).message),
    );
  };
  return (
    <section ref={section} class="item-details" aria-label="The chosen item">
      <header>
        <span class="badge">
          <bdi>{pageLabel(shown.variant, 60)}</bdi>
        </span>
        <span class="quiet">importance {shown.importance.toFixed(2)}</span>
        <span class="grow" />
        {path.length > 0 && (
          <button type="button" class="link" onClick={() => setPath(path.slice(0, -1))}>
            Back
          </button>
        )}
        {whose.namespace === undefined && (
          <button type="button" class="link danger" onClick={forget}>
            Forget…
          </button>
        )}
        <button type="button" class="link" onClick={onClose}>
          Close
        </button>
      </header>
      {failure !== undefined && <Failed message={failure} />}
      {shown.text !== undefined && shown.text !== "" && (
        <p class="item-text">
          <bdi>{block(shown.text)}</bdi>
        </p>
      )}
      <PathLinks host={host} value={shown.data} />
      <Data data={shown.data} cut={shown.cut ?? false} />
      <h2>Relations</h2>
      {asked.kind === "loading" && <Notice kind="busy" title="Loading…" />}
      {asked.kind === "failed" && <Failed message={asked.message} again={again} />}
      {asked.kind === "ready" && <Relations center={shown} byId={byId} related={related} onLook={look} />}
      <p class="quiet mono">{line(shown.id, 128)}</p>
    </section>
  );
}

interface RelationsProps {
  readonly center: Item;
  readonly byId: ReadonlyMap<string, Item>;
  readonly related: readonly Item[];
  onLook(id: string): void;
}

function Relations({ center, byId, related, onLook }: RelationsProps): VNode {
  const graph = radialGraph(center, [...byId.values()]);
  if (graph.nodes.length <= 1) return <p class="quiet">It is related to nothing.</p>;
  const edges = graph.edges.filter(({ from, to }) => from.id === center.id || to.id === center.id);
  return (
    <>
      <RelationGraph graph={graph} onLook={onLook} />
      <ul class="relations" aria-label={counted(related.length, "related item")}>
        {edges.map(({ from, to, relation }) => {
          const other = from.id === center.id ? to : from;
          return (
            <li key={`${from.id} ${relation} ${to.id}`}>
              <span class="quiet">
                {from.id === center.id ? "→ " : "← "}
                <bdi>{pageLabel(relation, 60)}</bdi>
              </span>{" "}
              <button
                type="button"
                class="link"
                disabled={other.item === undefined}
                onClick={() => onLook(other.id)}
              >
                <bdi>{other.item === undefined ? pageLabel(other.id, 60) : titleOf(other.item)}</bdi>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
