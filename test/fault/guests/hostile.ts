import { expect, test } from "vitest";
import type { ExtensionSpec } from "../../support/bench.ts";
import { agent } from "../../support/bench.ts";
import { CpuShare } from "../../support/cpu-share.ts";
import { type Arena, NEIGHBOUR } from "./arena.ts";

/** A hostile program, its trigger, and how it has to end. */
export interface Hostile {
  readonly name: string;
  /** The predicate in the test's name. */
  readonly does: string;
  /** Text of `agent.ts`, or a module made by hand. */
  readonly program: string | Uint8Array;
  readonly permissions?: Record<string, unknown>;
  readonly resources?: Record<string, number>;
  readonly tools?: readonly string[];
  readonly on?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Triggers it; by default with an event in its folder. */
  readonly provoke?: (arena: Arena) => Promise<void>;
  readonly state: "Error" | "Suspended" | "Active" | "Unloaded";
  /** The complete error that the person sees; "#" stands for a number. Absent: there is none. */
  readonly error?: string;
  /** Complete messages of its trace, which must all be present. */
  readonly traces?: readonly string[];
  /** Further checks: called while the agent is in its last state. */
  readonly meanwhile?: (arena: Arena) => Promise<void>;
}

export const idOf = ({ name }: Pick<Hostile, "name">): string => `test.${name}`;

/** Milliseconds of CPU time for a hostile handler, unless its case overrides it. */
export const cpuLimitMs = 300;
/** Milliseconds for which a hostile handler may wait for nothing. */
export const wallLimitMs = 1000;

export function extensionOf(hostile: Hostile): ExtensionSpec {
  const { name, program, permissions, resources, tools = [], on = "EntryCreated", files } = hostile;
  return {
    id: idOf(hostile),
    ...(typeof program === "string" ? { program } : {}),
    files: { ...(typeof program === "string" ? {} : { "agent.wasm": program }), ...files },
    grants: { locations: [`${name}/`] },
    manifest: {
      permissions: { read_entries: true, ...permissions },
      resources: {
        max_cpu_ms_per_event: cpuLimitMs,
        max_wall_ms_per_event: wallLimitMs,
        max_memory_mb: 32,
        ...resources,
      },
      hooks: [{ on, handler: "go", ...(on === "EntryCreated" ? { filter: "entry.kind == 'file'" } : {}) }],
      tools: tools.map((tool) => ({
        name: tool,
        description: tool,
        handler: tool,
        parameters: { type: "object" },
      })),
    },
  };
}

/** A sentence of the tables as a pattern: "#" stands for a number, and "##" for one after a "#". */
export function sentence(text: string): RegExp {
  const escaped = text
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("##", "\u0000")
    .replaceAll("#", String.raw`\d+`)
    .replaceAll("\u0000", String.raw`#\d+`);
  return new RegExp(`^${escaped}$`, "s");
}

/**
 * One test for each case: the agent ends as expected, with a complete error message; nothing of it keeps running or
 * stays in memory; its neighbour in the same sandbox host loses no event, and waits for none longer than the hostile
 * agent's own limits.
 */
export function contained(open: () => Arena, cases: readonly Hostile[]): void {
  test.each(cases.map((hostile) => [hostile.does, hostile] as const))("%s", async (_does, hostile) => {
    const arena = open();
    const id = idOf(hostile);
    const from = performance.now();
    // Other tests may run beside this one, and slow all processes of both down.
    using share = new CpuShare();
    const before = await arena.memory();
    if (hostile.provoke === undefined) {
      // Three events, because three failures in a row suspend an agent; an agent that kills its guest is retried as
      // often.
      for (const file of ["1.txt", "2.txt", "3.txt"]) await arena.provoke(hostile.name, file);
    } else await hostile.provoke(arena);
    for (const wanted of hostile.traces ?? []) await arena.said(id, sentence(wanted));
    const shown = await arena.ended(id, hostile.state);
    expect(shown.error ?? "").toMatch(sentence(hostile.error ?? ""));
    await hostile.meanwhile?.(arena);
    await arena.disable(id);
    await arena.calm(before);
    const { p99Ms, latenciesMs } = await arena.witnessed(from);
    expect(latenciesMs.length, "the neighbour was given events meanwhile").toBeGreaterThan(0);
    const isSoon = (quiet: number): boolean => p99Ms < Math.max(quiet * 10, wallLimitMs) * share.slowdown;
    // If the machine got busier, compare with a measurement just after.
    if (!isSoon(arena.quiet?.witnessed.p99Ms ?? 0))
      expect(
        isSoon((await arena.quietNow()).p99Ms),
        `the neighbour waited for ${p99Ms} ms, on a machine that was ${share.slowdown} times slower`,
      ).toBe(true);
    await neighbourIsWell(arena);
  });
}

export async function neighbourIsWell(arena: Arena): Promise<void> {
  const { state, error, metrics } = await agent(arena.client, NEIGHBOUR);
  expect({ state, error, failed: metrics.events_failed, wakeups: metrics.wakeups }).toEqual({
    state: "Active",
    error: undefined,
    failed: 0,
    wakeups: 1,
  });
  expect(arena.bed.sandboxPid, "the sandbox host is still the first").toBe(arena.sandboxPid);
}
