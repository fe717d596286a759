import type { Entry } from "../base/vocabulary/conversation.ts";
import { headOf, withinBytes } from "./data-text.ts";

/** Where a string is from. A person's matter most, then error texts, then those that the model took up. */
export type SaidBy = "person" | "error" | "model" | "other";

export interface ExactString {
  readonly text: string;
  readonly by: SaidBy;
}

/** Code units of one string. A longer word, such as base64, names nothing. */
const maxLength = 256;
/** Strings of one entry, so that one long listing does not displace all others. */
const maxOfEntry = { person: 64, model: 48, other: 32 } as const;
/** Code units of a line that are searched for the words of an error. */
const maxLine = 400;
/** Levels of a JSON value. */
const maxDepth = 32;

/** Returns the strings of an entry that a summary would blur: paths, ids, numbers, addresses and error texts, each once. */
export function exactStringsOf(entry: Entry): ExactString[] {
  const by = saidBy(entry);
  const found = new Collector(maxOfEntry[by], by === "other");
  switch (entry.kind) {
    case "message":
      for (const part of entry.parts) {
        if (part.type === "text") found.takeText(part.text);
        if (part.type === "file") found.add(part.path);
      }
      break;
    case "tool_call":
      found.takeJson(entry.arguments);
      break;
    case "tool_result":
      if (entry.result.status === "success") found.takeJson(entry.result.value);
      else if (entry.result.status === "error") found.takeError(entry.result.message);
      else for (const text of [entry.result.action.id, entry.result.action.title]) found.takeText(text);
      break;
    case "conclusion":
    case "notice":
      found.takeText(entry.text);
      break;
    case "action":
    case "ask":
      found.add(entry.ref);
      break;
    case "process":
      if (entry.value.error !== undefined) found.takeError(entry.value.error.message);
      break;
    // The carried blocks have the texts of blocks.
    case "block":
    case "request":
    case "summary":
    case "usage":
    case "pin":
    case "meta":
    case "redaction":
    case "void":
      break;
  }
  return found.strings(by);
}

function saidBy({ kind, origin }: Entry): "person" | "model" | "other" {
  if (origin === "person") return "person";
  return origin === "model" && (kind === "message" || kind === "tool_call" || kind === "conclusion")
    ? "model"
    : "other";
}

/** Everything here takes linear time for any text: each pattern matches single characters or a bounded number of them. */
const url = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'`<>|{}\\^]{1,512}/gi;
const quotedText = /`([^`\n]{2,200})`|"([^"\n]{2,200})"/g;
const word = /[^\s"'`<>()[\]{}|,;]+/g;
const lineBreak = /\r\n|[\n\r\u2028\u2029]/;
const errorWords =
  /\b(?:errors?|exceptions?|fail(?:ed|ure|s)?|fatal|panic|denied|refused|timed out|not found|cannot|could not|traceback|unable|invalid|aborted)\b/i;
const errorNames = /\bE[A-Z]{3,16}\b|(?:Error|Exception)\b|\berror\b/;
const fileName = /^[^\s.][^\s]*\.[a-z][a-z0-9]{0,7}$/i;
const abbreviation = /^(?:[a-z]\.)+[a-z]$/i;
const plainNumber = /^[+\-−~≈$€£¥]?\d[\d.,:_]*[%€$£¥°]?$/;
const trailing = /(?<![.,:;!?…])[.,:;!?…]+$/;

class Collector {
  readonly #strings = new Set<string>();
  readonly #errors = new Set<string>();
  readonly #most: number;
  readonly #isOutput: boolean;

  /** `isOutput`: the text is a program's, where more words mean an error than in what somebody says. */
  constructor(most: number, isOutput: boolean) {
    this.#most = most;
    this.#isOutput = isOutput;
  }

  /** Returns the strings, error texts first, at most as many as an entry may have. */
  strings(by: SaidBy): ExactString[] {
    const errors = [...this.#errors].map((text) => ({ text, by: by === "person" ? by : ("error" as const) }));
    const others = [...this.#strings.difference(this.#errors)].map((text) => ({ text, by }));
    return [...errors, ...others].slice(0, this.#most);
  }

  add(text: string): void {
    if (text !== "" && text.length <= maxLength && this.#strings.size < this.#most) this.#strings.add(text);
  }

  takeError(message: string): void {
    const first = message.split(lineBreak, 1)[0]?.trim() ?? "";
    if (first !== "") this.#errors.add(headOf(first, maxLength));
    this.takeText(message);
  }

  takeJson(value: unknown, key = "", depth = 0): void {
    if (typeof value === "string") {
      if (isPathWithBlanks(value)) this.add(value);
      else this.takeText(value);
    } else if (typeof value === "number") {
      if (Math.abs(value) >= 10) this.add(key === "" ? String(value) : `${key} ${value}`);
    } else if (typeof value === "object" && value !== null && depth < maxDepth) {
      for (const [name, item] of Object.entries(value)) {
        if (this.#strings.size >= this.#most) return;
        this.takeJson(item, Array.isArray(value) ? key : name, depth + 1);
      }
    }
  }

  takeText(whole: string): void {
    for (const line of withinBytes(whole).split(lineBreak)) {
      this.#takeErrorLine(line);
      if (this.#strings.size >= this.#most) continue;
      // Text that was already taken as a whole is not split into words again.
      const blank = (found: string): string => " ".repeat(found.length);
      const rest = line
        .replace(url, (found) => {
          this.add(found.replace(trailing, ""));
          return blank(found);
        })
        .replace(quotedText, (found, code: string | undefined, quote = "") => {
          const name = code ?? (isPathWithBlanks(quote) ? quote : "");
          this.add(name);
          return name === "" ? found : blank(found);
        });
      this.#takeWords(rest);
    }
  }

  #takeErrorLine(line: string): void {
    if (this.#errors.size >= this.#most / 2) return;
    const start = line.slice(0, maxLine);
    if (!(this.#isOutput ? errorWords : errorNames).test(start) && !errorNames.test(start)) return;
    const text = headOf(start.trim(), maxLength);
    if (text !== "") this.#errors.add(text);
  }

  #takeWords(line: string): void {
    const words = [...line.matchAll(word)];
    for (const [index, { 0: found }] of words.entries()) {
      if (this.#strings.size >= this.#most) return;
      if (found.length < 2 || found.length > maxLength) {
        if (/^\d$/.test(found)) this.#takeNumber(line, words, index);
        continue;
      }
      const text = found.replace(trailing, "");
      if (plainNumber.test(text)) this.#takeNumber(line, words, index);
      else if (isExact(text)) this.add(text);
    }
  }

  /** Takes a number with the words beside it, without which it says nothing. */
  #takeNumber(line: string, words: readonly RegExpExecArray[], index: number): void {
    const at = words[index];
    if (at === undefined) return;
    const isPlain = (other: RegExpExecArray | undefined): other is RegExpExecArray =>
      other !== undefined && other[0].length <= maxLength && !isExact(other[0].replace(trailing, ""));
    const [before, earlier, next] = [words[index - 1], words[index - 2], words[index + 1]];
    if (at[0].length < 2 && (next === undefined || !unit.test(next[0]))) return;
    const first = isPlain(before) ? (isPlain(earlier) ? earlier : before) : at;
    const last = isPlain(next) ? next : at;
    const slice = line.slice(first.index, last.index + last[0].length).replace(trailing, "");
    this.add(slice.length <= 100 ? slice : at[0].replace(trailing, ""));
  }
}

const unit =
  /^(?:[num]?s|min|h|d|[kKMGT]?i?[bB]|%|px|r?em|[ckm]?m|[km]?g|m?l|°[CF]|[kMG]?Hz|k?W|V|A|USD|EUR|GBP|(?:milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|tokens?|bytes?|lines?|files?|users?|rows?|times?|items?|pages?)[.,:;!?]*$/;

/** True for a number, alone or with the words beside it. */
export function isNumberPhrase(text: string): boolean {
  const found = text.split(/\s+/).map((each) => each.replace(trailing, ""));
  const isNumber = (each: string): boolean => /^\d$/.test(each) || plainNumber.test(each);
  return found.some(isNumber) && !found.some((each) => !isNumber(each) && isExact(each));
}

function isExact(text: string): boolean {
  if (text.length < 2) return false;
  if (/[\\/]/.test(text)) return /[\p{L}\p{N}]/u.test(text);
  if (/\d/.test(text)) return true;
  if (/^--?[a-z]/i.test(text) || /[a-z]_[a-z]/i.test(text)) return true;
  return fileName.test(text) && !abbreviation.test(text);
}

function isPathWithBlanks(text: string): boolean {
  if (text.length < 2 || text.length > 200 || lineBreak.test(text)) return false;
  return /[\\/]/.test(text) || /\.[a-z][a-z0-9]{0,7}$/i.test(text);
}
