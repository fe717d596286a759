import type { CursorContext } from "./cursor.ts";
import { candidatesAt, type Candidate, type Search } from "./candidates.ts";
import { paragraph } from "./explanation.ts";
import { parameterCandidates } from "./parameter-candidates.ts";
import type { Proposal } from "./proposal.ts";
import { escaped, written } from "./quoting.ts";
import { valuesOf, type Schema } from "../schema/schema-at.ts";

/** Returns the values that may be written at `search.pointer`, from the schema and from the surroundings. */
export async function valueProposals(
  context: CursorContext,
  kind: "lares" | "manifest",
  schemas: readonly Schema[],
  search: Search,
): Promise<Proposal[]> {
  const [list] = schemas.filter(({ type }) => type === "array");
  // A list that was just begun needs its brackets.
  const inList =
    list !== undefined && schemas.length === 1 && context.spot.quote === "" && !context.needsDash;
  const pointer = inList ? `${search.pointer}/0` : search.pointer;
  const open = inList ? (list.items === undefined ? [] : [list.items]) : schemas;
  const here = { ...search, pointer };
  const offered = [
    ...(await candidatesAt(kind, here)),
    ...parameterCandidates(open, here),
    ...constants(open),
    ...samples(open),
  ];
  const proposals = new Map<string, Proposal>();
  for (const each of offered) {
    const label = String(each.value);
    if (proposals.has(label)) continue;
    const newText = textOf(context, each.value, inList);
    if (newText === null) continue;
    proposals.set(label, {
      label,
      kind: each.kind,
      ...(each.detail === undefined ? {} : { detail: each.detail }),
      ...(each.explanation === undefined ? {} : { explanation: each.explanation }),
      start: context.spot.start,
      end: context.spot.end,
      newText,
      isSnippet: false,
      filterText: label,
      rank: each.rank ?? 1,
    });
  }
  return [...proposals.values()];
}

function constants(schemas: readonly Schema[]): Candidate[] {
  const fallback = schemas.find((schema) => schema.default !== undefined)?.default;
  return valuesOf(schemas)
    .filter(isScalar)
    .map((value) => ({
      value,
      kind: "choice",
      rank: 0,
      ...(value === fallback ? { detail: "the default" } : {}),
      ...descriptionOf(schemas, value),
    }));
}

function descriptionOf(schemas: readonly Schema[], value: unknown): Pick<Candidate, "explanation"> {
  const description = schemas.find((schema) => schema.const === value)?.description;
  return description === undefined ? {} : { explanation: [paragraph(description)] };
}

/** Returns the default and the examples, for values without a list of choices. */
function samples(schemas: readonly Schema[]): Candidate[] {
  return schemas.flatMap((schema) => [
    ...(isScalar(schema.default) && schema.type !== "boolean"
      ? [{ value: schema.default, kind: "value" as const, detail: "the default", rank: 1 }]
      : []),
    ...(schema.examples ?? [])
      .filter(isScalar)
      .map((value) => ({ value, kind: "value" as const, detail: "for example", rank: 2 })),
  ]);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Returns null if the value cannot be written at the cursor, such as a number in quotes. */
function textOf(
  { spot, format, needsDash }: CursorContext,
  value: string | number | boolean,
  inList: boolean,
) {
  const lead = `${spot.needsSpace ? " " : ""}${needsDash ? "- " : ""}`;
  if (spot.quote !== "") {
    if (typeof value !== "string" || spot.quote === "block") return null;
    const text = escaped(value, spot.quote, format);
    return text === null ? null : text + (spot.isUnclosed ? spot.quote : "");
  }
  const text = typeof value === "string" ? written(value, format, spot.isInFlow || inList) : String(value);
  return lead + (inList ? `[${text}]` : text);
}
