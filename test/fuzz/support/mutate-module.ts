import fc from "fast-check";

/** One change to a module's bytes. Places are taken modulo what there is. */
type Mutation =
  | { readonly kind: "set"; readonly at: number; readonly byte: number }
  | { readonly kind: "flip"; readonly at: number; readonly bit: number }
  | { readonly kind: "insert"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "remove"; readonly at: number; readonly count: number }
  | { readonly kind: "truncate"; readonly at: number }
  | {
      readonly kind: "swap-sections" | "double-section" | "drop-section";
      readonly at: number;
      readonly other: number;
    }
  | { readonly kind: "set-in-section"; readonly section: number; readonly at: number; readonly byte: number };

/** Bytes with a meaning: opcodes, types, ends of numbers. */
const meaningful = fc.oneof(
  fc.constantFrom(0x00, 0x01, 0x02, 0x03, 0x06, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x1f, 0x40, 0x60),
  fc.constantFrom(0x6f, 0x70, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0xd0, 0xd2, 0xfb, 0xfc, 0xfd, 0xfe, 0xff),
  fc.nat(255),
);
const place = fc.nat(0x7fffffff);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("set" as const), at: place, byte: meaningful }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("flip" as const), at: place, bit: fc.nat(7) }) },
  fc.record({
    kind: fc.constant("insert" as const),
    at: place,
    bytes: fc.array(meaningful, { maxLength: 6 }).map((all) => Uint8Array.from(all)),
  }),
  fc.record({ kind: fc.constant("remove" as const), at: place, count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant("truncate" as const), at: place }),
  fc.record({
    kind: fc.constantFrom("swap-sections" as const, "double-section" as const, "drop-section" as const),
    at: place,
    other: place,
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("set-in-section" as const),
      section: place,
      at: fc.oneof(fc.nat(12), place),
      byte: meaningful,
    }),
  },
);

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(mutation, { minLength: 1, maxLength: 4 });

export function mutated(original: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  return changes.reduce<Uint8Array>((bytes, change) => apply(bytes, change), original.slice());
}

function apply(bytes: Uint8Array, change: Mutation): Uint8Array {
  if (bytes.length <= 8) return bytes;
  // The magic number stays: a wrong one is refused before anything is read.
  const at = "at" in change ? 8 + (change.at % (bytes.length - 8)) : 0;
  switch (change.kind) {
    case "set":
      return bytes.with(at, change.byte);
    case "flip":
      return bytes.with(at, (bytes[at] ?? 0) ^ (1 << change.bit));
    case "insert":
      return joined(bytes.subarray(0, at), change.bytes, bytes.subarray(at));
    case "remove":
      return joined(bytes.subarray(0, at), bytes.subarray(at + change.count));
    case "truncate":
      return bytes.slice(0, at);
    case "swap-sections":
    case "double-section":
    case "drop-section":
    case "set-in-section":
      return applyToSections(bytes, change);
  }
}

function applyToSections(
  bytes: Uint8Array,
  change: Extract<Mutation, { kind: "swap-sections" | "double-section" | "drop-section" | "set-in-section" }>,
): Uint8Array {
  const sections = cutIntoSections(bytes);
  if (sections.length === 0) return bytes;
  const index = (change.kind === "set-in-section" ? change.section : change.at) % sections.length;
  const section = sections[index] ?? new Uint8Array();
  if (change.kind === "set-in-section") {
    if (section.length > 0) sections[index] = section.with(change.at % section.length, change.byte);
  } else if (change.kind === "swap-sections") {
    const other = change.other % sections.length;
    [sections[index], sections[other]] = [sections[other] ?? section, section];
  } else if (change.kind === "double-section") {
    sections.splice(change.other % sections.length, 0, section);
  } else sections.splice(index, 1);
  return joined(bytes.subarray(0, 8), ...sections);
}

/** Each section with its header; an unreadable rest is the last one. */
function cutIntoSections(bytes: Uint8Array): Uint8Array[] {
  const sections: Uint8Array[] = [];
  for (let at = 8; at < bytes.length;) {
    let position = at + 1;
    let length = 0;
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = bytes[position++] ?? 0;
      length += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const end = Math.min(bytes.length, position + length);
    sections.push(bytes.slice(at, end));
    at = end;
  }
  return sections;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
