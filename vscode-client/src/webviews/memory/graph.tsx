import type { VNode } from "preact";
import { counted } from "../shared/format.ts";
import { pageLabel } from "../shared/label.ts";
import type { Graph, GraphNode } from "./radial.ts";
import { titleOf } from "./title.ts";

/** Half of the picture's side, in its own units. */
const half = 100;

/** The number of neighbours up to which names are drawn. */
const maxNamed = 5;

interface GraphProps {
  readonly graph: Graph;
  onLook(id: string): void;
}

/** Draws items as dots and relations as lines; the list beside it has the same contents for screen readers. */
export function RelationGraph({ graph: { nodes, edges }, onLook }: GraphProps): VNode {
  // With more of them the names would overlap; the list has them all.
  const isRoomy = nodes.filter(({ ring }) => ring === 1).length <= maxNamed;
  return (
    <svg
      class="graph"
      viewBox={`${-half - 8} ${-half - 8} ${2 * half + 16} ${2 * half + 16}`}
      role="img"
      aria-label={`${counted(nodes.length - 1, "item")} related by ${counted(edges.length, "relation")}; listed below`}
    >
      {edges.map(({ from, to, relation }) => (
        <line
          key={`${from.id} ${relation} ${to.id}`}
          class={`edge edge-${kindOf(relation)}`}
          x1={from.x * half}
          y1={from.y * half}
          x2={to.x * half}
          y2={to.y * half}
        >
          <title>{pageLabel(relation, 60)}</title>
        </line>
      ))}
      {nodes.map((node) => (
        <g
          key={node.id}
          class={`node ring-${node.ring}${node.item === undefined ? " unknown" : ""}`}
          transform={`translate(${(node.x * half).toFixed(1)} ${(node.y * half).toFixed(1)})`}
          onClick={() => node.item !== undefined && onLook(node.id)}
        >
          <title>{nameOf(node)}</title>
          <circle r={node.ring === 0 ? 8 : 4 + 3 * (node.item?.importance ?? 0)} />
          {node.ring === 1 && isRoomy && (
            <text
              y={node.y < 0 ? -10 : 16}
              text-anchor={node.x < -0.3 ? "start" : node.x > 0.3 ? "end" : "middle"}
            >
              {pageLabel(nameOf(node), 18)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

const nameOf = ({ id, item }: GraphNode): string => (item === undefined ? pageLabel(id, 60) : titleOf(item));

/** Relations with a special meaning have their own line style. */
function kindOf(relation: string): string {
  switch (relation) {
    case "Contradicts":
      return "against";
    case "Updates":
      return "updates";
    default:
      return "plain";
  }
}
