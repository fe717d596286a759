import { afterAll, beforeAll, expect, test } from "vitest";
import { violatingGuests } from "../../kernel/src/conformance/testing/guests.ts";
import type { RuleResult } from "../../kernel/src/conformance/results.ts";
import { Bench } from "../support/bench.ts";
import { lares } from "../support/command-line.ts";

const SOUND = "test.sound";
const WRONG = "test.wrong";
const ENDLESS = "test.endless";
/** Takes for ever to find out that the default does not fit. */
const endless = { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(60)}!` };

/** With a type, a job and its task, a question, a named action and a tool, made with the SDK. */
const program = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  types: { Book: { migrate: (value) => ({ ...value, title: value.name }) } },
  hooks: {
    async seen({ entry }, ctx) {
      const text = await ctx.vdfs.readText(entry.path);
      await ctx.jobs.dispatch("count", { text });
    },
    async asked() { return { cancel: "No." }; },
  },
  jobs: {
    async count({ text }, ctx) {
      await ctx.task("measure", { text });
      for (let n = ctx.checkpoint?.next ?? 0; n < text.length; n++) await ctx.save({ next: n + 1 });
    },
  },
  tasks: { async measure({ text }, ctx) { return { length: text.length, known: await ctx.vdfs.count({}) }; } },
  actions: {
    async fileIt({ path }) { return { effects: [{ kind: "tag.add", path, tag: "#filed" }], reason: "It was read." }; },
  },
  tools: { async notes({ folder }, ctx) { return ctx.vdfs.count({ path: folder + "/**" }); } },
});
`;

let bench: Bench;
beforeAll(async () => {
  const wrong = violatingGuests["unknown-method"]?.() ?? new Uint8Array();
  bench = await Bench.create({
    extensions: [
      {
        id: SOUND,
        program,
        manifest: {
          permissions: { read_entries: true, dispatch_jobs: true, write_tags: true, intercept: ["*"] },
          types: [
            {
              name: "Book",
              version: 2,
              key: "id",
              schema: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
            },
          ],
          hooks: [
            { on: "EntryCreated", handler: "seen" },
            { on: "BeforeToolCall", handler: "asked", intercept: true },
          ],
          actions: [
            {
              name: "file_it",
              title: "File {path}",
              description: "files a note",
              handler: "fileIt",
              parameters: {
                type: "object",
                required: ["path"],
                properties: { path: { type: "string" } },
              },
            },
          ],
          tools: [
            {
              name: "notes",
              description: "counts notes",
              handler: "notes",
              parameters: {
                type: "object",
                required: ["folder"],
                properties: { folder: { type: "string", maxLength: 10 } },
              },
            },
          ],
        },
      },
      {
        id: WRONG,
        files: { "agent.wasm": wrong },
        manifest: { main: "agent.wasm", hooks: [{ on: "EntryCreated", handler: "seen" }] },
      },
      {
        id: ENDLESS,
        files: { "agent.wasm": wrong },
        manifest: {
          main: "agent.wasm",
          tools: [
            {
              name: "ask",
              description: "asks",
              handler: "ask",
              parameters: { type: "object", required: ["text"], properties: { text: endless } },
            },
          ],
        },
      },
    ],
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

test("a program made with the SDK holds every rule, and every rule applies to it", async () => {
  const ended = await lares(bench, ["conformance", bench.extensionFolder(SOUND), "--json"]);
  const results = JSON.parse(ended.stdout) as RuleResult[];
  const others = results.filter(({ status }) => status !== "holds");
  // It sends no notification of its own.
  expect(others.map(({ rule, detail }) => `${rule}: ${detail}`)).toEqual([
    "guest-notifications: It sent no notification.",
  ]);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
});

test("a violated rule is shown with its sentence and what was seen, and the command exits with 1", async () => {
  const ended = await lares(bench, ["conformance", `${bench.extensionFolder(WRONG)}/extension.yaml`]);
  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain(`✗ unknown-method
    A method that the guest does not know is answered with -32601.
    It answered an unknown method with a result.
`);
  expect(ended.stdout).toMatch(/\n– tools\n/);
  expect(ended.stdout).toMatch(/✗ \d+ rules held, 1 violated, \d+ not applicable\n$/);
});

test("a manifest whose schema takes for ever to check does not keep the command", async () => {
  const ended = await lares(bench, ["conformance", bench.extensionFolder(ENDLESS), "--json"]);
  const tools = (JSON.parse(ended.stdout) as RuleResult[]).find(({ rule }) => rule === "tools");
  expect([ended.code, tools?.status]).toEqual([1, "not_applicable"]);
});

test.each([
  [["conformance", "nowhere.wasm"], "does not exist"],
  [["conformance", "lares.yaml"], "is not a program"],
])("%j is wrong usage", async (argv, message) => {
  const ended = await lares(bench, argv);
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toContain(message);
});

test("a folder without a program is a failure with a sentence", async () => {
  const ended = await lares(bench, ["conformance", bench.root]);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain("It has no program.");
});
