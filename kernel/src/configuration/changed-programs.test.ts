import { expect, it } from "vitest";
import type { Hash } from "../base/vocabulary/common.ts";
import {
  nothingRequested,
  type RequestedExtension,
  type RequestedPermissions,
} from "../decisions/requested-permissions.ts";
import { unchangedSettings } from "./testing/snapshots.ts";
import { onlyChangedPrograms } from "./changed-programs.ts";

const digest = (digit: string): Hash => `sha256:${digit.repeat(64)}`;
const notes: RequestedExtension = {
  name: "Notes",
  origin: "here",
  program: digest("a"),
  permissions: { read_entries: true },
  locations: ["notes"],
  ...unchangedSettings,
};
const deny = { kind: "rule", rule: { decide: "deny", kind: "file.delete" } } as const;
const accepted: RequestedPermissions = {
  ...nothingRequested,
  extensions: { "a.notes": notes },
  restraints: [deny],
};

function check(what: string, changes: Partial<RequestedPermissions>, expected: string[]): void {
  it(what, () => expect(onlyChangedPrograms({ ...accepted, ...changes }, accepted)).toEqual(expected));
}
const changed = { ...notes, program: digest("b") };
const notesAs = (request: RequestedExtension): Partial<RequestedPermissions> => ({
  extensions: { "a.notes": request },
});

check("nothing changed", {}, []);
check("a changed program", notesAs(changed), ["a.notes"]);
check("a program that cannot be prepared is none to accept", notesAs({ ...notes, program: null }), []);
check("a changed program with fewer folders", notesAs({ ...changed, locations: ["notes/a"] }), ["a.notes"]);
check("a changed program with more folders", notesAs({ ...changed, locations: ["."] }), []);
check(
  "a changed program with another permission",
  notesAs({ ...changed, permissions: { read_entries: true, write_tags: true } }),
  [],
);
check("a changed program beside a new extension", { extensions: { "a.notes": changed, "a.new": notes } }, []);
check(
  "a changed program and a rule that allows",
  { ...notesAs(changed), allowRules: [{ decide: "allow" }] },
  [],
);
check("a changed program and a rule less that denies", { ...notesAs(changed), restraints: [] }, []);
check("a changed program and more approved by itself", { ...notesAs(changed), autoApproveBelow: 0.5 }, []);
check("a changed program and a raised limit", { ...notesAs(changed), limits: { active_agents: 99 } }, []);
check(
  "a new extension that calls itself one with a changed program",
  { extensions: { "a.notes": notes, "a.new": { ...notes, name: "Notes (a.notes) has a changed program" } } },
  [],
);
