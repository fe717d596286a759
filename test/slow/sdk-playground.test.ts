import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { hasTerminals, lares, TerminalRun } from "../support/command-line.ts";
import { installedWithModels } from "../support/installed-models.ts";
import { runNode } from "../support/run-node.ts";

const readme = readFileSync(
  fileURLToPath(new URL("../../extensions/sdk/README.md", import.meta.url)),
  "utf8",
);
const blocks = [...readme.matchAll(/^```(\w*)\n([^]*?)^```$(?:\n\n```text\n([^]*?)^```$)?/gm)].map(
  ([, kind = "", text = "", output]) => ({ kind, text, output }),
);
/** Those that a block with their output follows. */
const snippets = blocks.flatMap(({ kind, text, output }) =>
  kind === "ts" && output !== undefined ? [{ text, output }] : [],
);
const sessions = blocks.filter(({ kind, text }) => kind === "text" && text.startsWith("> "));

/** Without what differs between machines. */
const same = (text: string): string =>
  text
    .replace(/\(\S*(manifests\/defaults\.yaml:\d+)\)/g, "($1)")
    .replace(/^\d\d:\d\d:\d\d\.\d{3}/gm, "TIME")
    .replace(/ +$/gm, "");

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.create();
});
afterAll(() => bench[Symbol.asyncDispose]());
const play = (lines: readonly string[], args: readonly string[] = []) =>
  lares(bench, ["playground", ...args], {}, `${lines.join("\n")}\n`);

describe("the SDK's README", () => {
  test("snippets with an output have that one", async () => {
    expect(snippets.length).toBeGreaterThanOrEqual(3);
    const files = snippets.map((_snippet, index) => bench.path(`snippet-${index}.ts`));
    for (const [index, { text }] of snippets.entries()) await writeFile(files[index]!, text);
    const ended = await play(files.map((file) => `.load ${file}`));
    expect(same(ended.stdout)).toBe(
      snippets.map(({ output }, index) => `> .load ${files[index]}\n${output}`).join(""),
    );
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
  });

  test.each([
    ["its first agent", "dev.example.notes", 0],
    ["the one that hears events and asks a model", "dev.example.albums", 1],
  ])("the session with %s goes as it is printed", async (_name, id, index) => {
    const at = blocks.findIndex(
      ({ kind, text }) => kind === "yaml" && text.includes(`id: ${id}`) && text.includes("# extension.yaml"),
    );
    const agent = blocks.slice(at).find(({ kind }) => kind === "ts");
    const session = sessions[index]?.text ?? "";
    const folder = bench.path(`tried-${index}`);
    await mkdir(folder);
    await writeFile(join(folder, "extension.yaml"), blocks[at]?.text ?? "");
    await writeFile(join(folder, "agent.ts"), agent?.text ?? "");
    const typed = session.split("\n").filter((line) => line.startsWith("> "));
    const ended = await play(
      typed.map((line) => line.slice(2)),
      [folder],
    );
    expect(same(ended.stdout)).toBe(session);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
  });
});

test("a session shows faults where they are and continues; the exit code says that a line failed", async () => {
  const ended = await play([
    "{",
    "  console.log('hello');",
    "}",
    "missing.name",
    "const a = ;",
    ".write ../outside.md x",
    ".call nothing",
    ".nothing",
    "1 + 1",
    "(",
  ]);
  expect(ended.code).toBe(1);
  // prettier-ignore
  expect(same(ended.stdout).split("\n")).toMatchObject([
    "> {", "…   console.log('hello');", "… }",
    "TIME info  local.playground     hello",
    "> missing.name", "✗ ReferenceError: missing is not defined",
    "> const a = ;", '✗ line 1: Unexpected ";"',
    "> .write ../outside.md x", expect.stringContaining("is not a path in the workspace"),
    "> .call nothing", expect.stringContaining("Name a tool of the extension"),
    "> .nothing", '✗ There is no command ".nothing". .help lists them.',
    "> 1 + 1", "2",
    "> (", "✗ The last input is not complete.",
    "",
  ]);
});

test("the playground's own agent has an event and a type; what nobody said a model answers is an error", async () => {
  const ended = await play([
    'await ctx.events.emit("Happened", { where: "here" })',
    'await ctx.types("Thing").create({ id: "a", size: 2 })',
    '(await ctx.types("Thing").query()).items.map(({ value }) => value)',
    '.model {"when": "two", "say": "second"}',
    '.model {"total": 12}',
    'await ctx.ai.object({ prompt: "one", schema: { type: "object" } })',
    'await ctx.ai.generate("number two").then(({ text }) => text)',
    'await ctx.ai.generate("three")',
    ".emit PersonFound",
    ".model",
  ]);
  expect(ended.code).toBe(1);
  // prettier-ignore
  expect(same(ended.stdout).split("\n").filter((line) => !line.startsWith("> "))).toMatchObject([
    'TIME info  local.playground     local.playground/Happened  where=here',
    '{"version":1}',
    '[{"id":"a","size":2}]',
    '{"total":12}',
    '"second"',
    expect.stringContaining("No turn of the script is left"),
    expect.stringContaining("No hook of an extension waits for an event"),
    expect.stringContaining("Write what the model says next"),
    "",
  ]);
});

describe("--tensors", () => {
  const write = async (name: string, content: unknown): Promise<string> => {
    const file = bench.path(name);
    await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
  };
  const input = { name: "image", dims: [1, 3, "height", "width"] };
  const scores = { name: "scores", dims: [2], data: [0.5, 0.25] };

  test("stand for the models of an extension: it gets these outputs, for inputs that fit", async () => {
    const { executable } = await installedWithModels(bench, "127.0.0.1:1");
    const folder = bench.path("faces");
    await mkdir(folder);
    const extension = {
      id: "dev.example.faces",
      name: "Faces",
      version: "1.0.0",
      models: [{ name: "faces" }],
      tools: [{ name: "score", description: "score", handler: "score", parameters: { type: "object" } }],
    };
    await writeFile(join(folder, "extension.yaml"), JSON.stringify({ extension }));
    await writeFile(
      join(folder, "agent.ts"),
      `import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: { async score({ name = "image" }, ctx) {
  const inputs = [{ name, dims: [1, 3, 2, 2], data: new Float32Array(12) }];
  const { outputs } = await ctx.ai.infer({ model: "faces", inputs });
  return outputs.map(({ name, data }) => [name, ...data]);
} } });
`,
    );
    const file = await write("tensors.json", { faces: { inputs: [input], outputs: [scores] } });
    const env = { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1" };
    const ended = await runNode([executable, "playground", folder, "--tensors", file], {
      cwd: bench.root,
      env,
      input: '.call score\n.call score {"name": "picture"}\n',
    });
    const [first, answer, second, refusal] = ended.stdout.split("\n");
    expect([first, answer, second], ended.stdout + ended.stderr).toEqual([
      "> .call score",
      '[["scores",0.5,0.25]]',
      '> .call score {"name": "picture"}',
    ]);
    expect(ended.stdout).toContain('It takes "image"');
    expect(refusal).toBeDefined();
  });

  test.each<[string, unknown, string]>([
    ["no JSON", "{", "must be JSON of this form"],
    ["no inputs", { faces: { outputs: [scores] } }, "faces.inputs must be a list of tensors."],
    [
      "too few numbers",
      { faces: { inputs: [input], outputs: [{ ...scores, dims: [3] }] } },
      'faces.outputs[0]: "dims" take 3 numbers, and "data" has 2.',
    ],
    [
      "a type that there is not",
      { faces: { inputs: [{ ...input, type: "text" }], outputs: [scores] } },
      'faces.inputs[0]: "type" must be one of',
    ],
  ])("a file with %s is refused, and says what is wrong", async (name, content, message) => {
    const file = await write(`${name}.json`, content);
    const ended = await play([], [bench.root, "--tensors", file]);
    expect(ended.code).toBe(2);
    expect(ended.stderr.replaceAll(/\s+/g, " ")).toContain(message);
  });
});

test("a folder that is not an extension is refused", async () => {
  const ended = await play([], [bench.root]);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain("is not an extension");
});

test.runIf(hasTerminals)("at a terminal it asks for each line, and ends with Ctrl-D", async () => {
  using run = new TerminalRun(bench, ["playground"]);
  await run.sees(/An empty workspace[^]*\n> ?$/m);
  run.type("6 * 7\r");
  await run.sees(/> 6 \* 7\n42\n> ?$/m);
  run.type("{\r");
  await run.sees(/> \{\n… ?$/m);
  run.type("console.log('typed'); }\r");
  await run.sees(/info {2}local\.playground +typed\n> ?$/m);
  run.type("\u0004");
  expect(await run.ended).toBe(0);
});

test.runIf(hasTerminals)("Ctrl-C ends it, also while an input hangs", async () => {
  using run = new TerminalRun(bench, ["playground"]);
  await run.sees(/An empty workspace[^]*\n> ?$/m);
  run.type("await new Promise(() => {})\r");
  await run.sees(/Promise\(\(\) => \{\}\)\n/);
  run.type("\u0003");
  expect(await run.ended).not.toBe(null);
  expect(run.screen).not.toContain("Error");
});
