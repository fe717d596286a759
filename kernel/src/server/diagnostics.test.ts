import { beforeEach, expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { DocumentDiagnostics } from "./diagnostics.ts";
import { OpenDocuments } from "./open-documents.ts";
import type { KernelServices } from "./ports.ts";
import type { Session } from "./session.ts";

const uri = "file:///w/lares.yaml";
const unread = Promise.resolve(null);

interface Check {
  readonly uri: string;
  readonly text: string;
  end(message?: string): void;
}

let checks: Check[];
let published: { uri: string; diagnostics: unknown[] }[];
let documents: OpenDocuments;
let diagnostics: DocumentDiagnostics;

beforeEach(() => {
  checks = [];
  published = [];
  documents = new OpenDocuments();
  const kernel = {
    documents: {
      handles: (name: string) => name.endsWith(".yaml"),
      concerns: (name: string) => !name.endsWith(".md"),
      diagnose: (name: string, text: string) =>
        new Promise((resolve) =>
          checks.push({ uri: name, text, end: (message) => resolve(message === undefined ? [] : [message]) }),
        ),
    },
  } as unknown as KernelServices;
  const session = {
    documents,
    endpoint: {
      notifyStandard: (_method: string, params: (typeof published)[number]) => published.push(params),
    },
  } as unknown as Session;
  diagnostics = new DocumentDiagnostics(kernel, session, silentLog);
});

function type(text: string, name = uri): void {
  documents.open(name, text, unread);
  diagnostics.changed(name);
}

/** All that was promised has been dealt with. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("what is typed while a check runs is checked once, as it is then; what the check found is not shown", async () => {
  for (const text of ["a", "ab", "abc", "abcd"]) type(text);
  expect(checks.map(({ text }) => text)).toEqual(["a"]);
  checks[0]?.end("of a");
  await settled();
  expect(checks.map(({ text }) => text)).toEqual(["a", "abcd"]);
  expect(published).toEqual([]);
  checks[1]?.end("of abcd");
  await settled();
  expect(published).toEqual([{ uri, diagnostics: ["of abcd"] }]);
  type("b");
  expect(checks).toHaveLength(3);
});

test("one document's check does not hold up another's", () => {
  type("a");
  type("b", "file:///w/extension.yaml");
  expect(checks.map(({ text }) => text)).toEqual(["a", "b"]);
});

test("closed and opened again while it is checked: only what is there now is shown", async () => {
  type("old");
  documents.close(uri);
  diagnostics.closed(uri);
  type("new");
  checks[0]?.end("of old");
  await settled();
  checks[1]?.end("of new");
  await settled();
  expect(published).toEqual([
    { uri, diagnostics: [] },
    { uri, diagnostics: ["of new"] },
  ]);
});

test("closed while it is checked: nothing more comes", async () => {
  type("old");
  documents.close(uri);
  diagnostics.closed(uri);
  checks[0]?.end("of old");
  await settled();
  expect(checks).toHaveLength(1);
  expect(published).toEqual([{ uri, diagnostics: [] }]);
});

test("a saved program has the documents checked again, a saved note has not", async () => {
  type("a");
  checks[0]?.end();
  await settled();
  diagnostics.saved("file:///w/note.md");
  expect(checks).toHaveLength(1);
  diagnostics.saved("file:///w/agent.ts");
  expect(checks).toHaveLength(2);
});
