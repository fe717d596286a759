import { beforeEach, expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import type { DocumentFault } from "../base/vocabulary/editing.ts";
import { DocumentDiagnostics, maxFollowed } from "./diagnostics.ts";
import { OpenDocuments } from "./session/open-documents.ts";
import type { Services } from "../services/ports.ts";
import type { Session } from "./session/session.ts";

const uri = "file:///w/lares.yaml";
const unread = Promise.resolve(null);

interface Check {
  readonly uri: string;
  readonly text: string;
  end(message?: string): void;
}

interface Watch {
  changed(): void;
  readonly watched: unknown[];
  readonly heard: string[];
  isOver: boolean;
}

const lookedAt = { paths: ["/w/lares.yaml"], listed: [] };

function faultOf(message: string): DocumentFault {
  const start = { line: 0, character: 0 };
  return { range: { start, end: start }, severity: "error", code: "syntax", message };
}

let checks: Check[];
let watches: Watch[];
let isMore: boolean;
let published: { uri: string; diagnostics: unknown[] }[];
let documents: OpenDocuments;
let diagnostics: DocumentDiagnostics;

beforeEach(() => {
  checks = [];
  watches = [];
  isMore = false;
  published = [];
  documents = new OpenDocuments();
  const kernel = {
    documents: {
      handles: (name: string) => name.endsWith(".yaml"),
      follow: (_name: string, changed: () => void) => {
        const watch: Watch = { changed, watched: [], heard: [], isOver: false };
        watches.push(watch);
        return {
          watch: (from: unknown) => {
            watch.watched.push(from);
            return isMore;
          },
          heardOf: (name: string) => watch.heard.push(name),
          [Symbol.dispose]: () => void (watch.isOver = true),
        };
      },
      diagnose: (name: string, text: string) =>
        new Promise((resolve) =>
          checks.push({
            uri: name,
            text,
            end: (message) => resolve({ faults: message === undefined ? [] : [faultOf(message)], lookedAt }),
          }),
        ),
    },
  } as unknown as Services;
  const session = {
    documents,
    endpoint: {
      notifyStandard: (_method: string, params: { uri: string; diagnostics: { message: string }[] }) =>
        published.push({ uri: params.uri, diagnostics: params.diagnostics.map(({ message }) => message) }),
    },
  } as unknown as Session;
  diagnostics = new DocumentDiagnostics(kernel, session, silentLog);
});

function type(text: string, name = uri): void {
  documents.open(name, text, unread);
  diagnostics.changed(name);
}

/** Waits until all pending promises have settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("changes during a check cause one more check, and the outdated result is not published", async () => {
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

test("the check of one document does not delay that of another", () => {
  type("a");
  type("b", "file:///w/extension.yaml");
  expect(checks.map(({ text }) => text)).toEqual(["a", "b"]);
});

test("a document reopened during its check gets only the diagnostics of its new text", async () => {
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

test("a document closed during its check gets no further diagnostics", async () => {
  type("old");
  documents.close(uri);
  diagnostics.closed(uri);
  checks[0]?.end("of old");
  await settled();
  expect(checks).toHaveLength(1);
  expect(published).toEqual([{ uri, diagnostics: [] }]);
});

test("a document is checked again when a file it depends on changed, and published if that made a difference", async () => {
  type("a");
  checks[0]?.end("of a");
  await settled();
  expect(watches[0]?.watched).toEqual([lookedAt]);
  watches[0]?.changed();
  checks[1]?.end("of a");
  await settled();
  expect(published).toHaveLength(1);
  watches[0]?.changed();
  checks[2]?.end("mended");
  await settled();
  expect(published.slice(1)).toEqual([{ uri, diagnostics: ["mended"] }]);
});

test("a file that changed before it was watched causes another check", async () => {
  isMore = true;
  type("a");
  checks[0]?.end("of a");
  await settled();
  isMore = false;
  expect(checks).toHaveLength(2);
  checks[1]?.end("of a");
  await settled();
  expect([checks.length, published.length]).toEqual([2, 1]);
});

test("each document is notified of changes in other texts, not in its own", async () => {
  type("a");
  type("b", "file:///w/extension.yaml");
  diagnostics.otherTextChanged("file:///w/extension.yaml");
  expect(watches.map(({ heard }) => heard)).toEqual([["file:///w/extension.yaml"], []]);
});

test("closing a document or ending the session stops watching", async () => {
  type("a");
  type("b", "file:///w/extension.yaml");
  diagnostics.closed(uri);
  expect(watches.map(({ isOver }) => isOver)).toEqual([true, false]);
  watches[0]?.changed();
  checks[0]?.end();
  await settled();
  expect(checks).toHaveLength(2);
  diagnostics[Symbol.dispose]();
  expect(watches.map(({ isOver }) => isOver)).toEqual([true, true]);
});

test("the number of followed documents is bounded, and all are checked", async () => {
  for (let index = 0; index <= maxFollowed; index++) type("a", `file:///w/${index}/lares.yaml`);
  expect([watches.length, checks.length]).toEqual([maxFollowed, maxFollowed + 1]);
});
