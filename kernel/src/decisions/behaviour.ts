import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { named } from "../base/named.ts";
import { actionsOf, commandsOf, mindPhrases, typesOf } from "./mind-words.ts";

/**
 * Everything that an extension's manifest and its entry in the documents say about what its agent does, apart from
 * permissions and locations. Agents are built only from the accepted behaviour. Removing an item of a list or lowering
 * a cap tightens and applies at once; every other change is asked.
 */
export interface Behaviour {
  readonly hooks: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly models: readonly JsonObject[];
  /** The hosts that it names. */
  readonly hosts: readonly string[];
  /** The resource limits that it requests, by their names in the manifest. */
  readonly caps: Readonly<Record<string, number>>;
  /** Everything else, including `config`. */
  readonly settings: JsonObject;
}

/**
 * The behaviour as stored with an acceptance. A very long one is stored as its digest, so it covers only an identical
 * behaviour.
 */
export type KeptBehaviour = Behaviour | { readonly digest: Hash };

const lists = ["hooks", "tools", "models", "hosts"] as const;

/** True if accepting `accepted` covers everything in `request`. */
export function isBehaviourCovered(request: Behaviour, accepted: Behaviour): boolean {
  return (
    lists.every((list) => {
      const known = new Set(accepted[list].map(canonicalJson));
      return request[list].every((item) => known.has(canonicalJson(item)));
    }) &&
    Object.entries(request.caps).every(([name, value]) => value <= (accepted.caps[name] ?? 0)) &&
    canonicalJson(request.settings) === canonicalJson(accepted.settings)
  );
}

/**
 * Returns what is in force while a changed behaviour waits: the accepted behaviour without what the documents no longer
 * contain.
 */
export function coveredBehaviour(request: Behaviour, accepted: Behaviour): Behaviour {
  const common = <Item extends JsonValue>(wished: readonly Item[], before: readonly Item[]): Item[] => {
    const texts = new Set(wished.map(canonicalJson));
    const known = new Set(before.map(canonicalJson));
    const changed = new Set(wished.filter((item) => !known.has(canonicalJson(item))).map(keyOf));
    return before.filter((item) => texts.has(canonicalJson(item)) || changed.has(keyOf(item)));
  };
  return {
    hooks: common(request.hooks, accepted.hooks),
    tools: common(request.tools, accepted.tools),
    models: common(request.models, accepted.models),
    hosts: common(request.hosts, accepted.hosts),
    caps: Object.fromEntries(
      Object.entries(request.caps).map(([name, value]) => [name, Math.min(value, accepted.caps[name] ?? 0)]),
    ),
    settings: accepted.settings,
  };
}

/** Returns the key that identifies an item of a list across changes: a hook's trigger and handler, or a name. */
function keyOf(item: JsonValue): string {
  if (!isJsonObject(item)) return canonicalJson(item);
  return "handler" in item && !("name" in item)
    ? canonicalJson([item["kind"] ?? null, item["on"] ?? null, item["handler"]])
    : canonicalJson(item["name"] ?? null);
}

/**
 * Describes the behaviour as the end of a sentence that begins with the extension's name; null if there is nothing to
 * say.
 */
export function describeBehaviour({ hooks, tools, models, hosts, settings }: Behaviour): string | null {
  const { config, mind } = settings;
  const commands = commandsOf(settings);
  const actions = actionsOf(settings);
  const types = typesOf(settings);
  const parts = [
    ...mindPhrases(mind),
    ...(hooks.length === 0 ? [] : [`runs ${hooks.map(describeHook).join(", ")}`]),
    ...(tools.length === 0 ? [] : [`offers the tools ${tools.map(({ name }) => nameIn(name)).join(", ")}`]),
    ...(commands.length === 0
      ? []
      : [`offers the commands ${commands.map(({ name }) => nameIn(name)).join(", ")}`]),
    ...(actions.length === 0
      ? []
      : [`offers the actions ${actions.map(({ name }) => nameIn(name)).join(", ")}`]),
    ...(types.length === 0
      ? []
      : [`shares values of the types ${types.map(({ name }) => nameIn(name)).join(", ")}`]),
    ...(models.length === 0 ? [] : [`uses the models ${models.map(describeItem).join(", ")}`]),
    ...(hosts.length === 0 ? [] : [`reaches the hosts ${hosts.map(named).join(", ")}`]),
    ...(isJsonObject(config) && Object.keys(config).length > 0
      ? [`is given the config ${shown(config)}`]
      : []),
  ];
  return parts.length === 0 ? null : parts.join("; ");
}

/** The number of differences listed for one extension; if there are more, only their number is given. */
const maxDifferences = 40;

/** Returns what accepting would change, one sentence per change, for changes that widen or cannot be classified. */
export function behaviourChanges(request: Behaviour, accepted: Behaviour): string[] {
  const sentences = [
    ...listChanges("hook", request.hooks, accepted.hooks, describeHook),
    ...listChanges("tool", request.tools, accepted.tools, describeItem),
    ...listChanges("model", request.models, accepted.models, describeItem),
    ...listChanges("host", request.hosts, accepted.hosts, named),
    ...Object.entries(request.caps)
      .filter(([name, value]) => value > (accepted.caps[name] ?? 0))
      .map(([name, value]) => `${name}: ${accepted.caps[name] ?? 0} → ${value}`),
    ...differences("", accepted.settings, request.settings),
  ];
  const left = sentences.length - maxDifferences;
  return left <= 0
    ? sentences
    : [
        ...sentences.slice(0, maxDifferences),
        `${left} more changes, which are in its manifest and lares.yaml`,
      ];
}

function listChanges<Item extends JsonValue>(
  what: string,
  wished: readonly Item[],
  accepted: readonly Item[],
  describe: (item: Item) => string,
): string[] {
  const known = new Set(accepted.map(canonicalJson));
  const kept = new Set(wished.map(canonicalJson));
  const before = new Map(
    accepted.filter((item) => !kept.has(canonicalJson(item))).map((item) => [keyOf(item), item]),
  );
  return wished
    .filter((item) => !known.has(canonicalJson(item)))
    .flatMap((item) => {
      const old = before.get(keyOf(item));
      if (old === undefined) return [`new ${what}: ${describe(item)}`];
      before.delete(keyOf(item));
      return differences(
        `${what} ${nameIn(isJsonObject(item) ? (item["name"] ?? item["handler"]) : item)}`,
        old,
        item,
      );
    });
}

/** Returns "path: old → new" for each value that differs. */
function differences(path: string, old: unknown, now: unknown): string[] {
  if (isJsonObject(old) && isJsonObject(now)) {
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((key) =>
      differences(path === "" ? named(key) : `${path}, ${named(key)}`, old[key], now[key]),
    );
  }
  if (old === undefined && now === undefined) return [];
  if (old !== undefined && now !== undefined && canonicalJson(old) === canonicalJson(now)) return [];
  const [before, after] = [shownWhole(old), shownWhole(now)];
  const skip = commonStart(before, after);
  return [`${path}: ${cut(before, skip)} → ${cut(after, skip)}`];
}

function describeHook({
  kind: _kind,
  on,
  schedule,
  timezone,
  catchUp,
  filter,
  handler,
  prompt,
  target: _target,
  activeHours,
  overlap,
  jitterMs,
  onDeviceWithCapability: capability,
  interceptOrder,
  ...more
}: JsonObject): string {
  const when =
    on === undefined
      ? `by the schedule ${shown(schedule)}${timezone === undefined ? "" : ` (${nameIn(timezone)})`}${catchUp === undefined || catchUp === "skip" ? "" : `, making up for missed runs (${nameIn(catchUp)})`}${activeHours === undefined ? "" : `, only at ${nameIn(activeHours)}`}${overlap === undefined ? "" : ", one run after the other"}${jitterMs === undefined ? "" : `, up to ${Number(jitterMs) / 1000} s later`}${capability === undefined ? "" : `, only on a device with ${nameIn(capability)}`}`
      : `on ${nameIn(on)}${filter === undefined ? "" : ` where ${shown(filter)}`}`;
  const what = prompt === undefined ? nameIn(handler) : `a conversation with the text of ${nameIn(prompt)}`;
  const before = interceptOrder === undefined ? "" : ", before it takes effect, and may change it";
  return `${what} ${when}${before}${restOf(more)}`;
}

function describeItem({ name, handler: _handler, ...more }: JsonObject): string {
  return `${nameIn(name)}${restOf(more)}`;
}

/** Unknown fields are mentioned too, whatever a later version adds. */
function restOf(more: JsonObject): string {
  return Object.keys(more).length === 0 ? "" : ` with ${shown(more)}`;
}

function nameIn(value: unknown): string {
  return typeof value === "string" ? named(value) : shown(value);
}

/** The number of characters of a value that are shown; the number of further ones is given. */
const maxShownCharacters = 1_000;

function shownWhole(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

function shown(value: unknown): string {
  return cut(shownWhole(value), 0);
}

/** Returns the text from a little before `skip`; both texts are the same up to there. */
function cut(text: string, skip: number): string {
  const from = skip > maxShownCharacters / 2 ? skip - 40 : 0;
  const part = text.slice(from, from + maxShownCharacters);
  const left = text.length - from - part.length;
  return `${from > 0 ? "…" : ""}${part}${left > 0 ? `… (${left} more characters)` : ""}`;
}

function commonStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}

/** True if the value is valid as a behaviour in `decisions.yaml`, which people may edit. */
export function isKeptBehaviour(value: unknown): value is KeptBehaviour {
  if (!isJsonObject(value)) return false;
  if (typeof value["digest"] === "string") return true;
  const isObjects = (list: unknown): boolean => Array.isArray(list) && list.every(isJsonObject);
  const { caps, settings, hosts } = value;
  return (
    isObjects(value["hooks"]) &&
    isObjects(value["tools"]) &&
    isObjects(value["models"]) &&
    Array.isArray(hosts) &&
    hosts.every((host) => typeof host === "string") &&
    isJsonObject(caps) &&
    Object.values(caps).every((cap) => typeof cap === "number") &&
    isJsonObject(settings)
  );
}
