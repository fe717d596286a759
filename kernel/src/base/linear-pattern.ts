import { RE2JS } from "re2js";

/**
 * Compiles a pattern of JSON Schema, written for ECMAScript, to run on RE2, where matching takes linear time. Throws if
 * RE2 does not support the pattern, for example because of lookarounds and back references.
 */
export function compilePattern(pattern: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(inRe2Words(pattern)));
}

/** ECMAScript's white space; `\s` in RE2 covers only ASCII. */
const whiteSpace = String.raw`\t\n\x0b\f\r \x{a0}\x{feff}\x{2028}\x{2029}\p{Zs}`;

/** Returns the same pattern with the names and classes that RE2 spells differently replaced. */
function inRe2Words(pattern: string): string {
  let written = "";
  let isInClass = false;
  for (const [part] of pattern.matchAll(/\\[pP]\{[^\\}]*\}|\\[^]|[^]/g)) {
    if (part === "[" && !isInClass) isInClass = true;
    else if (part === "]") isInClass = false;
    if (/^\\[pP]\{/.test(part)) written += propertyOf(part);
    else if (part === "\\s") written += isInClass ? whiteSpace : `[${whiteSpace}]`;
    else if (part === "\\S" && !isInClass) written += `[^${whiteSpace}]`;
    else written += part;
  }
  return written;
}

/** Rewrites `\p{Letter}`, `\p{gc=Lu}`, `\p{Script=Greek}` to `\p{L}`, `\p{Lu}`, `\p{Greek}`. */
function propertyOf(part: string): string {
  const [, name = "", value] = /^..\{([^=}]*)(?:=([^}]*))?\}$/.exec(part) ?? [];
  const isPlain = value === undefined || value === "";
  if (!isPlain && !/^(?:General_Category|gc|Script|sc)$/.test(name)) return part;
  const wanted = isPlain ? name : value;
  return `${part.slice(0, 2)}{${Object.hasOwn(categories, wanted) ? categories[wanted] : wanted}}`;
}

/** Unicode's long names of general categories. */
const categories: Readonly<Record<string, string>> = {
  Letter: "L",
  Cased_Letter: "LC",
  Uppercase_Letter: "Lu",
  Lowercase_Letter: "Ll",
  Titlecase_Letter: "Lt",
  Modifier_Letter: "Lm",
  Other_Letter: "Lo",
  Mark: "M",
  Combining_Mark: "M",
  Nonspacing_Mark: "Mn",
  Spacing_Mark: "Mc",
  Enclosing_Mark: "Me",
  Number: "N",
  Decimal_Number: "Nd",
  digit: "Nd",
  Letter_Number: "Nl",
  Other_Number: "No",
  Punctuation: "P",
  punct: "P",
  Connector_Punctuation: "Pc",
  Dash_Punctuation: "Pd",
  Open_Punctuation: "Ps",
  Close_Punctuation: "Pe",
  Initial_Punctuation: "Pi",
  Final_Punctuation: "Pf",
  Other_Punctuation: "Po",
  Symbol: "S",
  Math_Symbol: "Sm",
  Currency_Symbol: "Sc",
  Modifier_Symbol: "Sk",
  Other_Symbol: "So",
  Separator: "Z",
  Space_Separator: "Zs",
  Line_Separator: "Zl",
  Paragraph_Separator: "Zp",
  Other: "C",
  Control: "Cc",
  cntrl: "Cc",
  Format: "Cf",
  Surrogate: "Cs",
  Private_Use: "Co",
};
