import type { Explanation } from "../../base/vocabulary/editing.ts";
import { Permissions } from "../../base/vocabulary/permissions.ts";
import { offsetsOf, pointerTo, valueAt } from "../text/source.ts";
import { eventExplanation, extensionExplanation } from "./candidates.ts";
import {
  eventOf,
  filterPlace,
  maxFilterCharacters,
  schemaOf,
  type EditedDocument,
  type LanguageEnvironment,
} from "./complete.ts";
import { code, item, paragraph } from "./explanation.ts";
import { placeIn } from "./filter-proposals.ts";
import type { EventLanguage } from "./ports.ts";
import { nodeAt, readingOf, type FoundNode } from "./reading.ts";
import { alternatives, declaredAt, typeInWords, valuesOf, type Schema } from "../schema/schema-at.ts";
import { explainSchedule } from "./schedule.ts";

/** The contents of a hover; offsets count UTF-16 units. */
interface Hover {
  readonly start: number;
  readonly end: number;
  readonly explanation: Explanation;
}

/** Returns the hover for the key or value at `offset`, or null if there is none. */
export async function hoverAt(
  { kind, format, text }: EditedDocument,
  offset: number,
  environment: Omit<LanguageEnvironment, "client">,
): Promise<Hover | null> {
  const reading = await readingOf(text, format);
  const found = reading === null ? null : nodeAt(reading.root, offset);
  if (reading === null || found === null) return null;
  const pointer = pointerTo("", ...found.keys);
  const place = found.part === "key" ? (found.node.key ?? found.node) : found.node;
  const whole = { start: place.start, end: place.end };
  const known =
    found.part === "key"
      ? null
      : kind === "manifest"
        ? await manifestValue({ text, offset, pointer, found, document: reading.value }, environment)
        : await laresValue(pointer, reading.value, environment);
  if (known !== null) return { ...whole, ...known };
  const explanation = keyExplanation(schemaOf[kind], reading.value, pointer);
  return explanation === null ? null : { ...whole, explanation };
}

/** Describes a field in the schema's words. */
function keyExplanation(root: Schema, document: unknown, pointer: string): Explanation | null {
  const declared = declaredAt(root, document, pointer);
  if (declared === undefined) return null;
  const name = pointer.slice(pointer.lastIndexOf("/") + 1);
  const isPosition = /^\d+$/.test(name);
  const type = typeInWords(declared);
  const values = valuesOf(alternatives(declared, undefined)).filter((value) => typeof value === "string");
  const described = alternatives(declared, undefined).filter(
    (each) => each.const !== undefined && each.description !== declared.description,
  );
  const blocks = [
    ...(isPosition
      ? []
      : [paragraph(code(name), ...(type === "" || values.length > 0 ? [] : [`: ${type}`]))]),
    ...(declared.description === undefined ? [] : [paragraph(`${declared.description}.`)]),
    ...(described.length > 0
      ? described.map((each) =>
          item(code(String(each.const)), each.description === undefined ? "" : `: ${each.description}`),
        )
      : values.length > 1
        ? [paragraph("One of ", ...values.flatMap((value, index) => [index === 0 ? "" : ", ", code(value)]))]
        : []),
    ...(declared.examples === undefined || values.length > 0
      ? []
      : [
          paragraph(
            "For example ",
            ...declared.examples.flatMap((value, index) => [index === 0 ? "" : ", ", code(String(value))]),
          ),
        ]),
  ];
  return blocks.length < 2 && declared.description === undefined ? null : blocks;
}

interface Place {
  readonly text: string;
  readonly offset: number;
  readonly pointer: string;
  readonly found: FoundNode;
  readonly document: unknown;
}

type Known = Pick<Hover, "explanation"> & Partial<Hover>;

async function manifestValue(
  place: Place,
  { events, around }: Omit<LanguageEnvironment, "client">,
): Promise<Known | null> {
  const { pointer, document } = place;
  const value = valueAt(document, pointer);
  if (typeof value !== "string") return null;
  if (/^\/extension\/(?:hooks\/\d+\/on|permissions\/hear_events\/\d+)$/.test(pointer)) {
    const type = events.eventTypes.find(({ name }) => name === value);
    if (type !== undefined) return { explanation: eventExplanation(type) };
    const publisher = events.isCustomEvent(value) ? value.slice(0, value.indexOf("/")) : null;
    const extension = publisher === null ? null : await around.extension({ id: publisher });
    if (publisher === null) return null;
    const origin = paragraph("An event that ", code(publisher), " emits, with the fields it was given.");
    return { explanation: [origin, ...(extension === null ? [] : extensionExplanation(extension))] };
  }
  if (/^\/extension\/permissions\/shared_types\/(?:read|write)\/\d+$/.test(pointer)) {
    const slash = value.indexOf("/");
    const owner = slash < 0 ? null : await around.extension({ id: value.slice(0, slash) });
    if (owner === null) return null;
    const { types } = owner;
    const names = types.length === 0 ? "It declares no types." : `Its types: ${types.join(", ")}.`;
    return { explanation: [...extensionExplanation(owner), paragraph(names)] };
  }
  if (filterPlace.test(pointer)) return filterWord(place, value, events);
  if (/^\/extension\/hooks\/\d+\/schedule$/.test(pointer)) {
    const timezone = valueAt(document, pointer.replace(/schedule$/, "timezone"));
    const schedule = await explainSchedule(
      value,
      typeof timezone === "string" ? timezone : undefined,
      events,
    );
    if (schedule === null) return null;
    const { words, dates, timezone: zone } = schedule;
    return {
      explanation: [paragraph(`${words} (${zone}).`), paragraph("Next:"), ...dates.map((date) => item(date))],
    };
  }
  return null;
}

/** Returns the word of a filter at the cursor. */
function filterWord(
  { text, offset, pointer, found, document }: Place,
  filter: string,
  events: EventLanguage,
): Known | null {
  const { start, end, style } = found.node;
  // Finding the words takes time quadratic in the filter's length.
  if (filter.length > maxFilterCharacters) return null;
  const offsets = style === undefined ? null : offsetsOf(text.slice(start, end), filter, style);
  if (offsets === null) return null;
  const at = offsets.findLastIndex((each) => each <= offset - start);
  // The cursor is on the opening quote.
  if (at < 0) return null;
  const wordStart = at - (/(?<!\w)\w*$/.exec(filter.slice(0, at))?.[0].length ?? 0);
  const name = /^\w+/.exec(filter.slice(wordStart))?.[0];
  const place = placeIn(filter.slice(0, wordStart));
  if (name === undefined || place.kind === "text") return null;
  const event = eventOf(document, pointer, events);
  const words =
    place.receiver === null ? events.filterWords(event) : events.filterMembers(place.receiver, event);
  const isCall = /^\s*\(/.test(filter.slice(wordStart + name.length));
  const named = words.filter((each) => each.name === name);
  const word = named.find(({ kind }) => (kind === "function" || kind === "method") === isCall) ?? named[0];
  if (word === undefined) return null;
  const { signature, description, values = [] } = word;
  return {
    start: start + (offsets[wordStart] ?? 0),
    end: start + (offsets[wordStart + name.length] ?? 0),
    explanation: [
      paragraph(code(word.kind === "field" ? `${name}: ${signature}` : signature)),
      paragraph(`${description}.`),
      ...(values.length === 0
        ? []
        : [
            paragraph("One of ", ...values.flatMap((value, index) => [index === 0 ? "" : ", ", code(value)])),
          ]),
    ],
  };
}

const extensionPlaces =
  /^(?:\/extensions\/\d+\/(?:id|path)|\/approvals\/rules\/\d+\/agent|\/(?:shared|import)_namespaces\/\d+\/extensions\/\d+)$/;

async function laresValue(
  pointer: string,
  document: unknown,
  { around }: Omit<LanguageEnvironment, "client">,
): Promise<Known | null> {
  const value = valueAt(document, pointer);
  if (typeof value !== "string") return null;
  if (extensionPlaces.test(pointer)) {
    const extension = await around.extension(pointer.endsWith("/path") ? { path: value } : { id: value });
    return extension === null ? null : { explanation: extensionExplanation(extension) };
  }
  if (/^\/extensions\/\d+\/grants\/(?:allow|deny)\/\d+$/.test(pointer)) {
    const properties: Readonly<Record<string, Schema>> = Permissions.properties;
    const description = Object.hasOwn(properties, value) ? properties[value]?.description : undefined;
    return description === undefined
      ? null
      : { explanation: [paragraph(code(value)), paragraph(`${description}.`)] };
  }
  return null;
}
