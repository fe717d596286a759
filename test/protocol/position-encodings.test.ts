import { Buffer } from "node:buffer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  CodeAction,
  CompletionList,
  Diagnostic,
  DocumentSymbol,
  Hover,
  Range,
  TextEdit,
} from "vscode-languageserver-types";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { LanguageClient } from "../support/language-client.ts";
import { until } from "../support/until.ts";

type Encoding = "utf-8" | "utf-16";
type Published = { uri: string; diagnostics: Diagnostic[] };

/** Returns the length of a text in an encoding, by Node's own encoders. */
const lengthOf = (text: string, encoding: Encoding): number =>
  encoding === "utf-8" ? Buffer.byteLength(text, "utf8") : text.length;

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.create();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A client's document, with places given as pieces of its text. */
class Document {
  readonly uri: string;
  readonly #client: Client;
  readonly #encoding: Encoding;
  text: string;

  constructor(client: Client, encoding: Encoding, uri: string, text: string) {
    this.#client = client;
    this.#encoding = encoding;
    this.uri = uri;
    this.text = text;
    const textDocument = { uri, languageId: "yaml", version: 1, text };
    client.notify("textDocument/didOpen", { textDocument });
  }

  position(offset: number) {
    const lines = this.text.slice(0, offset).split("\n");
    return { line: lines.length - 1, character: lengthOf(lines.at(-1) ?? "", this.#encoding) };
  }

  /** Returns the range of a text that occurs once. */
  rangeOf(piece: string): Range {
    const start = this.text.indexOf(piece);
    expect(start, `${piece} in the text`).toBeGreaterThanOrEqual(0);
    return { start: this.position(start), end: this.position(start + piece.length) };
  }

  /** Returns the text in a range. */
  pieceAt({ start, end }: Range): string {
    const offsets = [start, end].map((each) =>
      Array.from({ length: this.text.length + 1 }, (_, offset) => offset).find(
        (offset) => JSON.stringify(this.position(offset)) === JSON.stringify(each),
      ),
    );
    expect(offsets, "offsets of the range").not.toContain(undefined);
    return this.text.slice(offsets[0], offsets[1]);
  }

  replace(piece: string, newText: string): void {
    const range = this.rangeOf(piece);
    this.text = this.text.replace(piece, () => newText);
    this.#client.notify("textDocument/didChange", {
      textDocument: { uri: this.uri, version: 2 },
      contentChanges: [{ range, text: newText }],
    });
  }

  apply(edits: readonly TextEdit[]): string {
    return edits.reduce(
      (text, { range, newText }) => text.replace(this.pieceAt(range), () => newText),
      this.text,
    );
  }

  ask<Result>(method: string, more: object = {}): Promise<Result> {
    return this.#client.request<Result>(method, { textDocument: { uri: this.uri }, ...more });
  }

  /** Returns the first diagnostic with this code among those published last. */
  diagnostic(code: string): Promise<Diagnostic> {
    return until(`the diagnostic ${code}`, () =>
      this.#client
        .notifications<Published>("textDocument/publishDiagnostics")
        .findLast(({ uri }) => uri === this.uri)
        ?.diagnostics.find((each) => each.code === code),
    );
  }
}

const clay = "🏺e\u0301\u{1F469}\u200D\u{1F52C}";

describe.each<Encoding>(["utf-8", "utf-16"])("positions in %s", (encoding) => {
  let client: Client;
  beforeAll(async () => {
    const general = { positionEncodings: [encoding] };
    client = await bench.open({ capabilities: { ...LanguageClient.capabilities, general } });
  });

  const open = (text: string) => new Document(client, encoding, bench.uri("lares.yaml"), text);

  test("are those of a diagnostic and its fix, after emoji and combining characters", async () => {
    const document = open(`version: 1\ntrace: { ${JSON.stringify(clay)}: 1, level: wran }\n`);
    const found = await document.diagnostic("invalid-value");
    expect(document.pieceAt(found.range)).toBe("wran");
    const range = document.rangeOf("wran");
    const actions = await document.ask<CodeAction[]>("textDocument/codeAction", {
      range,
      context: { diagnostics: [found] },
    });
    const fix = actions.find(({ title }) => title === 'Write "warn"');
    const [change] = fix?.edit?.documentChanges ?? [];
    const edits = change !== undefined && "edits" in change ? (change.edits as TextEdit[]) : [];
    expect(document.apply(edits)).toBe(document.text.replace("wran", "warn"));
  });

  test("are those of a change, a hover, a completion and an outline", async () => {
    const document = open(`version: 1\ntrace: { ${JSON.stringify(clay)}: "${clay}", level: wran }\n`);
    await document.diagnostic("invalid-value");
    document.replace(`"${clay}", level: wran`, `"${clay}${clay}", level: bebug`);
    await until("the diagnostic of the changed text", async () => {
      const found = await document.diagnostic("invalid-value");
      return JSON.stringify(found.message).includes("bebug") ? found : undefined;
    });
    const hover = await document.ask<Hover>("textDocument/hover", {
      position: document.rangeOf("level").start,
    });
    expect(hover.range && document.pieceAt(hover.range)).toBe("level");
    const list = await document.ask<CompletionList>("textDocument/completion", {
      position: document.rangeOf("bebug").end,
    });
    const edit = list.items.find(({ label }) => label === "debug")?.textEdit as TextEdit;
    expect(document.pieceAt(edit.range)).toBe("bebug");
    const symbols = await document.ask<DocumentSymbol[]>("textDocument/documentSymbol");
    const trace = symbols.find(({ name }) => name === "trace");
    expect(trace && document.pieceAt(trace.range)).toBe(
      document.text.slice(document.text.indexOf("trace")).trimEnd(),
    );
  });
});

test("a client gets the first encoding of its list that Lares supports, and UTF-16 without a list", async () => {
  const encodingFor = async (positionEncodings: unknown): Promise<unknown> => {
    const client = bench.spawn();
    const result = await client.request<{ capabilities: { positionEncoding?: string } }>(
      "initialize",
      bench.initializeParams({ capabilities: { general: { positionEncodings } } }),
    );
    return result.capabilities.positionEncoding;
  };
  expect(await encodingFor(["utf-32", "utf-8", "utf-16"])).toBe("utf-8");
  expect(await encodingFor(["utf-16", "utf-8"])).toBe("utf-16");
  expect(await encodingFor(["utf-32"])).toBe("utf-16");
  expect(await encodingFor(undefined)).toBe("utf-16");
});
