import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../text/diagnostics.ts";
import { checkLares } from "../lares.ts";
import { checkManifest } from "../manifest.ts";
import { documentKind } from "../names.ts";
import { applyEdits } from "../text/apply-edits.ts";
import { manifestPorts } from "../testing/ports.ts";
import { extensionUses, isAt } from "./elements.ts";
import { readAtOnce } from "./testing/read-at-once.ts";
import { handlerAt, renameInManifest } from "./rename.ts";
import { outlineOf, type DocumentPart } from "./symbols.ts";

const top = new URL("../../../../", import.meta.url);
const documents = await Promise.all(
  [
    ...(await fixtures("kernel/src/documents/fixtures/photos-yaml/")),
    ...(await fixtures("kernel/src/documents/fixtures/photos-toml/")),
    "examples/library/lares.yaml",
    "extensions/storage/extension.yaml",
  ].map(async (path) => [path, await readFile(new URL(path, top), "utf8")] as const),
);

async function fixtures(folder: string): Promise<string[]> {
  const names = await readdir(new URL(folder, top));
  return names.filter((name) => documentKind(name) !== undefined).map((name) => folder + name);
}

async function check(file: string, text: string): Promise<readonly Diagnostic[]> {
  return documentKind(file) === "lares"
    ? (await checkLares(text, file, { layer: "workspace", folderState: () => "missing" })).diagnostics
    : (await checkManifest(text, file, manifestPorts())).diagnostics;
}

test("there are documents of both kinds and formats", () => {
  const kinds = new Set(documents.map(([path]) => `${documentKind(path)} ${path.endsWith("toml")}`));
  expect(kinds.size).toBeGreaterThanOrEqual(3);
});

describe.each(documents)("%s", (path, text) => {
  test("typed up to any character it can be looked through", () => {
    for (let offset = 0; offset <= text.length; offset += 7) {
      const typed = text.slice(0, offset);
      const document = readAtOnce(typed, path);
      const within = ({ range, selection, children }: DocumentPart): boolean =>
        document.lines.offset(range.end) <= offset &&
        document.lines.offset(selection.end) <= document.lines.offset(range.end) &&
        children.every(within);
      expect(outlineOf(document).every(within), `up to ${offset}`).toBe(true);
      const handler = handlerAt(document, offset);
      if (handler !== null) renameInManifest(document, handler, "anotherName");
      for (const { pointer } of extensionUses(document)) isAt(document, pointer, offset);
    }
  });

  test("the node at an offset is the one that contains it", () => {
    const document = readAtOnce(text, path);
    for (let offset = 0; offset <= text.length; offset++) {
      const handler = handlerAt(document, offset);
      if (handler === null) continue;
      const { start, end } = document.nodeAt(handler.pointer) ?? { start: 0, end: 0 };
      expect(text.slice(start, end).replaceAll(/["']/g, "")).toBe(handler.name);
    }
  });

  test("with a typing error in any line, each fix repairs its fault and breaks nothing", async () => {
    let fixes = 0;
    for (const typo of typos(text)) {
      const faults = await check(path, typo);
      for (const { code, message, fixes: found } of faults) {
        for (const { title, edits } of found) {
          fixes++;
          const mended = applyEdits(typo, edits);
          const after = await check(path, mended);
          const codes = after.map((each) => each.code);
          expect(codes, `${title}:\n${mended}`).not.toContain("syntax");
          // A line that was left out may make several keys stand twice, of which a fix takes one.
          const twice = (all: readonly Diagnostic[]): number =>
            all.filter((each) => each.code === "duplicate-key").length;
          expect(twice(after), `${title}:\n${mended}`).toBeLessThanOrEqual(twice(faults));
          const count = (all: readonly Diagnostic[]): number =>
            all.filter((each) => each.code === code && each.message === message).length;
          expect(count(after), `${title}:\n${mended}`).toBeLessThan(count(faults));
        }
      }
    }
    expect(fixes).toBeGreaterThan(5);
  });
});

/** The text with two letters swapped in one line's first word, and with one line left out. */
function* typos(text: string): Generator<string> {
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const swapped = line.replace(/^([^#\w]*\w)(\w)(\w)/, "$1$3$2");
    if (swapped !== line) yield lines.with(index, swapped).join("\n");
    yield lines.toSpliced(index, 1).join("\n");
  }
}
