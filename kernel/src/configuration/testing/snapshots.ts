import { silentLog } from "../../base/log.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { DecisionStore } from "../../decisions/store.ts";
import {
  nothingRequested,
  type RequestedExtension,
  type RequestedPermissions,
} from "../../decisions/requested-permissions.ts";
import type { Configuration } from "../../documents/configuration.ts";
import type { CatalogEntry, CatalogSnapshot } from "../catalog-snapshot.ts";

export const digestOf = (letter: string): Hash => `sha256:${letter.repeat(64)}`;

/** The manifest of an extension that does nothing. */
export const unchangedSettings = {
  behaviour: { hooks: [], tools: [], models: [], hosts: [], caps: {}, settings: { config: {} } },
  behaviourDigest: digestOf("0"),
  carries: [],
} as const satisfies Partial<RequestedExtension>;

export function configuration(
  change: { below?: number; memory?: number; hidden?: boolean; ignore?: string[] } = {},
): Configuration {
  return {
    extensions: [],
    approvals: { autoApproveBelow: change.below ?? 0, expireAfterMs: 1, rules: [] },
    limits: {
      activeAgents: 16,
      idleUnloadMs: 1,
      maxMemoryMb: change.memory ?? 512,
      maxStorageMb: 1,
      maxVectors: 1,
      maxCpuMsPerEvent: 1,
      maxWallMsPerEvent: 1,
      maxEventsPerSecond: 1,
    },
    kernel: { lingerMs: 1 },
    memory: { embedder: "hash", vectors: "auto", extensions: {} },
    trace: { level: "info", keepMs: 1 },
    index: { hidden: change.hidden ?? false, ignore: change.ignore ?? [] },
    conversations: { untrusted: [], atOnce: 256, processes: 8, unattendedMs: 1 },
    models: {},
    device: { capabilities: [] },
    notifications: { person: [], workspace: [] },
    egress: {},
    sharedNamespaces: [],
    importNamespaces: [],
  };
}

function entry(id: string, program: Hash | null): CatalogEntry {
  return {
    id,
    configuration: {
      id,
      from: { source: "workspace", file: "lares.yaml" },
      enabled: true,
      grants: { locations: ["."], allow: ["*"], deny: [] },
      config: {},
    },
    extension: undefined as never,
    program:
      program === null
        ? { program: null, fault: "broken" }
        : { program: { kind: "wasm", digest: program, bytes: new Uint8Array() } },
  };
}

export function snapshot(
  letter: string,
  programs: Record<string, Hash | null>,
  change: Partial<RequestedPermissions> = {},
): CatalogSnapshot {
  return {
    digest: digestOf(letter),
    requests: {
      ...nothingRequested,
      extensions: Object.fromEntries(
        Object.entries(programs).map(([id, program]) => [
          id,
          {
            name: id,
            origin: "here",
            program,
            permissions: { read_entries: true },
            locations: ["notes"],
            ...unchangedSettings,
          },
        ]),
      ),
      ...change,
    },
    entries: Object.entries(programs).map(([id, program]) => entry(id, program)),
    broken: [],
    configuration: configuration(),
    standing: configuration(),
    origins: { all: unwritten, standing: unwritten },
    ownNamespaces: [],
    isReadable: true,
    hasCheckedModules: true,
    faults: [],
    lookedAt: { paths: [], listed: [], written: new Set(), unwritten: new Set() },
  };
}

/** The origins of settings that no document contains. */
const unwritten = { rule: () => null, setting: () => null };

/** The decisions of a user who accepted these, stored in memory. */
export async function decisions(...accepted: CatalogSnapshot[]): Promise<DecisionStore> {
  const store = new DecisionStore({
    clock: new ManualClock(),
    log: silentLog,
    read: async () => null,
    write: async () => undefined,
    setAside: async () => "aside",
    parse: JSON.parse,
    stringify: JSON.stringify,
    ruleLines: () => [],
    digest: (text) => text,
  });
  for (const each of accepted) await store.accept(each.digest, { granted: each.requests, withheld: null });
  return store;
}
