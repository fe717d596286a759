import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkLares } from "../../kernel/src/documents/lares.ts";
import { progressContexts } from "./starter/progress.ts";
import { grammarPath } from "../build/toml-grammar.ts";
import { pluginName } from "../build/typescript-plugin.ts";

const top = new URL("../", import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, top), "utf8");

interface Manifest {
  readonly icon: string;
  readonly contributes: {
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly scope: string }>>;
    };
    readonly commands: readonly { readonly command: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly walkthroughs: readonly {
      readonly id: string;
      readonly steps: readonly {
        readonly id: string;
        readonly description: string;
        readonly media: { readonly svg: string; readonly altText: string };
        readonly completionEvents: readonly string[];
      }[];
    }[];
    readonly typescriptServerPlugins: readonly object[];
    readonly grammars: readonly object[];
    readonly languages: readonly { readonly id: string; readonly configuration: string }[];
    readonly languageModelTools: readonly { readonly name: string }[];
  };
}
const manifestText = textOf("package.json");
const manifest = JSON.parse(manifestText) as Manifest;
const words = JSON.parse(textOf("package.nls.json")) as Readonly<Record<string, string>>;
const commands = new Set(manifest.contributes.commands.map(({ command }) => command));

test("every text of the manifest is defined, and no others are", () => {
  const used = new Set([...manifestText.matchAll(/"%([\w.-]+)%"/g)].map(([, key]) => key));
  expect(used).toEqual(new Set(Object.keys(words)));
});

test("buttons in texts run existing commands", () => {
  const views = Object.values(manifest.contributes.views).flat();
  const ours = new Set([...commands, ...views.map(({ id }) => `${id}.focus`)]);
  const named = Object.values(words).flatMap((text) => [...text.matchAll(/\(command:(lares[\w.]+)/g)]);
  expect(named.length).toBeGreaterThan(0);
  for (const [, command] of named) expect(ours).toContain(command);
});

test("a workspace can choose neither what is executed nor what is hidden from the person", () => {
  const settings = Object.entries(manifest.contributes.configuration.properties);
  const ofWorkspaces = settings
    .filter(([, { scope }]) => scope !== "machine" && scope !== "application")
    .map(([name]) => name);
  expect(ofWorkspaces).toEqual(["lares.documents.agentLenses", "lares.trace.server"]);
});

test("TOML documents are coloured without another extension", () => {
  const [language] = manifest.contributes.languages;
  expect(manifest.contributes.grammars).toEqual([
    { language: language?.id, scopeName: "source.toml", path: `./${grammarPath}` },
  ]);
  expect(JSON.parse(textOf(language?.configuration ?? ""))).toHaveProperty("comments.lineComment", "#");
});

test("the plugin for TypeScript's server is registered under the name of its build, for every TypeScript version", () => {
  expect(manifest.contributes.typescriptServerPlugins).toEqual([
    { name: pluginName, enableForWorkspaceTypeScriptVersions: true },
  ]);
});

test("the two tools for the chat are declared", () => {
  const source = textOf("src/editor/language-model-tools.ts");
  const names = manifest.contributes.languageModelTools.map(({ name }) => name);
  expect(names).toEqual(["lares_list_tools", "lares_call_tool"]);
  for (const name of names) expect(source).toContain(`registerTool("${name}"`);
});

describe("the walkthrough", () => {
  const [walkthrough] = manifest.contributes.walkthroughs;
  const steps = walkthrough?.steps ?? [];

  test("is the one that the command opens, and has five steps", () => {
    expect(textOf("src/starter/starter.ts")).toContain(`#${walkthrough?.id}"`);
    expect(steps).toHaveLength(5);
  });

  test.each(steps)("$id: its picture needs no style sheet, because the editor allows none", ({ media }) => {
    const picture = textOf(media.svg);
    expect(picture).not.toMatch(/<style| style=| class=|<script|href=/);
    expect(picture).toContain("var(--vscode-");
    expect(words[media.altText.slice(1, -1)]).toMatch(/\.$/);
  });

  test.each(steps)("$id: it is completed by the actual state, not by a click", ({ completionEvents }) => {
    const known = new Set<string>(["isWorkspaceTrusted", ...Object.values(progressContexts)]);
    expect(completionEvents).toHaveLength(1);
    for (const event of completionEvents) {
      const [kind, what = ""] = event.split(":");
      expect(kind).toBe("onContext");
      expect(known).toContain(what);
    }
  });
});

test("the starter is a valid document: its extensions come with Lares, and its note is in a granted folder", async () => {
  const { value, diagnostics } = await checkLares(textOf("media/starter/lares.yaml"), "lares.yaml", {
    layer: "workspace",
    folderState: (path) => (path === "." || path === "notes" ? "folder" : "missing"),
  });
  expect(diagnostics).toEqual([]);
  const ids = value?.extensions?.map(({ id = "" }) => id) ?? [];
  expect(ids).toContain("dev.lares.notes");
  for (const id of ids)
    expect(textOf(`../extensions/${id.replace("dev.lares.", "")}/extension.yaml`)).toContain(`id: ${id}\n`);
});
