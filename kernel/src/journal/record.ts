import { isoTime } from "../base/clock.ts";
import type { ChainEnd, RecordOperation } from "../memory-contract/records.ts";
import { sha256Hex } from "../platform/files/hash.ts";

/** What is to be written down. `Kind`: what the journal's user declares with a `RecordForm`. */
export interface RecordInput<Kind extends string = string> {
  readonly operation: RecordOperation;
  readonly kind: Kind;
  /** Of what is stored or changed; at most `maxIdLength` characters. */
  readonly id: string;
  /** RFC 8785 canonical JSON. */
  readonly data: string;
}

export interface EncodedRecord {
  /** With its line feed. */
  readonly line: string;
  readonly end: ChainEnd;
  readonly salt: string;
}

/**
 * The line of a record. There is exactly one way to write a given record, so that a changed byte is a
 * changed record. Its first half, closed with a brace, is the canonical JSON that `data_hash` covers, and
 * what follows `hash`, opened with one, is the canonical JSON that `hash` covers.
 */
export function encodeRecord(
  input: RecordInput,
  after: ChainEnd,
  salt: string,
  epochMs: number,
): EncodedRecord {
  const seq = after.seq + 1;
  const content = `{"data":${input.data},"salt":"${salt}"`;
  const dataHash = sha256Hex(`${content}}`);
  const chained =
    `"data_hash":"${dataHash}","id":${JSON.stringify(input.id)},"kind":"${input.kind}",` +
    `"operation":"${input.operation}","previous_hash":"${after.hash}","seq":${seq},"timestamp":"${isoTime(epochMs)}"}`;
  const hash = sha256Hex(`{${chained}`);
  return { line: `${content},"hash":"${hash}",${chained}\n`, end: { seq, hash }, salt };
}

/** What a line says of itself, before anything of it is proven. */
export interface RecordHead<Kind extends string = string> {
  readonly seq: number;
  readonly operation: RecordOperation;
  readonly kind: Kind;
  /** The id as it stands in the line: a JSON string, its UTF-8 bytes as latin1. See `idText`. */
  readonly idText: string;
  /** Its data and salt are gone: `{"redacted":true,"hash":…`. */
  readonly isRedacted: boolean;
  /** Where `data` begins and ends in the line, in bytes; both 0 where it is redacted. */
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** A record as it was read, proven to be the one that follows `after`. */
export interface DecodedRecord<Kind extends string = string> extends RecordHead<Kind> {
  readonly end: ChainEnd;
  /** Empty where it is redacted. */
  readonly salt: string;
  readonly dataHash: string;
}

const opening = Buffer.from('{"data":');
const redactedOpening = Buffer.from('{"redacted":true');
const saltMark = Buffer.from(',"salt":"');
const hashMark = ',"hash":"';
const dataHashMark = '"data_hash":"';
const closingBrace = 0x7d;
const saltLength = 32;
const hashLength = 64;
/** `,"salt":"…"`: from its first comma to its last quotation mark. */
const saltFieldLength = saltMark.length + saltLength + 1;
const kindName = /^[a-z][a-z0-9_]{0,31}$/;

/** What `hash` covers, but for the brace before it, up to the kind and after it. Nothing in it can be written in two ways. */
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

/** The parts of a line (without its line feed), none of them proven; null where it is no record. */
function takeApart(line: Buffer, chainedForm: RegExp): Parts | null {
  const isRedacted = startsWith(line, redactedOpening);
  // No quotation mark stands bare in what follows the salt, so the last mark is the one.
  const dataEnd = isRedacted ? 0 : line.lastIndexOf(saltMark);
  if (!isRedacted && (dataEnd <= opening.length || !startsWith(line, opening))) return null;
  const hashFieldStart = isRedacted ? redactedOpening.length : dataEnd + saltFieldLength;
  // Byte for byte: decoding as UTF-8 would make different bytes alike.
  const tail = line.toString("latin1", isRedacted ? hashFieldStart : dataEnd);
  const hashStart = (isRedacted ? 0 : saltFieldLength) + hashMark.length;
  const chained = tail.slice(hashStart + hashLength + '",'.length);
  const match = chainedForm.exec(chained);
  if (match === null || !tail.startsWith(hashMark, hashStart - hashMark.length)) return null;
  if (!tail.startsWith(`",${dataHashMark}`, hashStart + hashLength)) return null;
  if (!isRedacted && tail[saltFieldLength - 1] !== '"') return null;
  const [, dataHash = "", idText = "", kind = "", operation, previousHash = "", seq] = match;
  return {
    head: {
      seq: Number(seq),
      operation: operation as RecordOperation,
      kind,
      idText,
      isRedacted,
      dataStart: isRedacted ? 0 : opening.length,
      dataEnd,
    },
    chained,
    hash: tail.slice(hashStart, hashStart + hashLength),
    dataHash,
    previousHash,
    salt: isRedacted ? "" : tail.slice(saltMark.length, saltMark.length + saltLength),
  };
}

/**
 * Reads the records of one sort of journal. A journal's user declares the kinds that its records have; a line with
 * another kind is no record of that journal.
 */
export class RecordForm<Kind extends string> {
  readonly kinds: readonly Kind[];
  readonly #chainedForm: RegExp;

  /** Throws where a name is not made of lower-case letters, digits and underscores. */
  constructor(kinds: readonly Kind[]) {
    this.kinds = kinds;
    this.#chainedForm = chainedForm(kinds);
  }

  /** What a line of a journal that was proven before says of itself; null where it is no record any more. */
  readHead(line: Buffer): RecordHead<Kind> | null {
    return (takeApart(line, this.#chainedForm)?.head ?? null) as RecordHead<Kind> | null;
  }

  /** Reads and proves one line (without its line feed); a string says what is wrong with it. */
  decode(line: Buffer, after: ChainEnd): DecodedRecord<Kind> | string {
    const parts = takeApart(line, this.#chainedForm);
    if (parts === null) return "it is not a record";
    const { chained, hash, dataHash, previousHash, salt } = parts;
    const head = parts.head as RecordHead<Kind>;
    const seq = after.seq + 1;
    if (head.seq > seq) return `it is missing: seq ${head.seq} follows`;
    if (head.seq < seq) return `seq ${head.seq} stands in its place`;
    if (previousHash !== after.hash) return "its previous_hash is not the hash of the record before it";
    if (sha256Hex(Buffer.from(`{${chained}`, "latin1")) !== hash)
      return "its hash does not match its content";
    if (!head.isRedacted && sha256Hex(contentOf(line, head.dataEnd)) !== dataHash)
      return "its data_hash does not match its data";
    if (head.isRedacted && head.operation === "redact")
      return "what names redacted records cannot be redacted";
    return { ...head, end: { seq, hash }, salt, dataHash };
  }
}

/** The line of a record without its data and salt: the other form in which it may be written. */
export function redactedLine(line: Buffer, { dataEnd }: RecordHead): Buffer {
  return Buffer.concat([redactedOpening, line.subarray(dataEnd + saltFieldLength)]);
}

/** An id as it stands in a line, so that the two can be compared. */
export function idText(id: string): string {
  return Buffer.from(JSON.stringify(id)).toString("latin1");
}

/** What `data_hash` covers: `{"data":…,"salt":"…"`, closed with a brace where the line goes on with a comma. */
function contentOf(line: Buffer, dataEnd: number): Buffer {
  const content = Buffer.allocUnsafe(dataEnd + saltFieldLength + 1);
  line.copy(content, 0, 0, content.length - 1);
  content[content.length - 1] = closingBrace;
  return content;
}

function startsWith(line: Buffer, mark: Buffer): boolean {
  return line.length >= mark.length && line.compare(mark, 0, mark.length, 0, mark.length) === 0;
}
