import { isoTime, type Clock } from "../base/clock.ts";
import { LaresError, messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import { bothForeign, type Foreign, nothingForeign } from "../base/vocabulary/foreign.ts";
import {
  type Change,
  type InterceptAnswer,
  interceptBounds,
  type InterceptedCall,
  type MindInterception,
  type MindPlace,
  type Refusal,
  type ShownContext,
} from "../base/vocabulary/interception.ts";
import type { InterceptedEvent } from "../base/vocabulary/mind-events.ts";
import {
  begunAt,
  type Lineage,
  ownAccord,
  processKey,
  type ProcessPrincipal,
  withSources,
} from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { inGrantedScope } from "../policy/decide.ts";
import type { HearingIndex } from "../policy/hearing.ts";
import { reachableHosts } from "../policy/outside.ts";
import { type InterceptingAgent, type Interceptor, interceptorsOf } from "./interceptors.ts";
import { Seen } from "./withheld.ts";

interface InterceptionPorts extends HearingIndex {
  readonly clock: Clock;
  /** The agents that are enabled. */
  agents(): Iterable<InterceptingAgent>;
  /** Returns what is wrong with an answer to an event, as a sentence; null if it has the right form. */
  faultOf(event: InterceptedEvent, answer: unknown): string | null;
}

/** An action that was planned and is not stored yet. */
interface PlannedAction {
  readonly action: Action;
  readonly lineage: Pick<Lineage, "onBehalfOf" | "begun">;
}

type Fields = Record<string, unknown>;

/** One interceptor's answer, or the reason why there is none. */
type Heard =
  | ((
      | { readonly answer: InterceptAnswer }
      | /** Completes "the interceptor … ". */ { readonly failure: string }
    ) & {
      /** Texts that nobody vouches for and that the interceptor has read. */
      readonly foreign: Foreign;
    })
  /** The event does not pass the hook's filter. */
  | null;

/** Asks the extensions that may intercept a mind, one after the other, before something of it takes effect. */
export class Interception implements MindInterception {
  readonly #ports: InterceptionPorts;

  constructor(ports: InterceptionPorts) {
    this.#ports = ports;
  }

  isAsked(event: InterceptedEvent, agent: string): boolean {
    return interceptorsOf(this.#ports.agents(), event, agent) !== null;
  }

  userInput(place: MindPlace, text: string): Promise<readonly Change<string>[]> | null {
    const asked = this.#asked("UserInput", place);
    return (
      asked &&
      this.#changes(asked, place, "UserInput", text, {
        fields: (now, seen, by) => seen.input(now, by),
        read: ({ text: changed }, now, { withheld }) => {
          if (changed === undefined || changed === now) return null;
          if (withheld === true) throw new Error("it cannot change a text that it may not read.");
          return changed.toWellFormed();
        },
      })
    );
  }

  context(place: MindPlace, shown: () => ShownContext): Promise<readonly Change<readonly string[]>[]> | null {
    const asked = this.#asked("Context", place);
    if (asked === null) return null;
    const now = shown();
    return this.#changes<readonly string[]>(asked, place, "Context", [], {
      fields: (_added, seen) => seen.context(now),
      read: ({ add = [] }) => (add.length === 0 ? null : add.map((text) => text.toWellFormed())),
    });
  }

  beforeToolCall(place: MindPlace, call: InterceptedCall): Promise<Refusal | null> | null {
    const asked = this.#asked("BeforeToolCall", place);
    return asked && this.#refusal(asked, place, "BeforeToolCall", (seen) => seen.call(call));
  }

  afterToolCall(
    place: MindPlace,
    call: InterceptedCall,
    result: ToolResult,
  ): Promise<readonly Change<ToolResult>[]> | null {
    const asked = this.#asked("AfterToolCall", place);
    return (
      asked &&
      this.#changes(asked, place, "AfterToolCall", result, {
        fields: (now, seen, by) => seen.result(call, now, by),
        read: ({ result: changed }, now) => {
          if (changed === undefined) return null;
          // A person waits for the action, whatever an interceptor says of it.
          if (now.status === "needs_approval")
            throw new Error("it cannot change the result of a call that waits for a person.");
          if (JSON.stringify(changed).length > interceptBounds.result)
            throw new Error(`its result has more than ${interceptBounds.result} characters of JSON.`);
          return changed;
        },
      })
    );
  }

  async #instructions(
    asked: readonly Interceptor[],
    place: MindPlace,
    covers: readonly [number, number],
  ): Promise<Refusal | { readonly instructions: readonly Change<string>[] }> {
    const instructions: Change<string>[] = [];
    for (const interceptor of asked) {
      const heard = await this.#ask(interceptor, place, "BeforeCompact", () => ({ covers }));
      const refusal = refusalOf(interceptor, heard);
      if (refusal !== null) return this.#refused(interceptor, "BeforeCompact", refusal);
      const text = heard !== null && "answer" in heard ? heard.answer.custom_instructions : undefined;
      if (heard !== null && text !== undefined)
        instructions.push(this.#change(interceptor, "BeforeCompact", text.toWellFormed(), heard.foreign));
    }
    return { instructions };
  }

  beforeCompact(
    place: MindPlace,
    covers: readonly [number, number],
  ): Promise<Refusal | { readonly instructions: readonly Change<string>[] }> | null {
    const asked = this.#asked("BeforeCompact", place);
    return asked && this.#instructions(asked, place, covers);
  }

  /**
   * Asks about an action that a process of a mind caused. Returns null if there is nobody to ask; rejects with
   * PermissionDenied, naming the interceptor, if one refuses it.
   */
  beforeAction({ lineage: { onBehalfOf, begun = {} }, action }: PlannedAction): Promise<void> | null {
    let asking: Promise<void> | null = null;
    for (const actor of onBehalfOf) {
      if (actor.kind !== "process") continue;
      const { agent, conversation, process: kind, id: process = "" } = actor;
      const place = {
        agent,
        conversation,
        process,
        kind,
        begun: begun[processKey(actor)] ?? newId(),
        sources: action.sources ?? [],
        // Its effects show contents of files.
        holdsForeign: true,
      };
      const asked = this.#asked("BeforeAction", place);
      if (asked === null) continue;
      const ask = async (): Promise<void> => {
        const refusal = await this.#refusal(asked, place, "BeforeAction", (seen) => seen.action(action));
        if (refusal !== null) throw new LaresError("PermissionDenied", refusal.value, { by: refusal.by });
      };
      asking = asking === null ? ask() : asking.then(ask);
    }
    return asking;
  }

  #asked(event: InterceptedEvent, { agent }: MindPlace): readonly Interceptor[] | null {
    return interceptorsOf(this.#ports.agents(), event, agent);
  }

  /** Asks one after the other until one refuses or fails. */
  async #refusal(
    asked: readonly Interceptor[],
    place: MindPlace,
    event: InterceptedEvent,
    fields: (seen: Seen) => Record<string, unknown>,
  ): Promise<Refusal | null> {
    for (const interceptor of asked) {
      const heard = await this.#askWith(interceptor, place, event, fields);
      const refusal = refusalOf(interceptor, heard);
      if (refusal !== null) return this.#refused(interceptor, event, refusal);
    }
    return null;
  }

  /** Asks one after the other; each is told what the earlier ones made of the value. Failures change nothing. */
  async #changes<Value>(
    asked: readonly Interceptor[],
    place: MindPlace,
    event: InterceptedEvent,
    value: Value,
    {
      fields,
      read,
    }: {
      /** `by`: those that have changed the value. */
      readonly fields: (now: Value, seen: Seen, by: readonly string[]) => Fields;
      /**
       * Returns the changed value; null for none. `told`: the fields of the event. Throws a sentence that begins with "it".
       */
      readonly read: (answer: InterceptAnswer, now: Value, told: Fields) => Value | null;
    },
  ): Promise<readonly Change<Value>[]> {
    const changes: Change<Value>[] = [];
    let now = value;
    for (const interceptor of asked) {
      const by = changes.map((change) => change.by);
      let told: Fields = {};
      const heard = await this.#askWith(interceptor, place, event, (seen) => (told = fields(now, seen, by)));
      if (heard === null) continue;
      let failure = "failure" in heard ? heard.failure : null;
      if ("answer" in heard)
        try {
          const changed = read(heard.answer, now, told);
          if (changed === null) continue;
          now = changed;
          changes.push(this.#change(interceptor, event, changed, heard.foreign));
        } catch (error) {
          failure = messageOf(error);
        }
      if (failure !== null)
        interceptor.agent.trace("warn", `${event} continued unchanged: ${failure}`, {
          conversation: place.conversation,
        });
    }
    return changes;
  }

  #askWith(
    interceptor: Interceptor,
    place: MindPlace,
    event: InterceptedEvent,
    fields: (seen: Seen) => Record<string, unknown>,
  ): Promise<Heard> {
    const { authority } = interceptor.agent.definition;
    return this.#ask(interceptor, place, event, () => {
      const all = [...this.#ports.agents()].map((agent) => agent.definition.authority);
      return fields(new Seen(authority, this.#ports, all, place));
    });
  }

  async #ask(
    { agent, hook }: Interceptor,
    place: MindPlace,
    name: InterceptedEvent,
    fields: () => Record<string, unknown>,
  ): Promise<Heard> {
    const { definition } = agent;
    const { agent: mind, conversation, process, kind, begun, sources } = place;
    let foreign = nothingForeign;
    try {
      const event: LaresEvent = {
        ...fields(),
        agent: mind,
        conversation,
        process,
        id: newId(),
        name,
        timestamp: isoTime(this.#ports.clock.now()),
      };
      const { passed, error } = hook.accepts(event, (path) => inGrantedScope(definition.authority, path));
      if (error !== undefined)
        agent.trace("warn", `the filter of ${hook.handler} failed: ${error}`, { filter: hook.filter });
      if (!passed) return null;
      const principal: ProcessPrincipal = {
        kind: "process",
        process: kind,
        agent: mind,
        conversation,
        ...(process === "" ? {} : { id: process }),
        // The interceptor reads what the conversation has read.
        lineage: withSources(ownAccord, sources),
      };
      const asking = begunAt(principal, begun);
      const hear = (more: Foreign): void => void (foreign = bothForeign(foreign, more));
      const answer = (await agent.intercept(hook.handler, event, asking, hear)) ?? {};
      const fault = this.#ports.faultOf(name, answer);
      return fault === null
        ? { answer, foreign }
        : { failure: `its answer was not understood: ${fault}`, foreign };
    } catch (error) {
      return { failure: messageOf(error), foreign };
    }
  }

  #refused(interceptor: Interceptor, event: InterceptedEvent, { message, foreign }: Refused): Refusal {
    interceptor.agent.trace("info", `${event} was refused: ${message}`);
    return saidBy(interceptor, message, foreign);
  }

  #change<Value>(
    interceptor: Interceptor,
    event: InterceptedEvent,
    value: Value,
    foreign: Foreign,
  ): Change<Value> {
    interceptor.agent.trace("info", `${event} was changed`, event === "Context" ? { added: value } : {});
    return saidBy(interceptor, value, foreign);
  }
}

/**
 * Returns what an interceptor gave with its origin. It never counts as said by the person. The interceptor may give
 * whatever it has read, in this conversation or before.
 */
function saidBy<Value>({ agent }: Interceptor, value: Value, foreign: Foreign): Change<Value> {
  const { id, authority } = agent.definition;
  const read = Object.keys(foreign);
  if (reachableHosts(authority).length > 0)
    return { by: id, value, origin: "web", isTainted: true, sources: [...new Set([`agent:${id}`, ...read])] };
  const by = { by: id, value, origin: `agent:${id}` };
  return read.length === 0 ? { ...by, isTainted: false } : { ...by, isTainted: true, sources: read };
}

/** Why something does not happen, in words that an interceptor may have chosen. */
interface Refused {
  readonly message: string;
  readonly foreign: Foreign;
}

/** Characters of a failure that a model reads. */
const maxFailureCharacters = 1_000;

/** Returns why something does not happen, as a sentence: the interceptor refuses it, or did not answer. */
function refusalOf({ agent }: Interceptor, heard: Heard): Refused | null {
  if (heard === null) return null;
  const by = agent.definition.id;
  const { foreign } = heard;
  if ("failure" in heard) {
    const failure = heard.failure.slice(0, maxFailureCharacters).toWellFormed();
    return { message: `${by} has to be asked first, and did not answer as it should: ${failure}`, foreign };
  }
  const { cancel } = heard.answer;
  return cancel === undefined ? null : { message: `${by} refused it: ${cancel.toWellFormed()}`, foreign };
}
