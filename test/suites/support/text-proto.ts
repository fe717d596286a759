/** A message in protobuf's text format: its fields in order, which may repeat. Strings are bytes. */
export type TextMessage = readonly (readonly [name: string, value: TextValue])[];
type TextValue = TextMessage | Uint8Array | string;

const tokens =
  /#[^\n]*|\s+|[,;]|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|[{}<>:]|\[[^\]]*\]|[^\s{}<>:[\],;"'#]+/g;
const escapes: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, a: 7, b: 8, f: 12, v: 11 };

/** Reads a message in protobuf's text format, as far as cel-spec's test data uses it. Throws a SyntaxError. */
export function parseTextProto(text: string): TextMessage {
  const words = (text.match(tokens) ?? []).filter((word) => !/^(?:#|\s|[,;])/.test(word));
  let at = 0;
  const message = (isNested: boolean): TextMessage => {
    const fields: [string, TextValue][] = [];
    while (at < words.length && words[at] !== "}") {
      const name = words[at++] ?? "";
      if (words[at] === ":") at++;
      if (words[at] === "{") {
        at++;
        fields.push([name, message(true)]);
      } else if (words[at]?.startsWith("[")) throw new SyntaxError(`${name} is a list, which is not read.`);
      else fields.push([name, scalar()]);
    }
    if (isNested && words[at++] !== "}") throw new SyntaxError("A message is not closed.");
    return fields;
  };
  const scalar = (): Uint8Array | string => {
    if (!/^["']/.test(words[at] ?? "")) return words[at++] ?? "";
    const pieces: Buffer[] = [];
    while (/^["']/.test(words[at] ?? "")) pieces.push(bytesOf((words[at++] ?? "").slice(1, -1)));
    return Buffer.concat(pieces);
  };
  const read = message(false);
  if (at < words.length) throw new SyntaxError(`"${words[at]}" is one too many.`);
  return read;
}

function bytesOf(literal: string): Buffer {
  const pieces = literal.matchAll(
    /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))|[^\\]+/g,
  );
  return Buffer.concat(
    Array.from(pieces, ([whole, hex, octal, short, long, letter]) => {
      if (hex !== undefined) return Buffer.from([Number.parseInt(hex, 16)]);
      if (octal !== undefined) return Buffer.from([Number.parseInt(octal, 8)]);
      const code = short ?? long;
      if (code !== undefined) return Buffer.from(String.fromCodePoint(Number.parseInt(code, 16)));
      if (letter === undefined) return Buffer.from(whole);
      return escapes[letter] === undefined ? Buffer.from(letter) : Buffer.from([escapes[letter]]);
    }),
  );
}

export function fieldOf(message: TextMessage, name: string): TextValue | undefined {
  return message.find(([field]) => field === name)?.[1];
}

export function messagesOf(message: TextMessage, name: string): TextMessage[] {
  return message.flatMap(([field, value]) => (field === name && isMessage(value) ? [value] : []));
}

export function textOf(value: TextValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : String(value ?? "");
}

export function isMessage(value: TextValue | undefined): value is TextMessage {
  return Array.isArray(value);
}
