import type { Action } from "../base/vocabulary/action.ts";

interface ActionList {
  /** Returns actions, newest first; with `before`, those that were created before that one. */
  list(query: { state: "PendingApproval"; before?: string; limit: number }): Promise<readonly Action[]>;
}

const pageLength = 1_000;

/** Returns the ids of the waiting actions that processes of a conversation led to. `processes`: null for all of them. */
export async function waitingOf(
  actions: ActionList,
  conversation: string,
  processes: ReadonlySet<string> | null,
): Promise<readonly string[]> {
  const isOf = ({ on_behalf_of: causes = [] }: Action): boolean =>
    causes.some(
      (actor) =>
        actor.kind === "process" &&
        actor.conversation === conversation &&
        (processes === null || processes.has(actor.id ?? "")),
    );
  const found: string[] = [];
  let page = await actions.list({ state: "PendingApproval", limit: pageLength });
  while (page.length > 0) {
    found.push(...page.filter(isOf).map(({ id }) => id));
    const { id: before } = page.at(-1) as Action;
    page = await actions.list({ state: "PendingApproval", before, limit: pageLength });
  }
  return found;
}
