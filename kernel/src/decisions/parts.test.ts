import { describe, expect, it } from "vitest";
import type { Permissions } from "../base/vocabulary/permissions.ts";
import { answered, answerOf, permissionParts, workspaceParts, type Grants } from "./parts.ts";
import {
  covered,
  isCovered,
  nothingRequested,
  type RequestedExtension,
  type RequestedPermissions,
} from "./requested-permissions.ts";

const program = `sha256:${"a".repeat(64)}` as const;
const permissions: Permissions = {
  read_entries: true,
  propose_actions: ["file.move", "file.delete"],
  write_tags: true,
  hear_events: [],
};
const request: RequestedExtension = {
  name: "X",
  origin: "comes with Lares",
  program,
  permissions,
  locations: ["photos", "notes"],
  behaviour: { hooks: [], tools: [], models: [], hosts: [], caps: {}, settings: {} },
  behaviourDigest: program,
  carries: [],
};
const requests: RequestedPermissions = {
  extensions: { "dev.x": request, "dev.y": request },
  allowRules: [
    { decide: "allow", kind: "file.move" },
    { decide: "allow", kind: "file.edit" },
  ],
  autoApproveBelow: 0.2,
  limits: { max_memory_mb: 1024 },
  settings: [{ path: ["memory", "embedder"], value: "mini" }],
  showsHidden: true,
  namespaces: [{ name: "team", extensions: null, writable: true, workspace: null, realPath: null }],
  restraints: [],
};
const held = { kind: "rule", rule: { decide: "deny", kind: "file.delete" } } as const;
const inForce = { restraints: [held] };
const grants = (parts: string[], folders: string[], workspace: string[] = []): Grants => ({
  extensions: [{ extension: "dev.x", parts, folders }],
  workspace,
});

it("a list of a permission has a part for each of its items", () => {
  expect(permissionParts(permissions).map(({ id }) => id)).toEqual([
    "read_entries",
    "write_tags",
    "propose_actions/file.move",
    "propose_actions/file.delete",
  ]);
});

describe("a partial answer", () => {
  const answer = answerOf(
    requests,
    grants(["read_entries", "propose_actions/file.move"], ["photos"]),
    inForce,
  );

  it("grants the named parts, and withholds all others", () => {
    expect(answer.granted).toEqual({
      ...nothingRequested,
      extensions: {
        "dev.x": {
          ...request,
          permissions: { read_entries: true, propose_actions: ["file.move"] },
          locations: ["photos"],
        },
      },
      restraints: [held],
    });
    expect(isCovered(requests, answer.granted)).toBe(false);
  });

  it("leaves no further question", () => {
    expect(isCovered(requests, answered(answer.granted, answer.withheld))).toBe(true);
  });

  it("puts the common part of requests and grants in force", () => {
    const counts = covered(requests, answer.granted);
    expect(counts.extensions["dev.x"]?.permissions).toEqual(answer.granted.extensions["dev.x"]?.permissions);
    expect(counts.extensions["dev.x"]?.locations).toEqual(["photos"]);
    expect(counts).toMatchObject({
      allowRules: [],
      autoApproveBelow: 0,
      settings: [],
      showsHidden: false,
      namespaces: [],
      restraints: [held],
    });
    expect(Object.keys(counts.extensions)).toEqual(["dev.x"]);
  });

  it("asks only about later requests", () => {
    const known = answered(answer.granted, answer.withheld);
    const later = (change: Partial<RequestedExtension>): RequestedPermissions => ({
      ...requests,
      extensions: { ...requests.extensions, "dev.x": { ...request, ...change } },
    });
    expect(isCovered(later({ locations: ["photos", "notes/2024"] }), known)).toBe(true);
    expect(isCovered(later({ locations: ["photos", "letters"] }), known)).toBe(false);
    expect(
      isCovered(later({ permissions: { ...permissions, propose_actions: ["file.write"] } }), known),
    ).toBe(false);
  });
});

it("an answer with every part withholds nothing", () => {
  const all = {
    extensions: ["dev.x", "dev.y"].map((extension) => ({
      extension,
      parts: permissionParts(permissions).map(({ id }) => id),
      folders: ["notes", "photos"],
    })),
    workspace: workspaceParts(requests, inForce).map(({ id }) => id),
  };
  const { granted, withheld } = answerOf(requests, all, inForce);
  expect(withheld).toBeNull();
  expect(isCovered(requests, granted)).toBe(true);
});

it("parts of the document are granted one by one", () => {
  const [rule, , below] = workspaceParts(requests, inForce);
  const { granted } = answerOf(requests, grants([], [], [rule!.id, below!.id]), inForce);
  expect(granted).toMatchObject({
    allowRules: [{ decide: "allow", kind: "file.move" }],
    autoApproveBelow: 0.2,
    limits: {},
    restraints: [held],
  });
});

describe("a folder that is granted", () => {
  const folders = (chosen: string[]): readonly string[] | undefined =>
    answerOf(requests, grants([], chosen), inForce).granted.extensions["dev.x"]?.locations;

  it("may be inside a requested folder", () =>
    expect(folders(["photos/2024", "notes", "notes/a"])).toEqual(["photos/2024", "notes"]));

  it.each(["letters", ".", "photos-private", "Photos", "photos/../letters", "photos/", "pho\u0301tos", "/"])(
    "is refused outside of them, compared by exact spelling: %j",
    (path) => expect(() => folders([path])).toThrow(/is not inside a folder/),
  );
});

it.each([
  ["a part that was not requested", grants(["call_tools/a/b"], [])],
  ["a rule that was not requested", grants([], [], ["rule/{}"])],
  [
    "an extension that was not requested",
    { extensions: [{ extension: "dev.z", parts: [], folders: [] }], workspace: [] },
  ],
  [
    "an inherited property name",
    { extensions: [{ extension: "__proto__", parts: [], folders: [] }], workspace: [] },
  ],
])("an answer that names %s is refused", (_name, given) =>
  expect(() => answerOf(requests, given, inForce)).toThrow(/Grant only what/),
);
