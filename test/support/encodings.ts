/** Returns what contains the value in a text where it was encoded as programs do, written apart from the kernel's list. */
export function encodingsOf(value: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(value, "utf8");
  const hex = bytes.toString("hex");
  const percent = encodeURIComponent(value);
  const json = JSON.stringify(value).slice(1, -1);
  const forms = new Map<string, string>([
    ["as it is", value],
    ["JSON", json],
    ["JSON in JSON", JSON.stringify(json).slice(1, -1)],
    ["percent", percent],
    ["percent, lower case", percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    ["a form", new URLSearchParams({ a: value }).toString().slice(2)],
    ["every byte in percent", hex.replaceAll(/../g, (code) => `%${code.toUpperCase()}`)],
    ["hex", hex],
    ["hex in capitals", hex.toUpperCase()],
  ]);
  for (const before of ["", "x", "xx"])
    for (const encoding of ["base64", "base64url"] as const) {
      const text = Buffer.from(before + value).toString(encoding);
      // Characters at both ends depend on what stands beside the value.
      const from = Math.ceil((before.length * 8) / 6);
      forms.set(
        `${encoding} after ${before.length}`,
        text.slice(from, Math.floor(((before.length + bytes.length) * 8) / 6)),
      );
    }
  return forms;
}

/** Returns the names of the forms in which the bytes hold the value; none, if they do not. */
export function encodingsIn(bytes: Buffer, value: string): readonly string[] {
  const wide = Buffer.from(value, "utf16le");
  return [
    ...[...encodingsOf(value)].flatMap(([name, form]) => (bytes.includes(form) ? [name] : [])),
    ...(bytes.includes(wide) ? ["UTF-16"] : []),
  ];
}
