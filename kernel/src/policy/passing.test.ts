import { expect, test } from "vitest";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { callsToolsOf, passesTo, reachedFrom } from "./passing.ts";

function agent(extension: string, effective: Authority["effective"] = {}, more: Partial<Authority> = {}) {
  return {
    extension,
    scopes: [],
    namespaces: {},
    denied: [],
    effective,
    ...more,
  } as unknown as Authority;
}
const plain = agent("test.b");

test.each<[string, Authority, Authority, boolean]>([
  ["a tool", agent("test.a", { call_tools: ["test.b/send"] }), plain, true],
  ["any tool", agent("test.a", { call_tools: ["test.b/*"] }), plain, true],
  ["a tool of one that is named alike", agent("test.a", { call_tools: ["test.bc/*"] }), plain, false],
  [
    "an event",
    agent("test.a", { emit_events: ["Said"] }),
    agent("test.b", { hear_events: ["test.a/Said"] }),
    true,
  ],
  [
    "any event",
    agent("test.a", { emit_events: ["Said"] }),
    agent("test.b", { hear_events: ["test.a/*"] }),
    true,
  ],
  [
    "another event",
    agent("test.a", { emit_events: ["Said"] }),
    agent("test.b", { hear_events: ["test.a/Other"] }),
    false,
  ],
  [
    "a key",
    agent("test.a", { shared_data: { write: ["outbox"] } }),
    agent("test.b", { shared_data: { read: ["outbox"] } }),
    true,
  ],
  [
    "a key, the other way",
    agent("test.a", { shared_data: { read: ["outbox"] } }),
    agent("test.b", { shared_data: { write: ["outbox"] } }),
    false,
  ],
  ["its own types", agent("test.a"), agent("test.b", { shared_types: { read: ["test.a/Note"] } }), true],
  ["types of the other", agent("test.a", { shared_types: { write: ["test.b/Note"] } }), plain, true],
  [
    "a type of a third",
    agent("test.a", { shared_types: { write: ["test.c/*"] } }),
    agent("test.b", { shared_types: { read: ["test.c/Note"] } }),
    true,
  ],
  [
    "a shared memory",
    agent("test.a", {}, { namespaces: { team: "read_write" } }),
    agent("test.b", {}, { namespaces: { team: "read" } }),
    true,
  ],
  [
    "a shared memory that it only reads",
    agent("test.a", {}, { namespaces: { team: "read" } }),
    agent("test.b", {}, { namespaces: { team: "read_write" } }),
    false,
  ],
  ["nothing", agent("test.a"), plain, false],
])("what one agent is told gets to another by %s: %#", (_how, from, to, isPassed) => {
  expect(passesTo(from, to)).toBe(isPassed);
});

test("steps are followed to their end, in a circle too", () => {
  const circle = Array.from({ length: 200 }, (_, at) =>
    agent(`test.a${at}`, { call_tools: [`test.a${(at + 1) % 200}/*`] }),
  );
  const [start = plain] = circle;
  expect(reachedFrom(start, [...circle, plain], callsToolsOf)).toEqual(circle);
});
