import { embeddingCategory } from "../policy/outside.ts";
import { permissionNames, type Permissions } from "../base/vocabulary/permissions.ts";

/** Describes each permission to a person. The details are text from the manifest, so they are quoted. */
const sentences: {
  readonly [Name in keyof Permissions]-?: (detail: NonNullable<Permissions[Name]>) => string;
} = {
  read_entries: (detail) =>
    typeof detail === "object" && detail.filter !== undefined
      ? `see and read files that match ${quoted(detail.filter)}`
      : "see and read files",
  write_sidecars: ({ kinds }) => `keep data of its own beside files: ${list(kinds)}`,
  write_tags: () => "put tags on files and take them off",
  write_custom_fields: ({ namespace }) => `set fields of files in its namespace ${quoted(namespace)}`,
  use_models: (models) =>
    modelUses(models, { use: "use models", embed: "turn texts into vectors" }).join(", "),
  use_credentials: (names) =>
    `send your secrets, without seeing them, to the hosts they are for: ${list(names)}`,
  dispatch_jobs: () => "start work that takes longer",
  propose_actions: (kinds) => `propose changes: ${list(kinds)}`,
  emit_events: (names) => `send events to other agents: ${list(names)}`,
  hear_events: (names) => `receive the events of other agents, with all their data: ${list(names)}`,
  call_tools: (names) => `call tools of others: ${list(names)}`,
  shared_data: ({ read = [], write = [] }) =>
    [
      ...(read.length > 0 ? [`read shared data: ${list(read)}`] : []),
      ...(write.length > 0 ? [`write shared data: ${list(write)}`] : []),
    ].join(", ") || "exchange no data",
  shared_types: ({ read = [], write = [] }) =>
    [
      ...(read.length > 0 ? [`read values that other agents share: ${list(read)}`] : []),
      ...(write.length > 0 ? [`change values that other agents share: ${list(write)}`] : []),
    ].join(", ") || "share no values",
  see_agents: () => "see which agents there are and whether they work",
  intercept: (agents) => `read and change what you say to other agents: ${list(agents)}`,
};

/**
 * Returns what these permissions let an extension do, each as the end of "asks to …", with the manifest's name for it.
 */
export function describePermissions(permissions: Permissions): string[] {
  return permissionNames.flatMap((name) => {
    const detail = permissions[name];
    if (detail === undefined || detail === false) return [];
    // A cast, because the compiler cannot infer that the name and the detail belong together.
    const sentence = sentences[name] as (detail: unknown) => string;
    return [`${sentence(detail)} (${name})`];
  });
}

/**
 * Describes the categories of models: those that answer, and apart from them the embedder, which answers nothing but
 * may be a service elsewhere too.
 */
export function modelUses(
  models: NonNullable<Permissions["use_models"]>,
  words: { readonly use: string; readonly embed: string },
): string[] {
  const place = ({ local_only }: (typeof models)[number]): string =>
    local_only === true ? " on this machine" : "";
  const answering = models.filter(({ category }) => category !== embeddingCategory);
  return [
    ...(answering.length === 0
      ? []
      : [`${words.use}: ${answering.map((model) => quoted(model.category) + place(model)).join(", ")}`]),
    ...models
      .filter(({ category }) => category === embeddingCategory)
      .map(
        (model) =>
          `${words.embed}${place(model) || ", by the service that your lares.yaml names if it names one, which then sees conversations with it too"}`,
      ),
  ];
}

function list(names: readonly string[]): string {
  return names.map(quoted).join(", ");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
