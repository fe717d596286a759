/** Pieces of GBNF, the language of llama.cpp's grammars. */

/** Returns the literal that matches exactly this text. */
export function literal(text: string): string {
  let quoted = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") quoted += `\\${character}`;
    else if (code >= 0x20 && code < 0x7f) quoted += character;
    else if (code <= 0xffff) quoted += `\\u${code.toString(16).padStart(4, "0")}`;
    else quoted += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return `"${quoted}"`;
}

/** Returns the alternatives in brackets. */
export function oneOf(alternatives: readonly string[]): string {
  const different = [...new Set(alternatives)];
  return different.length === 1 ? (different[0] ?? '""') : `(${different.join(" | ")})`;
}

/** Returns an item that is repeated from `least` to `most` times; null: any number of times. */
export function repeated(item: string, least: number, most: number | null): string {
  if (most === 0) return '""';
  if (most === null) return least === 0 ? `${item}*` : least === 1 ? `${item}+` : `${item}{${least},}`;
  return least === most ? `${item}{${least}}` : `${item}{${least},${most}}`;
}

/** Returns items with commas in between. */
export function separated(item: string, least: number, most: number | null): string {
  if (most === 0) return '""';
  const rest = repeated(`("," space ${item})`, Math.max(0, least - 1), most === null ? null : most - 1);
  const items = `${item} ${rest}`;
  return least > 0 ? items : `(${items})?`;
}

/** Returns the decimal integers from `least` to `most`, both safe integers. */
export function integersBetween(least: number, most: number): string {
  if (least < 0 && most < 0) return `"-" ${oneOf(digitsBetween(-most, -least))}`;
  if (least < 0) return oneOf([`"-" ${oneOf(digitsBetween(1, -least))}`, ...digitsBetween(0, most)]);
  return oneOf(digitsBetween(least, most));
}

/** Alternatives, for 0 ≤ least ≤ most. */
function digitsBetween(least: number, most: number): string[] {
  const [low, high] = [String(least), String(most)];
  if (low.length === high.length) return sameLength(low, high);
  const all: string[] = [];
  for (let length = low.length; length <= high.length; length++)
    all.push(
      ...sameLength(
        length === low.length ? low : `1${"0".repeat(length - 1)}`,
        length === high.length ? high : "9".repeat(length),
      ),
    );
  return all;
}

/** Alternatives for two numbers with as many digits. */
function sameLength(low: string, high: string): string[] {
  const digits = low.length;
  if (digits === 0) return ['""'];
  if (/^0*$/.test(low) && /^9*$/.test(high)) return [`[0-9]{${digits}}`];
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  const under = (digit: number, from: string, to: string): string =>
    digits === 1 ? `[${digit}]` : `[${digit}] ${oneOf(sameLength(from, to))}`;
  if (first === last) return [under(first, lowRest, highRest)];
  const nines = "9".repeat(digits - 1);
  const zeros = "0".repeat(digits - 1);
  const all = [under(first, lowRest, nines)];
  if (last - first > 1)
    all.push(digits === 1 ? `[${first + 1}-${last - 1}]` : `[${first + 1}-${last - 1}] [0-9]{${digits - 1}}`);
  return [...all, under(last, zeros, highRest)];
}
