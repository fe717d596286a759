import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import type { DiagnosticCode } from "./text/codes.ts";
import { canonicalLocation, checkLares } from "./lares.ts";
import { checkManifest } from "./manifest.ts";
import type { FoundExtension, LaresPorts } from "./ports.ts";
import { publishedDocumentSchemas } from "./published.ts";
import { manifestPorts } from "./testing/ports.ts";
import { marked } from "./testing/marked.ts";

const fixture = (name: string) => readFile(new URL(`fixtures/${name}`, import.meta.url), "utf8");

const photos = async (): Promise<FoundExtension> => {
  const text = await fixture("photos-yaml/extension.yaml");
  const { value } = await checkManifest(text, "extension.yaml", manifestPorts());
  if (value === null) throw new Error("the fixture is not valid");
  return { state: "found", file: "extension.yaml", manifest: value };
};

const ports: LaresPorts = {
  layer: "workspace",
  folderState: (path) =>
    (({ photos: "folder", archive: "folder", "notes.md": "other", link: "outside" }) as const)[path] ??
    (path === "." ? "folder" : "missing"),
  findExtension: ({ path, id }, granted) => {
    if (id === "com.spacedrive.photos" || path === "../photos") return photos();
    if (path === "../broken" || path === "../foreign")
      return { state: "invalid", file: `${path}/extension.yaml`, isForeign: path === "../foreign" };
    if (path === "." || granted.includes("ext"))
      return { state: "misplaced", file: "extension.yaml", reason: "Its folder holds the workspace." };
    return { state: "missing", lookedIn: [".lares/extensions"] };
  },
};

test("the documented example has no faults, in YAML and TOML alike", async () => {
  const yaml = await checkLares(await fixture("workspace-yaml/lares.yaml"), "lares.yaml", ports);
  const toml = await checkLares(await fixture("workspace-toml/lares.toml"), "lares.toml", ports);
  expect([yaml.diagnostics, toml.diagnostics]).toEqual([[], []]);
  expect(toml.value).toEqual(yaml.value);
  const validate = new Ajv().compile(publishedDocumentSchemas()["lares.schema.json"] ?? false);
  expect(validate({ $schema: "x", ...yaml.value })).toBe(true);
});

for (const text of ["", "# nothing yet\n", "{}\n"]) {
  test(`${JSON.stringify(text)} sets nothing and is not a fault`, async () => {
    expect(await checkLares(text, "lares.yaml", ports)).toMatchObject({
      value: {},
      diagnostics: [],
      usable: true,
    });
  });
}

describe("faults, each at its place", () => {
  const cases: [format: "yaml" | "toml", source: string, code: DiagnosticCode, message: RegExp][] = [
    ["yaml", "«extentions»: []\n", "unknown-field", /did you mean "extensions"/],
    ["yaml", "version: «2»\n", "invalid-value", /has to be 1, but is 2/],
    [
      "yaml",
      "limits: { idle_unload: «5 minutes» }\n",
      "invalid-duration",
      /"5 minutes" is not a duration. Write a number and a unit/,
    ],
    ["toml", '[kernel]\nlinger = «"10"»\n', "invalid-duration", /500ms, 10s, 5m/],
    ["yaml", "kernel: { linger: «999999d» }\n", "invalid-duration", /hundred years/],
    ["yaml", "kernel: { linger: «10» }\n", "wrong-type", /has to be a string, but is 10/],
    ["yaml", "approvals: { auto_approve_below: «1.5» }\n", "invalid-value", /at most 1/],
    ["yaml", "approvals: { rules: [{ decide: «maybe» }] }\n", "invalid-value", /one of deny, ask, allow/],
    ["yaml", 'approvals: { rules: [{ decide: deny, path: «"{a,b"» }] }\n', "invalid-glob", /not closed/],
    [
      "yaml",
      "approvals: { rules: [{ decide: deny, kind: «file.delte» }] }\n",
      "unknown-kind",
      /no change of the kind "file\.delte"; did you mean "file\.delete"/,
    ],
    [
      "toml",
      '[[approvals.rules]]\ndecide = "deny"\nkind = «"everything"»\n',
      "unknown-kind",
      /there are file\.write, .*file\.\*, .*, \*\./,
    ],
    [
      "yaml",
      "approvals: { rules: [{ decide: deny, path: «/photos/**» }] }\n",
      "matches-nothing",
      /relative to the workspace, without "\.\."/,
    ],
    [
      "toml",
      '[[approvals.rules]]\ndecide = "deny"\npath = «"photos/../**"»\n',
      "matches-nothing",
      /"photos\/\.\.\/\*\*" matches nothing/,
    ],
    [
      "yaml",
      'approvals: { rules: [{ decide: ask, agent: «"*"» }] }\n',
      "matches-nothing",
      /leave agent out for any/,
    ],
    ["yaml", "extensions: [{ path: «.» }]\n", "extension-holds-files", /holds the workspace/],
    [
      "toml",
      '[[extensions]]\npath = «"ext"»\n[[extensions]]\npath = "../photos"\ngrants = { locations = ["./ext/", "photos"] }\n',
      "extension-holds-files",
      /holds the workspace/,
    ],
    ["yaml", "import_namespaces: [«{ name: team }»]\n", "invalid-namespace", /whose memory/],
    [
      "yaml",
      "shared_namespaces: [{ name: team, «workspace»: ../x }]\n",
      "invalid-namespace",
      /under import_namespaces/,
    ],
    [
      "yaml",
      "import_namespaces: [{ name: team, workspace: ../x, «read_write»: true }]\n",
      "import-read-only",
      /only ever read/,
    ],
    [
      "yaml",
      "shared_namespaces: [{ name: team }]\nimport_namespaces: [{ name: «team», workspace: ../x }]\n",
      "duplicate-namespace",
      /shared_namespaces\[0\]/,
    ],
    [
      "toml",
      '[[shared_namespaces]]\nname = "a"\n[[shared_namespaces]]\nname = «"a"»\n',
      "duplicate-namespace",
      /already/,
    ],
    ["yaml", 'index: { ignore: [ok, «"{1..3}"»] }\n', "invalid-glob", /brace range/],
    [
      "yaml",
      "extensions:\n  - path: «../nowhere»\n",
      "extension-not-found",
      /no extension\.yaml or extension\.toml in "\.\.\/nowhere"\. It was looked for in \.lares\/extensions/,
    ],
    [
      "toml",
      '[[extensions]]\nid = «"com.example.none"»\n',
      "extension-not-found",
      /no extension "com\.example\.none"/,
    ],
    ["yaml", "extensions:\n  - path: «../broken»\n", "extension-invalid", /has errors; see there/],
    ["yaml", "extensions:\n  - path: «../foreign»\n", "extension-invalid", /is another product's manifest/],
    ["yaml", "extensions:\n  - «{ enabled: true }»\n", "extension-reference", /either path, .* or id/],
    ["yaml", "extensions:\n  - «{ id: com.example.a, path: x }»\n", "extension-reference", /either path/],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n  - id: «com.spacedrive.photos»\n",
      "duplicate-extension",
      /extensions\[0\] is "com\.spacedrive\.photos" already/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants: { locations: [photos, «../secret»] }\n",
      "location-outside",
      /leads out of the workspace/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants: { locations: [«/etc»] }\n",
      "location-outside",
      /leads out/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants: { locations: [«link/»] }\n",
      "location-outside",
      /leads out/,
    ],
    [
      "toml",
      '[[extensions]]\npath = "../photos"\n[extensions.grants]\nlocations = [«"C:\\\\x"»]\n',
      "location-outside",
      /leads out/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants: { locations: [«photoes/»] }\n",
      "location-not-found",
      /does not exist/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants: { locations: [«notes.md»] }\n",
      "location-not-found",
      /is not a folder/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants: { deny: [«write_tag»] }\n",
      "unknown-permission",
      /did you mean "write_tags"/,
    ],
    [
      "yaml",
      "extensions:\n  - path: ../photos\n    grants:\n      «allow»: [read_entries, write_sidecars, write_custom_fields, use_models, dispatch_jobs, propose_actions, emit_events, call_tools, shared_data]\n",
      "permission-not-granted",
      /asks for write_tags, which allow leaves out/,
    ],
    [
      "yaml",
      "memory:\n  «embedder»: { kind: openai-compatible, url: https://example.com, model: m }\n",
      "user-only",
      /counts in your own lares\.yaml only/,
    ],
    [
      "yaml",
      "«device»: { capabilities: [gpu] }\n",
      "user-only",
      /device describes a person's machine; it counts in your own lares\.yaml only/,
    ],
    ["yaml", "«ai»: { providers: [] }\n", "deprecated-field", /belong under models/],
    ["toml", '«ai» = "openai"\n', "deprecated-field", /belong under models/],
    ["yaml", "memory: { embedder: { kind: onnx, «pth»: x } }\n", "unknown-field", /did you mean "path"/],
    [
      "yaml",
      "memory: { embedder: «hsah» }\n",
      "wrong-type",
      /"hash" or "minilm" or a map with kind: openai-compatible or a map with kind: onnx/,
    ],
    [
      "yaml",
      "shared_namespaces: [{ name: people, «readwrite»: true }]\n",
      "unknown-field",
      /did you mean "read_write"/,
    ],
    [
      "yaml",
      `extensions: [{ path: ../photos, models: [{ name: a, sha256: «${"A".repeat(64)}» }] }]\n`,
      "invalid-hash",
      /not a SHA-256/,
    ],
    [
      "toml",
      `extensions = [{ path = "../photos", models = [«{ name = "a", sha256 = "${"a".repeat(64)}", size_mb = 1 }»] }]\n`,
      "unusable-model",
      /is declared with no source.url, so it cannot be fetched/,
    ],
    [
      "yaml",
      `extensions: [{ path: ../photos, models: [{ name: a, source: { url: «file:///etc/passwd» }, sha256: ${"a".repeat(64)}, size_mb: 1 }] }]\n`,
      "unusable-model",
      /https/,
    ],
    [
      "yaml",
      "extensions: [{ path: ../photos, models: [{ name: a }, { name: «a» }] }]\n",
      "duplicate-model",
      /models\[0\] is named "a" already/,
    ],
  ];
  for (const [format, source, code, message] of cases) {
    test(`${format} ${code}: ${source
      .split("\n")
      .find((line) => line.includes("«"))
      ?.trim()}`, async () => {
      const { text, range } = marked(source);
      const checked = await checkLares(text, `lares.${format}`, ports);
      const found = checked.diagnostics.find((diagnostic) => diagnostic.code === code);
      expect(found?.message).toMatch(message);
      expect(found?.range).toEqual(range);
      expect(checked.usable).toBe(checked.diagnostics.every(({ severity }) => severity !== "error"));
    });
  }
});

test("a service is not a fault in the user's own document", async () => {
  const text = "memory:\n  embedder: { kind: openai-compatible, url: https://example.com, model: m }\n";
  expect((await checkLares(text, "lares.yaml", { layer: "user" })).diagnostics).toEqual([]);
});

test("a denied permission is not reported as missing", async () => {
  const text =
    "extensions: [{ path: ../photos, grants: { allow: [], deny: [read_entries, write_sidecars, write_tags, write_custom_fields, use_models, dispatch_jobs, propose_actions, emit_events, call_tools, shared_data] } }]\n";
  expect((await checkLares(text, "lares.yaml", ports)).diagnostics).toEqual([]);
});

for (const [location, canonical] of [
  ["photos/", "photos"],
  ["./photos//2024/", "photos/2024"],
  [".", "."],
  ["./", "."],
  ["a/../b", null],
  ["..", null],
  ["/etc", null],
  ["~/x", null],
  ["C:/x", null],
  ["a\\b", null],
  ["a\0b", null],
] as const) {
  test(`the location ${JSON.stringify(location)} is ${canonical ?? "outside"}`, () =>
    expect(canonicalLocation(location)).toBe(canonical));
}

test("patterns of possible paths are not a fault", async () => {
  const paths = ["**", "./photos/**", ".hidden/*", "a..b", "..a/b", "*/…", "photos/*.{jpg,png}"];
  const rules = paths.map((path) => `{ decide: ask, path: "${path}" }`).join(", ");
  const checked = await checkLares(`approvals: { rules: [${rules}] }\n`, "lares.yaml", ports);
  expect(checked.diagnostics).toEqual([]);
});

test("kinds, their families and all of them are known", async () => {
  const kinds = ["file.write", "sidecar.write", "file.*", "tag.*", "*"];
  const rules = kinds.map((kind) => `{ decide: ask, kind: "${kind}" }`).join(", ");
  const checked = await checkLares(`approvals: { rules: [${rules}] }\n`, "lares.yaml", ports);
  expect(checked.diagnostics).toEqual([]);
});
