import { expect, test } from "vitest";
import { checkParams } from "../../protocol/validate.ts";
import { clientRequests } from "../../protocol/v1/requests.ts";
import { nearOf, questionOf, whereOf, type QueryOptions } from "./memory-query.ts";

const nowMs = Date.parse("2026-11-20T10:00:00.000Z");
const query = "lares/memory/query";
const count = "lares/memory/count";

test.each<[string[], QueryOptions, string, object]>([
  [["beach", "since monday"], {}, query, { kind: "search", text: "beach since monday" }],
  [["beach"], { mode: "text", limit: "5" }, query, { kind: "search", text: "beach", mode: "text", limit: 5 }],
  [[], {}, query, { kind: "temporal" }],
  [["beach"], { kind: "temporal" }, query, { kind: "temporal", text: { match: "beach" } }],
  [
    ["beach"],
    { since: "1h", order: "asc" },
    query,
    { kind: "temporal", since: "2026-11-20T09:00:00.000Z", text: { match: "beach" }, order: "asc" },
  ],
  [
    [],
    { text: "a", field: "note.title" },
    query,
    { kind: "temporal", text: { match: "a", field: "note.title" } },
  ],
  [
    [],
    { until: "2026-01-01", where: ["a.b=3", "n~x"] },
    query,
    {
      kind: "temporal",
      until: "2026-01-01T00:00:00.000Z",
      where: [
        { field: "a.b", op: "eq", value: 3 },
        { field: "n", op: "contains", value: "x" },
      ],
    },
  ],
  [[], { count: true }, count, {}],
  [[], { by: "day", variant: "seen" }, count, { group_by: "day", variant: "seen" }],
  [["x"], { count: true }, count, { text: { match: "x" } }],
  [["sunset"], { kind: "associative" }, query, { kind: "associative", similar_to: "sunset" }],
  [[], { similar: "sunset", limit: "3" }, query, { kind: "associative", similar_to: "sunset", top_k: 3 }],
  [[], { related: "7", depth: "2" }, query, { kind: "associative", related_to: { id: "7", depth: 2 } }],
  [
    [],
    { similar: "s", near: "at=52.5,13.4,5" },
    query,
    {
      kind: "associative",
      similar_to: "s",
      where: [{ field: "at", op: "near", value: [52.5, 13.4], km: 5 }],
    },
  ],
  [[], { kind: "working" }, query, { kind: "working" }],
])("%j %j is asked as %s %j", (words, options, method, params) => {
  const question = questionOf(words, options, nowMs);
  expect(question).toEqual({ method, params });
  // And the wire takes it.
  checkParams(method, clientRequests[question.method].params, { agent: "a.b", ...question.params });
});

test.each<[string[], QueryOptions, string]>([
  [[], { kind: "search" }, "The search has no words"],
  [["x"], { kind: "working" }, "Remove the words"],
  [["x"], { kind: "search", since: "1h" }, "--since has no effect on a query of kind search"],
  [[], { similar: "x", since: "1h" }, "--since has no effect on a query of kind knowledge"],
  [[], { kind: "temporal", mode: "text" }, "--mode has no effect"],
  [["x"], { text: "y", since: "1h" }, "cannot be combined"],
  [[], { field: "a" }, "--field needs --text"],
  [[], { since: "soon" }, "is not a time"],
  [[], { limit: "0", since: "1h" }, "--limit must be a whole number"],
  [[], { limit: "1001", since: "1h" }, "--limit must be a whole number"],
  [[], { count: true, limit: "3" }, "--limit and --order cannot be combined"],
  [[], { depth: "2" }, "--related"],
  [[], { related: "7", depth: "6" }, "from 1 to 5"],
  [[], { where: ["nothing"] }, "is not a condition"],
  [[], { near: "at=1,2" }, "is not a place"],
])("%j %j is wrong usage: %s", (words, options, message) => {
  expect(() => questionOf(words, options, nowMs)).toThrow(message);
});

test.each<[string, string, string, unknown]>([
  ["a.b=3", "a.b", "eq", 3],
  ["a = b c", "a", "eq", "b c"],
  ["size>10", "size", "gt", 10],
  ["size>=1.5", "size", "gte", 1.5],
  ["size<-1", "size", "lt", -1],
  ["size<=0", "size", "lte", 0],
  ["kind!=draft", "kind", "ne", "draft"],
  ["done=true", "done", "eq", true],
  ["gone=null", "gone", "eq", null],
  ['id="3"', "id", "eq", "3"],
  ["when=2026-11-20", "when", "eq", "2026-11-20"],
  ["name~3", "name", "contains", "3"],
  ['name~"a b"', "name", "contains", "a b"],
  ["sql=' OR 1=1 --", "sql", "eq", "' OR 1=1 --"],
  ["kind in a, b,3", "kind", "in", ["a", "b", 3]],
  ["a=", "a", "eq", ""],
])("--where %s", (text, field, op, value) => expect(whereOf(text)).toEqual({ field, op, value }));

test.each(["", "a", "=3", "a b=3", ">3", "a!3"])("--where %j is refused", (text) => {
  expect(() => whereOf(text)).toThrow("is not a condition");
});

test.each([
  "",
  "at",
  "at=1,2",
  "at=91,0,1",
  "at=0,181,1",
  "at=0,0,0",
  "at=0,0,-1",
  "at=x,0,1",
  "at=,,",
  "=1,2,3",
])("--near %j is refused", (text) => {
  expect(() => nearOf(text)).toThrow("is not a place");
});
