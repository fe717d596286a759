import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import type { Host } from "../shared/host.ts";
import type { Card, ConsentContract, Question } from "./messages.ts";
import { QuestionPage } from "./view.tsx";

const nobody: Host<ConsentContract> = {
  ask: () => Promise.reject(new Error("Nobody is there.")),
  on: () => () => undefined,
};

const card = (change: Partial<Card> = {}): Card => ({
  extension: "dev.lares.storage",
  name: "Storage",
  description: "Finds extra copies",
  version: "0.4.0",
  origin: "comes with Lares",
  state: "new",
  granted: false,
  answered: false,
  changes: [],
  program: { change: "new" },
  parts: [
    {
      id: "read_entries",
      group: "see",
      title: "All files: names and content",
      permission: "read_entries",
      change: "new",
      granted: false,
      answered: false,
    },
  ],
  folders: [
    {
      path: "photos",
      title: "photos",
      requested: true,
      change: "new",
      granted: false,
      answered: false,
    },
  ],
  facts: [{ kind: "trigger", text: "When a file changes", change: "new" }],
  cannot: ["Delete files"],
  ...change,
});

const question = (...extensions: Card[]): Question => ({
  digest: "sha256:1",
  trusted: false,
  answered: false,
  since: null,
  extensions,
  workspace: [],
  folder: "home",
});
const page = (asked: Question): string =>
  renderToString(<QuestionPage host={nobody} question={asked} again={() => undefined} />);

it("a new extension has nothing ticked, and its card says what it may do, where, and what it cannot do", () => {
  const html = page(question(card()));
  expect(html).not.toMatch(/<input[^>]*checked/);
  for (const words of [
    "All files: names and content",
    "photos",
    "Delete files",
    "0 of 1",
    "Show the program",
  ])
    expect(html).toContain(words);
  expect(html).toMatch(/<button[^>]*disabled[^>]*>Allow Selected/);
});

it("granted parts are ticked, and new ones are not", () => {
  const [read] = card().parts;
  const html = page(
    question(
      card({
        state: "changed",
        granted: true,
        changes: ["New: Tags on files"],
        parts: [
          { ...read!, granted: true, answered: true, change: "unchanged" },
          { ...read!, id: "write_tags", title: "Tags on files" },
        ],
        program: { change: "changed", diff: { files: 2, added: 38, removed: 4 } },
      }),
    ),
  );
  expect(html.match(/<input[^>]*checked/g)).toHaveLength(1);
  expect(html).toContain("2 files changed, 38 lines added, 4 lines removed.");
  expect(html).toContain("New: Tags on files");
});

it("a folder shows its number of files, if it is known", () => {
  const [folder] = card().folders;
  const html = page(
    question(
      card({
        folders: [
          { ...folder!, files: 1 },
          { ...folder!, path: "a", title: "a", files: 100_000 },
          { ...folder!, path: "b", title: "b" },
        ],
      }),
    ),
  );
  const text = html.replace(/<[^>]*>/g, "");
  expect(text).toContain("photos · 1 file");
  expect(text).toContain("a · 100,000 files or more");
  expect(text).not.toMatch(/b ·/);
});

it("an answered extension is one row that shows whether it runs", () => {
  const html = page(question(card({ state: "unchanged", answered: true })));
  expect(html).toContain("Not allowed. It does not run.");
  expect(html).not.toContain("Delete files");
});

it.each(["<img src=x onerror=alert(1)>", '"><script>alert(1)</script>', "</label><button>Allow"])(
  "a stranger's text creates no element of the page: %j",
  (text) => {
    const part = { ...card().parts[0]!, title: text, detail: text, permission: text };
    const html = page(
      question(
        card({
          name: text,
          description: text,
          origin: text,
          version: text,
          state: "changed",
          changes: [text],
          parts: [part],
          folders: [{ ...card().folders[0]!, title: text }],
          facts: [{ kind: "tool", text, change: "new" }],
          cannot: [text],
          program: { change: "new", fault: text },
        }),
      ),
    );
    expect(html).not.toMatch(/<(img|script)|<[^>"]*("[^"]*"[^>"]*)*\sonerror=/);
    expect(html.match(/<button/g)).toHaveLength(4);
  },
);
