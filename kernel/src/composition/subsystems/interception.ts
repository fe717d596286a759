import type { Deliveries } from "../../agents/lifecycle/deliveries.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import { interceptAnswers } from "../../base/vocabulary/interception.ts";
import { interceptedEvents } from "../../base/vocabulary/mind-events.ts";
import { mindEventTypes } from "../../events/mind-events.ts";
import { Announcer } from "../../interception/announcer.ts";
import { Interception } from "../../interception/interception.ts";
import type { HearingIndex } from "../../policy/hearing.ts";
import type { Statement } from "../../platform/database/database.ts";
import { validate } from "../../protocol/validate.ts";
import type { Workspace } from "../../workspace/ports.ts";
import type { KernelContext } from "./kernel-context.ts";

/** Opens what asks extensions about minds, and tells them of conversations. */
export function openInterception(
  { clock, log, opened }: KernelContext,
  {
    agents,
    deliveries,
    workspace,
  }: {
    readonly agents: AgentRoster;
    readonly deliveries: Deliveries<Statement>;
    readonly workspace: Workspace;
  },
): { readonly interception: Interception; readonly announcer: Announcer } {
  const listening = () => agents.listening();
  const index: HearingIndex = {
    isEntry: (path) => workspace.get({ path }, () => true) !== null,
    hides: (path) => workspace.view.hides(path),
  };
  const interception = new Interception({
    ...index,
    clock,
    agents: listening,
    faultOf: (event, answer) => validate(interceptAnswers[event], answer, "answer")?.message ?? null,
  });
  const names: ReadonlySet<string> = new Set(interceptedEvents);
  const plain = new Set(mindEventTypes.map(({ name }) => name).filter((name) => !names.has(name)));
  const announcer = opened.use(
    new Announcer({
      ...index,
      clock,
      log,
      agents: listening,
      isPlainEvent: (name) => plain.has(name),
      tell: (agent, events) => deliveries.tellOfMind(agent, events),
    }),
  );
  return { interception, announcer };
}
