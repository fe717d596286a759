import type { DocumentFormat, ReportFault } from "./source.ts";

/**
 * Control characters that neither format allows, and lone surrogates, which represent bytes that are not UTF-8
 * (see `decodeUtf8`). TOML also refuses DEL and a carriage return without a line feed.
 */
const refused: Readonly<Record<DocumentFormat, RegExp>> = {
  yaml: /[\0-\x08\x0b\x0c\x0e-\x1f]|\p{Surrogate}/gu,
  toml: /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\p{Surrogate}/gu,
};

/** A byte that is not UTF-8 is decoded to this value plus the byte, a code unit that no valid text contains. */
const escapedByte = 0xdc00;

/** Reports forbidden characters. Returns false if it found any; the text is then not parsed. */
export function checkCharacters(text: string, format: DocumentFormat, report: ReportFault): boolean {
  const isFaulty = refused[format].test(text);
  refused[format].lastIndex = 0;
  if (!isFaulty) return true;
  if (isUtf16(text)) {
    report("encoding", 0, 0, "The file is encoded as UTF-16. Save it as UTF-8.");
    return false;
  }
  for (const { 0: found, index } of text.matchAll(refused[format])) {
    const [code, message] = fault(found);
    if (!report(code, index, index + 1, message)) break;
  }
  return false;
}

function fault(found: string): ["encoding" | "syntax", string] {
  const unit = found.charCodeAt(0);
  if (unit >= escapedByte + 0x80 && unit <= escapedByte + 0xff)
    return ["encoding", `The byte ${hex(unit - escapedByte, 2)} is not valid UTF-8. Save the file as UTF-8.`];
  if (unit >= 0xd800 && unit <= 0xdfff)
    return ["encoding", `${hex(unit, 4)} is half of a surrogate pair, which UTF-8 cannot encode.`];
  if (found === "\r") return ["syntax", "A carriage return must be followed by a line feed."];
  return [
    "syntax",
    `The control character ${hex(unit, 2)} is not allowed. Write it as an escape in double quotes.`,
  ];
}

function hex(unit: number, digits: number): string {
  return `0x${unit.toString(16).toUpperCase().padStart(digits, "0")}`;
}

/**
 * UTF-16 with a byte order mark begins with two bytes that are not UTF-8; without one, every other character of
 * ASCII text is NUL.
 */
function isUtf16(text: string): boolean {
  return /^(?:\udcff\udcfe|\udcfe\udcff)/.test(text) || /^(?:\0[^\0]|[^\0]\0){2}/.test(text);
}
