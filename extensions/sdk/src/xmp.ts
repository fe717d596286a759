import { SaxesParser } from "saxes";

/** What an XMP file beside a picture says about it. */
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
    return read(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return { keywords: [], people: [] };
  }
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
