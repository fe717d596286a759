import { describe, expect, test } from "vitest";
import { checkManifest } from "./manifest.ts";
import type { ExtensionFiles, FileText } from "./ports.ts";
import { marked } from "./testing/marked.ts";
import { manifestPorts } from "./testing/ports.ts";

const skill = "---\nname: review\ndescription: How to review\n---\nRead first.\n";
const written: Readonly<Record<string, string>> = {
  "SOUL.md": "I am calm.",
  "prompts/channel.md": "Talk.",
  "prompts/research.md": "Search.",
  "prompts/morning.md": "Good morning.",
  "prompts/tidy.md": "Tidy up.",
  "skills/review/SKILL.md": skill,
};

/** The files of an extension; a value that is not a text is what is wrong with the file. */
function filesOf(all: Readonly<Record<string, string | (FileText & { text: null })>>): ExtensionFiles {
  return {
    read: (path) => {
      const found = all[path];
      if (found === undefined) return { text: null, refused: "missing" };
      return typeof found === "string" ? { text: found } : found;
    },
    folders: (path) => {
      const start = path === "" ? "" : `${path}/`;
      const names = Object.keys(all)
        .filter((file) => file.startsWith(start) && file.slice(start.length).includes("/"))
        .map((file) => file.slice(start.length).split("/")[0] ?? "");
      return [...new Set(names)].map((name) => ({ name, state: name === "away" ? "outside" : "folder" }));
    },
  };
}

const ports = (files: Parameters<typeof filesOf>[0] = written, programs: readonly string[] = []) =>
  manifestPorts(programs, {
    files: filesOf(files),
    extensionIds: () => new Set(["dev.lares.storage", "dev.lares.notes"]),
  });

const head = "extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n";
const asks = "  permissions: { use_models: [{ category: chat }], read_entries: true }\n";

/** A manifest with everything that a mind can have, in either format. */
const whole = {
  yaml: `${head}  permissions:
    use_models: [{ category: chat }]
    read_entries: { filter: "**" }
    propose_actions: [file.write, file.edit, file.move]
    call_tools: ["dev.lares.storage/*", "files/*"]
    intercept: [dev.lares.notes]
  mind:
    identity: [./SOUL.md]
    prompts: { channel: prompts/channel.md }
    skills: [skills/*]
    tools: ["files/*", "dev.lares.storage/*"]
    direct_tools: ["files/read"]
    blocks: [{ name: project, description: What this folder is about, limit: 2000, read_only: true, scope: conversation }]
    workers: { research: { description: Reads, prompt: prompts/research.md, tools: ["files/*"], interactive: false } }
    cortex: { every: 30m, bulletin_tokens: 500 }
  hooks:
    - { schedule: "0 8 * * *", timezone: Europe/Berlin, catch_up: once, prompt: prompts/morning.md, target: notify, active_hours: "08:00-20:00" }
    - { on: BeforeToolCall, filter: tool == "files/delete", intercept: true, order: 7, handler: guard }
    - { on: TurnEnd, handler: ended }
  commands: [{ name: tidy, title: Tidy this folder, prompt: prompts/tidy.md, parameters: { type: object } }]
`,
  toml: `[extension]
id = "com.example.a"
name = "A"
version = "1.0.0"
[extension.permissions]
use_models = [{ category = "chat" }]
read_entries = { filter = "**" }
propose_actions = ["file.write", "file.edit", "file.move"]
call_tools = ["dev.lares.storage/*", "files/*"]
intercept = ["dev.lares.notes"]
[extension.mind]
identity = ["./SOUL.md"]
prompts = { channel = "prompts/channel.md" }
skills = ["skills/*"]
tools = ["files/*", "dev.lares.storage/*"]
direct_tools = ["files/read"]
cortex = { every = "30m", bulletin_tokens = 500 }
[[extension.mind.blocks]]
name = "project"
description = "What this folder is about"
limit = 2000
read_only = true
scope = "conversation"
[extension.mind.workers.research]
description = "Reads"
prompt = "prompts/research.md"
tools = ["files/*"]
interactive = false
[[extension.hooks]]
schedule = "0 8 * * *"
timezone = "Europe/Berlin"
catch_up = "once"
prompt = "prompts/morning.md"
target = "notify"
active_hours = "08:00-20:00"
[[extension.hooks]]
on = "BeforeToolCall"
filter = 'tool == "files/delete"'
intercept = true
order = 7
handler = "guard"
[[extension.hooks]]
on = "TurnEnd"
handler = "ended"
[[extension.commands]]
name = "tidy"
title = "Tidy this folder"
prompt = "prompts/tidy.md"
parameters = { type = "object" }
`,
};

describe.each(["yaml", "toml"] as const)("a mind in %s", (format) => {
  test("has no faults, and its defaults are filled in", async () => {
    const checked = await checkManifest(whole[format], `extension.${format}`, ports(written, ["agent.ts"]));
    expect(checked.diagnostics).toEqual([]);
    expect(checked.value?.mind).toEqual({
      identity: ["SOUL.md"],
      prompts: { channel: "prompts/channel.md" },
      skills: ["skills/*"],
      tools: ["files/*", "dev.lares.storage/*"],
      directTools: ["files/read"],
      blocks: [
        {
          name: "project",
          description: "What this folder is about",
          limitCharacters: 2000,
          isReadOnly: true,
          scope: "conversation",
        },
      ],
      channel: { maxTurns: 5 },
      branches: { atOnce: 4, maxTurns: 10 },
      workers: [
        {
          name: "research",
          description: "Reads",
          prompt: "prompts/research.md",
          tools: ["files/*"],
          maxTurns: 50,
          isInteractive: false,
          atOnce: 4,
        },
      ],
      compaction: { background: 0.8, aggressive: 0.85, emergency: 0.95 },
      cortex: { everyMs: 1_800_000, bulletinTokens: 500 },
    });
    expect(checked.value?.hooks).toEqual([
      {
        kind: "schedule",
        schedule: "0 8 * * *",
        timezone: "Europe/Berlin",
        catchUp: "once",
        handler: "prompts/morning.md",
        prompt: "prompts/morning.md",
        target: "notify",
        activeHours: "08:00-20:00",
      },
      {
        kind: "event",
        on: "BeforeToolCall",
        filter: 'tool == "files/delete"',
        handler: "guard",
        interceptOrder: 7,
      },
      { kind: "event", on: "TurnEnd", handler: "ended" },
    ]);
    expect(checked.value?.commands).toEqual([
      {
        name: "tidy",
        title: "Tidy this folder",
        description: "",
        prompt: "prompts/tidy.md",
        parameters: { type: "object" },
      },
    ]);
    expect(checked.mindFiles?.texts.map(({ path }) => path)).toEqual(Object.keys(written).toSorted());
    expect(checked.mindFiles?.skills).toEqual([
      {
        path: "skills/review/SKILL.md",
        name: "review",
        description: "How to review",
        text: "Read first.\n",
      },
    ]);
  });
});

test("an empty mind has every default, and needs no program", async () => {
  const { value, diagnostics } = await checkManifest(`${head}${asks}  mind: {}\n`, "extension.yaml", ports());
  expect(diagnostics).toEqual([]);
  expect(value?.mind).toEqual({
    identity: [],
    prompts: {},
    skills: [],
    tools: [],
    directTools: [],
    blocks: [],
    channel: { maxTurns: 5 },
    branches: { atOnce: 4, maxTurns: 10 },
    workers: [],
    compaction: { background: 0.8, aggressive: 0.85, emergency: 0.95 },
    cortex: { everyMs: 3_600_000, bulletinTokens: 700 },
  });
});

const refused = (reason: NonNullable<FileText["refused"]>, size?: number) =>
  ({ text: null, refused: reason, ...(size === undefined ? {} : { size }) }) as FileText & { text: null };
const long = "a".repeat(250_000);

/** What follows the head; the fault's place between « and »; its code, and a part of its sentence. */
const faults: [
  name: string,
  text: string,
  code: string,
  sentence: RegExp,
  files?: Parameters<typeof filesOf>[0],
][] = [
  [
    "a block in a shared memory that each conversation has for itself",
    "  mind: { blocks: [{ name: people, description: People, scope: conversation, namespace: «people» }] }",
    "block-not-shared",
    /Leave out scope/,
  ],
  [
    "a block in a shared memory without a memory",
    "  mind: { blocks: [{ name: people, description: People, namespace: «people» }] }\n  agent: { enable_memory: false }",
    "block-not-shared",
    /needs enable_memory/,
  ],
  ["a file that is gone", "  mind: { identity: [«GONE.md»] }", "file-not-found", /Write the file, or/],
  [
    "a prompt that is gone",
    "  mind: { prompts: { branch: «prompts/gone.md» } }",
    "file-not-found",
    /"prompts\/gone.md" does not exist/,
  ],
  [
    "a folder in a file's place",
    "  mind: { identity: [«F.md»] }",
    "file-not-found",
    /is not a file/,
    { "F.md": refused("no-file") },
  ],
  [
    "a file of 5 MB",
    "  mind: { identity: [«L.md»] }",
    "file-too-large",
    /has 5242880 bytes; a text of a mind may have 262144/,
    { "L.md": refused("too-large", 5_242_880) },
  ],
  [
    "files that are too large together",
    `  mind: { identity: [${Array.from({ length: 16 }, (_, at) => `l${at}.md`).join(", ")}, «l16.md»] }`,
    "file-too-large",
    /larger than 4194304 bytes together/,
    Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`l${at}.md`, long])),
  ],
  [
    "a file that is not UTF-8",
    "  mind: { identity: [«B.md»] }",
    "file-unreadable",
    /Save it as UTF-8/,
    { "B.md": refused("encoding") },
  ],
  [
    "a file that may not be read",
    "  mind: { identity: [«B.md»] }",
    "file-unreadable",
    /Change its permissions/,
    { "B.md": refused("unreadable") },
  ],
  [
    "a link out of the folder",
    "  mind: { identity: [«A.md»] }",
    "file-outside",
    /is a link out of the extension's folder/,
    { "A.md": refused("outside") },
  ],
  ["a path out of the folder", "  mind: { identity: [«../A.md»] }", "file-outside", /Name a file in it/],
  ["an absolute path", "  mind: { skills: [«/etc/*»] }", "file-outside", /Name a folder in it/],
  [
    "a skill behind a link out of the folder",
    "  mind: { skills: [«skills/*»] }",
    "file-outside",
    /Put the skill itself there/,
    { "skills/away/SKILL.md": skill },
  ],
  [
    "a skill's folder without SKILL.md",
    "  mind: { skills: [«skills/*»] }",
    "invalid-skill",
    /"skills\/a" has no SKILL.md/,
    { "skills/a/notes.md": "" },
  ],
  ["a pattern without a folder", "  mind: { skills: [«tricks/*»] }", "invalid-skill", /No folder matches/],
  [
    "a skill without front matter",
    "  mind: { skills: [«skills/a»] }",
    "invalid-skill",
    /has no front matter/,
    { "skills/a/SKILL.md": "Do it." },
  ],
  [
    "a skill without a name",
    "  mind: { skills: [«skills/a»] }",
    "invalid-skill",
    /has no name/,
    { "skills/a/SKILL.md": "---\ndescription: d\n---\n" },
  ],
  [
    "a skill without a description",
    "  mind: { skills: [«skills/a»] }",
    "invalid-skill",
    /has no description/,
    { "skills/a/SKILL.md": "---\nname: a\n---\n" },
  ],
  [
    "a skill whose front matter is not YAML",
    "  mind: { skills: [«skills/a»] }",
    "invalid-skill",
    /is not YAML: line 2/,
    { "skills/a/SKILL.md": "---\nname: [\n---\n" },
  ],
  [
    "two skills of one name",
    "  mind: { skills: [«skills/*»] }",
    "invalid-skill",
    /has the same name as "skills\/review\/SKILL.md"/,
    { "skills/a/SKILL.md": skill },
  ],
  [
    "a kind of process that there is not",
    "  mind: { prompts: { «chanel»: prompts/channel.md } }",
    "unknown-field",
    /channel/,
  ],
  [
    "thresholds out of order",
    "  mind: { compaction: { aggressive: «0.7» } }",
    "compaction-order",
    /aggressive is 0.7, and background before it is 0.8/,
  ],
  [
    "a threshold above a default",
    "  mind: { compaction: { background: «0.9» } }",
    "compaction-order",
    /The shares ascend/,
  ],
  [
    "two blocks of one name",
    "  mind: { blocks: [{ name: a, description: b }, { name: «a», description: c }] }",
    "duplicate-block",
    /two blocks of the name "a"/,
  ],
  [
    "a block in the place of the bulletin",
    "  mind: { blocks: [{ name: «bulletin», description: b, namespace: team }] }",
    "duplicate-block",
    /Every mind has a block "bulletin"/,
  ],
  [
    "a block that is too long",
    "  mind: { blocks: [{ name: a, description: b, limit: «20001» }] }",
    "invalid-value",
    /20000/,
  ],
  ["a cortex every second", "  mind: { cortex: { every: «1s» } }", "invalid-duration", /from 1m to 30d/],
  [
    "a kind of workers with a blank",
    "  mind: { workers: { «a b»: { description: d } } }",
    "invalid-value",
    /not a name for a kind of workers/,
  ],
  [
    "a direct tool without its permission",
    '  mind: { direct_tools: [«"files/delete"»] }',
    "tool-not-permitted",
    /add propose_actions: \[file.delete\]/,
  ],
  [
    "a tool of another without its permission",
    '  mind: { tools: [«"dev.lares.storage/*"»] }',
    "tool-not-permitted",
    /add call_tools: \["dev.lares.storage\/\*"\]/,
  ],
  [
    "a file tool that there is not",
    "  mind: { tools: [«files/remove»] }",
    "unknown-tool",
    /did you mean "files\/move"/,
  ],
  ["a pattern without an owner", '  mind: { tools: [«"*"»] }', "unknown-tool", /Write "extension.id\/tool"/],
  [
    "an extension that there is not",
    '  mind: { tools: [«"dev.lares.storag/*"»] }',
    "unknown-tool",
    /did you mean/,
  ],
  ["an own tool that there is not", '  mind: { tools: [«"com.example.a/x"»] }', "unknown-tool", /own tools/],
  [
    "a hook with handler and prompt",
    "  mind: {}\n  main: a.ts\n  hooks: [{ schedule: '@daily', handler: a, «prompt»: SOUL.md }]",
    "hook-binding",
    /either handler or prompt/,
  ],
  [
    "a hook with neither",
    "  mind: {}\n  hooks: [{ «schedule»: '@daily' }]",
    "missing-field",
    /needs handler, a function/,
  ],
  [
    "a prompt for an event",
    "  mind: {}\n  hooks: [{ on: EntryCreated, «prompt»: SOUL.md }]",
    "hook-binding",
    /belongs to a schedule/,
  ],
  [
    "a prompt without a mind",
    "  hooks: [{ schedule: '@daily', «prompt»: SOUL.md }]",
    "hook-binding",
    /it has none. Add mind/,
  ],
  [
    "the target of a handler",
    "  main: a.ts\n  hooks: [{ schedule: '@daily', handler: a, «target»: notify }]",
    "hook-binding",
    /belongs to prompt/,
  ],
  [
    "an interceptor of what has happened",
    "  main: a.ts\n  hooks: [{ on: EntryCreated, handler: a, «intercept»: true }]",
    "hook-binding",
    /Only UserInput, Context/,
  ],
  [
    "an interceptor that only listens",
    "  main: a.ts\n  hooks: [{ on: «UserInput», handler: a }]",
    "hook-binding",
    /Add intercept: true/,
  ],
  [
    "an interceptor without the permission",
    "  main: a.ts\n  hooks: [{ on: «UserInput», handler: a, intercept: true }]",
    "not-intercepting",
    /intercept names no agent/,
  ],
  [
    "two commands of one name",
    "  mind: {}\n  commands: [{ name: a, title: A, prompt: SOUL.md }, { name: «a», title: B, prompt: SOUL.md }]",
    "duplicate-command",
    /two commands/,
  ],
  [
    "a command that does nothing",
    "  commands: [{ «name»: a, title: A }]",
    "missing-field",
    /needs handler, a function of the program, or prompt/,
  ],
];

describe("faults of a mind", () => {
  test.each(faults)("%s", async (_name, text, code, sentence, files = {}) => {
    const { text: source, range } = marked(`${head}${asks}${text}\n`);
    const checked = await checkManifest(source, "extension.yaml", ports({ ...written, ...files }, ["a.ts"]));
    const fault = checked.diagnostics.find((each) => each.code === code);
    expect(fault?.message ?? JSON.stringify(checked.diagnostics)).toMatch(sentence);
    expect(fault?.range).toEqual(range);
  });

  test("a mind without a model to talk with is told the line to add", async () => {
    const checked = await checkManifest(`${head}  mind: {}\n`, "extension.yaml", ports());
    expect(checked.diagnostics).toMatchObject([
      { code: "no-chat-model", severity: "warning", range: { start: { line: 4, character: 2 } } },
    ]);
    expect(checked.diagnostics[0]?.message).toContain("add use_models: [{ category: chat }]");
  });

  test("a skill that is left out is none of the files that are accepted", async () => {
    const files = { ...written, "skills/bad/SKILL.md": "Do it." };
    const checked = await checkManifest(
      `${head}${asks}  mind: { skills: [skills/*] }\n`,
      "extension.yaml",
      ports(files),
    );
    expect(checked.usable).toBe(true);
    expect(checked.mindFiles?.texts.map(({ path }) => path)).toEqual(["skills/review/SKILL.md"]);
  });
});
