import { expect, test } from "vitest";
import { deliveryOf } from "./deliveries.ts";
import { serverNotifications } from "./notifications.ts";

test.each([
  ["lares/agents/changed", { id: "a.b" }, { replaces: "lares/agents/changed a.b" }],
  ["lares/actions/changed", { id: "1" }, { replaces: "lares/actions/changed 1" }],
  ["lares/jobs/changed", { agent: "a.b" }, { replaces: "lares/jobs/changed a.b" }],
  ["lares/decisions/changed", {}, { replaces: "lares/decisions/changed " }],
  ["lares/traces/entry", { subscription: "1" }, "droppable"],
  ["lares/notify", { agent: "a.b" }, "must arrive"],
  [
    "textDocument/publishDiagnostics",
    { uri: "file:///a" },
    { replaces: "textDocument/publishDiagnostics file:///a" },
  ],
  ["$/progress", { token: 1, value: { kind: "report" } }, { replaces: "$/progress 1" }],
  ["$/progress", { token: 1, value: { kind: "begin" } }, "must arrive"],
  ["$/progress", { token: 1, value: { kind: "end" } }, "must arrive"],
  ["window/showMessage", { message: "Hello." }, "must arrive"],
  ["lares/agents/changed", null, "must arrive"],
  ["constructor", {}, "must arrive"],
])("%s %j: %j", (method, params, delivery) => {
  expect(deliveryOf(method, params)).toEqual(delivery);
});

test("the reference describes how each of the kernel's own notifications may be merged or dropped", () => {
  const sentences = Object.entries(serverNotifications).map(([method, { about }]) => [
    method,
    /does not read/.test(about),
  ]);
  expect(sentences).toEqual(
    Object.keys(serverNotifications).map((method) => [
      method,
      deliveryOf(method, { id: "1", agent: "a.b" }) !== "must arrive",
    ]),
  );
});
