import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Configuration } from "../documents/configuration.ts";
import { brokenDefinition } from "./broken-extensions.ts";
import type { CatalogSnapshot } from "./catalog-snapshot.ts";
import { definitionsOf } from "./definitions.ts";
import type { DefinitionContext } from "./definition-context.ts";
import type { InForce } from "./in-force.ts";

/** Returns all agents that the documents name, as if everything were accepted. */
export function namedAgents(snapshot: CatalogSnapshot, context: DefinitionContext): AgentDefinition[] {
  return [...definitionsOf(snapshot, snapshot.requests, context), ...brokenAgents(snapshot, context)];
}

/** Returns the agents that may run, and those that are only shown with the reason why they may not. */
export function agentsInForce(
  snapshot: CatalogSnapshot,
  inForce: Pick<InForce, "entries" | "waiting" | "requests"> & {
    readonly configuration: Configuration;
    /** Extensions that the person has not allowed. */
    readonly declined: ReadonlySet<string>;
  },
  context: DefinitionContext,
): AgentDefinition[] {
  const { configuration, entries, waiting, requests, declined } = inForce;
  return [
    ...definitionsOf({ entries, configuration }, requests, context),
    ...definitionsOf({ entries: waiting, configuration }, snapshot.requests, context).map((definition) =>
      waitingAgent(definition, declined.has(definition.id)),
    ),
    ...brokenAgents(snapshot, context),
  ];
}

/** Shown, so that the person sees why it does nothing; never started. */
function waitingAgent(definition: AgentDefinition, isDeclined: boolean): AgentDefinition {
  return {
    ...definition,
    authority: { ...definition.authority, effective: {}, locations: [], namespaces: {} },
    bundleDigest: null,
    // No events are queued for it meanwhile. It receives the existing entries once it is allowed to.
    hooks: definition.hooks.map((hook) => ({ ...hook, accepts: () => ({ passed: false }) })),
    fault: isDeclined
      ? "You have not allowed it. You can allow it, or parts of what it asks for, at any time."
      : "It waits for a person to accept what it asks for, or its changed program.",
    awaiting: "acceptance",
  };
}

function brokenAgents(
  { broken, configuration }: CatalogSnapshot,
  context: DefinitionContext,
): AgentDefinition[] {
  return broken.map((extension) => brokenDefinition(extension, configuration, context));
}
