import { expect, test } from "vitest";
import { Emitter } from "../base/emitter.ts";
import { systemClock } from "../platform/clock.ts";
import { Observed } from "./observed.ts";
import { Peer } from "./peer.ts";
import { bounds } from "./ports.ts";

const patience = { promptMs: 1000, initializeMs: 1000, answerMs: 1000, exitMs: 1000, ruleMs: 1000 };

/** A peer of a guest that says what the test lets it say. */
function silentGuest(): { readonly peer: Peer; say(line: string): void } {
  const lines = new Emitter<string>();
  const guest = {
    lines,
    send: () => undefined,
    sendBytes: () => undefined,
    exited: new Promise<never>(() => undefined),
    kill: async () => undefined,
  };
  const peer = new Peer(guest, { clock: systemClock, patience, observed: new Observed() });
  return { peer, say: (line) => lines.emit(line) };
}

test("of a guest that never stops answering malformed lines, a bounded part is kept, and it is not taken for sound", () => {
  const { peer, say } = silentGuest();
  const faults = peer.collectFaults();
  for (let n = 0; n < 10 * bounds.maxProvoked; n++) say("x".repeat(100_000));
  expect(faults.length).toBe(bounds.maxProvoked + 1);
  expect(faults.join("").length).toBeLessThanOrEqual((bounds.maxProvoked + 1) * bounds.maxProvokedCharacters);
});

test("of a guest's long calls, a bounded part is kept", () => {
  const { peer, say } = silentGuest();
  const params = { data: "x".repeat(900_000) };
  for (let id = 0; id < 50; id++)
    say(JSON.stringify({ jsonrpc: "2.0", id, method: "jobs/checkpoint", params }));
  expect(JSON.stringify(peer.seen).length).toBeLessThanOrEqual(bounds.maxSeenCharacters);
  expect(peer.seen.length).toBeGreaterThan(0);
});
