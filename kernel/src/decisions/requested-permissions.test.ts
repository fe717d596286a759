import { describe, expect, it } from "vitest";
import type { RequestedNamespace } from "./namespaces.ts";
import {
  describeRequests,
  covered,
  isCovered,
  nothingRequested,
  type RequestedPermissions,
} from "./requested-permissions.ts";

const program = `sha256:${"a".repeat(64)}` as const;
const other = `sha256:${"b".repeat(64)}` as const;
const base: RequestedPermissions = {
  extensions: {
    "dev.x": {
      name: "X",
      origin: "comes with Lares",
      program,
      permissions: { read_entries: true, propose_actions: ["file.move"] },
      locations: ["photos"],
      behaviour: { hooks: [], tools: [], models: [], hosts: [], caps: {}, settings: {} },
      behaviourDigest: program,
      carries: [],
    },
  },
  settings: [],
  allowRules: [{ decide: "allow", kind: "file.move" }],
  autoApproveBelow: 0.2,
  limits: { max_memory_mb: 1024 },
  showsHidden: false,
  namespaces: [],
  restraints: [{ kind: "rule", rule: { decide: "deny", kind: "file.delete" } }],
};
const withExtension = (
  change: Partial<RequestedPermissions["extensions"][string]>,
): RequestedPermissions => ({
  ...base,
  extensions: { "dev.x": { ...base.extensions["dev.x"]!, ...change } },
});

describe("an earlier acceptance", () => {
  const check = (name: string, requests: RequestedPermissions, expected: boolean): void =>
    it(name, () => expect(isCovered(requests, base)).toBe(expected));
  check("the same", base, true);
  check("covers a document that only restricts", { ...nothingRequested, restraints: base.restraints }, true);
  check(
    "another rule that denies",
    { ...base, restraints: [...base.restraints, { kind: "ignore", glob: "*.key" }] },
    true,
  );
  check("not: a rule that denied is gone", { ...base, restraints: [] }, false);
  check("not: a limit raised", { ...base, limits: { max_memory_mb: 2048 } }, false);
  check(
    "not: another limit raised",
    { ...base, limits: { ...base.limits, max_cpu_ms_per_event: 60_000 } },
    false,
  );
  check("not: hidden files", { ...base, showsHidden: true }, false);
  const settings = (more: object) => ({ ...base.extensions["dev.x"]!.behaviour, settings: more as never });
  check(
    "not: an action that nobody accepted",
    withExtension({ behaviour: settings({ actions: [{ name: "burn", handler: "burn" }] }) }),
    false,
  );
  check(
    "not: a type that nobody accepted",
    withExtension({ behaviour: settings({ types: [{ name: "Person" }] }) }),
    false,
  );
  check("a folder inside an accepted one", withExtension({ locations: ["photos/2024"] }), true);
  check("a permission less", withExtension({ permissions: { read_entries: true } }), true);
  check("a lower threshold", { ...base, autoApproveBelow: 0.1 }, true);
  check("not: another folder", withExtension({ locations: ["photos", "notes"] }), false);
  check("not: a folder that only begins alike", withExtension({ locations: ["photos-private"] }), false);
  check("not: the whole workspace", withExtension({ locations: ["."] }), false);
  check("not: a permission more", withExtension({ permissions: { write_tags: true } }), false);
  check(
    "not: the same permission, wider",
    withExtension({ permissions: { propose_actions: ["file.*"] } }),
    false,
  );
  check("not: another program", withExtension({ program: other }), false);
  check(
    "not: a second extension",
    { ...base, extensions: { ...base.extensions, "dev.y": base.extensions["dev.x"]! } },
    false,
  );
  check("not: a new allow rule", { ...base, allowRules: [{ decide: "allow" }] }, false);
  check("not: a higher threshold", { ...base, autoApproveBelow: 0.3 }, false);
});

describe("while a wider document waits", () => {
  it("the common part of old and new is in force", () => {
    const wider = withExtension({
      locations: [".", "photos/2024"],
      permissions: { read_entries: true, write_tags: true },
    });
    const counts = covered({ ...wider, autoApproveBelow: 0.9 }, base);
    expect(isCovered(counts, base)).toBe(true);
    expect(counts.extensions["dev.x"]?.locations).toEqual(["photos/2024", "photos"]);
    expect(counts.extensions["dev.x"]?.permissions).toEqual({ read_entries: true });
    expect(counts.autoApproveBelow).toBe(0.2);
  });
  it("no new or changed extension runs", () => {
    expect(covered(withExtension({ program: other }), base).extensions).toEqual({});
    expect(covered(base, nothingRequested)).toEqual({
      ...nothingRequested,
      limits: { max_memory_mb: 0 },
      restraints: base.restraints,
    });
  });
  it("a removed restraint stays in force", () => {
    expect(covered({ ...base, restraints: [] }, base).restraints).toEqual(base.restraints);
  });
});

it("describes every wider request in a sentence", () => {
  expect(describeRequests(base)).toEqual([
    'X (dev.x, comes with Lares) asks to see and read files (read_entries); to propose changes: "file.move" (propose_actions), in photos/',
    "the document allows without asking: file.move by any agent",
    "the document approves automatically every change with an impact below 0.2",
    "the document raises the limit max_memory_mb to 1024",
  ]);
});

it("no name can continue the sentence", () => {
  const id = "dev.x";
  const sentences = describeRequests({
    ...base,
    extensions: {
      [id]: {
        ...base.extensions[id]!,
        name: "Notes (dev.notes, comes with Lares) asks for nothing",
        locations: ["a, and nothing else"],
      },
    },
    allowRules: [{ decide: "allow", path: "a by nobody", kind: "file.move" }],
    namespaces: [
      { name: "team of nobody", extensions: ["a, b"], writable: false, workspace: "of mine", realPath: null },
    ],
  });
  expect(sentences[0]).toMatch(/^"Notes \(dev.notes, comes with Lares\) asks for nothing" \(dev.x, /);
  expect(sentences[0]).toMatch(/, in "a, and nothing else\/"$/);
  expect(sentences).toContain('the document allows without asking: file.move on "a by nobody" by any agent');
  expect(sentences).toContain(
    'the document lets "a, b" read the shared memory "team of nobody" of the workspace "of mine"',
  );
});

describe("shared memories", () => {
  const request = (change: Partial<RequestedNamespace> = {}): RequestedPermissions => ({
    ...base,
    namespaces: [
      { name: "team", extensions: ["dev.x"], writable: false, workspace: null, realPath: null, ...change },
    ],
  });
  const check = (
    name: string,
    requests: RequestedPermissions,
    accepted: RequestedPermissions,
    isSaidYesTo: boolean,
    left: unknown[],
  ): void =>
    it(name, () => {
      expect(isCovered(requests, accepted)).toBe(isSaidYesTo);
      expect(covered(requests, accepted).namespaces).toEqual(left);
    });
  const team = request().namespaces[0]!;
  check("the same", request(), request(), true, [team]);
  check("a new one", request(), base, false, []);
  check("one that is gone", base, request(), true, []);
  check("written to, where only reading was accepted", request({ writable: true }), request(), false, [team]);
  check("only read, where writing was accepted", request(), request({ writable: true }), true, [team]);
  check("one more agent", request({ extensions: ["dev.x", "dev.y"] }), request(), false, [team]);
  check("every agent", request({ extensions: null }), request(), false, [team]);
  check("one agent of all", request(), request({ extensions: null }), true, [team]);
  check("another workspace's of the same name", request({ workspace: "../other" }), request(), false, []);
  it("is described in a sentence", () => {
    expect(describeRequests(request({ writable: true, extensions: null }))).toContain(
      "the document lets every agent read and write the shared memory team",
    );
    expect(describeRequests(request({ workspace: "../other" }))).toContain(
      "the document lets dev.x read the shared memory team of the workspace ../other",
    );
  });
});

it("actions and types of an extension are named", () => {
  const [, sentence] = describeRequests(
    withExtension({
      behaviour: {
        hooks: [],
        tools: [],
        models: [],
        hosts: [],
        caps: {},
        settings: { actions: [{ name: "create_album" }], types: [{ name: "Person" }] },
      },
    }),
  );
  expect(sentence).toBe("dev.x offers the actions create_album; shares values of the types Person");
});
