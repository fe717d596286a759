import { expect, it } from "vitest";
import { nextTurn } from "../base/next-turn.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { Announcer } from "./announcer.ts";
import { eventsOfDelta, eventsOfEntry, type Known, nothingKnown } from "./plain-events.ts";

let seq = 0;
const quiet = {
  clock: new ManualClock(0),
  log: { warn: () => undefined, error: () => undefined } as never,
  isEntry: () => false,
  hides: () => false,
};
const entry = (fields: object): Entry =>
  ({
    seq: ++seq,
    id: `e${seq}`,
    conversation: "c",
    process: "p",
    origin: "model",
    turn: "t",
    created: "",
    ...fields,
  }) as Entry;
const process = (state: string, id = "p"): Entry =>
  entry({ kind: "process", process: id, value: { id, kind: "channel", state } });
const request = (message: string, model = "m"): Entry =>
  entry({ kind: "request", message, model, attempt: 1 });
const message = (id: string, fields: object = {}): Entry =>
  entry({ kind: "message", id, role: "assistant", parts: [{ type: "text", text: id }], ...fields });

function namesOf(entries: readonly Entry[], first = 1): string[] {
  let known: Known = nothingKnown;
  return entries.flatMap((each) => {
    const told = eventsOfEntry("dev.mind", each, known, first);
    known = told.known;
    return told.events.map(({ name }) => name);
  });
}

it("the entries of a turn are told as events, each once and in order", () => {
  seq = 0;
  expect(
    namesOf([
      process("WaitingForInput"),
      message("u", { role: "user" }),
      process("Running"),
      request("a"),
      request("a"),
      message("a", { partial: true }),
      message("a", { partial: true }),
      message("a"),
      request("b", "other"),
      message("b"),
      process("WaitingForInput"),
      entry({ kind: "summary", text: "s" }),
      entry({ kind: "meta", model: "new" }),
      entry({ kind: "meta", state: "archived" }),
    ]),
  ).toEqual([
    "SessionStart",
    "MessageStart",
    "MessageEnd",
    "BeforeAgentStart",
    "AgentStart",
    "TurnStart",
    "MessageStart",
    "MessageEnd",
    "TurnEnd",
    "ModelSelect",
    "TurnStart",
    "MessageStart",
    "MessageEnd",
    "TurnEnd",
    "AgentEnd",
    "Compact",
    "ModelSelect",
    "SessionEnd",
  ]);
});

it("a child that waits is told once, and a fork begins with its own first entry", () => {
  seq = 10;
  expect(namesOf([process("Waiting", "w"), process("Running", "w"), process("Done", "w")], 11)).toEqual([
    "SessionStart",
    "BeforeAgentStart",
    "AgentStart",
    "AgentEnd",
  ]);
});

it("a message that grows is told once a second", () => {
  let known: Known = nothingKnown;
  const names = [0, 10, 500, 1_009, 1_010, 1_011, 2_500].flatMap((now) => {
    const told = eventsOfDelta("dev.mind", "c", { process: "p", message: "a" }, known, now);
    known = told.known;
    return told.events.map(({ name }) => `${name} ${now}`);
  });
  expect(names).toEqual(["MessageStart 0", "MessageUpdate 10", "MessageUpdate 1010", "MessageUpdate 2500"]);
});

it("nothing is worked out where nobody subscribed, and agents hear that the kernel stops while a conversation is open", async () => {
  seq = 0;
  const told: string[] = [];
  const hearer = (intercept: readonly string[], on: string) => ({
    definition: { hooks: [{ on }], authority: { effective: { intercept } } } as unknown as AgentDefinition,
  });
  let agents = [hearer(["dev.other"], "AgentStart"), hearer(["dev.mind"], "EntryCreated")];
  const announcer = new Announcer({
    ...quiet,
    agents: () => agents,
    isPlainEvent: (name) => name !== "EntryCreated",
    tell: async (_agent, events) => void told.push(...events.map(({ name }) => name)),
  });
  announcer.entries("dev.mind", [process("WaitingForInput")], false);
  agents = [hearer(["dev.mind"], "AgentStart")];
  announcer.entries("dev.mind", [process("Running")], false);
  await announcer[Symbol.asyncDispose]();
  announcer.entries("dev.mind", [process("Running")], false);
  expect(told).toEqual(["BeforeAgentStart", "AgentStart", "SessionShutdown"]);
});

it("the text of a message is told to those who may read what it is made of, and not where a host is reached", async () => {
  seq = 0;
  const told = new Map<string, unknown>();
  const agent = (id: string, more: object) => ({
    definition: {
      hooks: [{ on: "MessageEnd" }],
      authority: {
        extension: id,
        requested: { read_entries: true },
        effective: { read_entries: true, intercept: ["dev.mind"] },
        locations: ["."],
        forbiddenPaths: [],
        namespaces: {},
        ...more,
      },
    } as unknown as AgentDefinition,
  });
  const mind = agent("dev.mind", { effective: { read_entries: true } });
  const agents = [
    mind,
    agent("dev.wide", {}),
    agent("dev.narrow", { locations: ["notes"] }),
    agent("dev.web", { hosts: ["example.org"] }),
  ];
  const announcer = new Announcer({
    ...quiet,
    agents: () => agents,
    isPlainEvent: (name) => name === "MessageEnd",
    tell: async (_agent, events) => {
      for (const { name, seenBy } of events)
        if (name === "MessageEnd")
          for (const { definition } of agents)
            told.set(definition.authority.extension, seenBy?.(definition.authority)["text"]);
    },
  });
  const toldOf = async (entry: Entry, holdsForeign: boolean): Promise<unknown> => {
    announcer.entries("dev.mind", [entry], holdsForeign);
    await nextTurn();
    return ["dev.wide", "dev.narrow", "dev.web"].map((id) => told.get(id));
  };
  const persons = { role: "user", origin: "person" };
  expect(await toldOf(message("said", persons), true)).toEqual(["said", "said", "said"]);
  expect(await toldOf(message("said"), false)).toEqual(["said", "said", "said"]);
  expect(await toldOf(message("said"), true)).toEqual(["said", "said", ""]);
  // A task for a worker is in a model's words, too.
  expect(await toldOf(message("said", { role: "user" }), true)).toEqual(["said", "said", ""]);
  const changed = { role: "user", origin: "agent:dev.wide", by: "dev.wide" };
  expect(await toldOf(message("said", changed), true)).toEqual(["said", "", ""]);
  await announcer[Symbol.asyncDispose]();
});
