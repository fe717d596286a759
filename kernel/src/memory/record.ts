import { isoTime } from "../base/clock.ts";
import { sha256Hex } from "../platform/hash.ts";

export type RecordOperation = "store" | "update" | "delete" | "redact";
export type RecordKind = "temporal" | "knowledge" | "working" | "policy";

/** What is to be written down. */
export interface RecordInput {
  readonly operation: RecordOperation;
  readonly kind: RecordKind;
  /** Of what is stored or changed; at most `maxIdLength` characters. */
  readonly id: string;
  /** RFC 8785 canonical JSON. */
  readonly data: string;
}

/** Where a chain ends: the last record's number and hash (64 hexadecimal digits). */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** Before the first record. */
export const chainStart: ChainEnd = { seq: 0, hash: "0".repeat(64) };

export const maxIdLength = 256;
/** A record's line, line feed included: 1 MiB of data, its id and the fixed fields. */
export const maxLineBytes = 1024 * 1024 + 4096;

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

/** A record as it was read, proven to be the one that follows `after`. */
export interface DecodedRecord {
  readonly end: ChainEnd;
  readonly kind: string;
  readonly salt: string;
  readonly dataHash: string;
  /** Where `data` begins and ends in the line, in bytes. */
  readonly dataStart: number;
  readonly dataEnd: number;
}

const opening = Buffer.from('{"data":');
const saltMark = Buffer.from(',"salt":"');
const hashMark = '","hash":"';
const dataHashMark = '"data_hash":"';
const kindMark = '"kind":"';
const closingBrace = 0x7d;
const saltLength = 32;
const hashLength = 64;
/** From the salt's mark on, everything up to what `hash` covers has a fixed length. */
const hashStart = saltMark.length + saltLength + hashMark.length;
const chainedStart = hashStart + hashLength + '",'.length;
/** What follows the timestamp's own mark: 24 characters, a quotation mark and a brace. */
const timestampLength = 24 + 2;

/** Reads and proves one line (without its line feed); a string says what is wrong with it. */
export function decodeRecord(line: Buffer, after: ChainEnd): DecodedRecord | string {
  // No quotation mark stands bare in what follows, so the last mark is the one.
  const dataEnd = line.lastIndexOf(saltMark);
  if (dataEnd < opening.length || line.compare(opening, 0, opening.length, 0, opening.length) !== 0) {
    return notARecord;
  }
  // Byte for byte: decoding as UTF-8 would make different bytes alike.
  const tail = line.toString("latin1", dataEnd);
  const chained = tail.slice(chainedStart);
  const seq = after.seq + 1;
  const link = `"previous_hash":"${after.hash}","seq":${seq},"timestamp":"`;
  const isLinked =
    tail.startsWith(hashMark, hashStart - hashMark.length) &&
    tail.startsWith(`",${dataHashMark}`, chainedStart - 2) &&
    chained.slice(-link.length - timestampLength, -timestampLength) === link;
  if (!isLinked) return whatIsWrong(chained, after);
  const hash = tail.slice(hashStart, hashStart + hashLength);
  if (sha256Hex(Buffer.from(`{${chained}`, "latin1")) !== hash) return "its hash does not match its content";
  const dataHash = chained.slice(dataHashMark.length, dataHashMark.length + hashLength);
  if (sha256Hex(contentOf(line, dataEnd)) !== dataHash) return "its data_hash does not match its data";
  const kindStart = chained.indexOf(kindMark) + kindMark.length;
  return {
    end: { seq, hash },
    kind: chained.slice(kindStart, chained.indexOf('"', kindStart)),
    salt: tail.slice(saltMark.length, saltMark.length + saltLength),
    dataHash,
    dataStart: opening.length,
    dataEnd,
  };
}

/** What `data_hash` covers: `{"data":…,"salt":"…"`, closed with a brace where the line goes on with a comma. */
function contentOf(line: Buffer, dataEnd: number): Buffer {
  const content = Buffer.allocUnsafe(dataEnd + saltMark.length + saltLength + 2);
  line.copy(content, 0, 0, content.length - 1);
  content[content.length - 1] = closingBrace;
  return content;
}

const notARecord = "it is not a record";

/** Of a line that does not follow the one before it. */
function whatIsWrong(chained: string, after: ChainEnd): string {
  const match =
    /"previous_hash":"([0-9a-f]{64})","seq":([1-9][0-9]{0,15}),"timestamp":"[0-9TZ:.-]{24}"\}$/.exec(chained);
  if (match === null) return notARecord;
  const seq = Number(match[2]);
  if (seq > after.seq + 1) return `it is missing: seq ${seq} follows`;
  if (seq <= after.seq) return `seq ${seq} stands in its place`;
  return match[1] === after.hash ? notARecord : "its previous_hash is not the hash of the record before it";
}
