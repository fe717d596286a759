/** The contents of a complete header block, or why it is invalid. */
type HeaderReading =
  | { readonly kind: "frame"; readonly length: number }
  | { readonly kind: "refused"; readonly reason: string; readonly ambiguous: boolean };

/** Parses a block whose lines have the form `name: value`. `ambiguous`: it announces more than one length. */
export function readHeader(block: string): HeaderReading {
  const lengths: string[] = [];
  let charset = "utf-8";
  for (const line of block.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon === -1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "content-length") lengths.push(value);
    if (name === "content-type")
      charset = /charset\s*=\s*"?([^;"\s]+)/i.exec(value)?.[1]?.toLowerCase() ?? charset;
  }
  const [length] = lengths;
  if (lengths.length > 1)
    return refused(
      `A frame's header names ${lengths.length} lengths (${lengths.map(shown).join(", ")}); give one.`,
      true,
    );
  if (length === undefined) return refused("A frame's header has no Content-Length.");
  if (!/^[0-9]+$/.test(length))
    return refused(`Content-Length is ${shown(length)}; it must be the body's number of bytes, in digits.`);
  if (charset !== "utf-8" && charset !== "utf8")
    return refused(`A frame's charset is ${shown(charset)}; only utf-8 is understood.`);
  return { kind: "frame", length: Number(length) };
}

function refused(reason: string, ambiguous = false): HeaderReading {
  return { kind: "refused", reason, ambiguous };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

const space = 0x20;
const tab = 0x09;
const colon = 0x3a;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/** The position of the next byte in a header block. */
export type HeaderPhase = "line-start" | "name" | "value" | "line-end" | "block-end" | "complete" | "invalid";

/** One step of the header's grammar, so that an invalid header is detected at its first wrong byte. */
export function nextHeaderPhase(phase: HeaderPhase, byte: number, isFirstByte: boolean): HeaderPhase {
  switch (phase) {
    case "line-start":
      if (byte === carriageReturn) return isFirstByte ? "invalid" : "block-end";
      return isNameByte(byte) ? "name" : "invalid";
    case "name":
      if (byte === colon) return "value";
      return isNameByte(byte) ? "name" : "invalid";
    case "value":
      if (byte === carriageReturn) return "line-end";
      return byte < space && byte !== tab ? "invalid" : "value";
    case "line-end":
      return byte === lineFeed ? "line-start" : "invalid";
    case "block-end":
      return byte === lineFeed ? "complete" : "invalid";
    case "complete":
    case "invalid":
      return "invalid";
  }
}

/** RFC 9110's token characters, allowed in a header's name. */
function isNameByte(byte: number): boolean {
  return nameBytes[byte] === 1;
}

const nameBytes = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  nameBytes[character.charCodeAt(0)] = 1;
