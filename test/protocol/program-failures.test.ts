import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Diagnostic } from "vscode-languageserver";
import { expect, test } from "vitest";
import { watchesFiles } from "../support/agents.ts";
import { Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const AGENT = "test.failing";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: {
    async seen({ entry }, ctx) {
      if (entry.path.includes("dark")) throw new Error("no light");
      ctx.trace.info("seen");
    },
  },
});
`;
const LINE = PROGRAM.split("\n").findIndex((line) => line.includes("no light"));

const shownIn = (client: Client, uri: string): Diagnostic[] | undefined =>
  client
    .notifications<{ uri: string; diagnostics: Diagnostic[] }>("textDocument/publishDiagnostics")
    .findLast((published) => published.uri === uri)?.diagnostics;

test("a handler's failure stands at its line of the open program, until the handler succeeds or the text changes", async () => {
  await using bench = await Bench.create({
    files: { "notes/a.txt": "a" },
    extensions: [watchesFiles(AGENT, PROGRAM)],
  });
  await using client = await bench.open();
  await inState(client, AGENT, "Active", "Unloaded");
  const file = join(bench.extensionFolder(AGENT), "agent.ts");
  const text = await readFile(file, "utf8");
  const uri = pathToFileURL(file).href;
  const open = (): void =>
    client.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: "typescript", version: 1, text },
    });
  const shown = (count: number): Promise<Diagnostic[]> =>
    until(`${count} diagnostics`, () => {
      const found = shownIn(client, uri);
      return found?.length === count && found;
    });

  open();
  expect(await bench.status(client)).toMatchObject({ ready: true });
  expect(shownIn(client, uri)).toBeUndefined();
  await bench.write("notes/dark.txt", "");
  const [failure] = await shown(1);
  const words = text.split("\n")[LINE] ?? "";
  expect(failure).toMatchObject({
    severity: 1,
    source: "lares",
    code: "handler-failed",
    range: {
      start: { line: LINE, character: words.indexOf("if") },
      end: { line: LINE, character: words.length },
    },
  });
  expect(failure?.message).toContain("no light");

  client.notify("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [
      { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, text: "\n" },
    ],
  });
  await shown(0);
  client.notify("textDocument/didClose", { textDocument: { uri } });

  // Another editor that opens the program later sees the failure too.
  open();
  await shown(1);
  await bench.write("notes/light.txt", "");
  await shown(0);
  client.notify("textDocument/didClose", { textDocument: { uri } });
  await bench.status(client);
  expect(shownIn(client, uri)).toEqual([]);
});
