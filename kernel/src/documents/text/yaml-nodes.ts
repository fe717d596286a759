import { Composer, Lexer, Parser } from "yaml";
import type { CST, Document } from "yaml";
import { maxDiagnostics } from "./diagnostics.ts";
import { documentLimits, TooComplex } from "./source.ts";
import type { Steps } from "./turns.ts";

interface YamlFault {
  readonly code: "syntax" | "multiple-documents";
  readonly start: number;
  readonly end: number;
  readonly message: string;
  /** A library warning that counts as an error here but does not prevent the nodes from being read. */
  readonly isWarning: boolean;
}

/** The library's representation of a text. */
interface YamlNodes {
  /** Null if composing was aborted because of too many errors. */
  readonly contents: Document.Parsed["contents"] | null;
  readonly faults: readonly YamlFault[];
}

/** Maximum number of cached texts: diagnostics, hovers, hints and the outline all use the nodes of the same version. */
const maxKept = 2;
const kept: { readonly text: string; readonly nodes: YamlNodes }[] = [];

/** Returns the nodes of a text. Throws {@link TooComplex} beyond the bounds of documents. */
export function* yamlNodes(text: string): Steps<YamlNodes> {
  const known = kept.find((each) => each.text === text);
  if (known !== undefined) return known.nodes;
  const tokens = yield* parse(text);
  const nodes = compose(tokens, text.length);
  kept.unshift({ text, nodes });
  kept.length = Math.min(kept.length, maxKept);
  yield;
  return nodes;
}

/** Number of lexemes between two yields. */
const lexemesPerStep = 128;
/** Collections on the stack that do not count as levels: the document, and a map's open pair. */
const stackBeyondDepth = 4;

/**
 * Lexes and parses in steps up to the bounds; both take most of the time and are linear. Stops once there are more
 * errors than are shown.
 */
function* parse(text: string): Steps<CST.Token[]> {
  const parser = new Parser();
  const parsed: CST.Token[] = [];
  let count = 0;
  let flow = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > documentLimits.tokens) throw new TooComplex(`of more than ${documentLimits.tokens} tokens`);
    if (lexeme === "[" || lexeme === "{") flow++;
    else if (lexeme === "]" || lexeme === "}") flow--;
    for (const token of parser.next(lexeme)) {
      parsed.push(token);
      if (token.type === "error" && ++errors > maxDiagnostics) return parsed;
    }
    // Composing is recursive, so deeply nested input must be rejected before it.
    if (flow > documentLimits.depth || parser.stack.length > documentLimits.depth + stackBeyondDepth)
      throw new TooComplex(`more than ${documentLimits.depth} levels deep`);
    if (count % lexemesPerStep === 0) yield;
  }
  for (const token of parser.end()) parsed.push(token);
  yield;
  return parsed;
}

function compose(tokens: readonly CST.Token[], length: number): YamlNodes {
  const composer = new BoundedComposer({
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    // Its stringKeys option refuses aliases and collections alike; `NodeReader` distinguishes them.
    // The tags of YAML 1.1 create values that JSON does not have: dates, binaries, symbols.
    resolveKnownTags: false,
    // The library's own search for duplicates is quadratic in the number of keys.
    uniqueKeys: false,
    logLevel: "error",
  });
  let first: Document.Parsed | null = null;
  const faults: YamlFault[] = [];
  try {
    for (const document of composer.compose(tokens, true, length)) {
      if (first === null) first = document;
      else {
        const [start, end] = document.range;
        const message = "A file holds one document; remove the --- and what follows it.";
        faults.push({ code: "multiple-documents", start, end, message, isWarning: false });
        break;
      }
    }
  } catch (error) {
    if (!(error instanceof TooManyFaults)) throw error;
    first = null;
  }
  for (const { pos, message } of first?.errors ?? []) faults.push(syntax(pos, message, false));
  const versions = tokens.filter((token) => token.type === "directive" && /^%YAML[ \t]/.test(token.source));
  for (const { offset } of versions.slice(1))
    faults.push(syntax([offset, offset + "%YAML".length], "There is a %YAML directive already", false));
  return { contents: first?.contents ?? null, faults: [...composer.found, ...faults] };
}

function syntax([start, end]: readonly [number, number], message: string, isWarning: boolean): YamlFault {
  return { code: "syntax", start, end, message: sentence(message), isWarning };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

class TooManyFaults extends Error {}

type Report = (
  source: number | readonly [number, number] | { readonly offset: number; readonly source?: string },
  code: string,
  message: string,
  isWarning?: boolean,
) => void;

/** Aborts once there are more errors than are shown. */
class BoundedComposer extends Composer {
  readonly found: YamlFault[] = [];

  constructor(options: ConstructorParameters<typeof Composer>[0]) {
    super(options);
    const report: Report = (source, code, message, isWarning = false) => {
      // An anchor's name may end in ":", although that is unusual.
      if (isWarning && code === "BAD_ALIAS") return;
      if (this.found.length > maxDiagnostics) throw new TooManyFaults();
      this.found.push(syntax(placeOf(source), message, isWarning));
    };
    // The library creates an error with a stack trace for each (about 10 µs) and has no bound of its own. Its
    // types hide the property; a test counts the errors of a document with very many.
    (this as unknown as { onError: Report }).onError = report;
  }
}

function placeOf(source: Parameters<Report>[0]): readonly [number, number] {
  if (typeof source === "number") return [source, source + 1];
  if ("offset" in source) return [source.offset, source.offset + (source.source?.length ?? 1)];
  return source;
}
