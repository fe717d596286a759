import { createHash } from "node:crypto";

/** A segment of a container as bytes, without its digest, which `assembleContainer` computes. */
export interface Part {
  readonly kind: string;
  readonly content: Buffer;
}

export interface Taken {
  readonly preamble: Buffer;
  readonly parts: readonly Part[];
}

/** Splits a container into its parts; written from FORMAT.md without the code under test. */
export function splitContainer(file: Buffer): Taken {
  const parts: Part[] = [];
  for (let at = 12; at < file.length;) {
    const kind = file.toString("latin1", at, at + 8).replace(/\0+$/, "");
    const length = Number(file.readBigUInt64LE(at + 8));
    parts.push({ kind, content: Buffer.from(file.subarray(at + 16, at + 16 + length)) });
    at += 16 + length + 32;
  }
  return { preamble: Buffer.from(file.subarray(0, 12)), parts };
}

/** Assembles a container with correct digests, as a forger would. */
export function assembleContainer({ preamble, parts }: Taken): Buffer {
  const pieces = [preamble];
  const sum = createHash("sha256").update(preamble);
  for (const { kind, content } of parts) {
    const header = Buffer.alloc(16);
    header.write(kind, "latin1");
    header.writeBigUInt64LE(BigInt(content.length), 8);
    const bytes = kind === "END" && content.length === 32 ? sum.copy().digest() : content;
    const digest = createHash("sha256").update(header).update(bytes).digest();
    sum.update(digest);
    pieces.push(header, bytes, digest);
  }
  return Buffer.concat(pieces);
}
