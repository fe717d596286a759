import { describe, expect, test } from "vitest";
import type { Range } from "../text/diagnostics.ts";
import { readAtOnce } from "./testing/read-at-once.ts";
import { maxParts, outlineOf, type DocumentPart } from "./symbols.ts";

/** A line for each part, indented as it lies: kind, name, detail, and the lines it reaches over. */
function drawn(parts: readonly DocumentPart[], depth = 0): string[] {
  return parts.flatMap(({ kind, name, detail, range, children }) => [
    `${"  ".repeat(depth)}${kind} ${name}${detail === "" ? "" : ` (${detail})`} ${range.start.line}–${range.end.line}`,
    ...drawn(children, depth + 1),
  ]);
}

const outline = (file: string, text: string): DocumentPart[] => outlineOf(readAtOnce(text, file));

describe("a configuration", () => {
  const expected = (lines: readonly string[]) =>
    [
      "value version (1)",
      "list extensions",
      "  extension ../photos",
      "    value path (../photos)",
      "    map grants",
      "      list allow (*, read_entries)",
      "  extension com.example.b (disabled)",
      "    value id (com.example.b)",
      "    value enabled (false)",
      "map approvals",
      "  list rules",
      "    rule deny file.delete (photos/**)",
      "    rule ask everything",
      "list shared_namespaces",
      "  map people",
    ].map((part, index) => `${part} ${lines[index]}`);

  test("in YAML", () => {
    const text = `$schema: x
version: 1
extensions:
  - path: ../photos
    grants:
      allow: ["*", read_entries]

  - { id: com.example.b, enabled: false }
approvals:
  rules:
    - decide: deny
      kind: file.delete
      path: photos/**
    - decide: ask
shared_namespaces: [{ name: people }]
`;
    const lines = [
      "1–1",
      "2–7",
      "3–5",
      "3–3",
      "4–5",
      "5–5",
      "7–7",
      "7–7",
      "7–7",
      "8–13",
      "9–13",
      "10–12",
      "13–13",
      "14–14",
      "14–14",
    ];
    expect(drawn(outline("lares.yaml", text))).toEqual(expected(lines));
  });

  test("in TOML", () => {
    const text = `"$schema" = "x"
version = 1

[[extensions]]
path = "../photos"
[extensions.grants]
allow = ["*", "read_entries"]

[[extensions]]
id = "com.example.b"
enabled = false

[[approvals.rules]]
decide = "deny"
kind = "file.delete"
path = "photos/**"
[[approvals.rules]]
decide = "ask"

[[shared_namespaces]]
name = "people"
`;
    const lines = [
      "1–1",
      "3–10",
      "3–6",
      "4–4",
      "5–6",
      "6–6",
      "8–10",
      "9–9",
      "10–10",
      "12–17",
      "12–17",
      "12–15",
      "16–17",
      "19–20",
      "19–20",
    ];
    expect(drawn(outline("lares.toml", text))).toEqual(expected(lines));
  });
});

test("half-typed parts are shown as far as they exist", () => {
  const text =
    "extension:\n  id: com.example.a\n  hooks:\n    - on: EntryCreated\n      handler: a\n    - on:\n  too";
  expect(drawn(outline("extension.yaml", text)).map((line) => line.trim().replace(/ \d+–\d+$/, ""))).toEqual([
    "extension com.example.a (com.example.a)",
    "value id (com.example.a)",
    "list hooks",
    "hook on EntryCreated → a",
    "hook hook",
    "value too",
  ]);
});

test("a stranger's names are plain text on one line, and cut", () => {
  const [part] = outline("extension.yaml", `extension:\n  name: "a\\nb\\u001b[31m${"x".repeat(500)}"\n`);
  expect(part?.name).toMatch(/^a b␛\[31mx+…$/);
  expect(part?.name).toHaveLength(120);
});

test("an outline has an end", () => {
  const rules = "    - { decide: ask }\n".repeat(maxParts + 10);
  expect(drawn(outline("lares.yaml", `approvals:\n  rules:\n${rules}`))).toHaveLength(maxParts);
});

test.each(["", "- a\n", "{", "a: &a [*a]\n", "just a text\n"])(
  "%j has no outline, or a small one",
  (text) => {
    expect(drawn(outline("lares.yaml", text)).length).toBeLessThan(3);
  },
);

test("a marked range lies within its part", () => {
  const check = ({ range, selection, children }: DocumentPart): void => {
    expect(isWithin(selection, range)).toBe(true);
    for (const child of children) check(child);
  };
  const toml = "[a.b]\nc = 1\n[[x.y]]\nz = 1\n[a]\nd = { e = 1 }\n[[x.y]]\n";
  for (const part of [
    ...outline("lares.toml", toml),
    ...outline("lares.yaml", "a:\n  ? b\n  : c\nd: &x { e: 1 }\nf: *x\n"),
  ])
    check(part);
});

function isWithin(inner: Range, outer: Range): boolean {
  const before = (a: Range["start"], b: Range["start"]) =>
    a.line < b.line || (a.line === b.line && a.character <= b.character);
  return before(outer.start, inner.start) && before(inner.end, outer.end);
}
