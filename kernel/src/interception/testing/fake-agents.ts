import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { AgentDefinition, HookDefinition } from "../../base/vocabulary/agent-definition.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import { interceptAnswers, type MindPlace, type ShownContext } from "../../base/vocabulary/interception.ts";
import { interceptedEvents } from "../../base/vocabulary/mind-events.ts";
import type { ModelMessage } from "../../base/vocabulary/model.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { ProcessPrincipal } from "../../base/vocabulary/principal.ts";
import { validate } from "../../protocol/validate.ts";
import { Interception } from "../interception.ts";
import type { InterceptingAgent } from "../interceptors.ts";

export const place: MindPlace = {
  agent: "dev.mind",
  conversation: "c1",
  process: "p1",
  kind: "channel",
  begun: "b1",
  holdsForeign: false,
  sources: [],
};

export const shown = (messages: readonly ModelMessage[], more: Partial<ShownContext> = {}): ShownContext => ({
  messages,
  begins: 0,
  changed: [],
  ...more,
});

/** An agent whose hooks on all events that can be intercepted answer alike. */
export class FakeAgent implements InterceptingAgent {
  readonly definition: AgentDefinition;
  readonly asked: { event: LaresEvent; principal: ProcessPrincipal }[] = [];
  readonly traced: string[] = [];
  readonly #answer: (event: LaresEvent) => unknown;
  readonly #foreign: Foreign;

  constructor(
    id: string,
    answer: (event: LaresEvent) => unknown,
    {
      order = 100,
      authority = {},
      filter = () => true,
      foreign = {},
    }: {
      readonly order?: number;
      readonly authority?: Partial<Authority>;
      readonly filter?: (event: LaresEvent) => boolean;
      readonly foreign?: Foreign;
    } = {},
  ) {
    this.#answer = answer;
    this.#foreign = foreign;
    const hooks = interceptedEvents.map((on): HookDefinition => ({
      handler: "ask",
      on,
      intercept: { order },
      accepts: (event) => ({ passed: filter(event) }),
    }));
    this.definition = { id, hooks, authority: authorityOf(id, authority) } as unknown as AgentDefinition;
  }

  async intercept(
    _handler: string,
    event: LaresEvent,
    principal: ProcessPrincipal,
    hear: (foreign: Foreign) => void,
  ): Promise<unknown> {
    this.asked.push({ event, principal });
    hear(this.#foreign);
    return await this.#answer(event);
  }

  trace(_level: string, message: string): void {
    this.traced.push(message);
  }
}

function authorityOf(id: string, change: Partial<Authority>): Authority {
  return {
    extension: id,
    requested: {},
    effective: { read_entries: true, intercept: ["dev.mind"] },
    denied: [],
    locations: ["."],
    protectedPaths: [],
    forbiddenPaths: [],
    memory: true,
    namespaces: {},
    ...change,
  };
}

/** The room with these agents, in a workspace that has these files. */
export function interceptionOf(
  agents: readonly InterceptingAgent[],
  files: readonly string[] = [],
): Interception {
  return new Interception({
    clock: new ManualClock(0),
    agents: () => agents,
    faultOf: (event, answer) => validate(interceptAnswers[event], answer, "answer")?.message ?? null,
    isEntry: (path) => files.includes(path),
    hides: () => false,
  });
}
