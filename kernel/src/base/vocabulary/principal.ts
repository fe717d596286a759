import { maxSources, otherSources } from "./bounds.ts";
import { Type, type Static } from "typebox";
import { LaresError } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import { closed } from "./common.ts";

const kind = { description: "The kind of actor" };

export const ProcessKind = Type.Union(
  [
    Type.Literal("channel", { description: "Talks to the person" }),
    Type.Literal("branch", { description: "Thinks about one question of its channel" }),
    Type.Literal("worker", { description: "Does one task" }),
    Type.Literal("compaction", { description: "Summarises what no longer fits into the context" }),
    Type.Literal("cortex", { description: "Looks after all conversations of its mind" }),
  ],
  { description: "What a process of a mind does" },
);
export type ProcessKind = Static<typeof ProcessKind>;

export const Actor = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal("person", kind),
        client: Type.Optional(
          Type.String({ description: "The name that the person's client gave itself, if it gave one" }),
        ),
      },
      { ...closed, description: "A person at a client" },
    ),
    Type.Object(
      { kind: Type.Literal("agent", kind), id: Type.String({ description: "The agent's id" }) },
      { ...closed, description: "An agent" },
    ),
    Type.Object(
      {
        kind: Type.Literal("process", kind),
        process: ProcessKind,
        agent: Type.String({ description: "The id of the agent whose mind it belongs to" }),
        conversation: Type.String({ description: "The conversation's id" }),
        id: Type.Optional(Type.String({ description: "The id of the process in the conversation" })),
      },
      { ...closed, description: "A process of an agent's mind" },
    ),
    Type.Object(
      {
        kind: Type.Literal("schedule", kind),
        agent: Type.String({ description: "The id of the agent whose schedule it is" }),
        schedule: Type.String({
          description: "Which of the agent's schedules: its handler, and when it is due",
        }),
      },
      { ...closed, description: "A schedule of an agent" },
    ),
    Type.Object({ kind: Type.Literal("kernel", kind) }, { ...closed, description: "The kernel, by itself" }),
  ],
  { description: "Who acts, or causes something" },
);
/** The principal that acts, or causes something. `policy/principals.ts` decides whose authority bounds it. */
export type Actor = Static<typeof Actor>;
type Person = Extract<Actor, { kind: "person" }>;

/** Actors that a trace or an action names. */
export const maxNamed = 32;

/** The principals that led to something, as it is reported. */
export const OnBehalfOf = (description: string) =>
  Type.Array(Actor, { minItems: 1, maxItems: maxNamed, description });

/** What led to a request. */
export interface Lineage {
  /** On whose behalf the request is made, each once: the caller, the caller's caller, and so on. */
  readonly onBehalfOf: readonly Actor[];
  /** The number of nested calls; 0 if there was no call. */
  readonly depth: number;
  /** Texts that nobody vouches for and that led to it, by where they come from; absent if there is none. */
  readonly sources?: readonly string[];
  /** For each process that led to it, by `processKey`: when its work began, as an id that sorts by time. */
  readonly begun?: Readonly<Record<string, string>>;
}

/** The originator of a request, and what led to it. */
export type Principal = Actor & { readonly lineage: Lineage };

/** A process of an agent's mind, and what led to its request. */
export type ProcessPrincipal = Extract<Actor, { kind: "process" }> & { readonly lineage: Lineage };

/** Who may make requests in an agent's name: a process of its mind, or a person who repeats what it proposed. */
export type PersonOrProcess = ProcessPrincipal | (Person & { readonly lineage: Lineage });

/** The number of tool calls that may be nested. */
export const maxCallDepth = 8;

/** Maximum number of agents in a chain of calls, including the first caller and the last callee. */
export const maxChainAgents = 8;

/** The lineage of what is done without a cause. */
export const ownAccord: Lineage = { onBehalfOf: [], depth: 0 };

/** True if nobody led to it. */
export function isOwnAccord({ onBehalfOf, depth, sources = [] }: Lineage): boolean {
  return onBehalfOf.length === 0 && depth === 0 && sources.length === 0;
}

/** Returns the lineage with further texts that led to it. */
export function withSources(lineage: Lineage, sources: readonly string[]): Lineage {
  if (sources.length === 0) return lineage;
  const all = [...new Set([...(lineage.sources ?? []), ...sources])];
  const named = all.length <= maxSources ? all : [...all.slice(0, maxSources - 1), otherSources];
  return { ...lineage, sources: named };
}

/** A client's name is shown to people; more of it is cut. */
const maxClientCharacters = 64;

/** Returns a name for a process that is unique across conversations. */
export function processKey({ conversation, id = "" }: Pick<ProcessPrincipal, "conversation" | "id">): string {
  return `${conversation} ${id}`;
}

/** Returns the process with the time at which its present work began. `at`: an id by `newId`. */
export function begunAt(process: ProcessPrincipal, at: string): ProcessPrincipal {
  const begun = { ...process.lineage.begun, [processKey(process)]: at };
  return { ...process, lineage: { ...process.lineage, begun } };
}

/** Returns when the work of each process began: the earliest time that the lineages name. */
function earliest(lineages: readonly Lineage[]): Pick<Lineage, "begun"> {
  const begun: Record<string, string> = {};
  for (const lineage of lineages)
    for (const [process, at] of Object.entries(lineage.begun ?? {})) {
      const known = begun[process];
      if (known === undefined || at < known) begun[process] = at;
    }
  return Object.keys(begun).length === 0 ? {} : { begun };
}

/** Returns the person at a client that called itself so. */
export function personAt(client?: string): Person & Principal {
  const name = client?.slice(0, maxClientCharacters).toWellFormed();
  return {
    kind: "person",
    ...(name === undefined || name === "" ? {} : { client: name }),
    lineage: ownAccord,
  };
}

/** Returns the lineage of what is done in answer to a call by the principal. */
export function lineageUnder({ lineage, ...actor }: Principal): Lineage {
  const { onBehalfOf } = lineage;
  return { ...lineage, onBehalfOf: eachOnce([actor, ...onBehalfOf]), depth: lineage.depth + 1 };
}

/** Returns the lineage for work under several of them at once: it is done on behalf of all of them. */
export function commonLineage(lineages: Iterable<Lineage>): Lineage {
  let only = ownAccord;
  const several: Lineage[] = [];
  for (const lineage of lineages) {
    if (lineage === ownAccord) continue;
    // Nearly all work has one cause or none.
    if (only !== ownAccord) several.push(lineage);
    else only = lineage;
  }
  if (several.length === 0) return only;
  several.unshift(only);
  return withSources(
    {
      onBehalfOf: eachOnce(several.flatMap(({ onBehalfOf }) => onBehalfOf)),
      depth: Math.max(...several.map(({ depth }) => depth)),
      ...earliest(several),
    },
    several.flatMap(({ sources = [] }) => sources),
  );
}

/** Returns the lineage of what an actor caused without calling anybody. */
export function causedBy(actor: Actor | undefined): Lineage {
  return actor === undefined ? ownAccord : { onBehalfOf: [actor], depth: 0 };
}

/** Returns who led to something, as traces and actions name it. */
export function onBehalfField(onBehalfOf: readonly Actor[]): { readonly on_behalf_of?: Actor[] } {
  return onBehalfOf.length === 0 ? {} : { on_behalf_of: onBehalfOf.slice(0, maxNamed) };
}

/** Returns words for an actor: on one line, names that others chose in quotes, a client's left out. */
export function actorWords(actor: Actor): string {
  switch (actor.kind) {
    case "person":
      return "a person";
    case "agent":
      return actor.id;
    case "process":
      return `the ${actor.process} of ${actor.agent} in the conversation ${JSON.stringify(actor.conversation)}`;
    case "schedule":
      return `the schedule ${JSON.stringify(actor.schedule)} of ${actor.agent}`;
    case "kernel":
      return "the kernel";
  }
}

/** Returns the sentence that names who led to an action, the nearest first; its names are not made visible. */
export function requestedBySentence(onBehalfOf: readonly Actor[]): string {
  return `Requested by ${onBehalfOf.map(actorWords).join(", on behalf of ")}.`;
}

/** Returns the same as lines of a question about an action: none if nobody led to it. */
export function requestedByLines({
  on_behalf_of: who,
}: {
  readonly on_behalf_of?: readonly Actor[];
}): string[] {
  return who === undefined ? [] : [requestedBySentence(who)];
}

/** Returns the name under which a guest sees whoever calls its tool. A schedule calls as its agent. */
export function callerName(actor: Actor): string {
  switch (actor.kind) {
    case "person":
      return "user";
    case "agent":
      return actor.id;
    case "process":
      return "model";
    case "schedule":
      return actor.agent;
    case "kernel":
      return "kernel";
  }
}

/**
 * Returns a stored lineage. Earlier kernels stored the ids of agents alone. Throws if it has another form: what is not
 * understood must not widen what is done under it.
 */
export function readLineage(stored: unknown): Lineage {
  if (!isJsonObject(stored) || !Array.isArray(stored["onBehalfOf"]) || typeof stored["depth"] !== "number")
    throw new TypeError("It is not a lineage.");
  const onBehalfOf = stored["onBehalfOf"].map((one: unknown): Actor => {
    if (typeof one === "string") return { kind: "agent", id: one };
    if (!isActor(one)) throw new TypeError("It names somebody of an unknown kind.");
    return one;
  });
  const { sources = [], begun = {} } = stored;
  if (!Array.isArray(sources) || !sources.every((source) => typeof source === "string"))
    throw new TypeError("Its sources are not texts.");
  if (!isJsonObject(begun) || !Object.values(begun).every((at) => typeof at === "string"))
    throw new TypeError("It does not say when its processes began.");
  const times = Object.keys(begun).length === 0 ? {} : { begun: begun as Record<string, string> };
  return withSources({ onBehalfOf, depth: stored["depth"], ...times }, sources);
}

function isActor(value: unknown): value is Actor {
  if (!isJsonObject(value)) return false;
  const has = (...fields: readonly string[]): boolean =>
    fields.every((field) => typeof value[field] === "string");
  switch (value["kind"]) {
    case "person":
    case "kernel":
      return true;
    case "agent":
      return has("id");
    case "process":
      return has("process", "agent", "conversation");
    case "schedule":
      return has("agent", "schedule");
    default:
      return false;
  }
}

function eachOnce(actors: readonly Actor[]): Actor[] {
  return [...new Map(actors.map((actor) => [JSON.stringify(actor), actor])).values()];
}

/** Throws PermissionDenied unless a person asks. `what` completes "Only a person can". */
export function checkPerson(by: Principal, what: string): asserts by is Person & Principal {
  if (by.kind !== "person") throw new LaresError("PermissionDenied", `Only a person can ${what}.`);
}
