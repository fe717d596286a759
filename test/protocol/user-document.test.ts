/** The user's own document in an editor, which lies outside of the workspace: what is said of models there. */
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CompletionItem, CompletionList, Diagnostic, Hover } from "vscode-languageserver-types";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

interface Published {
  readonly uri: string;
  readonly diagnostics: readonly Diagnostic[];
}

let bench: Bench;
let client: Client;
let config: string;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [] });
  config = join(bench.base, "config");
  await mkdir(join(config, "lares"), { recursive: true });
  await writeFile(join(config, "lares", "lares.yaml"), "version: 1\n");
  client = await bench.open({ environment: { XDG_CONFIG_HOME: config } });
});
afterAll(() => bench[Symbol.asyncDispose]());

const own = (): string => join(config, "lares", "lares.yaml");
let version = 0;
const open = new Set<string>();

/** Makes the text the one of the document at this path in the editor, and returns what is pushed for it. */
async function opened(path: string, text: string): Promise<readonly Diagnostic[]> {
  const uri = pathToFileURL(path).href;
  const published = () =>
    client.notifications<Published>("textDocument/publishDiagnostics").filter((each) => each.uri === uri);
  const before = published().length;
  version++;
  if (open.has(uri))
    client.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
  else client.notify("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version, text } });
  open.add(uri);
  return (await until("diagnostics", () => published()[before])).diagnostics;
}

/** `|` marks the cursor. */
async function at(text: string): Promise<object> {
  const offset = text.indexOf("|");
  const before = text.slice(0, offset).split("\n");
  await opened(own(), text.replace("|", ""));
  return {
    textDocument: { uri: pathToFileURL(own()).href },
    position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
  };
}

const hovered = async (text: string): Promise<string> => {
  const hover = await client.request<Hover | null>("textDocument/hover", await at(text));
  return JSON.stringify(hover?.contents ?? "");
};
const completed = async (text: string): Promise<string[]> => {
  const answer = await client.request<CompletionList | CompletionItem[]>(
    "textDocument/completion",
    await at(text),
  );
  return (Array.isArray(answer) ? answer : answer.items).map(({ label }) => label);
};

const models = `models:
  providers: { lab: { api: openai-compatible, base_url: "http://127.0.0.1:8080/v1" } }
  routes: { default: lab/x }
egress: { private_hosts: [nas.lan] }
`;

describe("models and egress in the user's own document", () => {
  test("are fine where they are right", async () => {
    expect(await opened(own(), models)).toEqual([]);
  });

  test.each([
    ["a provider that is not there", "models: { routes: { default: lba/x } }", "invalid-model", "lba/x"],
    ["a route that nothing takes", "models: { routes: { Defualt: lab/x } }", "unknown-route", "Defualt"],
    ["an api that is none", "models: { providers: { a: { api: antropic } } }", "invalid-value", "antropic"],
    [
      "a password in an address",
      'models: { providers: { a: { api: openai, base_url: "https://me:pw@example.com/v1" } } }',
      "invalid-provider",
      '"https://me:pw@example.com/v1"',
    ],
    ["a proxy that is a list", "egress: { proxy: [a] }", "wrong-type", "[a]"],
    ["a field that is misspelled", "egress: { privat_hosts: [a] }", "unknown-field", "privat_hosts"],
  ])("%s is underlined where it stands", async (_case, text, code, marked) => {
    const found = await opened(own(), text);
    const fault = found.find((each) => each.code === code);
    expect(found).toEqual(expect.arrayContaining([expect.objectContaining({ code })]));
    expect(text.slice(fault?.range.start.character, fault?.range.end.character)).toBe(marked);
  });

  test("are completed: apis, fields of the api, routes and models that the document names", async () => {
    expect(await completed("models: { providers: { a: { api: | } } }")).toEqual(
      expect.arrayContaining(["anthropic", "ollama", "editor"]),
    );
    expect(await completed("models: { providers: { a: { api: scripted, | } } }")).toEqual(["script"]);
    expect(await completed("models:\n  routes:\n    |")).toEqual(
      expect.arrayContaining(["default", "worker", "compaction"]),
    );
    expect(
      await completed("models: { providers: { r: { api: scripted, script: x } }, routes: { default: | } }"),
    ).toEqual(expect.arrayContaining(["r/script"]));
    expect(await completed("egress: { | }")).toEqual(
      expect.arrayContaining(["proxy", "no_proxy", "ca_file", "private_hosts"]),
    );
  });

  test("are explained", async () => {
    expect(await hovered("models: { budgets: { per_day|_usd: 5 } }")).toContain("may cost a day");
    expect(await hovered("egress: { no_pro|xy: [a] }")).toContain("without the proxy");
  });

  test("in a workspace's document have no effect, which is said, and the user's own keeps its right", async () => {
    const found = await opened(bench.path("lares.yaml"), models);
    expect(found).toMatchObject([
      { code: "user-only", message: expect.stringMatching(/^models can reach out/) as string },
      { code: "user-only", message: expect.stringMatching(/^egress can reach out/) as string },
    ]);
  });

  test("are the user's where the folder, or the document, is a link to where they keep it", async () => {
    const dotfiles = join(bench.base, "dotfiles");
    await mkdir(dotfiles);
    // The document first: it is opened by both of its names.
    await rename(own(), join(dotfiles, "lares.yaml"));
    await symlink(join(dotfiles, "lares.yaml"), own());
    expect(await opened(own(), models)).toEqual([]);
    expect(await opened(join(dotfiles, "lares.yaml"), models)).toEqual([]);
    // A folder that is reached by another name than the kernel was started with.
    await symlink(config, join(bench.base, "linked"));
    expect(await opened(join(bench.base, "linked", "lares", "lares.yaml"), models)).toEqual([]);
  });
});
