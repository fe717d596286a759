import { afterAll, beforeAll, describe, expect } from "vitest";
import { agent } from "../../support/bench.ts";
import { until } from "../../support/until.ts";
import { Arena } from "./arena.ts";
import { contained, extensionOf, type Hostile, idOf } from "./hostile.ts";

const storm = (body: string, event: string): string => `
import { defineAgent } from "@lares/sdk";
const guest = globalThis[Symbol.for("lares.guest")];
const emit = (data) => guest.call("events/emit", { name: "Ping", data });
export default defineAgent({ hooks: {
  async go() { ${body} },
  async heard() { ${event} },
} });
`;
const eventsPerSecond = 50;

const bursting = (name: string, what: string, body: string, error: string): Hostile => ({
  name,
  does: what,
  program: storm(body, "await new Promise((resolve) => setTimeout(resolve, 1e6));"),
  resources: { max_cpu_ms_per_event: 5000, max_events_per_second: eventsPerSecond },
  state: "Suspended",
  error: `Suspended after 3 failures in a row; the last: go failed on EntryCreated: ${error}`,
});
const cases: Hostile[] = [
  bursting(
    "bytes",
    "events of 60 KB without end: refused once 16 MiB of its own wait",
    'const text = "x".repeat(60_000); for (;;) await emit({ text });',
    "# bytes of test.bytes wait already, and # may; emit test.bytes/Ping again later.",
  ),
  {
    name: "feedback",
    does: "two events for each one it hears: at its own rate, for as long as a person lets it",
    program: storm("await emit({});", "await emit({}).catch(() => {}); await emit({}).catch(() => {});"),
    resources: { max_cpu_ms_per_event: 5000, max_events_per_second: eventsPerSecond },
    state: "Active",
    meanwhile: async (arena) => {
      const processed = async (): Promise<number> =>
        (await agent(arena.client, idOf({ name: "feedback" }))).metrics.events_processed;
      await until("the storm", async () => (await processed()) > eventsPerSecond);
      const [from, before] = [performance.now(), await processed()];
      await until("more of it", async () => (await processed()) > before + 2 * eventsPerSecond);
      const count = (await processed()) - before;
      const seconds = (performance.now() - from) / 1000;
      // Its own rate, and what may have accumulated in the second before.
      expect(count).toBeLessThanOrEqual(eventsPerSecond * (seconds + 1));
    },
  },
];

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.open(
    cases.map((hostile) => {
      const spec = extensionOf(hostile);
      const manifest = spec.manifest ?? {};
      return {
        ...spec,
        manifest: {
          ...manifest,
          permissions: { read_entries: true, emit_events: ["Ping"] },
          hooks: [...(manifest["hooks"] as object[]), { on: `${spec.id}/Ping`, handler: "heard" }],
        },
      };
    }),
  );
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("a storm of events to itself", () => contained(() => arena, cases));
