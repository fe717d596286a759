import { maxGraphItems, type Item } from "./messages.ts";

export interface GraphNode {
  readonly id: string;
  /** Undefined for an item that is related but not among the results. */
  readonly item: Item | undefined;
  /** Steps from the one in the centre. */
  readonly ring: 0 | 1 | 2;
  readonly x: number;
  readonly y: number;
}
interface GraphEdge {
  readonly from: GraphNode;
  readonly to: GraphNode;
  readonly relation: string;
}
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/**
 * Returns the item in the centre, its related items around it, and their related items in the outer ring, near the
 * items they are related to. Coordinates are within [-1, 1]. At most `maxGraphItems` nodes.
 */
export function radialGraph(center: Item, found: readonly Item[]): Graph {
  const items = new Map(found.map((item) => [item.id, item]));
  items.set(center.id, center);
  const neighbours = neighboursOf([...items.values()]);
  const first = [...(neighbours.get(center.id) ?? [])].slice(0, maxGraphItems - 1);
  const placed = new Set([center.id, ...first]);
  const second = first.flatMap((parent) =>
    [...(neighbours.get(parent) ?? [])].filter((id) => {
      if (placed.has(id) || placed.size >= maxGraphItems) return false;
      placed.add(id);
      return true;
    }),
  );
  const nodes = [
    { id: center.id, item: center, ring: 0 as const, x: 0, y: 0 },
    ...onCircle(first, 1, second.length > 0 ? 0.5 : 0.8, items),
    ...onCircle(second, 2, 0.92, items),
  ];
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = nodes.flatMap((from) =>
    (from.item?.relations ?? []).flatMap(({ to, relation }): GraphEdge[] => {
      const target = byId.get(to);
      return target === undefined || target === from ? [] : [{ from, to: target, relation }];
    }),
  );
  return { nodes, edges };
}

/** In both directions: a relation that leads to this item is one of its relations, too. */
function neighboursOf(items: readonly Item[]): Map<string, Set<string>> {
  const neighbours = new Map<string, Set<string>>();
  const add = (from: string, to: string): void => {
    if (from !== to) neighbours.set(from, (neighbours.get(from) ?? new Set()).add(to));
  };
  for (const { id, relations } of items) {
    for (const { to } of relations) {
      add(id, to);
      add(to, id);
    }
  }
  return neighbours;
}

function onCircle(
  ids: readonly string[],
  ring: 1 | 2,
  radius: number,
  items: ReadonlyMap<string, Item>,
): GraphNode[] {
  return ids.map((id, index) => {
    // Begins at the top; the half step keeps the nodes of the two rings from overlapping.
    const angle = ((index + (ring === 2 ? 0.5 : 0)) / ids.length) * 2 * Math.PI - Math.PI / 2;
    return { id, item: items.get(id), ring, x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}
