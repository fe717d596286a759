import { fileTools } from "../../base/vocabulary/file-tools.ts";
import type { CompletionProposal, Explanation } from "../../base/vocabulary/editing.ts";
import { isJsonObject } from "../../base/json.ts";
import { permissionNames } from "../../base/vocabulary/permissions.ts";
import { effectKindNames } from "../names-in-permissions.ts";
import { pointerKeys, valueAt } from "../text/source.ts";
import { code, item, paragraph } from "./explanation.ts";
import { modelReferences } from "./model-candidates.ts";
import type { EventHelp, EventLanguage, ExtensionSummary, Surroundings } from "./ports.ts";

/** A meaningful value for a place that the schema alone does not know. */
export interface Candidate {
  readonly value: string | number | boolean;
  readonly kind: CompletionProposal["kind"];
  readonly detail?: string;
  readonly explanation?: Explanation;
  readonly rank?: number;
}

/** The input of a finder. `typed` is the text before the cursor. */
export interface Search {
  readonly document: unknown;
  readonly pointer: string;
  readonly typed: string;
  readonly events: EventLanguage;
  readonly around: Surroundings;
}

type Finder = (search: Search) => Promise<readonly Candidate[]>;

/** The finders of values that depend on the document's surroundings. */
export async function candidatesAt(
  kind: "lares" | "manifest",
  search: Search,
): Promise<readonly Candidate[]> {
  const found = (kind === "lares" ? laresPlaces : manifestPlaces).find(([pattern]) =>
    pattern.test(search.pointer),
  );
  return found === undefined ? [] : found[1](search);
}

const hookHandlers: Finder = async ({ around }) => handlers((await around.programExports())?.handlers ?? []);
const actionHandlers: Finder = async ({ around }) => handlers((await around.programExports())?.actions ?? []);
const toolHandlers: Finder = async ({ around }) => handlers((await around.programExports())?.tools ?? []);

const manifestPlaces: readonly (readonly [RegExp, Finder])[] = [
  [
    /^\/extension\/main$/,
    async ({ around }) => (await around.programs()).map((value) => ({ value, kind: "file" })),
  ],
  [/^\/extension\/hooks\/\d+\/on$/, eventCandidates],
  [/^\/extension\/hooks\/\d+\/schedule$/, schedules],
  [/^\/extension\/hooks\/\d+\/handler$/, hookHandlers],
  [/^\/extension\/tools\/\d+\/handler$/, toolHandlers],
  [/^\/extension\/actions\/\d+\/handler$/, actionHandlers],
  [/^\/extension\/hooks\/\d+\/timezone$/, async () => timezones()],
  [/^\/extension\/permissions\/propose_actions\/\d+$/, async () => proposedKinds()],
  [/^\/extension\/permissions\/hear_events\/\d+$/, heardEvents],
  [/^\/extension\/permissions\/call_tools\/\d+$/, toolNames],
  [/^\/extension\/permissions\/shared_types\/(?:read|write)\/\d+$/, typeNames],
  [/^\/extension\/types\/\d+\/key$/, keyProperties],
  [/^\/extension\/permissions\/intercept\/\d+$/, extensionIds],
  [/^\/extension\/mind\/(?:workers\/[^/]+\/)?(?:direct_)?tools\/\d+$/, mindTools],
];

const laresPlaces: readonly (readonly [RegExp, Finder])[] = [
  [/^\/extensions\/\d+\/id$/, otherExtensionIds],
  [/^\/extensions\/\d+\/path$/, extensionFolders],
  [/^\/extensions\/\d+\/grants\/locations\/\d+$/, locations],
  [/^\/extensions\/\d+\/grants\/(?:allow|deny)\/\d+$/, permissions],
  [/^\/approvals\/rules\/\d+\/agent$/, extensionIds],
  [/^\/approvals\/rules\/\d+\/kind$/, async () => effectKinds(["file.*", "tag.*"])],
  [/^\/models\/routes\/[^/]+(?:\/model)?$/, modelNames],
  [/^\/models\/fallbacks\/[^/]+\/\d+$/, modelNames],
  [/^\/models\/providers\/[^/]+\/key\/secret$/, secretNames],
  [/^\/(?:shared|import)_namespaces\/\d+\/extensions\/\d+$/, extensionIds],
];

async function modelNames({ document }: Search): Promise<Candidate[]> {
  return modelReferences(document).map((value) => ({
    value,
    kind: "value",
    detail: "of this document",
    rank: 0,
  }));
}

/** Returns the provider's own name, which its secret usually has. */
async function secretNames({ pointer }: Search): Promise<Candidate[]> {
  const [, , provider = ""] = pointerKeys(pointer);
  return [{ value: provider, kind: "value", detail: "as lares secrets set stores it", rank: 0 }];
}

function handlers(names: readonly string[]): Candidate[] {
  return names.map((value) => ({ value, kind: "handler", detail: "of the program" }));
}

async function eventCandidates({ events, around }: Search): Promise<Candidate[]> {
  const custom = (await around.extensions()).flatMap(({ id, events: names }) =>
    names.map((name) => `${id}/${name}`),
  );
  return [
    ...events.eventTypes.map((type) => ({
      value: type.name,
      kind: "event" as const,
      detail: Object.keys(type.fields).join(", "),
      explanation: eventExplanation(type),
      rank: 0,
    })),
    ...[...new Set(custom)]
      .filter((name) => events.isCustomEvent(name))
      .map((value) => ({ value, kind: "event" as const, detail: "of an extension", rank: 1 })),
  ];
}

/** Returns events of other extensions, in the form that `hear_events` lists them. */
async function heardEvents({ document, events, around }: Search): Promise<Candidate[]> {
  const own = valueAt(document, "/extension/id");
  return (await around.extensions()).flatMap(({ id, name, events: names }) => {
    const known = names.map((event) => `${id}/${event}`).filter((event) => events.isCustomEvent(event));
    if (id === own || known.length === 0) return [];
    return [
      { value: `${id}/*`, kind: "choice" as const, detail: `all events of ${name}` },
      ...known.map((value) => ({ value, kind: "event" as const, detail: `of ${name}` })),
    ];
  });
}

const usualSchedules = [
  "@hourly",
  "@daily",
  "@weekly",
  "0 3 * * *",
  "*/15 * * * *",
  "0 9 * * MON-FRI",
  "0 18 * * SUN",
  "0 0 1 * *",
];

/** Returns the explanation of what is typed, then common choices. */
async function schedules({ events, typed }: Search): Promise<Candidate[]> {
  const own = typed.trim() === "" || usualSchedules.includes(typed) ? [] : [typed];
  const candidates = await Promise.all(
    [...own, ...usualSchedules].map(async (value, index): Promise<Candidate[]> => {
      const words = await events.scheduleInWords(value);
      return words === null ? [] : [{ value, kind: "value", detail: words, rank: index }];
    }),
  );
  return candidates.flat();
}

/** Describes an event: its summary and its fields. */
export function eventExplanation({ description, fields }: EventHelp): Explanation {
  return [
    paragraph(`${description}.`),
    ...Object.entries(fields).map(([name, field]) =>
      item(code(name), " ", code(field.type), `: ${field.description}`),
    ),
  ];
}

/** Changes to an entry's tags, fields and sidecars have their own permissions. */
function proposedKinds(): Candidate[] {
  return effectKinds(["file.*"]).filter(({ value }) => /^(?:file|folder)\./.test(String(value)));
}

function effectKinds(families: readonly string[]): Candidate[] {
  return [
    ...effectKindNames.map((value) => ({ value, kind: "choice" as const })),
    ...families.map((value) => ({ value, kind: "choice" as const, detail: "all of a family" })),
  ];
}

let allTimezones: readonly Candidate[] | undefined;

function timezones(): readonly Candidate[] {
  allTimezones ??= ["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({ value, kind: "choice" }));
  return allTimezones;
}

async function toolNames({ around }: Search): Promise<Candidate[]> {
  return (await around.extensions()).flatMap(({ id, name, tools }) =>
    tools.length === 0
      ? []
      : [
          { value: `${id}/*`, kind: "choice" as const, detail: `all tools of ${name}` },
          ...tools.map((tool) => ({ value: `${id}/${tool}`, kind: "choice" as const })),
        ],
  );
}

/** Returns the types of other extensions; its own need no permission. */
async function typeNames({ document, around }: Search): Promise<Candidate[]> {
  const own = valueAt(document, "/extension/id");
  return (await around.extensions()).flatMap(({ id, name, types }) =>
    types.length === 0 || id === own
      ? []
      : [
          { value: `${id}/*`, kind: "choice" as const, detail: `all types of ${name}` },
          ...types.map((type) => ({ value: `${id}/${type}`, kind: "choice" as const })),
        ],
  );
}

/** Returns the properties of a type that are strings; one of them is its key. */
async function keyProperties({ document, pointer }: Search): Promise<Candidate[]> {
  const properties = valueAt(document, pointer.replace(/key$/, "schema/properties"));
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([value, property]) =>
    isJsonObject(property) && property["type"] === "string" ? [{ value, kind: "value" as const }] : [],
  );
}

/** Returns the kernel's own tools for files, then those of other extensions. */
async function mindTools(search: Search): Promise<Candidate[]> {
  return [
    { value: "files/*", kind: "choice", detail: "all tools for files" },
    ...fileTools.map(({ name }) => ({ value: name, kind: "choice" as const })),
    ...(await toolNames(search)),
  ];
}

/** Returns one entry per extension, without extensions that already have one. */
async function otherExtensionIds(search: Search): Promise<Candidate[]> {
  const entries = valueAt(search.document, "/extensions");
  const own = valueAt(search.document, search.pointer.replace(/\/id$/, ""));
  const taken = (Array.isArray(entries) ? entries : [])
    .filter((entry) => entry !== own)
    .map((entry: unknown) => (isJsonObject(entry) ? entry["id"] : undefined));
  return (await extensionIds(search)).filter(({ value }) => !taken.includes(value));
}

async function extensionIds({ around }: Search): Promise<Candidate[]> {
  return (await around.extensions()).map((extension) => ({
    value: extension.id,
    kind: "extension",
    detail: extension.name,
    explanation: extensionExplanation(extension),
  }));
}

/** Describes an extension in the words of its manifest. */
export function extensionExplanation({ id, name, version, description }: ExtensionSummary): Explanation {
  return [
    paragraph(`${name} ${version}`),
    paragraph(code(id)),
    ...(description === "" ? [] : [paragraph(description)]),
  ];
}

/** Maximum number of subfolders that are searched for a manifest. */
const maxFoldersLookedInto = 200;

/** Returns the subfolders of the folder typed so far; folders with a manifest come first. */
async function extensionFolders({ around, typed }: Search): Promise<Candidate[]> {
  const base = typed.slice(0, typed.lastIndexOf("/") + 1);
  if (base.startsWith("/")) return [];
  const names = await around.foldersIn("document", base === "" ? "." : base);
  const folders = await Promise.all(
    names.slice(0, maxFoldersLookedInto).map(async (name): Promise<Candidate> => {
      const extension = await around.extension({ path: `${base}${name}` });
      if (extension === null) return { value: `${base}${name}/`, kind: "folder", rank: 1 };
      return {
        value: `${base}${name}`,
        kind: "extension",
        detail: extension.name,
        explanation: extensionExplanation(extension),
        rank: 0,
      };
    }),
  );
  return base === "" || /^(?:\.\.\/)+$/.test(base)
    ? [...folders, { value: `${base}../`, kind: "folder", rank: 2 }]
    : folders;
}

async function locations({ around, typed }: Search): Promise<Candidate[]> {
  const base = typed.slice(0, typed.lastIndexOf("/") + 1);
  const names = await around.foldersIn("workspace", base === "" ? "." : base);
  const folders = names.map((name) => ({ value: `${base}${name}/`, kind: "folder" as const, rank: 1 }));
  return base === ""
    ? [{ value: ".", kind: "folder", detail: "all of the workspace", rank: 0 }, ...folders]
    : folders;
}

/** Returns the permissions that the extension's manifest requests, or all if the manifest is not known. */
async function permissions({ around, document, pointer }: Search): Promise<Candidate[]> {
  const entry = /^\/extensions\/\d+/.exec(pointer)?.[0] ?? "";
  const path = valueAt(document, `${entry}/path`);
  const id = valueAt(document, `${entry}/id`);
  const extension =
    typeof path === "string"
      ? await around.extension({ path })
      : typeof id === "string"
        ? await around.extension({ id })
        : null;
  const list = pointer.includes("/allow/") ? "allow" : "deny";
  const given: unknown = valueAt(document, `${entry}/grants/${list}`);
  const taken = Array.isArray(given) ? given : [];
  const asked = extension?.permissions ?? permissionNames;
  return [
    ...(list === "allow"
      ? [{ value: "*", kind: "choice" as const, detail: "all that it asks for", rank: 0 }]
      : []),
    ...asked
      .filter((name) => !taken.includes(name))
      .map((value) => ({
        value,
        kind: "choice" as const,
        ...(extension === null ? {} : { detail: `asked for by ${extension.name}` }),
        rank: 1,
      })),
  ];
}
