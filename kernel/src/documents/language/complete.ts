import { valueAt, type DocumentFormat } from "../text/source.ts";
import { Lares } from "../schema/lares.ts";
import { Manifest } from "../schema/manifest.ts";
import { inTurns } from "../text/turns.ts";
import type { Search } from "./candidates.ts";
import { cursorSteps, type CursorContext } from "./cursor.ts";
import { filterProposals } from "./filter-proposals.ts";
import { keyProposals, mapProposals, tableProposals, type ClientAbilities } from "./keys.ts";
import { modelKeys } from "./model-candidates.ts";
import type { EventLanguage, Surroundings } from "./ports.ts";
import { bounded, type Proposal, type Proposals } from "./proposal.ts";
import { parametersSchema } from "../schema/json-schema.ts";
import { replacedAt, schemasAt, type Schema } from "../schema/schema-at.ts";
import { valueProposals } from "./values.ts";

/** A document as an editor has it, usually invalid while it is being typed. */
export interface EditedDocument {
  readonly kind: "lares" | "manifest";
  readonly format: DocumentFormat;
  readonly text: string;
}

export interface LanguageEnvironment {
  readonly events: EventLanguage;
  readonly around: Surroundings;
  readonly client: ClientAbilities;
}

/** Casts typebox's schema types, which have no common supertype. */
export const schemaOf: Readonly<Record<EditedDocument["kind"], Schema>> = {
  lares: Lares as unknown as Schema,
  manifest: replacedAt(
    Manifest as unknown as Schema,
    ["extension", "tools", "0", "parameters"],
    parametersSchema,
  ),
};

export const filterPlace = /^\/extension\/hooks\/\d+\/filter$/;
/** Longer documents are refused, so they get no completions. */
export const maxFilterCharacters = 4096;

/** Returns what may be written at `offset`. Never throws because of the text. */
export async function complete(
  { kind, format, text }: EditedDocument,
  offset: number,
  environment: LanguageEnvironment,
): Promise<Proposals> {
  const context = await inTurns(cursorSteps(text, offset, format));
  if (context === null) return { items: [], isIncomplete: false };
  const items = await proposalsAt(context, kind, environment);
  return bounded(
    items.toSorted((one, other) => one.rank - other.rank),
    context.spot.before,
  );
}

async function proposalsAt(
  context: CursorContext,
  kind: EditedDocument["kind"],
  environment: LanguageEnvironment,
): Promise<readonly Proposal[]> {
  const root = schemaOf[kind];
  const { pointer, document, part } = context;
  const schemas = schemasAt(root, document, pointer);
  const named = kind === "lares" ? await namedKeys(pointer, document, environment) : [];
  const keys = () => keyProposals(context, [...schemas, ...named], environment.client);
  if (part === "key") return [...keys(), ...tableProposals(context, root)];
  if (part === "either") {
    const items = schemas.flatMap((schema) => (schema.type === "array" ? [schema] : []));
    // The first item of a list so far consists only of its name.
    if (items.length > 0 && !context.needsDash)
      return proposalsAt({ ...context, pointer: `${pointer}/0`, needsDash: true }, kind, environment);
    return [...keys(), ...(await valuesAt(context, kind, schemas, environment))];
  }
  return valuesAt(context, kind, schemas, environment);
}

/** Returns the keys of maps whose keys are names of other things. */
async function namedKeys(
  pointer: string,
  document: unknown,
  { around }: LanguageEnvironment,
): Promise<Schema[]> {
  if (pointer !== "/memory/extensions") return modelKeys(pointer, document);
  const extensions = await around.extensions();
  return [{ properties: Object.fromEntries(extensions.map(({ id }) => [id, { type: "object" }])) }];
}

async function valuesAt(
  context: CursorContext,
  kind: EditedDocument["kind"],
  schemas: readonly Schema[],
  { events, around, client }: LanguageEnvironment,
): Promise<readonly Proposal[]> {
  const { pointer, document, spot } = context;
  if (kind === "manifest" && filterPlace.test(pointer)) {
    if (spot.before.length > maxFilterCharacters) return [];
    return filterProposals(context, eventOf(document, pointer, events), events, client.snippets);
  }
  const search: Search = { document, pointer, typed: spot.before, events, around };
  const values = await valueProposals(context, kind, schemas, search);
  return context.part === "value" && client.snippets
    ? [...values, ...mapProposals(context, schemas)]
    : values;
}

/** Returns the event of the filter's hook, or the most common event if the hook has none yet. */
export function eventOf(document: unknown, filterPointer: string, events: EventLanguage): string {
  const on = valueAt(document, filterPointer.replace(/filter$/, "on"));
  const isEvent =
    typeof on === "string" && (events.isCustomEvent(on) || events.eventTypes.some(({ name }) => name === on));
  return isEvent ? on : "EntryCreated";
}
