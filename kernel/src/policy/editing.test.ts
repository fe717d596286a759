import { expect, test } from "vitest";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { decideHostCall } from "./decide.ts";

const permissions = { read_entries: { filter: "*.png" }, propose_actions: ["file.*"] };
const authority: Authority = {
  extension: "dev.x",
  requested: permissions,
  effective: permissions,
  denied: [],
  locations: ["."],
  protectedPaths: [],
  forbiddenPaths: [],
  memory: false,
  namespaces: {},
};
const edit = { kind: "file.edit", path: "notes/diary.txt", edits: [{ find: "secret", replace: "" }] };
const proposal = { title: "t", reason: "r", effects: [edit] };

// Whether the text is found would tell what the file holds.
test.each(["actions/preview", "actions/propose"])(
  "%s: an agent cannot edit what it may not read",
  (method) => {
    expect(decideHostCall(authority, { method, params: proposal })).toMatchObject({
      allowed: false,
      error: { code: "PermissionDenied", facts: { permission: "read_entries" } },
    });
    const readable = { ...proposal, effects: [{ ...edit, path: "notes/a.png" }] };
    expect(decideHostCall(authority, { method, params: readable })).toEqual({ allowed: true });
  },
);
