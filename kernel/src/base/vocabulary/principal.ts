/** The tool calls that led to a request. */
export interface Lineage {
  /** The agents on whose behalf the request is made, each once: the caller, the caller's caller, and so on. */
  readonly onBehalfOf: readonly string[];
  /** The number of nested calls; 0 if there was no call. */
  readonly depth: number;
}

/** The originator of a request. */
export type Principal =
  /** A person, using a trusted client. */
  { readonly kind: "person" } | { readonly kind: "agent"; readonly id: string; readonly lineage: Lineage };

/** The number of tool calls that may be nested. */
export const maxCallDepth = 8;

/** The lineage of what an agent does without having been called. */
export const ownAccord: Lineage = { onBehalfOf: [], depth: 0 };

/** Returns the lineage of what is done in answer to a call by the principal. */
export function lineageUnder(principal: Principal): Lineage {
  if (principal.kind === "person") return { onBehalfOf: [], depth: 1 };
  const { id, lineage } = principal;
  return { onBehalfOf: [...new Set([id, ...lineage.onBehalfOf])], depth: lineage.depth + 1 };
}

/** Returns the lineage for work under several calls at once: it acts on behalf of all their agents. */
export function commonLineage(lineages: Iterable<Lineage>): Lineage {
  const all = [...lineages];
  if (all.length === 0) return ownAccord;
  return {
    onBehalfOf: [...new Set(all.flatMap(({ onBehalfOf }) => onBehalfOf))],
    depth: Math.max(...all.map(({ depth }) => depth)),
  };
}
