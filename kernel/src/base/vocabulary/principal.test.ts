import { expect, test } from "vitest";
import {
  type Actor,
  callerName,
  causedBy,
  commonLineage,
  lineageUnder,
  maxNamed,
  onBehalfField,
  ownAccord,
  personAt,
  readLineage,
} from "./principal.ts";

const schedule: Actor = { kind: "schedule", agent: "a.a", schedule: "daily" };

test("what is done in answer to a call names the caller first, then whoever led to that, each once", () => {
  const first = lineageUnder({ kind: "agent", id: "a.a", lineage: causedBy(schedule) });
  expect(first).toEqual({ onBehalfOf: [{ kind: "agent", id: "a.a" }, schedule], depth: 1 });
  const second = lineageUnder({ kind: "agent", id: "a.b", lineage: first });
  expect(lineageUnder({ kind: "agent", id: "a.a", lineage: second })).toEqual({
    onBehalfOf: [{ kind: "agent", id: "a.a" }, { kind: "agent", id: "a.b" }, schedule],
    depth: 3,
  });
  expect(lineageUnder(personAt("an editor")).onBehalfOf).toEqual([{ kind: "person", client: "an editor" }]);
  expect(lineageUnder({ kind: "kernel", lineage: ownAccord })).toEqual({
    onBehalfOf: [{ kind: "kernel" }],
    depth: 1,
  });
});

test("work under several lineages is on behalf of all of them, and as deep as the deepest", () => {
  const one = lineageUnder(personAt());
  expect(commonLineage([one, causedBy(schedule)])).toEqual({
    onBehalfOf: [{ kind: "person" }, schedule],
    depth: 1,
  });
  expect(commonLineage([])).toEqual(ownAccord);
});

test("of a very long lineage, as many are named as the wire allows", () => {
  const many = Array.from({ length: 100 }, (_, at): Actor => ({ kind: "agent", id: `a.${at}` }));
  expect(onBehalfField(many).on_behalf_of).toHaveLength(maxNamed);
  expect(onBehalfField([])).toEqual({});
});

test("a client's name is cut, and none is left out", () => {
  expect(personAt("x".repeat(1000)).client).toHaveLength(64);
  expect(personAt("")).toEqual(personAt());
});

test.each<[Actor, string]>([
  [{ kind: "person", client: "x" }, "user"],
  [{ kind: "agent", id: "a.a" }, "a.a"],
  [{ kind: "process", process: "channel", agent: "a.a", conversation: "c" }, "model"],
  [schedule, "a.a"],
  [{ kind: "kernel" }, "kernel"],
])("a guest sees %j as %s", (actor, name) => {
  expect(callerName(actor)).toBe(name);
});

test.each([
  null,
  {},
  { onBehalfOf: [], depth: "1" },
  { onBehalfOf: [1], depth: 1 },
  { onBehalfOf: [{ kind: "god" }], depth: 1 },
  { onBehalfOf: [{ kind: "agent" }], depth: 1 },
  { onBehalfOf: [{ kind: "schedule", agent: "a.a" }], depth: 0 },
])("%j is not a lineage", (stored) => {
  expect(() => readLineage(stored)).toThrow(TypeError);
});
