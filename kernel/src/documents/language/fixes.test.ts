import { describe, expect, test } from "vitest";
import type { DiagnosticCode } from "../text/codes.ts";
import type { Diagnostic } from "../text/diagnostics.ts";
import { checkLares } from "../lares.ts";
import { checkManifest } from "../manifest.ts";
import type { LaresPorts } from "../ports.ts";
import { applyEdits } from "../text/apply-edits.ts";
import { manifestPorts } from "../testing/ports.ts";

const exported = { handlers: ["photoAdded", "maintenance"], tools: ["search"] };

const laresPorts: LaresPorts = {
  layer: "workspace",
  folderState: (path) => (path === "photos" ? "folder" : "missing"),
  findExtension: async ({ id, path }) => {
    if (path !== "./photos" && id !== "com.example.photos")
      return { state: "missing", lookedIn: ["somewhere"], candidates: ["com.example.photos"] };
    const text =
      "extension: { id: com.example.photos, name: x, version: 1.0.0, permissions: { write_tags: true } }";
    const { value } = await checkManifest(text, "extension.yaml", manifestPorts());
    if (value === null) throw new Error("the test's manifest is none");
    return { state: "found", file: "extension.yaml", manifest: value };
  },
};

async function check(file: string, text: string): Promise<readonly Diagnostic[]> {
  return file.startsWith("lares")
    ? (await checkLares(text, file, laresPorts)).diagnostics
    : (await checkManifest(text, file, manifestPorts(["agent.ts"], { programExports: () => exported })))
        .diagnostics;
}

const yaml = (more: string) => `extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n${more}`;
const toml = (more: string) => `[extension]\nid = "com.example.a"\nname = "A"\nversion = "1.0.0"\n${more}`;
const hook = (fields: string) => yaml(`  hooks:\n    - ${fields}\n`);
const tomlHook = (fields: string) => toml(`\n[[extension.hooks]]\n${fields}\n`);
const tool = "      handler: search\n      description: x\n";

/** File, the fault, the titles of its fixes, and what the first one leaves. */
const cases: readonly (readonly [string, DiagnosticCode, string, readonly string[], string?])[] = [
  [
    "lares.yaml",
    "unknown-field",
    "version: 1\nextensoins: []\n",
    ['Write "extensions"', "Remove extensoins"],
    "version: 1\nextensions: []\n",
  ],
  [
    "lares.toml",
    "unknown-field",
    "version = 1\nextensoins = []\n",
    ['Write "extensions"', "Remove extensoins"],
    "version = 1\nextensions = []\n",
  ],
  [
    "lares.yaml",
    "unknown-field",
    "extensions: []\nextension: []\n",
    ["Remove extension"],
    "extensions: []\n",
  ],
  [
    "lares.yaml",
    "unknown-field",
    "limits: { idle_unload: 5m, colour: red }\n",
    ["Remove colour"],
    "limits: { idle_unload: 5m }\n",
  ],
  [
    "lares.toml",
    "unknown-field",
    'version = 1\n\n[colours]\nred = 1\n\n[trace]\nlevel = "info"\n',
    ["Remove colours"],
    'version = 1\n\n\n[trace]\nlevel = "info"\n',
  ],
  ["lares.yaml", "invalid-value", "version: 2\n", ["Write 1"], "version: 1\n"],
  [
    "lares.yaml",
    "matches-nothing",
    "approvals: { rules: [{ decide: deny, path: /photos/** }] }\n",
    ['Write "photos/**"'],
    'approvals: { rules: [{ decide: deny, path: "photos/**" }] }\n',
  ],
  [
    "lares.toml",
    "matches-nothing",
    '[[approvals.rules]]\ndecide = "deny"\nagent = "*"\n',
    ["Remove agent"],
    '[[approvals.rules]]\ndecide = "deny"\n',
  ],
  [
    "lares.yaml",
    "unknown-kind",
    "approvals: { rules: [{ decide: deny, kind: file.delte }] }\n",
    ['Write "file.delete"'],
    "approvals: { rules: [{ decide: deny, kind: file.delete }] }\n",
  ],
  ["lares.yaml", "invalid-value", "trace: { level: wran }\n", ['Write "warn"'], "trace: { level: warn }\n"],
  ["lares.toml", "invalid-value", "[trace]\nlevel = 'wran'\n", ['Write "warn"'], "[trace]\nlevel = 'warn'\n"],
  [
    "lares.yaml",
    "invalid-value",
    "trace: { level: loudly }\n",
    ['Write "debug"', 'Write "info"', 'Write "warn"', 'Write "error"'],
  ],
  [
    "lares.yaml",
    "invalid-value",
    "approvals:\n  auto_approve_below: 7 # often\n",
    ["Write 1"],
    "approvals:\n  auto_approve_below: 1 # often\n",
  ],
  ["lares.yaml", "invalid-value", "limits: { active_agents: 0 }\n", ["Write 1"]],
  [
    "lares.yaml",
    "wrong-type",
    'limits: { active_agents: "5" }\n',
    ["Write 5"],
    "limits: { active_agents: 5 }\n",
  ],
  ["lares.yaml", "wrong-type", "index: { hidden: yes }\n", ["Write true"], "index: { hidden: true }\n"],
  [
    "lares.yaml",
    "wrong-type",
    "index:\n  ignore: node_modules\n",
    ["Write a list of it"],
    "index:\n  ignore: [node_modules]\n",
  ],
  [
    "lares.toml",
    "wrong-type",
    '[index]\nignore = "node_modules"\n',
    ["Write a list of it"],
    '[index]\nignore = ["node_modules"]\n',
  ],
  ["lares.yaml", "wrong-type", "kernel: { linger: 10 }\n", ['Write "10s"']],
  [
    "lares.yaml",
    "invalid-value",
    "memory: { vectors: 3 }\n",
    ['Write "auto"', 'Write "exact"', 'Write "usearch"', 'Write "faiss"'],
  ],
  [
    "lares.yaml",
    "invalid-duration",
    "kernel: { linger: 2 weeks }\n",
    ['Write "14d"'],
    'kernel: { linger: "14d" }\n',
  ],
  [
    "lares.toml",
    "invalid-duration",
    '[kernel]\nlinger = "5 minutes"\n',
    ['Write "5m"'],
    '[kernel]\nlinger = "5m"\n',
  ],
  ["lares.yaml", "invalid-duration", "kernel: { linger: soon }\n", []],
  [
    "lares.yaml",
    "missing-field",
    "approvals:\n  rules:\n    - kind: file.*\n",
    ['Add "decide"'],
    "approvals:\n  rules:\n    - kind: file.*\n      decide: deny\n",
  ],
  [
    "lares.toml",
    "missing-field",
    '[[approvals.rules]]\nkind = "file.*"\n',
    ['Add "decide"'],
    '[[approvals.rules]]\nkind = "file.*"\ndecide = "deny"\n',
  ],
  [
    "lares.yaml",
    "invalid-namespace",
    "shared_namespaces:\n  - name: a\n    workspace: ../b\n",
    ["Remove workspace"],
    "shared_namespaces:\n  - name: a\n",
  ],
  [
    "lares.yaml",
    "import-read-only",
    "import_namespaces:\n  - { name: a, workspace: ../b, read_write: true }\n",
    ["Remove read_write"],
  ],
  [
    "lares.toml",
    "import-read-only",
    '[[import_namespaces]]\nname = "a"\nread_write = true\nworkspace = "../b"\n',
    ["Remove read_write"],
    '[[import_namespaces]]\nname = "a"\nworkspace = "../b"\n',
  ],
  [
    "lares.yaml",
    "extension-reference",
    "extensions:\n  - path: ./photos\n    id: com.example.photos\n",
    ["Remove id", "Remove path"],
    "extensions:\n  - path: ./photos\n",
  ],
  [
    "lares.yaml",
    "extension-not-found",
    "extensions:\n  - id: com.example.fotos\n",
    ['Write "com.example.photos"'],
    "extensions:\n  - id: com.example.photos\n",
  ],
  [
    "lares.toml",
    "extension-not-found",
    '[[extensions]]\nid = "com.example.fotos"\n',
    ['Write "com.example.photos"'],
  ],
  [
    "lares.yaml",
    "duplicate-extension",
    "extensions:\n  - path: ./photos\n  # again\n  - id: com.example.photos\n    enabled: true\nversion: 1\n",
    ["Remove this entry"],
    "extensions:\n  - path: ./photos\n  # again\nversion: 1\n",
  ],
  [
    "lares.toml",
    "duplicate-extension",
    '[[extensions]]\npath = "./photos"\n\n[[extensions]]\nid = "com.example.photos"\n[extensions.config]\nbatch = 5\n\n[trace]\nlevel = "info"\n',
    ["Remove this entry"],
  ],
  [
    "lares.yaml",
    "unknown-permission",
    "extensions:\n  - path: ./photos\n    grants: { deny: [write_tag] }\n",
    ['Write "write_tags"', 'Remove "write_tag"'],
  ],
  [
    "lares.yaml",
    "permission-not-granted",
    "extensions:\n  - path: ./photos\n    grants:\n      allow: [read_entries]\n",
    ["Allow write_tags", "Deny write_tags"],
    "extensions:\n  - path: ./photos\n    grants:\n      allow: [read_entries, write_tags]\n",
  ],
  [
    "lares.yaml",
    "permission-not-granted",
    "extensions:\n  - path: ./photos\n    grants:\n      allow:\n        - read_entries\n      deny: []\n",
    ["Allow write_tags", "Deny write_tags"],
    "extensions:\n  - path: ./photos\n    grants:\n      allow:\n        - read_entries\n        - write_tags\n      deny: []\n",
  ],
  [
    "lares.toml",
    "permission-not-granted",
    '[[extensions]]\npath = "./photos"\ngrants = { allow = [] }\n',
    ["Allow write_tags", "Deny write_tags"],
    '[[extensions]]\npath = "./photos"\ngrants = { allow = ["write_tags"] }\n',
  ],
  [
    "lares.toml",
    "permission-not-granted",
    '[[extensions]]\npath = "./photos"\n[extensions.grants]\nallow = [\n  "read_entries",\n]\n',
    ["Allow write_tags", "Deny write_tags"],
  ],
  [
    "lares.yaml",
    "location-outside",
    "extensions:\n  - path: ./photos\n    grants: { locations: [photos, ../up] }\n",
    ['Remove "../up"'],
    "extensions:\n  - path: ./photos\n    grants: { locations: [photos] }\n",
  ],
  [
    "lares.yaml",
    "location-not-found",
    "extensions:\n  - path: ./photos\n    grants:\n      locations:\n        - nowhere\n",
    ['Remove "nowhere"'],
    "extensions:\n  - path: ./photos\n",
  ],
  [
    "lares.yaml",
    "user-only",
    "version: 1\nmemory:\n  vectors: exact\n  embedder: { kind: onnx, path: m.onnx }\n",
    ["Remove memory.embedder"],
    "version: 1\nmemory:\n  vectors: exact\n",
  ],
  [
    "lares.yaml",
    "deprecated-field",
    "version: 1\nai:\n  provider: x\n# end\n",
    ["Remove ai"],
    "version: 1\n# end\n",
  ],
  [
    "lares.toml",
    "deprecated-field",
    'version = 1\n[ai]\nprovider = "x"\n[ai.more]\nkey = 1\n',
    ["Remove ai"],
    "version = 1\n",
  ],
  [
    "extension.yaml",
    "missing-field",
    "extension:\n  id: com.example.a\n  name: A\n  hooks: []\n",
    ['Add "version"'],
    "extension:\n  id: com.example.a\n  name: A\n  version: 0.1.0\n  hooks: []\n",
  ],
  [
    "extension.toml",
    "missing-field",
    '[extension]\nid = "com.example.a"\nname = "A"\n[[extension.hooks]]\non = "EntryCreated"\nhandler = "photoAdded"\n',
    ['Add "version"'],
    '[extension]\nid = "com.example.a"\nname = "A"\nversion = "0.1.0"\n[[extension.hooks]]\non = "EntryCreated"\nhandler = "photoAdded"\n',
  ],
  [
    "extension.toml",
    "missing-field",
    'extension.id = "com.example.a"\nextension.name = "A"\n',
    ['Add "version"'],
    'extension.id = "com.example.a"\nextension.name = "A"\nextension.version = "0.1.0"\n',
  ],
  [
    "extension.toml",
    "missing-field",
    'extension = { id = "com.example.a", name = "A" }\n',
    ['Add "version"'],
  ],
  [
    "extension.yaml",
    "missing-field",
    '{"extension": {"id": "com.example.a", "name": "A"}}',
    ['Add "version"'],
  ],
  ["extension.yaml", "missing-field", hook("on: EntryCreated"), ['Add "handler"']],
  [
    "extension.yaml",
    "wrong-type",
    "extension:\n  id: com.example.a\n  name: A\n  version: 1.0\n",
    ['Write "1.0"'],
    'extension:\n  id: com.example.a\n  name: A\n  version: "1.0"\n',
  ],
  [
    "extension.yaml",
    "invalid-id",
    "extension:\n  id: Not An Id\n  name: A\n  version: 1.0.0\n",
    ['Write "com.example.not-an-id"'],
  ],
  [
    "extension.toml",
    "invalid-version",
    '[extension]\nid = "com.example.a"\nname = "A"\nversion = "v1.2"\n',
    ['Write "1.2.0"'],
  ],
  [
    "extension.yaml",
    "invalid-hash",
    yaml(`  models: [{ name: a, sha256: ${"A".repeat(64)} }]\n`),
    [`Write "${"a".repeat(64)}"`],
  ],
  [
    "extension.yaml",
    "hook-binding",
    hook("on: EntryCreated\n      schedule: '@daily'\n      handler: photoAdded"),
    ["Remove schedule", "Remove on"],
    hook("on: EntryCreated\n      handler: photoAdded"),
  ],
  [
    "extension.toml",
    "hook-binding",
    tomlHook('on = "EntryCreated"\nschedule = "@daily"\nhandler = "photoAdded"'),
    ["Remove schedule", "Remove on"],
  ],
  [
    "extension.yaml",
    "hook-binding",
    hook("handler: photoAdded"),
    ['Add "on"', 'Add "schedule"'],
    hook("handler: photoAdded\n      on: EntryCreated"),
  ],
  ["extension.yaml", "hook-binding", hook("{ handler: photoAdded }"), ['Add "on"', 'Add "schedule"']],
  [
    "extension.yaml",
    "hook-binding",
    hook("schedule: '@daily'\n      filter: a > 1\n      handler: photoAdded"),
    ["Remove filter"],
  ],
  [
    "extension.yaml",
    "hook-binding",
    hook("timezone: UTC\n      on: EntryCreated\n      handler: photoAdded"),
    ["Remove timezone"],
    hook("on: EntryCreated\n      handler: photoAdded"),
  ],
  [
    "extension.yaml",
    "unknown-event",
    hook("on: 'EntryCraeted'\n      handler: photoAdded"),
    ['Write "EntryCreated"'],
    hook("on: 'EntryCreated'\n      handler: photoAdded"),
  ],
  [
    "extension.toml",
    "unknown-event",
    tomlHook('on = "EntryCraeted"\nhandler = "photoAdded"'),
    ['Write "EntryCreated"'],
  ],
  [
    "extension.yaml",
    "invalid-filter",
    hook("on: EntryCreated\n      filter: entry.sise > 1\n      handler: photoAdded"),
    ['Write "size"'],
  ],
  [
    "extension.yaml",
    "invalid-filter",
    hook('{ on: EntryCreated, filter: extension == "md", handler: photoAdded } # keep me'),
    ['Write "entry.extension"'],
    hook('{ on: EntryCreated, filter: entry.extension == "md", handler: photoAdded } # keep me'),
  ],
  [
    "extension.toml",
    "invalid-filter",
    tomlHook(
      'on = "EntryCreated"\nfilter = "entry.extension = \\"md\\" and entry.size > 1"\nhandler = "photoAdded"',
    ),
    ["Write the operators as a filter has them"],
    tomlHook(
      'on = "EntryCreated"\nfilter = "entry.extension == \\"md\\" && entry.size > 1"\nhandler = "photoAdded"',
    ),
  ],
  [
    "extension.toml",
    "old-spelling",
    tomlHook(
      'on = "EntryCreated"\nfilter = "entry.is_image() && entry.extension() == \'jpg\'"\nhandler = "photoAdded"',
    ),
    ["Rewrite all older spellings"],
  ],
  [
    "extension.yaml",
    "handler-not-exported",
    hook("on: EntryCreated\n      handler: fotoAdded"),
    ['Write "photoAdded"'],
  ],
  [
    "extension.toml",
    "handler-not-exported",
    toml('[[extension.tools]]\nname = "a"\ndescription = ""\nhandler = "serch"\n'),
    ['Write "search"'],
  ],
  [
    "extension.yaml",
    "duplicate-tool",
    yaml(`  tools:\n    - name: a\n${tool}    - name: a\n${tool}`),
    ['Write "a_2"'],
  ],
  [
    "extension.yaml",
    "duplicate-hook",
    hook("{ on: EntryCreated, handler: photoAdded }\n    - { on: EntryCreated, handler: photoAdded }"),
    ["Remove this hook"],
    hook("{ on: EntryCreated, handler: photoAdded }"),
  ],
  [
    "extension.toml",
    "duplicate-hook",
    tomlHook(
      'on = "EntryCreated"\nhandler = "photoAdded"\n\n[[extension.hooks]]\non = "EntryCreated"\nhandler = "photoAdded"',
    ),
    ["Remove this hook"],
  ],
  [
    "extension.yaml",
    "event-not-heard",
    hook("{ on: dev.other/Found, handler: photoAdded }"),
    ["Add dev.other/Found to hear_events", "Add dev.other/* to hear_events"],
  ],
  [
    "extension.yaml",
    "event-not-heard",
    yaml(
      `  permissions:\n    hear_events: [dev.other/Lost]\n  hooks: [{ on: dev.other/Found, handler: photoAdded }]\n`,
    ),
    ["Add dev.other/Found to hear_events", "Add dev.other/* to hear_events"],
    yaml(
      `  permissions:\n    hear_events: [dev.other/Lost, dev.other/Found]\n  hooks: [{ on: dev.other/Found, handler: photoAdded }]\n`,
    ),
  ],
  [
    "extension.toml",
    "event-not-heard",
    tomlHook('on = "dev.other/Found"\nhandler = "photoAdded"'),
    ["Add dev.other/Found to hear_events", "Add dev.other/* to hear_events"],
  ],
  [
    "extension.yaml",
    "invalid-parameters",
    yaml(`  tools:\n    - name: a\n${tool}      parameters: { type: array }\n`),
    ["Write type: object"],
  ],
  [
    "extension.toml",
    "invalid-parameters",
    toml(
      '[[extension.tools]]\nname = "a"\ndescription = ""\nhandler = "search"\n[extension.tools.parameters]\nrequired = []\n',
    ),
    ["Write type: object"],
  ],
  ["extension.yaml", "invalid-value", yaml(`  tools:\n    - name: find it\n${tool}`), ['Write "find_it"']],
  [
    "extension.yaml",
    "invalid-program",
    yaml("  main: agent.py\n"),
    ['Write "agent.ts"'],
    yaml("  main: agent.ts\n"),
  ],
  ["extension.yaml", "program-not-found", yaml("  main: ./agnet.ts\n"), ['Write "agent.ts"']],
  ["extension.yaml", "invalid-schedule", hook("schedule: '0 25 * * *'\n      handler: maintenance"), []],
  [
    "lares.yaml",
    "duplicate-key",
    "version: 1\ntrace: { level: info }\nversion: 1 # again\n",
    ["Remove this entry"],
    "version: 1\ntrace: { level: info }\n",
  ],
  [
    "lares.yaml",
    "duplicate-key",
    "trace:\n  level: info\n  level:\n    - a\n    - b\n\nversion: 1\n",
    ["Remove this entry"],
    "trace:\n  level: info\n\nversion: 1\n",
  ],
  [
    "lares.yaml",
    "duplicate-key",
    "trace: { level: info, keep: 1d, level: warn }\n",
    ["Remove this entry"],
    "trace: { level: info, keep: 1d }\n",
  ],
  [
    "lares.yaml",
    "duplicate-key",
    "trace: { level: info, level: warn, keep: 1d }\n",
    ["Remove this entry"],
    "trace: { level: info, keep: 1d }\n",
  ],
  [
    "lares.toml",
    "duplicate-key",
    'version = 1\nversion = 1\n[trace]\nlevel = "info"\n',
    ["Remove this entry"],
    'version = 1\n[trace]\nlevel = "info"\n',
  ],
  ["lares.toml", "duplicate-key", "version = 1\n[trace]\n[trace]\n", []],
  ["lares.yaml", "forbidden-key", "version: 1\n__proto__:\n  a: 1\n", ["Remove this entry"], "version: 1\n"],
  [
    "lares.toml",
    "forbidden-key",
    "version = 1\n__proto__ = [\n  1,\n]\n",
    ["Remove this entry"],
    "version = 1\n",
  ],
  ["lares.yaml", "forbidden-key", "extensions:\n  - __proto__: 1\n    path: ./photos\n", []],
];

describe("a fault has the possible fixes, and each of them repairs it", () => {
  test.each(cases.map((each, index) => [index, ...each] as const))(
    "%i %s: %s",
    async (_index, file, code, text, titles, expected) => {
      const before = await check(file, text);
      const fault = before.find((each) => each.code === code);
      expect(fault?.fixes.map(({ title }) => title)).toEqual(
        titles.map((title) => (title.length > 80 ? `${title.slice(0, 79)}…` : title)),
      );
      for (const fix of fault?.fixes ?? []) {
        const mended = applyEdits(text, fix.edits);
        const after = await check(file, mended);
        const count = (found: readonly Diagnostic[]) => found.filter((each) => each.code === code).length;
        expect(count(after), `${fix.title}:\n${mended}\n${JSON.stringify(after)}`).toBe(count(before) - 1);
        expect(after.map((each) => each.code)).not.toContain("syntax");
      }
      const [first] = fault?.fixes ?? [];
      if (expected !== undefined && first !== undefined) expect(applyEdits(text, first.edits)).toBe(expected);
    },
  );

  test("with the line ends that are there", async () => {
    const text = "extension:\r\n  id: com.example.a\r\n  name: A # x\r\n  hooks: []\r\n";
    const [fault] = await check("extension.yaml", text);
    expect(applyEdits(text, fault?.fixes[0]?.edits ?? [])).toBe(
      "extension:\r\n  id: com.example.a\r\n  name: A # x\r\n  version: 0.1.0\r\n  hooks: []\r\n",
    );
  });
});
