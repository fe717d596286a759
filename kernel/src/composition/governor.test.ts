import { describe, expect, it, vi } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Catalog, CatalogSnapshot } from "./catalog.ts";
import { checkManifest } from "../documents/manifest.ts";
import { manifestPorts } from "../documents/testing/ports.ts";
import { openObjectStore } from "../platform/object-store.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { Governor } from "./governor.ts";
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
 * A governor over documents that the test writes, with each reading, and how many agents there were to be each time
 * they were brought to what counts.
 */
async function governed(first = snapshot("a", {})) {
  const readings: ("only read" | "looked into")[] = [];
  const applied: number[] = [];
  let written = first;
  let gate: Promise<void> = Promise.resolve();
  let failure: string | null = null;
  const store = await decisions();
  const load = async (looksInto: boolean): Promise<CatalogSnapshot> => {
    readings.push(looksInto ? "looked into" : "only read");
    const read = written;
    await gate;
    if (failure !== null) throw new Error(failure);
    return { ...read, isLookedInto: looksInto };
  };
  const governor = await Governor.open({
    catalog: { load } as Catalog,
    decisions: store,
    sources: new ProgramSources(await openObjectStore(await temporaryFolder()), silentLog),
    log: silentLog,
    context: {
      clock: new ManualClock(),
      workspacePaths: () => [],
      forbiddenPaths: [],
      protectedPaths: [],
    },
    apply: async (definitions) => void applied.push(definitions.length),
    watch: () => false,
  });
  readings.length = 0;
  return {
    governor,
    store,
    readings,
    applied,
    write: (letter: string): void => void (written = snapshot(letter, {})),
    fail: (message: string | null): void => void (failure = message),
    /** Holds back what readings find, until it is called. */
    hold: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

describe("readings of the documents", () => {
  it("a yes and the agents' start after it take one, in which modules are looked into", async () => {
    const { governor, store, readings } = await governed();
    await governor.accept();
    expect(store.isAccepted(digestOf("a"))).toBe(true);
    await governor.activate(true);
    expect(readings).toEqual(["looked into"]);
  });

  it("a start without a new yes takes two: nothing is looked into before it is known to be accepted", async () => {
    const { governor, store, readings } = await governed();
    await store.accept(digestOf("a"), { granted: snapshot("a", {}).wishes, withheld: null });
    expect(await governor.isAnswered()).toBe(true);
    await governor.activate(true);
    expect(readings).toEqual(["only read", "looked into"]);
  });

  it("what changed between a yes and the start is read again, and looked into", async () => {
    const { governor, readings } = await governed();
    await governor.accept();
    await governor.reload();
    await governor.activate(true);
    expect(readings).toEqual(["looked into", "only read", "looked into"]);
  });

  it("a start while one is under way that does not look into modules is followed by one that does", async () => {
    const { governor, readings, hold } = await governed();
    await governor.accept();
    const release = hold();
    const changed = governor.reload();
    await vi.waitUntil(() => readings.length > 1);
    const started = governor.activate(true);
    release();
    await Promise.all([changed, started]);
    expect(readings).toEqual(["looked into", "only read", "looked into"]);
    expect(governor.snapshot.isLookedInto).toBe(true);
  });

  it("all who ask while one is under way share the next, which reads what was written meanwhile", async () => {
    const { governor, readings, hold, write } = await governed();
    const release = hold();
    const first = governor.reload();
    await Promise.resolve();
    write("b");
    const others = [governor.reload(), governor.reload(), governor.isAnswered()];
    release();
    await Promise.all([first, ...others]);
    expect(readings).toHaveLength(2);
    expect(governor.snapshot.digest).toBe(digestOf("b"));
  });

  it("one that fails is told to all who asked for it, and the next has its turn all the same", async () => {
    const { governor, fail, write } = await governed();
    fail("the disk is gone");
    const answers = await Promise.allSettled([governor.reload(), governor.isAnswered()]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    fail(null);
    write("b");
    await governor.reload();
    expect(governor.snapshot.digest).toBe(digestOf("b"));
  });
});

describe("what a person decides", () => {
  it("counts when accept and revoke are answered, without a reading for it", async () => {
    const { governor, store, readings, applied } = await governed();
    await governor.activate(true);
    readings.length = 0;
    applied.length = 0;
    await store.remember([{ decide: "allow" }]);
    await governor.revoke();
    expect(governor.rules).toEqual([{ decide: "allow" }]);
    expect(readings).toEqual([]);
    expect(applied.length).toBeGreaterThan(0);
    await governor.accept();
    expect(await governor.isAnswered()).toBe(true);
  });

  it("is refused for documents that changed since they were shown, and then nothing is accepted", async () => {
    const { governor, store, write } = await governed();
    write("b");
    await expect(governor.accept(digestOf("a"))).rejects.toMatchObject({ code: "DigestMismatch" });
    expect([digestOf("a"), digestOf("b")].filter((digest) => store.isAccepted(digest))).toEqual([]);
  });

  it("is not of documents that were written after they were read for it", async () => {
    const { governor, store, readings, hold, write } = await governed();
    const release = hold();
    const accepting = governor.accept();
    await vi.waitUntil(() => readings.length > 0);
    write("b");
    release();
    await accepting;
    await governor.reload();
    expect([digestOf("a"), digestOf("b")].map((digest) => store.isAccepted(digest))).toEqual([true, false]);
  });

  it("pausing takes the agents back without a reading, and they return without one", async () => {
    const { governor, readings, applied } = await governed(await withAgent());
    await governor.accept();
    await governor.activate(true);
    readings.length = 0;
    applied.length = 0;
    await governor.activate(false);
    await governor.activate(true);
    expect({ readings, applied }).toEqual({ readings: [], applied: [0, 1] });
  });

  it("is taken back where nothing was decided, also after a reading that failed", async () => {
    const { governor, fail } = await governed();
    fail("the disk is gone");
    await expect(governor.reload()).rejects.toThrow("the disk is gone");
    await expect(governor.revoke()).resolves.toBeUndefined();
  });
});
