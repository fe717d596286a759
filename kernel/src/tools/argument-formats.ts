import type { Format } from "ajv";
import addFormats, { type FormatName } from "ajv-formats";
import { RE2JS } from "re2js";

/** Formats by ajv-formats that are one pattern, which RE2 can run as it is. */
const byPattern: readonly FormatName[] = [
  "email",
  "ipv4",
  "ipv6",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "uri-reference",
  "uri-template",
  "uuid",
];
/** Formats by ajv-formats that look at each character a fixed number of times. */
const asTheyAre: readonly FormatName[] = [
  "binary",
  "byte",
  "date",
  "date-time",
  "double",
  "float",
  "int32",
  "int64",
  "iso-date-time",
  "iso-time",
  "password",
  "time",
];

const formats = addFormats.default;
const uriReference = onRe2("uri-reference");
const hostname = RE2JS.compile(
  "(?i)^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\\.?$",
);
const duration = RE2JS.compile(
  "^P(?:\\d+W|(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)?)$",
);

const uri = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(text) && uriReference(text);

/**
 * The formats a tool's parameters may name. Arguments are anybody's, so every check is linear in its text; a format
 * that is not here says nothing.
 */
export const argumentFormats: Readonly<Record<string, Format>> = {
  ...Object.fromEntries(asTheyAre.map((name) => [name, formats.get(name)])),
  ...Object.fromEntries(byPattern.map((name) => [name, onRe2(name)])),
  uri,
  url: uri,
  hostname: (text: string) => text.length <= 254 && hostname.test(text),
  duration: (text: string) => duration.test(text) && /\d[A-Z]$/.test(text),
  regex: isPattern,
};

function onRe2(name: FormatName): (text: string) => boolean {
  const pattern = formats.get(name);
  if (!(pattern instanceof RegExp)) throw new Error(`The format "${name}" is no pattern.`);
  const compiled = RE2JS.compile(
    RE2JS.translateRegExp(pattern),
    pattern.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0,
  );
  return (text) => compiled.test(text);
}

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
