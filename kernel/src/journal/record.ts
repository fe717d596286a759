import { isoTime } from "../base/clock.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ChainEnd, RecordOperation } from "../memory-contract/records.ts";
import { sha256Hex } from "../platform/files/hash.ts";

/** A record to be appended. `Kind` is what the journal's user declares with a `RecordForm`. */
export interface RecordInput<Kind extends string = string> {
  readonly operation: RecordOperation;
  readonly kind: Kind;
  /** The id of what is stored or changed; at most `maxIdLength` characters. */
  readonly id: string;
  /** RFC 8785 canonical JSON. */
  readonly data: string;
  /** What the record names instead of holding it; see `Journal.keep`. */
  readonly parts?: readonly { readonly hash: Hash }[];
}

export interface EncodedRecord {
  /** Includes the line feed. */
  readonly line: string;
  readonly end: ChainEnd;
  readonly salt: string;
}

/**
 * Returns the line of a record. A record has exactly one encoding, so a changed byte is a changed record. The first
 * half, closed with a brace, is the canonical JSON that `data_hash` covers; the part after `hash`, opened with a
 * brace, is the canonical JSON that `hash` covers.
 */
export function encodeRecord(
  input: RecordInput,
  after: ChainEnd,
  salt: string,
  epochMs: number,
): EncodedRecord {
  const seq = after.seq + 1;
  const parts = input.parts?.map(({ hash }) => hash) ?? [];
  const named = parts.length === 0 ? "" : `,"parts":${JSON.stringify(parts)}`;
  const content = `{"data":${input.data}${named},"salt":"${salt}"`;
  const dataHash = sha256Hex(`${content}}`);
  const chained =
    `"data_hash":"${dataHash}","id":${JSON.stringify(input.id)},"kind":"${input.kind}",` +
    `"operation":"${input.operation}","previous_hash":"${after.hash}","seq":${seq},"timestamp":"${isoTime(epochMs)}"}`;
  const hash = sha256Hex(`{${chained}`);
  return { line: `${content},"hash":"${hash}",${chained}\n`, end: { seq, hash }, salt };
}

/** The content of a line, before any of it is proven. */
export interface RecordHead<Kind extends string = string> {
  readonly seq: number;
  readonly operation: RecordOperation;
  readonly kind: Kind;
  /** The id as encoded in the line: a JSON string, its UTF-8 bytes as latin1. See `idText`. */
  readonly idText: string;
  /** True if data and salt are gone: `{"redacted":true,"hash":…`. */
  readonly isRedacted: boolean;
  /** Where `data` begins and ends in the line, in bytes; both 0 if it is redacted. */
  readonly dataStart: number;
  readonly dataEnd: number;
  /** Where the salt begins, behind the data and the names of the parts; 0 if it is redacted. */
  readonly contentEnd: number;
  /** Contents in the object store that belong to the record; none if it is redacted. */
  readonly parts: readonly Hash[];
}

/** A decoded record, proven to follow `after`. */
export interface DecodedRecord<Kind extends string = string> extends RecordHead<Kind> {
  readonly end: ChainEnd;
  /** Empty if the record is redacted. */
  readonly salt: string;
  readonly dataHash: string;
}

const opening = Buffer.from('{"data":');
const redactedOpening = Buffer.from('{"redacted":true');
const partsMark = Buffer.from(',"parts":["');
const partNames = /^,"parts":\[("sha256:[0-9a-f]{64}"(?:,"sha256:[0-9a-f]{64}")*)\]$/;
const saltMark = Buffer.from(',"salt":"');
const hashMark = ',"hash":"';
const dataHashMark = '"data_hash":"';
const closingBrace = 0x7d;
const closingBracket = 0x5d;
const quotationMark = 0x22;
/** Parts that one record may name, so that its line stays far below the limit. */
export const maxPartsPerRecord = 64;
const maxPartsBytes = maxPartsPerRecord * 80;
const saltLength = 32;
const hashLength = 64;
/** `,"salt":"…"`: from its first comma to its last quotation mark. */
const saltFieldLength = saltMark.length + saltLength + 1;
const kindName = /^[a-z][a-z0-9_]{0,31}$/;

/** What `hash` covers, without the leading brace, up to the kind and after it. It has only one encoding. */
const chainedStart =
  /^"data_hash":"([0-9a-f]{64})","id":("(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u[0-9a-f]{4}){0,1536}"),"kind":"/;
const chainedRest =
  /","operation":"(store|update|delete|redact)","previous_hash":"([0-9a-f]{64})","seq":([1-9][0-9]{0,15}),"timestamp":"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"\}$/;

function chainedForm(kinds: readonly string[]): RegExp {
  const bad = kinds.find((kind) => !kindName.test(kind));
  if (bad !== undefined || kinds.length === 0) throw new Error(`"${bad ?? ""}" cannot be a kind of record.`);
  return new RegExp(`${chainedStart.source}(${kinds.join("|")})${chainedRest.source}`);
}

interface Parts {
  readonly head: RecordHead;
  readonly chained: string;
  readonly hash: string;
  readonly dataHash: string;
  readonly previousHash: string;
  readonly salt: string;
}

/** Returns the unproven parts of a line (without its line feed); null if it is not a record. */
function splitLine(line: Buffer, chainedForm: RegExp): Parts | null {
  const isRedacted = startsWith(line, redactedOpening);
  // Quotation marks after the salt are all escaped or structural, so the last salt mark is the right one.
  const contentEnd = isRedacted ? 0 : line.lastIndexOf(saltMark);
  if (!isRedacted && (contentEnd <= opening.length || !startsWith(line, opening))) return null;
  const hashFieldStart = isRedacted ? redactedOpening.length : contentEnd + saltFieldLength;
  // Latin1 keeps every byte; decoding as UTF-8 could make different bytes equal.
  const tail = line.toString("latin1", isRedacted ? hashFieldStart : contentEnd);
  const hashStart = (isRedacted ? 0 : saltFieldLength) + hashMark.length;
  const chained = tail.slice(hashStart + hashLength + '",'.length);
  const match = chainedForm.exec(chained);
  if (match === null || !tail.startsWith(hashMark, hashStart - hashMark.length)) return null;
  if (!tail.startsWith(`",${dataHashMark}`, hashStart + hashLength)) return null;
  if (!isRedacted && tail[saltFieldLength - 1] !== '"') return null;
  const [, dataHash = "", idText = "", kind = "", operation, previousHash = "", seq] = match;
  const parts = namedParts(line, contentEnd);
  return {
    head: {
      seq: Number(seq),
      operation: operation as RecordOperation,
      kind,
      idText,
      isRedacted,
      dataStart: isRedacted ? 0 : opening.length,
      dataEnd: parts.start,
      contentEnd,
      parts: parts.hashes,
    },
    chained,
    hash: tail.slice(hashStart, hashStart + hashLength),
    dataHash,
    previousHash,
    salt: isRedacted ? "" : tail.slice(saltMark.length, saltMark.length + saltLength),
  };
}

/**
 * Reads the records of one type of journal. The journal's user declares the kinds; a line with another kind is not
 * a record of that journal.
 */
export class RecordForm<Kind extends string> {
  readonly kinds: readonly Kind[];
  readonly #chainedForm: RegExp;

  /** Throws for a name with characters other than lower-case letters, digits and underscores. */
  constructor(kinds: readonly Kind[]) {
    this.kinds = kinds;
    this.#chainedForm = chainedForm(kinds);
  }

  /** Returns the head of a line of a proven journal; null if it is not a record any more. */
  readHead(line: Buffer): RecordHead<Kind> | null {
    return (splitLine(line, this.#chainedForm)?.head ?? null) as RecordHead<Kind> | null;
  }

  /** Decodes and proves one line (without its line feed). Returns a string that says what is wrong with it. */
  decode(line: Buffer, after: ChainEnd): DecodedRecord<Kind> | string {
    const parts = splitLine(line, this.#chainedForm);
    if (parts === null) return "it is not a record";
    const { chained, hash, dataHash, previousHash, salt } = parts;
    const head = parts.head as RecordHead<Kind>;
    const seq = after.seq + 1;
    if (head.seq > seq) return `it is missing: seq ${head.seq} follows`;
    if (head.seq < seq) return `seq ${head.seq} stands in its place`;
    if (previousHash !== after.hash) return "its previous_hash is not the hash of the record before it";
    if (sha256Hex(Buffer.from(`{${chained}`, "latin1")) !== hash)
      return "its hash does not match its content";
    if (!head.isRedacted && sha256Hex(contentOf(line, head.contentEnd)) !== dataHash)
      return "its data_hash does not match its data";
    if (head.isRedacted && head.operation === "redact") return "a redact record cannot be redacted";
    return { ...head, end: { seq, hash }, salt, dataHash };
  }
}

/**
 * Returns the hashes before the salt, and where their field begins. No data ends like that field: a quotation mark in a
 * string is escaped, and an array has no colon.
 */
function namedParts(
  line: Buffer,
  contentEnd: number,
): { readonly start: number; readonly hashes: readonly Hash[] } {
  const none = { start: contentEnd, hashes: [] };
  if (line[contentEnd - 1] !== closingBracket || line[contentEnd - 2] !== quotationMark) return none;
  const start = line.lastIndexOf(partsMark, contentEnd);
  if (start <= opening.length || contentEnd - start > maxPartsBytes) return none;
  const names = partNames.exec(line.toString("latin1", start, contentEnd))?.[1];
  return names === undefined ? none : { start, hashes: JSON.parse(`[${names}]`) as Hash[] };
}

/** Returns the line without the record's data, parts and salt: its redacted form. */
export function redactedLine(line: Buffer, { contentEnd }: RecordHead): Buffer {
  return Buffer.concat([redactedOpening, line.subarray(contentEnd + saltFieldLength)]);
}

/** Returns an id as encoded in a line, so that the two can be compared. */
export function idText(id: string): string {
  return Buffer.from(JSON.stringify(id)).toString("latin1");
}

/** Returns what `data_hash` covers: `{"data":…,"salt":"…"`, closed with a brace in place of the line's comma. */
function contentOf(line: Buffer, contentEnd: number): Buffer {
  const content = Buffer.allocUnsafe(contentEnd + saltFieldLength + 1);
  line.copy(content, 0, 0, content.length - 1);
  content[content.length - 1] = closingBrace;
  return content;
}

function startsWith(line: Buffer, mark: Buffer): boolean {
  return line.length >= mark.length && line.compare(mark, 0, mark.length, 0, mark.length) === 0;
}
