import { describe, expect, it, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import { Emitter } from "../base/emitter.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogSnapshot } from "./catalog-snapshot.ts";
import { checkManifest } from "../documents/manifest.ts";
import { manifestPorts } from "../documents/testing/ports.ts";
import { openObjectStore } from "../platform/files/object-store.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { ConfigurationManager } from "./configuration-manager.ts";
import { ProgramSources } from "./program-sources.ts";
import { decisions, digestOf, snapshot } from "./testing/snapshots.ts";

/** Documents that name one agent. */
async function withAgent(): Promise<CatalogSnapshot> {
  const file = "/one/extension.yaml";
  const text = "extension:\n  id: dev.one\n  name: One\n  version: 1.0.0\n";
  const extension = {
    folder: "/one",
    named: "/one",
    manifest: { file, text },
    checked: await checkManifest(text, file, manifestPorts()),
  };
  const { entries, ...rest } = snapshot("a", { "dev.one": digestOf("p") });
  return { ...rest, entries: entries.map((entry) => ({ ...entry, extension })) };
}

/**
 * A configuration over documents that the test writes, with each reading, and how many agents there were to be each time
 * they were brought to what counts.
 */
async function governed(first = snapshot("a", {})) {
  const readings: ("only read" | "looked into")[] = [];
  const applied: (number | null)[] = [];
  let written = first;
  let gate: Promise<void> = Promise.resolve();
  let failure: string | null = null;
  const store = await decisions();
  const clock = new ManualClock();
  const load = async (checksModules: boolean): Promise<CatalogSnapshot> => {
    readings.push(checksModules ? "looked into" : "only read");
    const read = written;
    await gate;
    if (failure !== null) throw new Error(failure);
    return { ...read, hasCheckedModules: checksModules };
  };
  const configuration = await ConfigurationManager.open({
    catalog: { load } as Catalog,
    decisions: store,
    sources: new ProgramSources(await openObjectStore(await temporaryFolder()), () => undefined, silentLog),
    log: silentLog,
    context: {
      clock,
      workspacePaths: () => [],
      forbiddenPaths: [],
      protectedPaths: [],
    },
    watch: { watch: () => false, changed: new Emitter() },
  });
  readings.length = 0;
  return {
    configuration,
    clock,
    store,
    readings,
    applied,
    agents: {
      apply: async (definitions: readonly AgentDefinition[] | null) =>
        void applied.push(definitions?.length ?? null),
    },
    write: (letter: string, change: Partial<CatalogSnapshot> = {}): void =>
      void (written = { ...snapshot(letter, {}), ...change }),
    fail: (message: string | null): void => void (failure = message),
    /** Holds back what readings find, until it is called. */
    hold: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

const file = "/w/lares.yaml";
const lookedAt = (state: "written" | "unwritten") => ({
  lookedAt: {
    paths: [file],
    listed: [],
    written: new Set<string>(),
    unwritten: new Set<string>(),
    [state]: new Set([file]),
  },
});

describe("a document that is emptied or missing", () => {
  it("counts as before while it may be being written; its new text counts at once", async () => {
    const { configuration, clock, write } = await governed({ ...snapshot("a", {}), ...lookedAt("written") });
    write("b", lookedAt("unwritten"));
    await configuration.reload();
    clock.advance(1_999);
    await configuration.reload();
    expect(configuration.snapshot.digest).toBe(digestOf("a"));
    write("c", lookedAt("written"));
    await configuration.reload();
    expect(configuration.snapshot.digest).toBe(digestOf("c"));
  });

  it("counts as it is if it stays so, without another change", async () => {
    const { configuration, clock, write } = await governed({ ...snapshot("a", {}), ...lookedAt("written") });
    write("b", lookedAt("unwritten"));
    await configuration.reload();
    clock.advance(2_000);
    await vi.waitUntil(() => configuration.snapshot.digest === digestOf("b"));
  });

  it("restarts the wait each time it is emptied", async () => {
    const { configuration, clock, write } = await governed({ ...snapshot("a", {}), ...lookedAt("written") });
    write("b", lookedAt("unwritten"));
    await configuration.reload();
    write("c", lookedAt("written"));
    await configuration.reload();
    clock.advance(1_500);
    write("d", lookedAt("unwritten"));
    await configuration.reload();
    clock.advance(1_500);
    await configuration.reload();
    expect(configuration.snapshot.digest).toBe(digestOf("c"));
  });

  it("counts at once if it never had a text", async () => {
    const { configuration, write } = await governed({ ...snapshot("a", {}), ...lookedAt("unwritten") });
    write("b", lookedAt("unwritten"));
    await configuration.reload();
    expect(configuration.snapshot.digest).toBe(digestOf("b"));
  });

  it("does not keep programs running that were only read", async () => {
    const { configuration, agents, write } = await governed({ ...snapshot("a", {}), ...lookedAt("written") });
    write("b", lookedAt("unwritten"));
    await configuration.start(agents);
    expect(configuration.snapshot).toMatchObject({ digest: digestOf("b"), hasCheckedModules: true });
  });
});

describe("readings of the documents", () => {
  it("a yes and the agents' start after it take one, in which modules are looked into", async () => {
    const { configuration, agents, store, readings } = await governed();
    await configuration.accept();
    expect(store.isAccepted(digestOf("a"))).toBe(true);
    await configuration.start(agents);
    expect(readings).toEqual(["looked into"]);
  });

  it("a start without a new acceptance reads twice: no module is examined before it is known to be accepted", async () => {
    const { configuration, agents, store, readings } = await governed();
    await store.accept(digestOf("a"), { granted: snapshot("a", {}).requests, withheld: null });
    expect(await configuration.reloadAndCheckAnswered()).toBe(true);
    await configuration.start(agents);
    expect(readings).toEqual(["only read", "looked into"]);
  });

  it("what changed between a yes and the start is read again, and looked into", async () => {
    const { configuration, agents, readings } = await governed();
    await configuration.accept();
    await configuration.reload();
    await configuration.start(agents);
    expect(readings).toEqual(["looked into", "only read", "looked into"]);
  });

  it("a start during a reading without modules is followed by a reading with them", async () => {
    const { configuration, agents, readings, hold } = await governed();
    await configuration.accept();
    const release = hold();
    const changed = configuration.reload();
    await vi.waitUntil(() => readings.length > 1);
    const started = configuration.start(agents);
    release();
    await Promise.all([changed, started]);
    expect(readings).toEqual(["looked into", "only read", "looked into"]);
    expect(configuration.snapshot.hasCheckedModules).toBe(true);
  });

  it("requests during a reading share the next one, which reads what was written meanwhile", async () => {
    const { configuration, readings, hold, write } = await governed();
    const release = hold();
    const first = configuration.reload();
    await Promise.resolve();
    write("b");
    const others = [configuration.reload(), configuration.reload(), configuration.reloadAndCheckAnswered()];
    release();
    await Promise.all([first, ...others]);
    expect(readings).toHaveLength(2);
    expect(configuration.snapshot.digest).toBe(digestOf("b"));
  });

  it("a failed reading rejects all its requests, and the next one runs all the same", async () => {
    const { configuration, fail, write } = await governed();
    fail("the disk is gone");
    const answers = await Promise.allSettled([
      configuration.reload(),
      configuration.reloadAndCheckAnswered(),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    fail(null);
    write("b");
    await configuration.reload();
    expect(configuration.snapshot.digest).toBe(digestOf("b"));
  });
});

describe("what a person decides", () => {
  it("counts when accept and revoke are answered, without a reading for it", async () => {
    const { configuration, agents, store, readings, applied } = await governed();
    await configuration.start(agents);
    readings.length = 0;
    applied.length = 0;
    await store.remember([{ decide: "allow" }]);
    await configuration.revoke();
    expect(configuration.rules).toEqual([{ decide: "allow" }]);
    expect(readings).toEqual([]);
    expect(applied.length).toBeGreaterThan(0);
    await configuration.accept();
    expect(await configuration.reloadAndCheckAnswered()).toBe(true);
  });

  it("is asked with sentences that are made once, and again after a reading or a decision", async () => {
    const { configuration, write } = await governed();
    const first = configuration.trust;
    expect(configuration.trust).toBe(first);
    await configuration.accept();
    const accepted = configuration.trust;
    expect(accepted).not.toBe(first);
    expect(configuration.trust).toBe(accepted);
    write("b");
    await configuration.reload();
    expect(configuration.trust.digest).toBe(digestOf("b"));
    expect(configuration.trust).toBe(configuration.trust);
  });

  it("is refused for documents that changed since they were shown, and then nothing is accepted", async () => {
    const { configuration, store, write } = await governed();
    write("b");
    await expect(configuration.accept(digestOf("a"))).rejects.toMatchObject({ code: "DigestMismatch" });
    expect([digestOf("a"), digestOf("b")].filter((digest) => store.isAccepted(digest))).toEqual([]);
  });

  it("is not of documents that were written after they were read for it", async () => {
    const { configuration, store, readings, hold, write } = await governed();
    const release = hold();
    const accepting = configuration.accept();
    await vi.waitUntil(() => readings.length > 0);
    write("b");
    release();
    await accepting;
    await configuration.reload();
    expect([digestOf("a"), digestOf("b")].map((digest) => store.isAccepted(digest))).toEqual([true, false]);
  });

  it("pausing takes the agents back without a reading, and they return without one", async () => {
    const { configuration, agents, readings, applied } = await governed(await withAgent());
    await configuration.accept();
    await configuration.start(agents);
    readings.length = 0;
    applied.length = 0;
    await configuration.pause();
    await configuration.start(agents);
    expect({ readings, applied }).toEqual({ readings: [], applied: [null, 1] });
  });

  it("is rolled back if nothing was decided, also after a failed reading", async () => {
    const { configuration, fail } = await governed();
    fail("the disk is gone");
    await expect(configuration.reload()).rejects.toThrow("the disk is gone");
    await expect(configuration.revoke()).resolves.toBeUndefined();
  });
});
