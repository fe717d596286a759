import { describe, expect, test } from "vitest";
import { checkLares } from "./lares.ts";
import { checkManifest } from "./manifest.ts";
import { manifestPorts } from "./testing/ports.ts";
import { asksOf, isWiderThan, trustSubject, wideningOf, type Widening } from "./trust.ts";

const permissions =
  "{ read_entries: true, write_tags: true, propose_actions: [file.move], dispatch_jobs: false }";

async function widening(document: string, manifest = `permissions: ${permissions}`): Promise<Widening> {
  const { value } = await checkLares(document, "lares.yaml", { layer: "workspace" });
  const text = `extension:\n  id: com.example.a\n  name: "A\\nB"\n  version: 1.0.0\n  ${manifest}\n`;
  const checked = await checkManifest(text, "extension.yaml", manifestPorts());
  if (value === null || checked.value === null) throw new Error("not valid");
  return wideningOf(value, new Map([[0, checked.value]]), { active_agents: 16, max_memory_mb: 512 });
}

const base =
  "extensions: [{ path: x, grants: { locations: [photos, archive/old] } }]\napprovals: { auto_approve_below: 0.2, rules: [{ decide: deny, kind: file.delete }, { decide: allow, kind: file.move }] }\n";

describe("what is wider than before", () => {
  const cases: [what: string, document: string, wider: boolean, manifest?: string][] = [
    ["the same", base, false],
    ["a folder less", base.replace("photos, ", ""), false],
    ["a folder beneath", base.replace("photos", "photos/2024"), false],
    ["a folder more", base.replace("photos", "photos, notes"), true],
    ["a folder above", base.replace("archive/old", "archive"), true],
    ["a folder of a like name", base.replace("photos", "photos2"), true],
    ["everything", base.replace("[photos, archive/old]", '["."]'), true],
    ["a denial", base.replace("locations:", "deny: [write_tags], locations:"), false],
    ["an extension disabled", base.replace("path: x", "path: x, enabled: false"), false],
    [
      "a permission asked for",
      base,
      true,
      "permissions: { read_entries: true, write_tags: true, propose_actions: [file.move], emit_events: [X] }",
    ],
    [
      "a permission's details",
      base,
      true,
      "permissions: { read_entries: true, write_tags: true, propose_actions: [file.move, file.delete] }",
    ],
    ["a permission less", base, false, "permissions: { read_entries: true }"],
    ["a host", base, true, `permissions: ${permissions}\n  resources: { allowed_hosts: [example.com] }`],
    ["a lower impact", base.replace("0.2", "0.1"), false],
    ["a higher impact", base.replace("0.2", "0.3"), true],
    [
      "an allow rule more",
      base.replace(
        "{ decide: allow, kind: file.move }",
        "{ decide: allow, kind: file.move }, { decide: allow }",
      ),
      true,
    ],
    ["an allow rule less", base.replace(", { decide: allow, kind: file.move }", ""), false],
    [
      "a deny rule more",
      base.replace("{ decide: deny", "{ decide: deny, kind: file.write }, { decide: deny"),
      false,
    ],
    ["a deny rule less", base.replace("{ decide: deny, kind: file.delete }, ", ""), true],
    ["a limit below the others'", `${base}limits: { max_memory_mb: 100 }\n`, false],
    ["a limit above the others'", `${base}limits: { max_memory_mb: 2048 }\n`, true],
    ["a shared memory", `${base}shared_namespaces: [{ name: people }]\n`, true],
  ];
  for (const [what, document, wider, manifest] of cases) {
    test(`${what}: ${wider ? "wider" : "not wider"}`, async () => {
      expect(isWiderThan(await widening(document, manifest), await widening(base))).toBe(wider);
    });
  }

  test("against nothing accepted, any extension", async () => {
    expect(isWiderThan(await widening("extensions: [{ path: x }]\n"), await widening("{}\n"))).toBe(true);
  });
});

test("a person is shown every part of it, on lines of its own", async () => {
  const asks = asksOf(
    await widening(
      `${base}limits: { max_memory_mb: 2048 }\n`,
      `permissions: ${permissions}\n  resources: { allowed_hosts: [example.com] }`,
    ),
  );
  expect(asks).toEqual([
    'A B (com.example.a) asks for read_entries; write_tags; propose_actions ["file.move"] in photos/, archive/old/',
    "A B (com.example.a) asks to reach example.com",
    "the document allows without asking: file.move by any agent",
    "the document approves by itself every change with an impact below 0.2",
    "the document raises max_memory_mb to 2048",
  ]);
});

test("an acceptance is bound to programs as well, and to nothing that does not matter", async () => {
  const one = await widening(base);
  expect(trustSubject(one, { "com.example.a": "sha256:1" })).toBe(
    trustSubject(await widening(`# a comment\n${base}`), { "com.example.a": "sha256:1" }),
  );
  expect(trustSubject(one, { "com.example.a": "sha256:1" })).not.toBe(
    trustSubject(one, { "com.example.a": "sha256:2" }),
  );
});
