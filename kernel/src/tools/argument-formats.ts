import type { Format } from "ajv";
import addFormats, { type FormatName } from "ajv-formats";
import { RE2JS } from "re2js";
import { compilePattern } from "../base/linear-pattern.ts";
import { isDate, isDateTime, isTime } from "./time-formats.ts";
import { isUri } from "./uri-formats.ts";

/** Formats of ajv-formats that are a single pattern, which RE2 can run unchanged. */
const byPattern: readonly FormatName[] = [
  "email",
  "ipv4",
  "ipv6",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "uuid",
];
/** Formats of ajv-formats that read each character a fixed number of times. */
const linearFormats: readonly FormatName[] = [
  "binary",
  "byte",
  "double",
  "float",
  "int32",
  "int64",
  "iso-date-time",
  "iso-time",
  "password",
];

const formats = addFormats.default;
/** Letters of both cases are listed, because RE2 with ignored case accepts the Kelvin sign as a K. */
const hostname = RE2JS.compile(
  "^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
);
/** Two hyphens at this place announce an encoding, of which `xn--` is the only one. */
const isReserved = (label: string): boolean => label.slice(2, 4) === "--" && !/^xn--./i.test(label);
const duration = RE2JS.compile(
  "^P(?:\\d+W|(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)?)$",
);
const variable =
  "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9][0-9]{0,3}|\\*)?";
const uriTemplate = RE2JS.compile(
  `^(?:[^\\x00-\\x20"<>%\\\\^\x60{|}\\x7f]|%[0-9A-Fa-f]{2}|\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\})*$`,
);
const ipv6 = onRe2("ipv6");

const uriFormat =
  (isInternational: boolean, mayBeRelative: boolean) =>
  (text: string): boolean =>
    isUri(text, ipv6, { isInternational, mayBeRelative });

/**
 * The formats that a tool's parameters may use. Arguments are untrusted, so every check takes linear time. A format
 * that is not listed here has no effect.
 */
export const argumentFormats: Readonly<Record<string, Format>> = {
  ...Object.fromEntries(linearFormats.map((name) => [name, formats.get(name)])),
  ...Object.fromEntries(byPattern.map((name) => [name, onRe2(name)])),
  date: { validate: isDate, compare: compareOf("date") },
  time: { validate: isTime, compare: compareOf("time") },
  "date-time": { validate: isDateTime, compare: compareOf("date-time") },
  uri: uriFormat(false, false),
  url: uriFormat(false, false),
  "uri-reference": uriFormat(false, true),
  iri: uriFormat(true, false),
  "iri-reference": uriFormat(true, true),
  "uri-template": (text: string) => uriTemplate.test(text),
  hostname: (text: string) => text.length <= 253 && hostname.test(text) && !text.split(".").some(isReserved),
  duration: (text: string) => duration.test(text) && /\d[A-Z]$/.test(text),
  regex: isPattern,
};

/** Returns the comparison for `formatMinimum` and similar keywords. */
function compareOf(name: FormatName): (one: string, other: string) => number | undefined {
  const format = formats.get(name);
  if (typeof format !== "object" || !("compare" in format))
    throw new Error(`The format "${name}" has no order.`);
  return format.compare as (one: string, other: string) => number | undefined;
}

function onRe2(name: FormatName): (text: string) => boolean {
  const pattern = formats.get(name);
  if (!(pattern instanceof RegExp)) throw new Error(`The format "${name}" is not a pattern.`);
  const compiled = RE2JS.compile(
    RE2JS.translateRegExp(pattern),
    pattern.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0,
  );
  return (text) => compiled.test(text);
}

/** The subset of ECMAScript's syntax that RE2 supports. */
function isPattern(text: string): boolean {
  try {
    void new RegExp(text, "u");
    compilePattern(text);
    return true;
  } catch {
    return false;
  }
}
