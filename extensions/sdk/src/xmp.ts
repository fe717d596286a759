import { SaxesParser } from "saxes";

/** What XMP says about a picture: a file beside it, or a part of its own. */
export interface XmpFacts {
  /** Keywords, each level of a hierarchy after a slash: "Italy/Rome". */
  readonly keywords: readonly string[];
  /** Names of people in the picture, from its face regions and the IPTC list. */
  readonly people: readonly string[];
}

/** Larger files are not read: they describe whole edits of the picture. */
export const maxXmpBytes = 256 * 1024;
const maxDepth = 64;
const maxElements = 20_000;
const maxKeywords = 200;
const maxPeople = 100;
const maxNameLength = 100;
/** Longer texts are skipped, because no keyword or name is that long. */
const maxText = 1000;

const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const regions = "http://www.metadataworkinggroup.com/schemas/regions/";
/** Lists of texts, by namespace and name. */
const lists = new Map<string, "keywords" | "hierarchy" | "people">([
  ["http://purl.org/dc/elements/1.1/ subject", "keywords"],
  ["http://ns.adobe.com/lightroom/1.0/ hierarchicalSubject", "hierarchy"],
  ["http://iptc.org/std/Iptc4xmpExt/2008-02-29/ PersonInImage", "people"],
]);
/** XMP without these names only says how the picture was edited. */
const telling = /subject|hierarchicalSubject|PersonInImage|RegionList/;
const regionList = `${regions} RegionList`;
const regionName = `${regions} Name`;
const regionType = `${regions} Type`;

/**
 * Reads keywords and people from an XMP file in UTF-8. Never throws: a file that is too large, damaged or of another encoding
 * says nothing. Entities that a document defines are not expanded; a document that uses one counts as damaged.
 */
export function readXmp(bytes: Uint8Array): XmpFacts {
  if (bytes.length > maxXmpBytes) return { keywords: [], people: [] };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return telling.test(text) ? read(text) : { keywords: [], people: [] };
  } catch {
    return { keywords: [], people: [] };
  }
}

const jpegName = "http://ns.adobe.com/xap/1.0/\0";
const pngName = "XML:com.adobe.xmp\0";

/**
 * Returns the XMP in the first bytes of a JPEG or PNG, for `readXmp`; undefined for a picture without XMP, or with only a part of it. It
 * stands near the beginning: 128 KiB are enough for nearly all.
 */
export function embeddedXmp(picture: Uint8Array): Uint8Array | undefined {
  const view = new DataView(picture.buffer, picture.byteOffset, picture.byteLength);
  if (hasAt(picture, 0, "\xff\xd8\xff")) return inJpeg(picture, view);
  if (hasAt(picture, 0, "\x89PNG\r\n\x1a\n")) return inPng(picture, view);
  return undefined;
}

function inJpeg(picture: Uint8Array, view: DataView): Uint8Array | undefined {
  for (let at = 2; at + 4 <= picture.length && picture[at] === 0xff;) {
    const marker = picture[at + 1];
    // The picture itself begins, or the marker has no length.
    if (marker === 0xda || marker === 0xd9) return undefined;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const end = at + 2 + view.getUint16(at + 2);
    if (marker === 0xe1 && hasAt(picture, at + 4, jpegName))
      return end <= picture.length ? picture.subarray(at + 4 + jpegName.length, end) : undefined;
    at = end;
  }
  return undefined;
}

function inPng(picture: Uint8Array, view: DataView): Uint8Array | undefined {
  for (let at = 8; at + 8 <= picture.length;) {
    const begin = at + 8;
    const end = begin + view.getUint32(at);
    if (hasAt(picture, at + 4, "iTXt") && hasAt(picture, begin, pngName)) {
      let text = begin + pngName.length;
      // Compressed XMP is not read.
      if (end > picture.length || picture[text] !== 0) return undefined;
      text += 2;
      // Behind the language and a translated keyword.
      for (let names = 0; names < 2; names++) {
        const zero = picture.indexOf(0, text);
        if (zero < 0 || zero >= end) return undefined;
        text = zero + 1;
      }
      return picture.subarray(text, end);
    }
    // The checksum follows.
    at = end + 4;
  }
  return undefined;
}

/** Returns whether the characters, each a byte, stand there. */
function hasAt(bytes: Uint8Array, at: number, characters: string): boolean {
  if (at + characters.length > bytes.length) return false;
  for (let index = 0; index < characters.length; index++)
    if (bytes[at + index] !== characters.charCodeAt(index)) return false;
  return true;
}

function read(text: string): XmpFacts {
  const keywords = new Set<string>();
  const people = new Set<string>();
  const path: string[] = [];
  let elements = 0;
  let region: { name: string; type: string } | null = null;
  let words: string | null = null;
  const parser = new SaxesParser({ xmlns: true });
  // Without it the parser would continue after a fault.
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ uri, local, attributes }) => {
    path.push(`${uri} ${local}`);
    elements += 1;
    if (path.length > maxDepth || elements > maxElements) throw new Error("This is too complex.");
    if (path.at(-1) === `${rdf} li` && path.at(-3) === regionList) region = { name: "", type: "" };
    if (region !== null)
      for (const attribute of Object.values(attributes))
        noteRegion(region, `${attribute.uri} ${attribute.local}`, attribute.value);
    words = "";
  });
  const hear = (more: string): void => {
    if (words !== null) words += more;
  };
  parser.on("text", hear);
  parser.on("cdata", hear);
  parser.on("closetag", () => {
    const closed = path.pop() ?? "";
    if (region !== null && words !== null) noteRegion(region, closed, words);
    if (closed === `${rdf} li`) {
      const list = lists.get(path.at(-2) ?? "");
      const said = words ?? "";
      if (list === "keywords") add(keywords, said, maxKeywords);
      if (list === "hierarchy" && said.length <= maxText)
        add(keywords, said.split("|").map(plain).join("/"), maxKeywords);
      if (list === "people") add(people, said, maxPeople);
      if (path.at(-2) === regionList && region !== null) {
        // Regions are also of pets, bar codes and what is in focus.
        if (region.type === "" || region.type.toLowerCase() === "face") add(people, region.name, maxPeople);
        region = null;
      }
    }
    words = null;
  });
  parser.write(text).close();
  return { keywords: [...keywords], people: [...people] };
}

function noteRegion(region: { name: string; type: string }, name: string, value: string): void {
  if (name === regionName) region.name = value;
  if (name === regionType) region.type = value.trim();
}

/** Longer ones are not names. */
function add(set: Set<string>, text: string, most: number): void {
  const name = plain(text);
  if (name !== "" && name.length <= maxNameLength && set.size < most) set.add(name);
}

/** Returns a text as one line, without characters that hide something or change the direction of what follows. */
function plain(text: string): string {
  // Composing thousands of combining marks takes time in proportion to their square.
  if (text.length > maxText) return "";
  return text
    .normalize("NFC")
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
