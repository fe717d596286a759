import type { JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { parsed } from "../journal/lines.ts";
import type { Fold } from "../journal/proof.ts";
import type { DecodedRecord } from "../journal/record.ts";
import { ConversationFold } from "./fold.ts";
import { redactedSeqs } from "./replaced-records.ts";
import {
  audienceOf,
  type ConversationRecord,
  decodeEntry,
  decodeHeader,
  type Header,
  picturesOf,
} from "./records.ts";

/** A record for the index, found while a log was proven. */
export interface FoundRecord {
  readonly seq: number;
  readonly kind: Entry["kind"] | "prefix";
  readonly process: string;
  readonly audience: string;
  /** JSON, or the part that holds it. */
  readonly data: string;
  readonly part: DecodedRecord["parts"][number] | null;
}

interface LogFoldOptions {
  readonly conversation: string;
  /** Records behind this seq are collected for the index. */
  indexedThrough(): number;
}

/** Folds a log while it is proven: its header, the state of its entries, and what the index does not have. */
export class LogFold implements Fold<ConversationRecord> {
  readonly #options: LogFoldOptions;
  readonly found: FoundRecord[] = [];
  header: Header | null;
  fold: ConversationFold;
  /** Seqs of records whose data a person had removed, before a kernel died. */
  unredacted: number[];

  private constructor(
    options: LogFoldOptions,
    header: Header | null,
    fold: ConversationFold,
    unredacted: number[] = [],
  ) {
    this.#options = options;
    this.header = header;
    this.fold = fold;
    this.unredacted = unredacted;
  }

  /** Starts at the first record, or from a saved state; null if that is invalid. */
  static start(options: LogFoldOptions, saved: JsonValue): LogFold | null {
    if (saved === null) return new LogFold(options, null, new ConversationFold());
    if (!isJsonObject(saved)) return null;
    const header = decodeHeader(saved["header"]);
    const fold = ConversationFold.from(saved["fold"] ?? null);
    const unredacted = saved["unredacted"] ?? [];
    if (header === null || fold === null || !Array.isArray(unredacted)) return null;
    return new LogFold(options, header, fold, unredacted.map(Number));
  }

  /** The number that is added to a record's seq: a fork's entries come behind those of its origin. */
  get base(): number {
    return this.header?.forked_from?.seq ?? 0;
  }

  save(): JsonValue {
    return {
      header: this.header as unknown as JsonValue,
      fold: this.fold.save(),
      unredacted: [...this.unredacted],
    };
  }

  visit(record: DecodedRecord<ConversationRecord>, _place: unknown, line: Buffer): void {
    // It names what the last redactions replaced.
    if (record.operation === "redact") this.unredacted = [];
    if (record.isRedacted || record.operation === "redact") return;
    const text = line.toString("utf8", record.dataStart, record.dataEnd);
    const data = parsed(text);
    if (record.kind === "conversation") {
      if (this.header !== null) return;
      this.header = decodeHeader(data);
      if (this.header !== null) this.fold = beginningOf(this.header);
      return;
    }
    const seq = this.base + record.end.seq;
    const pictures = picturesOf(data);
    const part = record.parts.find((hash) => !pictures.has(hash)) ?? null;
    if (record.kind === "prefix") {
      const process = isJsonObject(data) ? String(data["process"]) : "";
      return this.#collect({ seq, kind: "prefix", process, audience: process, data: text, part });
    }
    const entry = decodeEntry(data, this.#options.conversation, seq);
    if (entry === null) return;
    this.fold.take(entry);
    if (entry.kind === "redaction") this.unredacted.push(...redactedSeqs(entry, this.base));
    const audience = audienceOf(entry, this.fold.state);
    this.#collect({ seq, kind: entry.kind, process: entry.process, audience, data: text, part });
  }

  #collect(found: FoundRecord): void {
    if (found.seq > this.#options.indexedThrough()) this.found.push(found);
  }
}

/** Returns the state before the first entry. */
export function beginningOf({ created, start }: Header): ConversationFold {
  return ConversationFold.begin(created, start);
}
