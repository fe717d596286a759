import { readShown, sightStatements } from "../../agent-state/shown-locations.ts";
import { Deliveries } from "../../agents/lifecycle/deliveries.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import { isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { eventOfChange } from "../../events/changes.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { Database, Statement } from "../../platform/database/database.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { KernelWorkspace } from "./workspace.ts";

interface DeliveryParts {
  readonly database: Database;
  readonly inbox: Inbox;
  readonly agents: AgentRoster;
  readonly index: KernelWorkspace;
}

/** Opens what delivers events to agents. Changes of the index are stored together with their deliveries from now on. */
export async function openDeliveries(
  { clock }: Pick<KernelContext, "clock">,
  { database, inbox, agents, index }: DeliveryParts,
): Promise<Deliveries<Statement>> {
  const { workspace } = index;
  const deliveries = new Deliveries<Statement>({
    clock,
    agents,
    queue: inbox,
    eventOf: (change) => eventOfChange(change, { id: newId(), timestamp: isoTime(clock.now()) }),
    enqueue: (routed) => inbox.prepare(routed),
    commit: async (statements) => void (statements.length > 0 && (await database.batch(statements))),
    sightStatements,
    ...(await readShown(database)),
    isEntry: (path) => workspace.get({ path }, () => true) !== null,
    hides: (path) => workspace.view.hides(path),
    allEntries: () => workspace.allEntries(),
  });
  index.storeWithChanges((changes) => deliveries.deliver(changes));
  return deliveries;
}
