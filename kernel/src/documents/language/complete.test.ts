import { describe, expect, test } from "vitest";
import type { DocumentFormat } from "../text/source.ts";
import { complete } from "./complete.ts";
import { maxProposals } from "./proposal.ts";
import { environment, photos, surroundings } from "./testing/environment.ts";
import { labels, proposals, split, T, Y, type Kind } from "./testing/typing.ts";

describe("what is offered", () => {
  test.each<[string, Kind, DocumentFormat, string, string[]]>([
    [
      "all there is, at first",
      "lares",
      "yaml",
      "|",
      [
        "version",
        "extensions",
        "approvals",
        "limits",
        "kernel",
        "memory",
        "trace",
        "notifications",
        "index",
        "conversations",
        "shared_namespaces",
        "import_namespaces",
        "device",
        "models",
        "egress",
      ],
    ],
    [
      "tables, in TOML",
      "lares",
      "toml",
      "|",
      [
        "version",
        "[[extensions]]",
        "[approvals]",
        "[limits]",
        "[kernel]",
        "[memory]",
        "[trace]",
        "[notifications]",
        "[index]",
        "[conversations]",
        "[[shared_namespaces]]",
        "[[import_namespaces]]",
        "[device]",
        "[models]",
        "[egress]",
      ],
    ],
    ["what is not there yet", "lares", "yaml", "kernel:\n  linger: 1s\n  |", []],
    [
      "the same in TOML",
      "lares",
      "toml",
      '[trace]\nlevel = "info"\n|',
      [
        "keep",
        "[[extensions]]",
        "[approvals]",
        "[limits]",
        "[kernel]",
        "[memory]",
        "[notifications]",
        "[index]",
        "[conversations]",
        "[[shared_namespaces]]",
        "[[import_namespaces]]",
        "[device]",
        "[models]",
        "[egress]",
      ],
    ],
    [
      "what an event hook may have",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - on: EntryMoved\n      |`,
      ["handler", "filter", "intercept", "order"],
    ],
    [
      "what a schedule may have",
      "manifest",
      "toml",
      `${T}hooks = [{ schedule = "@daily", | }]`,
      [
        "handler",
        "prompt",
        "timezone",
        "catch_up",
        "target",
        "active_hours",
        "overlap",
        "jitter",
        "on_device_with_capability",
      ],
    ],
    [
      "the interfaces that a provider may have",
      "lares",
      "yaml",
      "models: { providers: { a: { api: | } } }",
      [
        "anthropic",
        "openai",
        "openai-chat",
        "google",
        "ollama",
        "openai-compatible",
        "llama",
        "editor",
        "scripted",
      ],
    ],
    [
      "what a provider may have, by its api",
      "lares",
      "yaml",
      "models: { providers: { a: { api: llama, | } } }",
      ["models", "context_tokens", "temperature"],
    ],
    [
      "either path or id",
      "lares",
      "yaml",
      "extensions:\n  - { path: x, | }",
      ["enabled", "grants", "config", "models"],
    ],
    [
      "tables in a header",
      "manifest",
      "toml",
      "[extension.|]",
      ["requirements", "permissions", "resources", "agent", "mind"],
    ],
    [
      "lists and maps in a list's header",
      "manifest",
      "toml",
      "[[extension.h|]]",
      [
        "requirements",
        "permissions",
        "resources",
        "agent",
        "hooks",
        "tools",
        "mind",
        "commands",
        "actions",
        "events",
        "types",
        "models",
      ],
    ],
    [
      "the branch that is meant",
      "lares",
      "yaml",
      "memory:\n  embedder: { kind: onnx, | }",
      ["path", "dimensions"],
    ],
    [
      "both where none is yet",
      "lares",
      "yaml",
      "memory:\n  embedder: { kind: | }",
      ["openai-compatible", "onnx"],
    ],
    ["ids of extensions as keys", "lares", "yaml", "memory:\n  extensions:\n    |", [photos.id]],
    [
      "the routes that the kernel takes",
      "lares",
      "yaml",
      "models:\n  routes:\n    default: a/b\n    |",
      ["channel", "branch", "worker", "compaction", "cortex", "chat"],
    ],
    [
      "the usual providers",
      "lares",
      "yaml",
      "models:\n  providers:\n    |",
      ["anthropic", "openai", "google", "ollama"],
    ],
    [
      "models that the document names, before examples",
      "lares",
      "yaml",
      "models: { providers: { r: { api: scripted, script: x }, l: { api: llama, models: { q: { path: x } } }, e: { api: editor } }, routes: { default: lab/x, chat: | } }",
      ["r/script", "l/q", "e/default", "lab/x", "anthropic/claude-sonnet-4-5", "ollama/qwen3"],
    ],
    [
      "models that are asked instead",
      "lares",
      "toml",
      '[models.routes]\ndefault = "lab/x"\n[models.fallbacks]\n"lab/x" = ["|"]',
      ["lab/x", "anthropic/claude-sonnet-4-5", "ollama/qwen3"],
    ],
    [
      "the secret that a provider usually has",
      "lares",
      "yaml",
      "models: { providers: { lab: { api: openai, key: { secret: | } } } }",
      ["lab"],
    ],
    ["truth values", "lares", "yaml", "index: { hidden: | }", ["true", "false"]],
    ["choices", "lares", "toml", "[trace]\nlevel = |", ["debug", "info", "warn", "error"]],
    [
      "the default, and examples",
      "lares",
      "yaml",
      "kernel: { linger: | }",
      ["10s", "500ms", "5m", "24h", "30d"],
    ],
    [
      "the items of a list that has only a name",
      "lares",
      "yaml",
      "extensions:\n  - id: x\n    grants:\n      locations: |",
      [".", "archive/", "photos/", "two words/"],
    ],
    ["ids of extensions", "lares", "yaml", "extensions:\n  - id: |", [photos.id]],
    [
      "folders and extensions by path",
      "lares",
      "yaml",
      "extensions:\n  - path: ../extensions/|",
      ["../extensions/photos", "../extensions/other/"],
    ],
    ["where a path may begin", "lares", "toml", "[[extensions]]\npath = '|'", ["src/", "../"]],
    ["nothing of an absolute path", "lares", "yaml", "extensions:\n  - path: /|", []],
    [
      "folders of the workspace",
      "lares",
      "yaml",
      "extensions:\n  - grants: { locations: [|] }",
      [".", "archive/", "photos/", "two words/"],
    ],
    [
      "folders of folders",
      "lares",
      "yaml",
      "extensions:\n  - grants: { locations: [photos/|] }",
      ["photos/2024/"],
    ],
    [
      "permissions the manifest asks for",
      "lares",
      "yaml",
      `extensions:\n  - id: ${photos.id}\n    grants: { deny: [write_tags, |] }`,
      ["read_entries"],
    ],
    [
      "kinds of effects",
      "lares",
      "yaml",
      "approvals: { rules: [{ kind: file.m| }] }",
      [
        "file.write",
        "file.edit",
        "file.move",
        "file.delete",
        "folder.create",
        "tag.add",
        "tag.remove",
        "field.set",
        "sidecar.write",
        "file.*",
        "tag.*",
      ],
    ],
    [
      "those that are proposed",
      "manifest",
      "yaml",
      `${Y}  permissions: { propose_actions: [|] }`,
      ["file.write", "file.edit", "file.move", "file.delete", "folder.create", "file.*"],
    ],
    [
      "events of others",
      "manifest",
      "toml",
      `${T}[extension.permissions]\nhear_events = ["|"]`,
      [`${photos.id}/*`, `${photos.id}/PersonIdentified`],
    ],
    [
      "tools of others",
      "manifest",
      "yaml",
      `${Y}  permissions: { call_tools: [|] }`,
      [`${photos.id}/*`, `${photos.id}/search_person`],
    ],
    ["the program's actions", "manifest", "yaml", `${Y}  actions: [{ handler: | }]`, ["createAlbum"]],
    [
      "types of others",
      "manifest",
      "yaml",
      `${Y}  permissions: { shared_types: { write: [|] } }`,
      [`${photos.id}/*`, `${photos.id}/Person`],
    ],
    [
      "a type's key, among its properties that are strings",
      "manifest",
      "yaml",
      `${Y}  types: [{ name: P, schema: { properties: { id: { type: string }, age: { type: number } } }, key: | }]`,
      ["id"],
    ],
    [
      "tools of a mind",
      "manifest",
      "yaml",
      `${Y}  mind: { direct_tools: [|] }`,
      [
        "files/*",
        "files/read",
        "files/list",
        "files/search",
        "files/write",
        "files/edit",
        "files/move",
        "files/delete",
        "files/create_folder",
        `${photos.id}/*`,
        `${photos.id}/search_person`,
      ],
    ],
    [
      "agents that can be intercepted",
      "manifest",
      "yaml",
      `${Y}  permissions: { intercept: [|] }`,
      [photos.id],
    ],
    [
      "handlers of hooks",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - handler: |`,
      ["photoAdded", "maintenance"],
    ],
    ["handlers of tools", "manifest", "toml", `${T}[[extension.tools]]\nhandler = "|"`, ["searchPerson"]],
    ["programs that are there", "manifest", "yaml", `${Y}  main: |`, ["agent.ts"]],
    [
      "the media",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: entry.media == "|"`,
      ["image", "video", "audio", "document", "text", "other"],
    ],
    [
      "the same in a list",
      "manifest",
      "yaml",
      `${Y}  hooks:\n    - filter: entry.kind in ["file", "|`,
      ["file", "folder"],
    ],
    [
      "what changed",
      "manifest",
      "toml",
      String.raw`[[extension.hooks]]
on = "EntryModified"
filter = "changed_fields.exists(f, f == \"|"`,
      ["size", "created", "modified", "content_id", "tags", "fields", "sidecars"],
    ],
    ["nothing in a comment", "lares", "yaml", "# |", []],
    ["nothing in another's map", "manifest", "yaml", `${Y}  models:\n    - source: { type: | }`, []],
    ["nothing where nothing belongs", "lares", "yaml", "nonsense:\n  |", []],
  ])("%s", async (_name, kind, format, source, expected) => {
    expect(await labels(kind, format, source)).toEqual(expected);
  });

  test.each([
    ["yaml", `${Y}  hooks:\n    - on: |`],
    ["toml", `${T}[[extension.hooks]]\non = |`],
  ] as const)("events, those of extensions too: %s", async (format, source) => {
    const { items } = await proposals("manifest", format, source);
    const names = items.map(({ label }) => label);
    expect(names).toEqual(
      expect.arrayContaining(["EntryCreated", "ScheduleFired", `${photos.id}/PersonIdentified`]),
    );
    expect(items[0]).toMatchObject({ kind: "event", detail: "entry, location" });
  });

  test.each([
    ["yaml", `${Y}  hooks:\n    - schedule: "|"`],
    ["toml", `${T}[[extension.hooks]]\nschedule = "|"`],
  ] as const)("usual schedules, in words: %s", async (format, source) => {
    const { items } = await proposals("manifest", format, source);
    expect(items.find(({ label }) => label === "0 3 * * *")).toMatchObject({ detail: "Every day at 03:00" });
    expect(items.filter(({ kind }) => kind === "value").length).toBeGreaterThan(5);
    const typed = await proposals("manifest", format, source.replace("|", "*/5 * * * *|"));
    expect(typed.items[0]).toMatchObject({ label: "*/5 * * * *", detail: "Every 5 minutes" });
  });

  test("the fields of its event are offered in a filter", async () => {
    const at = (on: string, filter: string) =>
      labels("manifest", "yaml", `${Y}  hooks:\n    - on: ${on}\n      filter: ${filter}`);
    expect(await at("EntryMoved", "|")).toContain("from");
    expect(await at("EntryCreated", "|")).not.toContain("from");
    expect(await at("EntryCreated", "entry.size > 1 && entry.|")).toEqual(
      expect.arrayContaining(["isImage", "tags"]),
    );
    expect(await at("EntryCreated", "entry.tags.|")).toContain("exists");
    expect(await at("EntryCreated", "entry.path.|")).toContain("startsWith");
    expect(await at("nothing", "entry.|")).toContain("isImage");
  });
});

test("many are bounded, and typing on narrows them", async () => {
  const zone = (typed: string) => proposals("manifest", "yaml", `${Y}  hooks:\n    - timezone: ${typed}|`);
  const all = await zone("");
  expect(all).toMatchObject({ isIncomplete: true });
  expect(all.items).toHaveLength(maxProposals);
  const some = await zone("europe/be");
  expect(some).toMatchObject({ isIncomplete: false });
  expect(some.items.map(({ label }) => label)).toContain("Europe/Berlin");
});

test("the surroundings are only read if they matter", async () => {
  let asked = 0;
  const counting = {
    ...surroundings,
    extensions: () => (asked++, []),
    foldersIn: () => (asked++, []),
    programExports: () => (asked++, null),
  };
  const { text, offset } = split("kernel:\n  lin|");
  await complete({ kind: "lares", format: "yaml", text }, offset, environment({ around: counting }));
  expect(asked).toBe(0);
});
