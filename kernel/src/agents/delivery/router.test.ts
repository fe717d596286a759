import { expect, it } from "vitest";
import type { Permissions } from "../../base/vocabulary/permissions.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { deliveriesFor, type RouterOptions } from "./router.ts";
import { definitionOf } from "../testing/fake-guest.ts";
import { entryAt } from "../testing/sight-test.ts";

const options: RouterOptions = {
  clock: new ManualClock(),
  eventOf: (change) =>
    change.kind === "created"
      ? {
          id: `created ${change.entry.path}`,
          name: "EntryCreated",
          timestamp: "t",
          entry: change.entry,
          location: ".",
        }
      : { id: "other", name: "Other", timestamp: "t" },
  onFilterError: () => undefined,
  isEntry: () => false,
  hides: () => false,
  onWithheld: () => undefined,
};

it("each matching hook gets the event, with its own handler; a failing filter is reported and does not match", () => {
  const errors: string[] = [];
  const definition = definitionOf({
    hooks: [
      { handler: "one", on: "EntryCreated", accepts: () => ({ passed: true }) },
      { handler: "two", on: "EntryCreated", accepts: () => ({ passed: false, error: "no such field" }) },
      {
        handler: "three",
        on: "EntryCreated",
        accepts: (_event, inScope) => ({ passed: inScope("notes/a.md") }),
      },
      { handler: "four", on: "EntryModified", accepts: () => ({ passed: true }) },
    ],
  });
  const event = { id: "e", name: "EntryCreated", timestamp: "t", entry: entryAt("notes/a.md") };
  const deliveries = deliveriesFor(definition, event, "live", {
    ...options,
    onFilterError: (_agent, hook, message) => errors.push(`${hook.handler}: ${message}`),
  });
  expect(deliveries.map(({ payload }) => payload.handler)).toEqual(["one", "three"]);
  expect(errors).toEqual(["two: no such field"]);
});

it("an event of another extension reaches no hook without hear_events, and the receiver's traces say why", () => {
  const withheld: string[] = [];
  const heard = (effective: Permissions): string[] =>
    deliveriesFor(
      definitionOf({
        authority: { ...definitionOf().authority, effective },
        hooks: [{ handler: "found", on: "dev.other/Found", accepts: () => ({ passed: true }) }],
      }),
      { id: "e", name: "dev.other/Found", timestamp: "t", text: "secret" },
      "live",
      { ...options, onWithheld: (agent, event, reason) => withheld.push(`${agent} ${event}: ${reason}`) },
    ).map(({ payload }) => payload.handler);
  expect(heard({ read_entries: true })).toEqual([]);
  expect(withheld).toEqual(["dev.test.agent dev.other/Found: dev.test.agent has no hear_events for it"]);
  expect(heard({ hear_events: ["dev.other/Found"] })).toEqual(["found"]);
});
