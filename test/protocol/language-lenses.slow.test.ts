import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CodeLens } from "vscode-languageserver-types";
import { PROBE_PROGRAM } from "../support/agents.ts";
import { Bench, inState, leave } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { LanguageClient } from "../support/language-client.ts";
import type { Agent } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";

const AGENT = "test.lensed";
const manifest = {
  permissions: { read_entries: true },
  hooks: [
    { on: "EntryCreated", handler: "record" },
    { schedule: "0 3 * * *", handler: "record" },
  ],
};
const LARES_YAML = `extensions:\n  - path: ../extensions/${AGENT}\n  - path: ../extensions/nowhere\n`;
const LARES_TOML = `[[extensions]]\npath = "../extensions/${AGENT}"\n\n[[extensions]]\nid = "test.nowhere"\n`;
const MANIFEST_YAML = `extension:
  id: ${AGENT}
  name: Lensed
  version: 1.0.0
  hooks:
    - on: EntryCreated
      handler: record
    - schedule: "0 3 * * *"
      handler: record
    - on: EntryDeleted
      handler: notRunningYet
`;
const MANIFEST_TOML = `[extension]
id = "${AGENT}"
name = "Lensed"
version = "1.0.0"
[[extension.hooks]]
on = "EntryCreated"
handler = "record"
[[extension.hooks]]
schedule = "0 3 * * *"
handler = "record"
`;

let bench: Bench;
let client: Client;
let editor: LanguageClient;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [{ id: AGENT, manifest, program: PROBE_PROGRAM }],
    files: { "one.txt": "1", "two.txt": "2" },
  });
  client = await bench.open({ capabilities: LanguageClient.capabilities });
  editor = new LanguageClient(client);
  await until("both files were recorded", async () => {
    const [agent] = await client.request<Agent[]>("lares/agents/list");
    return (agent?.metrics.events_processed ?? 0) >= 2;
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Returns line and title of each lens, in order. */
async function lenses(editor: LanguageClient, uri: string): Promise<string[]> {
  const found = await editor.ask<CodeLens[]>("textDocument/codeLens", uri);
  return found.map(({ range, command }) => `${range.start.line}: ${command?.title}`);
}

async function commandAt(uri: string, title: string): Promise<{ command: string; arguments: unknown[] }> {
  const found = await editor.ask<CodeLens[]>("textDocument/codeLens", uri);
  const command = found.find((lens) => lens.command?.title === title)?.command;
  if (command?.arguments === undefined) throw new Error(`there is no lens "${title}"`);
  return { command: command.command, arguments: command.arguments as unknown[] };
}

describe.each([
  ["lares.yaml", LARES_YAML, 1],
  ["lares.toml", LARES_TOML, 1],
  ["extension.yaml", MANIFEST_YAML, 0],
  ["extension.toml", MANIFEST_TOML, 0],
])("%s", (name, text, line) => {
  const folder = name.startsWith("lares") ? "" : "copy/";
  const uriOf = () => bench.uri(`${folder}${name}`);

  test("an extension shows its agent's state, its events and the available commands", async () => {
    editor.open(uriOf(), text);
    const shown = await lenses(editor, uriOf());
    expect(shown.slice(0, 4)).toEqual([
      expect.stringMatching(new RegExp(`^${line}: (?:Active|Asleep) · [2-9] events today$`)),
      `${line}: Reload`,
      `${line}: Suspend`,
      `${line}: Show traces`,
    ]);
    // A document without an agent has no lens.
    if (name.startsWith("lares")) expect(shown).toHaveLength(4);
  });
});

test("a hook shows its own events and the next run of its schedule; one that does not run yet shows nothing", async () => {
  const uri = bench.uri("copy/extension.yaml");
  editor.open(uri, MANIFEST_YAML);
  const shown = await lenses(editor, uri);
  expect(shown).toHaveLength(12);
  expect(shown.filter((title) => title.startsWith("5: "))).toEqual([
    expect.stringMatching(/^5: \w+ · [2-9] events today$/),
    "5: Reload",
    "5: Suspend",
    "5: Show traces",
  ]);
  expect(shown[8]).toMatch(/^7: \w+ · 0 events today · next run \d{4}-\d\d-\d\d 03:00 UTC$/);
});

test("today's counts are the same in lens and list, and in the next kernel", async () => {
  await using own = await Bench.create({ extensions: [{ id: AGENT, manifest, program: PROBE_PROGRAM }] });
  const shown = async (person: Client): Promise<[number, string[]]> => {
    const language = new LanguageClient(person);
    language.open(own.uri("copy/extension.yaml"), MANIFEST_YAML);
    const titles = await lenses(language, own.uri("copy/extension.yaml"));
    const [agent] = await person.request<Agent[]>("lares/agents/list");
    const counts = titles.flatMap((title) => / · (\d+ events? \w+)/.exec(title)?.[1] ?? []);
    return [agent?.metrics.events_today ?? -1, counts];
  };
  const person = await own.open();
  const told = (count: number) => [
    count,
    [`${count} events today`, `${count} events today`, "0 events today"],
  ];
  const files = ["one", "two", "three"];
  for (const name of files) await own.write(`${name}.txt`, name);
  // The document is a file as well.
  const before = files.length + 1;
  await until("all events", async () => (await shown(person))[0] >= before);
  expect(await shown(person)).toEqual(told(before));
  const { pid } = await own.status(person);
  await leave(person);
  await until("the kernel's end", () => !isAlive(pid));
  await using next = await own.open();
  expect(await shown(next)).toEqual(told(before));
  await own.write("four.txt", "4");
  await until("one more event", async () => (await shown(next))[0] > before);
  expect(await shown(next)).toEqual(told(before + 1));
});

test("an agent that was suspended by its lens is offered Resume, and every capable editor is refreshed", async () => {
  const uri = bench.uri("lares.yaml");
  editor.open(uri, LARES_YAML);
  const refreshes = () =>
    client.received.filter(({ method }) => method === "workspace/codeLens/refresh").length;
  const before = refreshes();
  const suspend = await commandAt(uri, "Suspend");
  expect(await client.request<Agent>("workspace/executeCommand", suspend)).toMatchObject({
    state: "Suspended",
  });
  await until("a refresh", () => refreshes() > before);
  expect((await lenses(editor, uri))[0]).toMatch(/^1: Suspended · /);
  const resume = await commandAt(uri, "Resume");
  await client.request("workspace/executeCommand", resume);
  await inState(client, AGENT, "Active", "Unloaded");
  await client.request("workspace/executeCommand", await commandAt(uri, "Reload"));
  await inState(client, AGENT, "Active", "Unloaded");
});

test("an agent's activity is shown: its lenses are refreshed", async () => {
  const uri = bench.uri("lares.yaml");
  editor.open(uri, LARES_YAML);
  const count = async (): Promise<number> =>
    Number(/· (\d+) event/.exec((await lenses(editor, uri))[0] ?? "")?.[1]);
  const before = await count();
  const refreshes = () =>
    client.received.filter(({ method }) => method === "workspace/codeLens/refresh").length;
  let seen = refreshes();
  await bench.write("three.txt", "3");
  // Like an editor: it requests lenses only when told to.
  await until("lenses that were asked for again and show the event", async () => {
    const now = refreshes();
    if (now === seen) return false;
    seen = now;
    return (await count()) === before + 1;
  });
});

test("traces are shown as a message: of the agent, or of one hook", async () => {
  const uri = bench.uri("copy/extension.yaml");
  editor.open(uri, MANIFEST_YAML);
  const shown = async (command: object): Promise<string> => {
    const count = client.notifications("window/showMessage").length;
    expect(await client.request("workspace/executeCommand", command)).toBeNull();
    const messages = client.notifications<{ message: string }>("window/showMessage");
    expect(messages).toHaveLength(count + 1);
    return messages.at(-1)?.message ?? "";
  };
  const all = await shown({ command: "lares.agent.traces", arguments: [{ id: AGENT }] });
  expect(all).toMatch(new RegExp(`^(?:Traces of ${AGENT}, newest first:\\n|${AGENT} has left no traces)`));
  const none = await shown({
    command: "lares.agent.traces",
    arguments: [{ id: AGENT, hook: "no\u001b[31msuch" }],
  });
  expect(none).toBe(`${AGENT}, no␛[31msuch has left no traces.`);
});

test.each([
  ["an unknown command", { command: "lares.agent.explode", arguments: [{ id: AGENT }] }],
  ["no argument", { command: "lares.agent.control" }],
  [
    "an argument of another form",
    { command: "lares.agent.control", arguments: [{ id: AGENT, command: "explode" }] },
  ],
  ["no command", {}],
])("%s is InvalidParams", async (_name, params) => {
  await expect(client.request("workspace/executeCommand", params)).rejects.toMatchObject({ code: -32602 });
});

test("in an untrusted workspace a lens says so, and no command acts", async () => {
  await using stranger = await bench.connect({ trusted: false });
  const other = new LanguageClient(stranger);
  for (const [name, text, line] of [
    ["lares.yaml", LARES_YAML, 1],
    ["extension.toml", MANIFEST_TOML, 0],
  ] as const) {
    const uri = bench.uri(`copy/${name}`);
    const inPlace = name === "lares.yaml" ? bench.uri(name) : uri;
    other.open(inPlace, text);
    const found = await other.ask<CodeLens[]>("textDocument/codeLens", inPlace);
    expect(found).toEqual([
      {
        range: expect.objectContaining({ start: expect.objectContaining({ line }) }),
        command: { title: "Lares: no agent runs before you allow this workspace", command: "" },
      },
    ]);
  }
  const suspend = { command: "lares.agent.control", arguments: [{ id: AGENT, command: "suspend" }] };
  await expect(stranger.request("workspace/executeCommand", suspend)).rejects.toMatchObject({ code: -33009 });
});
