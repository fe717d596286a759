import { describe, expect, it } from "vitest";
import { nothingRequested, type RequestedPermissions } from "../decisions/requested-permissions.ts";
import type { CatalogEntry } from "./catalog-snapshot.ts";
import { computeInForce } from "./in-force.ts";
import { configurationInForce, otherSettings } from "./settings-in-force.ts";
import { configuration, decisions, digestOf, snapshot } from "./testing/snapshots.ts";

const ids = (entries: readonly CatalogEntry[]) => entries.map(({ id }) => id);

describe("what of the documents counts", () => {
  const first = snapshot("a", { "dev.x": digestOf("1") });

  it("nothing, before a person accepted it", async () => {
    const inForce = computeInForce(first, await decisions(), new Map());
    expect(ids(inForce.entries)).toEqual([]);
    expect(ids(inForce.waiting)).toEqual(["dev.x"]);
    expect(inForce.pendingAsks).toEqual([
      "dev.x (dev.x, here) asks to see and read files (read_entries), in notes/",
    ]);
  });
  it("all of it, once they did", async () => {
    const inForce = computeInForce(first, await decisions(first), new Map());
    expect(ids(inForce.entries)).toEqual(["dev.x"]);
    expect(inForce.pendingAsks).toEqual([]);
  });
  it("a document that was accepted earlier counts again when it returns", async () => {
    const second = snapshot("b", { "dev.x": digestOf("1"), "dev.y": digestOf("2") });
    const inForce = computeInForce(first, await decisions(first, second), new Map());
    expect(ids(inForce.entries)).toEqual(["dev.x"]);
  });
  it("nothing of a new extension, and the others continue", async () => {
    const wider = snapshot("b", { "dev.x": digestOf("1"), "dev.y": digestOf("2") });
    const inForce = computeInForce(wider, await decisions(first), new Map());
    expect(ids(inForce.entries)).toEqual(["dev.x"]);
    expect(ids(inForce.waiting)).toEqual(["dev.y"]);
  });
  it("a changed program waits, and the accepted one keeps running while it is available", async () => {
    const changed = snapshot("b", { "dev.x": digestOf("9") });
    const running = new Map(first.entries.map((one) => [one.id, one]));
    const inForce = computeInForce(changed, await decisions(first), running);
    expect(inForce.entries[0]?.program.program?.digest).toBe(digestOf("1"));
    expect(inForce.pendingAsks).toEqual(["dev.x (dev.x) has a changed program"]);
  });
  it("a changed program waits, and nothing runs if the accepted one is gone", async () => {
    const changed = snapshot("b", { "dev.x": digestOf("9") });
    const inForce = computeInForce(changed, await decisions(first), new Map());
    expect(ids(inForce.entries)).toEqual([]);
    expect(ids(inForce.waiting)).toEqual(["dev.x"]);
  });
});

describe("the configuration that counts", () => {
  const check = (
    name: string,
    own: Parameters<typeof configuration>[0],
    wanted: Parameters<typeof configuration>[0],
    accepted: Partial<RequestedPermissions>,
    expected: object,
  ): void =>
    it(name, () => {
      const both = {
        ...snapshot("a", {}),
        standing: configuration(own),
        configuration: configuration(wanted),
      };
      expect(configurationInForce(both, { ...nothingRequested, ...accepted })).toMatchObject(expected);
    });

  check(
    "a lower threshold counts at once",
    { below: 0.3 },
    { below: 0.1 },
    {},
    { approvals: { autoApproveBelow: 0.1 } },
  );
  check(
    "a higher one does not",
    { below: 0.1 },
    { below: 0.9 },
    {},
    { approvals: { autoApproveBelow: 0.1 } },
  );
  check(
    "a higher one as far as accepted",
    { below: 0.1 },
    { below: 0.9 },
    { autoApproveBelow: 0.5 },
    { approvals: { autoApproveBelow: 0.5 } },
  );
  check("a lower limit counts at once", {}, { memory: 64 }, {}, { limits: { maxMemoryMb: 64 } });
  check("a higher one does not", {}, { memory: 4096 }, {}, { limits: { maxMemoryMb: 512 } });
  check(
    "a higher one, accepted",
    {},
    { memory: 4096 },
    { limits: { max_memory_mb: 4096 } },
    { limits: { maxMemoryMb: 4096 } },
  );
  it("channels that a document takes away from notifications count at once, and it cannot drop the person's rules", () => {
    const own = { person: [{ channels: [] }], workspace: [] };
    const wanted = { person: [], workspace: [{ channels: ["terminal" as const] }] };
    const both = {
      ...snapshot("a", {}),
      standing: { ...configuration({}), notifications: own },
      configuration: { ...configuration({}), notifications: wanted },
    };
    expect(configurationInForce(both, nothingRequested).notifications).toEqual({
      person: own.person,
      workspace: wanted.workspace,
    });
    expect(otherSettings(both.configuration, both.standing)).toEqual([]);
  });
  check("hidden files stay hidden", {}, { hidden: true }, {}, { index: { hidden: false } });
  check("hidden files, accepted", {}, { hidden: true }, { showsHidden: true }, { index: { hidden: true } });
  check(
    "restrictions of both count, also those that the document no longer has",
    { ignore: ["*.key"] },
    { ignore: ["*.key"] },
    {
      restraints: [
        { kind: "ignore", glob: "secret/**" },
        { kind: "rule", rule: { decide: "deny", kind: "file.delete" } },
      ],
    },
    {
      index: { ignore: ["*.key", "secret/**"] },
      approvals: { rules: [{ decide: "deny", kind: "file.delete" }] },
    },
  );
});
