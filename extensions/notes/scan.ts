/** A link to another file, as it stands in a note. */
export interface Link {
  /** "wiki" is `[[name]]`; the others stand in parentheses or in a definition, `[name]: target`. */
  readonly kind: "wiki" | "inline";
  /** The target without its fragment, decoded: what the author means. Never empty. */
  readonly target: string;
  /** Where the target stands in the note, without its fragment. UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** The target stands between `<` and `>`. */
  readonly isBracketed: boolean;
}

interface Task {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly isDone: boolean;
}

export interface Scan {
  readonly links: readonly Link[];
  /** In the order of their first use, without `#`. */
  readonly tags: readonly string[];
  readonly tasks: readonly Task[];
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const task = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s+(\S.*)/;
const tag = /(?:^|[\s([{,;])#([\p{L}_][\p{L}\p{N}_/-]{0,63})/gu;
const wiki = /\[\[([^[\]|#\n]{1,500})(?:#[^[\]|\n]{0,500})?(?:\|[^[\]\n]{0,500})?\]\]/g;
const inline =
  /\]\(\s{0,9}(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}))(?:\s{1,9}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?\s{0,9}\)/g;
const definition = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{1,9}(?:<([^<>\n]{1,1000})>|(\S{1,1000}))/g;
const scheme = /^(?:[a-z][a-z0-9+.-]*:|\/|\\)/i;

/** Finds links, tags and tasks of a Markdown note, outside of code. Takes time in proportion to its length. */
export function scanNote(text: string): Scan {
  const links: Link[] = [];
  const tags = new Set<string>();
  const tasks: Task[] = [];
  let open: string | null = null;
  let start = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const mark = fence.exec(line)?.[1];
    if (open !== null) {
      if (mark !== undefined && mark.startsWith(open) && line.trim() === mark) open = null;
    } else if (mark !== undefined) open = mark;
    else {
      const words = withoutCode(line);
      const found = task.exec(words);
      if (found !== null)
        tasks.push({ line: index + 1, text: (found[2] ?? "").trimEnd(), isDone: found[1] !== " " });
      for (const [, name = ""] of words.matchAll(tag)) tags.add(name);
      links.push(...linksIn(words, start));
    }
    start += line.length + 1;
  }
  return { links, tags: [...tags], tasks };
}

function linksIn(line: string, offset: number): Link[] {
  const found: Link[] = [];
  const add = (kind: Link["kind"], raw: string, at: number, isBracketed: boolean): void => {
    const written = raw.split("#", 1)[0] ?? "";
    const target = kind === "wiki" ? written.trim() : decoded(written);
    if (target === "" || scheme.test(target)) return;
    const start = offset + at;
    found.push({ kind, target, start, end: start + written.length, isBracketed });
  };
  for (const { 1: name = "", index } of line.matchAll(wiki)) add("wiki", name, index + 2, false);
  for (const pattern of [inline, definition])
    for (const match of line.matchAll(pattern)) {
      const raw = match[1] ?? match[2] ?? "";
      const from = pattern === inline ? 2 : match[0].indexOf("]:") + 2;
      add("inline", raw, match.index + match[0].indexOf(raw, from), match[1] !== undefined);
    }
  return found.toSorted((one, other) => one.start - other.start);
}

/** Replaces what stands between backticks by blanks, so that positions stay. */
function withoutCode(line: string): string {
  return line.replace(/(`+)[^`]+\1(?!`)/g, (code) => " ".repeat(code.length));
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    // It is not encoded, as in "50%.md".
    return written;
  }
}
