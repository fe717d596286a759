import { expect, test } from "vitest";
import { ALL_PERMISSIONS, event, host, probe } from "../support/agents.ts";
import { Bench, inState } from "../support/bench.ts";

const SPEAKER = "test.speaker";
const STUCK = "test.stuck";
const HEARER = "test.hearer";
const FOUND = `${SPEAKER}/Found`;
/** Maximum of these that wait for one agent: 16 MiB. */
const eventCharacters = 63 * 1024;
const fills = Math.ceil((16 * 1024 * 1024) / eventCharacters);

test("an agent that handles nothing delays no event for the others, and its publisher does not notice", async () => {
  const hears = {
    permissions: { hear_events: [FOUND] },
    hooks: [{ on: FOUND, handler: "record", filter: "event.last" }],
  };
  await using bench = await Bench.create({
    extensions: [
      probe({ id: SPEAKER, permissions: { ...ALL_PERMISSIONS, emit_events: ["Found"] } }),
      probe({
        id: STUCK,
        ...hears,
        agent: { activation: "eager" },
        hooks: [{ on: FOUND, handler: "record" }],
      }),
      probe({ id: HEARER, ...hears }),
    ],
  });
  await using client = await bench.open();
  await inState(client, STUCK, "Active");
  await client.request("lares/agents/control", { id: STUCK, command: "suspend" });
  await inState(client, STUCK, "Suspended");
  const padding = "x".repeat(eventCharacters);
  const emit = (data: object) => host(client, SPEAKER, "events.emit", "Found", data);
  for (let sent = 0; sent < fills; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => emit({ padding })));
    for (const { error } of answers) expect(error).toBeUndefined();
  }
  expect((await emit({ last: true })).error).toBeUndefined();
  await event(client, HEARER, "what was emitted last", (heard) => heard["last"] === true);
});
